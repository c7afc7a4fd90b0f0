"""PostgreSQL, where the data are: the bounded tables stand in a schema of its own, and aggregates are counted there.

Nothing of the rows passes through dpsql when tables are built, and only aggregates when statements are answered.

Tests: tests/doors/test_postgres_engine.py, tests/doors/test_postgres_dialect.py.
"""
