"""Building the bounded file, table by table. Runs in the owner's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb

from dpsql.engines import public
from dpsql.engines.bounded import first_rows, identity, listed, reading
from dpsql.engines.shape import Shape, TableShape
from dpsql.engines.sources import Source, open_database, open_table, quote, text
from dpsql.errors import PolicyError

__all__ = ["Report", "build_private", "build_tables", "cleaned_columns", "whole_units"]

Report = Callable[[str, float], None]


def build_tables(connection: duckdb.DuckDBPyConnection, shape: Shape, key: str, report: Report) -> dict[str, Any]:
    """Fills the database ``bounded``, and returns the facts of the public tables by name.

    Args:
        connection: An engine whose main database is ``bounded``, and empty.
        shape: What to build.
        key: The secret key of the row choice, in hexadecimal.
        report: Told each public step and the share done.

    Raises:
        PolicyError: If shape and source disagree.
    """
    open_database(connection, shape)
    connection.execute("SET VARIABLE key = " + text(key))
    sources = {table.name: open_table(connection, table) for table in shape.tables}
    whole = whole_units(shape, sources)
    facts = {}
    ordered = sorted(shape.tables, key=lambda table: not table.public)  # domains come from public tables
    for place, table in enumerate(ordered):
        report(f"building {table.name}", place / len(ordered))
        if table.public:
            facts[table.name] = _build_public(connection, table, sources[table.name])
        else:
            build_private(connection, table, sources[table.name], whole=whole)
    connection.execute("CHECKPOINT bounded")
    report("done", 1.0)
    return facts


def whole_units(shape: Shape, sources: dict[str, Source]) -> bool:
    """Whether units are integers: in every table, or in none.

    A CSV file has no types of its own: its units are integers if the other tables' are.

    Raises:
        PolicyError: If units have different types in different tables.
    """
    kinds: dict[bool, list[str]] = {}
    for table in shape.tables:
        if table.unit is not None and sources[table.name].typed:
            whole = identity(table, table.unit, sources[table.name]).endswith("AS BIGINT)")
            kinds.setdefault(whole, []).append(f"{table.name}.{table.unit}")
    if len(kinds) == 2:
        raise PolicyError(
            f"The unit is an integer in {', '.join(kinds[True])} and a text in {', '.join(kinds[False])}. Give it one "
            f"type, in a view if need be."
        )
    return True in kinds


def _build_public(connection: duckdb.DuckDBPyConnection, table: TableShape, source: Source) -> dict[str, Any]:
    select, types = public.copied(connection, table, source)
    connection.execute(f"CREATE TABLE {_target(table)} AS {select}")
    return public.described(connection, _target(table), types)


def _target(table: TableShape) -> str:
    return f"bounded.main.{quote(table.name)}"


def build_private(connection: duckdb.DuckDBPyConnection, table: TableShape, source: Source, *, whole: bool) -> None:
    """Writes one bounded table: clean the rows, keep one row per key of a unit, then at most the cap per unit."""
    columns = cleaned_columns(table, source, whole=whole)
    unit = quote(str(table.unit))
    select = ", ".join(f"{sql} AS {quote(name)}" for name, sql in columns.items())
    needed = f"{unit} IS NOT NULL" + (f" AND {quote(table.key)} IS NOT NULL" if table.key else "")
    steps = [f"SELECT * FROM (SELECT {select} FROM {source.sql} AS s) WHERE {needed}"]
    names = list(columns)
    if table.key is not None and table.key != table.unit:
        steps.append(first_rows("temp.main.step0", names, [str(table.unit), table.key], 1))
    steps.append(first_rows(f"temp.main.step{len(steps) - 1}", names, [str(table.unit)], table.rows_per_unit))
    for place, sql in enumerate(steps[:-1]):
        connection.execute(f"CREATE TEMP TABLE step{place} AS {sql}")
    # In order of the unit, so that one unit's rows lie together: distinct units count faster.
    connection.execute(f"CREATE TABLE {_target(table)} AS SELECT * FROM ({steps[-1]}) ORDER BY {unit}")
    for place in range(len(steps) - 1):
        connection.execute(f"DROP TABLE temp.main.step{place}")


def cleaned_columns(table: TableShape, source: Source, *, whole: bool) -> dict[str, str]:
    """Column name to SQL of its cleaned value over a row ``s`` of the source: unit, key, declared columns, grids."""
    declared = {column.name for column in table.columns}
    columns = {str(table.unit): identity(table, str(table.unit), source, integer=whole)}
    if table.key is not None and table.key not in declared and table.key != table.unit:
        columns[table.key] = identity(table, table.key, source)
    for column in table.columns:
        domain = None
        if column.values_from is not None:
            owner, name = column.values_from
            domain = f"SELECT {quote(name)} FROM bounded.main.{quote(owner)} WHERE {quote(name)} IS NOT NULL"
        read = reading(table, column, source, listed(column, domain))
        columns[column.name] = read.value
        if read.grid is not None:
            columns[f"{column.name}$grid"] = read.grid
    return columns
