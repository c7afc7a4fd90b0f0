"""The schema of a PostgreSQL database: names and types, never a value.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dpsql.engine.database import TableSchema
from dpsql.engine.postgres.connecting import connected
from dpsql.engine.postgres.relations import HOLDS_ROWS, columns_of
from dpsql.errors import OperationalError

__all__ = ["describe", "is_table", "keys"]

_TABLES = f"""
    SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY(current_schemas(false)) AND {HOLDS_ROWS} AND NOT c.relispartition
    ORDER BY c.relname, array_position(current_schemas(false), n.nspname) DESC  -- of two, the first in the path stays
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
    with connected(str(source)) as connection:
        tables = dict(connection.execute(_TABLES.encode()).fetchall())
        columns = columns_of(connection, list(tables))
    if not tables:
        raise OperationalError("The database holds no table in its search path. Create the tables first.")
    return {name: TableSchema(tuple(columns[relation].items())) for relation, name in tables.items()}
