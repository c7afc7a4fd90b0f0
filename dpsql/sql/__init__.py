"""From text to syntax: one statement of the dialect, or a refusal that says where and what to write.

Tests: tests/sql, tests/unit/sql/test_parse.py.
"""
