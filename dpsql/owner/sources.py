"""Where the owner's rows are: a DuckDB file, Parquet files, CSV files. Runs in the owner's process.

Tests: tests/unit/owner/test_bounded.py, tests/unit/owner/test_owners.py.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import duckdb

from dpsql.engine.log import TELLS
from dpsql.errors import PolicyError
from dpsql.owner.shape import Shape, TableShape

__all__ = ["SourceTable", "open_database", "open_table", "quote", "text"]

CATALOG = "source"  # the name under which the owner's database is attached


class SourceTable:
    """One table of the source: what to write after FROM, and the types of its columns.

    Attributes:
        sql: A relation.
        types: Column name to the engine's type, in order.
        typed: Whether the types mean something: a CSV file's are all VARCHAR.
    """

    __slots__ = ("sql", "typed", "types")

    def __init__(self, sql: str, types: dict[str, str], *, typed: bool) -> None:
        self.sql = sql
        self.types = types
        self.typed = typed

    def type_of(self, column: str) -> str | None:
        """The engine's type of a column (ASCII case does not matter), or None if there is none of that name."""
        return next((kind for name, kind in self.types.items() if name.lower() == column.lower()), None)


def quote(name: str) -> str:
    """A quoted identifier.

    >>> print(quote('odd "name" here'))
    "odd ""name"" here"
    """
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text literal.

    >>> print(text("O'Hara"))
    'O''Hara'
    """
    return "'" + value.replace("'", "''") + "'"


def open_database(connection: duckdb.DuckDBPyConnection, shape: Shape) -> None:
    """Attaches the owner's database, read-only, if there is one.

    Raises:
        PolicyError: If it cannot be opened. What DuckDB says of it may rest on rows, such as the checksum of a change
            that lies in its log: it is the error's cause, which goes to the owner's log alone.
    """
    if shape.database is None:
        return
    if not Path(shape.database).is_file():
        raise PolicyError(f"There is no file {shape.database}. Write its path at engine.database in the policy.")
    try:
        connection.execute(f"ATTACH {text(shape.database)} AS {CATALOG} (READ_ONLY)")
    except duckdb.Error as error:
        raise PolicyError(
            f"{shape.database} does not open as a DuckDB database. Close other programs that write to it, or write "
            f"another path at engine.database. {TELLS}"
        ) from error


def open_table(connection: duckdb.DuckDBPyConnection, table: TableShape) -> SourceTable:
    """The table in the source.

    Raises:
        PolicyError: If it is not there, or of no known kind.
    """
    if table.source is None:
        return _database_table(connection, table.name)
    if not Path(table.source).is_file():
        raise PolicyError(f"There is no file {table.source}. Write its path at tables.{table.name}.source.")
    name = table.source.lower()
    if name.endswith(".parquet"):
        return _described(connection, f"read_parquet({text(table.source)})", typed=True)
    if name.endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz")):
        return _csv(connection, table)
    raise PolicyError(
        f"{table.source} is no Parquet or CSV file by its name. Rename it to .parquet, .csv, .tsv, .csv.gz or .tsv.gz; "
        f"a DuckDB database belongs at engine.database."
    )


def _database_table(connection: duckdb.DuckDBPyConnection, name: str) -> SourceTable:
    try:
        stored = _described(connection, f"{CATALOG}.main.{quote(name)}", typed=True)
    except duckdb.Error:
        raise PolicyError(
            f"The database has no table or view {name} in its schema main. Create it there, or write source: FILE at "
            f"tables.{name}."
        ) from None
    # A column may carry a collation, by which 'a' = 'A'; it would follow the values everywhere. Bytes have none.
    texts = [quote(column) for column, kind in stored.types.items() if kind == "VARCHAR"]
    plain = ", ".join(f"decode(encode({column})) AS {column}" for column in texts)
    return SourceTable(f"(SELECT * REPLACE ({plain}) FROM {stored.sql})", stored.types, typed=True) if texts else stored


def _described(connection: duckdb.DuckDBPyConnection, sql: str, *, typed: bool) -> SourceTable:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()
    return SourceTable(sql, {row[0]: row[1] for row in rows}, typed=typed)


def _csv(connection: duckdb.DuckDBPyConnection, table: TableShape) -> SourceTable:
    """The file read as text under a fixed dialect.

    Nothing is guessed from the rows: one person's row must not change how another's is read. The delimiter is the
    one that the header line shows. A line that is no row (an open quote, too few or too many values) fails the job:
    left out, it would take other people's lines along.
    """
    path = str(table.source)
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        header = file.readline().rstrip("\r\n")
    delimiter = max(",;\t|", key=header.count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    if not names or len({name.lower() for name in names}) != len(names) or not all(names):
        raise PolicyError(f"{path} does not start with a line of distinct column names. Write one.")
    columns = ", ".join(f"{text(name)}: 'VARCHAR'" for name in names)
    sql = (
        f"read_csv({text(path)}, auto_detect = false, header = true, delim = {text(delimiter)}, quote = '\"', "
        f"escape = '\"', nullstr = '', columns = {{{columns}}})"
    )
    return _described(connection, sql, typed=False)
