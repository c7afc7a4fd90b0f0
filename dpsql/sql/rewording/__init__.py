"""Words of other databases and of the standard, put as the words that are read here, before anything else reads them.

Each module takes tokens and gives tokens: nothing in it knows a table or a type.

Tests: tests/sql, tests/unit/sql/test_parse.py.
"""
