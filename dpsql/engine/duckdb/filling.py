"""A DuckDB file of rows that are made up: the source of an audit's databases.

Tests: tests/unit/audit/test_made_up.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.duckdb.dialect import DUCKDB

__all__ = ["TYPES", "write"]

TYPES: Mapping[str, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "decimal": "DECIMAL(38, 9)",
    "boolean": "BOOLEAN",
    "text": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
"""A policy's types to DuckDB's."""


def write(file: Path, tables: Mapping[str, tuple[Mapping[str, str], Sequence[Sequence[Any]]]]) -> None:
    """Makes a database.

    Args:
        file: Where; it is not there yet.
        tables: Name to columns, with a policy's type of each, and rows.
    """
    with duckdb.connect(str(file)) as connection:
        for name, (types, rows) in tables.items():
            table = DUCKDB.quoted(name)
            columns = ", ".join(f"{DUCKDB.quoted(column)} {TYPES[kind]}" for column, kind in types.items())
            connection.execute(f"CREATE TABLE {table} ({columns})")
            if rows:
                values = ", ".join(f"unnest(${at})::{TYPES[kind]}" for at, kind in enumerate(types.values(), 1))
                lists = [list(column) for column in zip(*rows, strict=True)]
                connection.execute(f"INSERT INTO {table} SELECT {values}", lists)
