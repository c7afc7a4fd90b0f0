"""The schema of a DuckDB file: names and types, never a value.

Tests: tests/unit/engine/test_describe.py.
"""

from __future__ import annotations

from pathlib import Path

from dpsql.engine.database import SourceType
from dpsql.engine.duckdb.types import source_type
from dpsql.errors import OperationalError, PolicyError

__all__ = ["describe", "is_table", "keys"]

CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")

_COLUMNS = """
    SELECT if(schema_name = 'main', table_name, schema_name || '.' || table_name) AS named, column_name, data_type
    FROM duckdb_columns()
    WHERE database_name = current_database() AND NOT internal
    ORDER BY schema_name <> 'main', named, column_index
"""


def keys(source: str) -> dict[str, str]:
    """What a policy writes under ``engine`` beside its kind, for tables of this source; none for a table's own file."""
    return {} if is_table(Path(source)) else {"database": source}


def is_table(source: Path) -> bool:
    """Whether a source is one table, by its name: a Parquet or a CSV file."""
    return source.name.lower().endswith((".parquet", *CSV))


def describe(source: Path) -> dict[str, list[tuple[str, SourceType]]]:
    """Columns as (name, type) of each table and view, by its name.

    A table outside the schema ``main`` comes last and is called ``schema.table``: it can be used through a view alone.
    The one table of a file is called as the file is.

    Raises:
        OperationalError: If the file is missing, is no DuckDB database, is in use, or holds no table.
    """
    if not source.is_file():
        raise OperationalError(f"{source} is not a file. Write the path of a DuckDB database, a Parquet or a CSV file.")
    return {source.name.split(".")[0]: _columns_of(source)} if is_table(source) else _tables_of(source)


def _columns_of(file: Path) -> list[tuple[str, SourceType]]:
    """The columns of a Parquet or CSV file; those of the latter have no types."""
    import duckdb

    from dpsql.engine.duckdb.database import DuckDBDatabase

    try:
        with duckdb.connect() as connection:
            table = DuckDBDatabase(connection).table(file.name, str(file))
    except (duckdb.Error, UnicodeDecodeError, PolicyError) as error:
        why = str(error) if isinstance(error, PolicyError) else f"{file} cannot be read as the file that its name says."
        raise OperationalError(why) from None
    return [(name, kind if table.typed else SourceType("CSV", "untyped")) for name, kind in table.types.items()]


def _tables_of(database: Path) -> dict[str, list[tuple[str, SourceType]]]:
    import duckdb

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
