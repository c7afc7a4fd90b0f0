"""DuckDB: the default engine, and the worker without data in which every answer is finished.

    section.py     its keys in the policy
    dialect.py     its words; types.py, its types
    files.py       which files are tables
    sources.py     whether the owner's files changed
    database.py    the owner's side: the files to read, the bounded file to write
    opened.py      the engine that it has for that
    describe.py    the schema of a file, for a first policy
    filling.py     a file of rows that are made up, for an audit
    engine.py      the engine: a locked worker over one bounded file

Tests: tests/unit/engine/test_duckdb.py, tests/unit/engine/test_engines.py.
"""

__all__ = ["FILE"]

FILE = "bounded.duckdb"
