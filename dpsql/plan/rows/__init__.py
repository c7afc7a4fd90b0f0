"""FROM and WHERE as rows of people: tables, joins, semi-joins, and sub-queries that aggregate inside one unit.

`from_where` plans them; `per_unit` and `unit_windows` are what happens within one person, exact and still private.

Tests: tests/sql.
"""
