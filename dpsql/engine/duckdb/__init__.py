"""DuckDB: the default engine, and the worker without data in which every answer is finished.

Tests: tests/unit/engine/test_duckdb.py.
"""
