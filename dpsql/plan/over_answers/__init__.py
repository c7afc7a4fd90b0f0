"""Queries over answers, at no cost: HAVING, ORDER BY, windows, joins, and several answers in one statement.

`stages` plans a query over released values or public tables, `several` makes one statement of several answers. The
rest knows which of their columns hold noise, and which rows of which answers each row is made of.

Tests: tests/sql.
"""
