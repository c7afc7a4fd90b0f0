"""Building the bounded file, table by table. Runs in the owner's process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from dpsql.owner import public
from dpsql.owner.bounded import ColumnReading, first_rows, listed, literal, reading
from dpsql.owner.classes import build_classes
from dpsql.owner.every_unit import require_every_unit
from dpsql.owner.owners import Owners, require_one_unit_type
from dpsql.owner.shape import ColumnShape, PlaceShape, Shape, TableShape, UniverseShape
from dpsql.owner.sources import SourceTable, open_database, open_table, quote, text

__all__ = ["Report", "build_private", "build_tables", "cleaned_columns", "universe_rows"]

Report = Callable[[str, float], None]


def build_tables(
    connection: duckdb.DuckDBPyConnection,
    shape: Shape,
    key: str,
    report: Report,
    records: list[str] | None = None,
    into: Path = Path(),
) -> dict[str, Any]:
    """Fills the database ``bounded``, and returns the facts of the public tables by name.

    Metrics see rows of their own (`universe_rows`), beside the tables that all other answers read.

    Args:
        connection: An engine whose main database is ``bounded``, and empty.
        shape: What to build.
        key: The secret key of the row choice, in hexadecimal.
        report: Told each public step and the share done.
        records: The earlier records of classes, where the shape has classes; None where they are lost.
        into: Where the record of classes is written.

    Raises:
        PolicyError: If shape and source disagree, or a table has not one row for every unit where it says so.
    """
    open_database(connection, shape)
    connection.execute("SET VARIABLE key = " + text(key))
    sources = {table.name: open_table(connection, table) for table in shape.tables}
    require_one_unit_type(shape, sources)
    owners = Owners(shape, sources)
    require_every_unit(connection, shape, sources, owners)
    facts = {}
    ordered = sorted(shape.tables, key=lambda table: not table.public)  # domains come from public tables
    for place, table in enumerate(ordered):
        report(f"building {table.name}", place / len(ordered))
        if table.public:
            facts[table.name] = _build_public(connection, table, sources[table.name])
        else:
            build_private(connection, table, sources[table.name], owners)
    for universe in shape.universes:
        table = shape.table(universe.table)
        connection.execute(
            f"CREATE TABLE bounded.main.{quote(universe.name)} AS {universe_rows(universe, table, sources[table.name])}"
        )
    if shape.classes is not None:
        report("sorting units into classes", 1.0)
        build_classes(connection, shape, sources[shape.classes.table], owners, records, into)
    connection.execute("CHECKPOINT bounded")
    report("done", 1.0)
    return facts


def _build_public(connection: duckdb.DuckDBPyConnection, table: TableShape, source: SourceTable) -> dict[str, Any]:
    select, types = public.copied(connection, table, source)
    connection.execute(f"CREATE TABLE {_target(table)} AS {select}")
    return public.described(connection, _target(table), types)


def _target(table: TableShape) -> str:
    return f"bounded.main.{quote(table.name)}"


def build_private(
    connection: duckdb.DuckDBPyConnection, table: TableShape, source: SourceTable, owners: Owners
) -> None:
    """Writes one bounded table: clean the rows of each unit, keep one per key, then at most the cap per unit."""
    rows = owners.rows(table)
    columns = {str(table.unit): rows.unit} | cleaned_columns(table, source, owners)
    unit = quote(str(table.unit))
    select = ", ".join(f"{sql} AS {quote(name)}" for name, sql in columns.items())
    needed = f"{unit} IS NOT NULL" + (f" AND {quote(table.key)} IS NOT NULL" if table.key else "")
    steps = [f"SELECT * FROM (SELECT {select} FROM {rows.sql}) WHERE {needed}"]
    names, most = list(columns), table.rows_per_unit
    if table.key == table.unit:
        most = 1  # a key is unique within each unit, which plans rely on, and the unit is so only in one row
    elif table.key is not None:
        steps.append(first_rows("temp.main.step0", names, [str(table.unit), table.key], 1))
    steps.append(first_rows(f"temp.main.step{len(steps) - 1}", names, [str(table.unit)], most))
    for place, sql in enumerate(steps[:-1]):
        connection.execute(f"CREATE TEMP TABLE step{place} AS {sql}")
    # In order of the unit, so that one unit's rows lie together: distinct units count faster.
    connection.execute(f"CREATE TABLE {_target(table)} AS SELECT * FROM ({steps[-1]}) ORDER BY {unit}")
    for place in range(len(steps) - 1):
        connection.execute(f"DROP TABLE temp.main.step{place}")


def cleaned_columns(table: TableShape, source: SourceTable, owners: Owners) -> dict[str, str]:
    """Column name to SQL of its cleaned value over a row ``s``: all but the unit, which `Owners.rows` gives."""
    declared = {column.name for column in table.columns}
    columns = {
        name: owners.identity(table, name) for name in table.identities if name not in declared and name != table.unit
    }
    for column in table.columns:
        read = column_reading(table, column, source)
        columns[column.name] = read.value
        if read.grid is not None:
            columns[f"{column.name}$grid"] = read.grid
    return columns


def column_reading(table: TableShape, column: ColumnShape, source: SourceTable) -> ColumnReading:
    """How a declared column is read, inside its declared domain."""
    domain = None
    if column.values_from is not None:
        owner, name = column.values_from
        domain = f"SELECT {quote(name)} FROM bounded.main.{quote(owner)} WHERE {quote(name)} IS NOT NULL"
    return reading(table, column, source, listed(column, domain))


def universe_rows(universe: UniverseShape, table: TableShape, source: SourceTable) -> str:
    """SQL of a table's rows as a metric sees them: one for each row of the source, whoever owns it, by its attributes.

    No cap, no key and no unit decides here, for each would turn a small change of one row into the coming or going of
    another. Values are read as everywhere; what is then NULL is a value of its own, or counts as a declared one.
    """
    columns = {column.name: column for column in table.columns}
    texts = []
    for place in universe.places:
        column = columns[place.column]
        value = column_reading(table, column, source).value
        if not place.keeps_null:
            value = f"coalesce({value}, {_otherwise(column, place)})"
        texts.append(f"{value} AS {quote(place.column)}")
    return f"SELECT {', '.join(texts)} FROM {source.sql} AS s"


def _otherwise(column: ColumnShape, place: PlaceShape) -> str:
    if place.otherwise is None and column.values_from is not None:
        owner, name = column.values_from
        return f"(SELECT min({quote(name)}) FROM bounded.main.{quote(owner)})"
    return literal(place.otherwise, column.type)
