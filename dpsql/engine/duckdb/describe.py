"""The schema of a DuckDB file: names and types, never a value.

Tests: tests/unit/engine/test_describe.py.
"""

from __future__ import annotations

from pathlib import Path

from dpsql.engine.database import SourceType
from dpsql.engine.duckdb.types import source_type
from dpsql.errors import OperationalError

__all__ = ["describe", "keys"]

_COLUMNS = """
    SELECT if(schema_name = 'main', table_name, schema_name || '.' || table_name) AS named, column_name, data_type
    FROM duckdb_columns()
    WHERE database_name = current_database() AND NOT internal
    ORDER BY schema_name <> 'main', named, column_index
"""


def keys(database: str) -> dict[str, str]:
    """What a policy writes under ``engine`` beside its kind, for tables of this file."""
    return {"database": database}


def describe(database: Path) -> dict[str, list[tuple[str, SourceType]]]:
    """Columns as (name, type) of each table and view, by its name.

    A table outside the schema ``main`` comes last and is called ``schema.table``: it can be used through a view alone.

    Raises:
        OperationalError: If the file is missing, is no DuckDB database, is in use, or holds no table.
    """
    import duckdb

    if not database.is_file():
        raise OperationalError(f"{database} is not a file. Write the path of a DuckDB database.")
    if database.suffix in (".parquet", ".csv", ".tsv", ".gz"):
        raise OperationalError(
            f"{database} is no DuckDB database, whose tables make a first policy. Load the file into one, or write a "
            f"policy by hand, with source: {database.name} at its table."
        )
    locked: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with duckdb.connect(str(database), read_only=True, config=locked) as connection:
            found = connection.execute(_COLUMNS).fetchall()
    except duckdb.Error as error:
        raise OperationalError(
            f"{database} cannot be read as a DuckDB database. Write the path of one that nobody is writing to.\n"
            f"DuckDB says: {str(error).splitlines()[0]}"
        ) from None
    tables: dict[str, list[tuple[str, SourceType]]] = {}
    for table, column, kind in found:
        tables.setdefault(table, []).append((column, source_type(kind)))
    if not tables:
        raise OperationalError(f"{database} holds no table. Create the tables first.")
    return tables
