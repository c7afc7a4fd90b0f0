"""From text to syntax: one statement of the dialect, or a refusal that says where and what to write.

`parse` cuts the text into `tokens`, `rewording` puts other databases' words in those that are read here, `skeleton`
puts a handle for every name and constant, `tree` has sqlglot say how the pieces nest, and `syntax` is what results.

Tests: tests/sql, tests/unit/sql/test_parse.py.
"""
