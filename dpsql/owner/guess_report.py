"""Whether the owner's guesses are belied by the data: `rows_about`, `centre`, `spread` and `scale`.

A guess makes answers better where it is right, and never false. One that is off by 3 times makes expected errors wrong,
and the choice between mechanisms poor. Nothing here shows a value of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import duckdb

from dpsql.errors import PolicyError
from dpsql.owner.bounded import reading
from dpsql.owner.finding import Finding
from dpsql.owner.jobs import in_owner_process
from dpsql.owner.owners import Owners
from dpsql.owner.shape import NUMERIC, Shape, TableShape, shape_of
from dpsql.owner.sources import SourceTable, open_database, open_table

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["ColumnGuess", "belied", "guess_findings"]

OFF = 3
"""How many times too large or too small a guess may be before the owner is warned. A guess."""


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """What the owner guessed of a column, in its unit; None where nothing was."""

    centre: Fraction | None
    spread: Fraction | None
    scale: tuple[Fraction, Fraction] | None


def guess_findings(policy: Policy) -> list[Finding]:
    """Warnings of guesses that are off by 3 times or more.

    Raises:
        OperationalError: If the data cannot be read.
    """
    guesses = {
        name: {
            "rows": table.rows_about,
            "columns": {
                key: [_exact(column.centre), _exact(column.spread), [_exact(end) for end in column.scale or ()]]
                for key, column in table.columns.items()
            },
        }
        for name, table in policy.tables.items()
        if not table.public
    }
    try:
        found = in_owner_process({"job": "guesses", "shape": shape_of(policy).message(), "guesses": guesses}, None)
    except PolicyError:
        return []  # said already, with the table
    return [Finding(**message) for message in found]


def _exact(number: Any) -> Fraction | None:
    return None if number is None else Fraction(number)


def belied(connection: duckdb.DuckDBPyConnection, shape: Shape, guesses: Mapping[str, Any]) -> Iterator[Finding]:
    """What the data belie, table by table. Runs in the owner's process.

    Raises:
        PolicyError: If a table or its unit is not in the data.
    """
    open_database(connection, shape)
    sources = {table.name: open_table(connection, table) for table in shape.tables}
    owners = Owners(shape, sources)
    for table in shape.tables:
        if table.name not in guesses:
            continue
        owned, cap = owners.rows(table), table.rows_per_unit
        per_unit = f"SELECT count(*) AS n FROM {owned.sql} WHERE {owned.unit} IS NOT NULL GROUP BY {owned.unit}"
        ((kept,),) = connection.execute(f"SELECT sum(least(n, {cap}))::BIGINT FROM ({per_unit})").fetchall()
        yield from _rows(table.name, int(kept or 0), guesses[table.name]["rows"])
        for name, (centre, spread, scale) in guesses[table.name]["columns"].items():
            guess = ColumnGuess(centre, spread, (scale[0], scale[1]) if scale else None)
            yield from _column(connection, table, sources[table.name], name, guess)


def _rows(table: str, kept: int, about: int) -> Iterator[Finding]:
    if max(kept, 1) >= OFF * about or OFF * max(kept, 1) <= about:
        what = (
            f"rows are used, where rows_about is {about}: expected errors are for that many. Write rows_about: {kept}."
        )
        yield Finding(table, None, what, kept, None, "warning")


def _column(
    connection: duckdb.DuckDBPyConnection, table: TableShape, source: SourceTable, name: str, guess: ColumnGuess
) -> Iterator[Finding]:
    column = next((column for column in table.columns if column.name == name), None)
    if column is None or column.type not in NUMERIC or column.values is not None or column.values_from is not None:
        return
    value = f"CAST({reading(table, column, source, None).value} AS DOUBLE)"
    read = f"(SELECT {value} AS x FROM {source.sql} AS s WHERE {value} IS NOT NULL)"
    if guess.centre is not None and guess.spread is not None:
        away, spread = f"abs(x - {float(guess.centre)!r})", float(guess.spread)
        conditions = (f"{away} > {OFF * spread!r}", f"{away} < {spread / OFF!r}")
        words = (f"further than {OFF} spreads from the centre", "within a third of the spread of the centre")
        ((rows, *counts),) = connection.execute(
            f"SELECT count(*), {', '.join(f'count(*) FILTER ({c})' for c in conditions)} FROM {read}"
        ).fetchall()
        for count, where in zip(counts, words, strict=True):
            if 2 * count > rows:
                what = f"values lie {where}: most of them. Correct centre and spread, or remove them."
                yield Finding(table.name, name, what, count, Fraction(count, rows), "warning")
    if guess.scale is not None:
        low, high = map(float, guess.scale)
        ((between,),) = connection.execute(
            f"SELECT quantile_cont(x, 0.75) - quantile_cont(x, 0.25) FROM {read}"
        ).fetchall()
        if between is not None and not low / OFF <= between <= OFF * high:
            side = "less than the least" if between < low else "more than the largest"
            what = f"the middle half of the values spans {side} distance of its scale. Correct the scale, or remove it."
            yield Finding(table.name, name, what, None, None, "warning")
