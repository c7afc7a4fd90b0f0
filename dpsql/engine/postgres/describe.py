"""The schema of a PostgreSQL database: names and types, never a value.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dpsql.engine.database import SourceType, TableSchema
from dpsql.engine.postgres.connecting import connected
from dpsql.engine.postgres.types import source_type
from dpsql.errors import OperationalError

__all__ = ["describe", "is_table", "keys"]

_COLUMNS = """
    SELECT c.relname, a.attname, format_type(b.oid, NULL), b.typcategory,
           CASE WHEN b.oid = t.oid THEN a.atttypmod ELSE t.typtypmod END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
         JOIN pg_type t ON t.oid = a.atttypid
         JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
    WHERE n.nspname = ANY(current_schemas(false)) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
          AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY c.relname, a.attnum
"""


def keys(source: str) -> Mapping[str, str]:
    """What a policy writes under ``engine`` beside its kind."""
    return {"dsn": source}


def is_table(source: Path) -> bool:
    """Whether a source is one table: a database never is."""
    return False


def describe(source: Path) -> Mapping[str, TableSchema]:
    """The columns of each table and view in the search path of a connection string, by its name.

    Raises:
        OperationalError: If the server does not answer, or there is no table.
    """
    tables: dict[str, list[tuple[str, SourceType]]] = {}
    with connected(str(source)) as connection:
        for table, column, *kind in connection.execute(_COLUMNS).fetchall():
            tables.setdefault(table, []).append((column, source_type(*kind)))
    if not tables:
        raise OperationalError("The database holds no table in its search path. Create the tables first.")
    return {name: TableSchema(tuple(columns)) for name, columns in tables.items()}
