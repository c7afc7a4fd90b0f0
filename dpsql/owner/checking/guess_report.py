"""Whether the owner's guesses are belied by the data: `rows_about`, `centre`, `spread` and `scale`.

A guess makes answers better where it is right, and never false. One that is off by 3 times makes expected errors wrong,
and the choice between mechanisms poor. Nothing here shows a value of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpsql.engine.database import Database, SourceTable
from dpsql.errors import PolicyError
from dpsql.owner.building.bounded import reading
from dpsql.owner.building.owners import Owners
from dpsql.owner.finding import Finding
from dpsql.owner.jobs import of_source
from dpsql.owner.shape import NUMERIC, Shape, TableShape

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
        found = of_source(policy, "guesses", guesses=guesses)
    except PolicyError:
        return []  # said already, with the table
    return [Finding(**message) for message in found]


def _exact(number: Any) -> Fraction | None:
    return None if number is None else Fraction(number)


def belied(database: Database, shape: Shape, guesses: Mapping[str, Any]) -> Iterator[Finding]:
    """What the data belie, table by table. Runs in the owner's process.

    Raises:
        PolicyError: If a table or its unit is not in the data.
    """
    sources = {table.name: table.of(database) for table in shape.tables}
    owners = Owners(shape, sources)
    for table in shape.tables:
        if table.name not in guesses:
            continue
        owned, cap = owners.rows(table), table.rows_per_unit
        per_unit = f"SELECT count(*) AS n FROM {owned.sql} WHERE {owned.unit} IS NOT NULL GROUP BY {owned.unit}"
        most = database.dialect.call("least", "n", str(cap))
        ((kept,),) = database.rows(f"SELECT sum({most}) FROM ({per_unit}) AS r")
        yield from _rows(table.name, int(kept or 0), guesses[table.name]["rows"])
        for name, (centre, spread, scale) in guesses[table.name]["columns"].items():
            guess = ColumnGuess(centre, spread, (scale[0], scale[1]) if scale else None)
            yield from _column(database, table, sources[table.name], name, guess)


def _rows(table: str, kept: int, about: int) -> Iterator[Finding]:
    if max(kept, 1) >= OFF * about or OFF * max(kept, 1) <= about:
        what = (
            f"rows are used, where rows_about is {about}: expected errors are for that many. "
            "The policy is public, so write none that was counted: dpsql advise --write finds one privately."
        )
        yield Finding(table, None, what, kept, None, "warning")


def _column(
    database: Database, table: TableShape, source: SourceTable, name: str, guess: ColumnGuess
) -> Iterator[Finding]:
    column = next((column for column in table.columns if column.name == name), None)
    if column is None or column.type not in NUMERIC or column.values is not None or column.values_from is not None:
        return
    words = database.dialect
    value = words.cast(reading(table, column, source, None).value, "DOUBLE")
    read = f"(SELECT {value} AS x FROM {source.sql} AS s WHERE {value} IS NOT NULL) AS r"
    if guess.centre is not None and guess.spread is not None:
        away = words.call("abs", f"x - {words.constant(guess.centre, 'DOUBLE')}")
        far, near = (words.constant(end, "DOUBLE") for end in (OFF * guess.spread, guess.spread / OFF))
        alike = words.constant(Fraction(1, 2) if column.type == "integer" else Fraction(0), "DOUBLE")
        conditions = (f"{away} > {far}", f"{away} < {near}", f"{away} <= {alike}")
        places = (f"further than {OFF} spreads from the centre", "within a third of the spread of the centre")
        ((rows, *counts, same),) = database.rows(
            f"SELECT count(*), {', '.join(f'count(*) FILTER (WHERE {c})' for c in conditions)} FROM {read}"
        )
        for count, where, left_out in zip(counts, places, (0, same), strict=True):
            # Of a column of mostly one value, such as 0 or the whole number at the centre, it is that of the others.
            if 2 * (count - left_out) > rows - left_out:
                what = f"values lie {where}: most of them. Correct centre and spread, or remove them."
                yield Finding(table.name, name, what, count, Fraction(count, rows), "warning")
    if guess.scale is not None:
        low, high = map(float, guess.scale)
        high_quarter, low_quarter = (words.call("quantile", "x", part) for part in ("0.75", "0.25"))
        ((between,),) = database.rows(f"SELECT {high_quarter} - {low_quarter} FROM {read}")
        if between is not None and not low / OFF <= between <= OFF * high:
            side = "less than the least" if between < low else "more than the largest"
            what = f"the middle half of the values spans {side} distance of its scale. Correct the scale, or remove it."
            yield Finding(table.name, name, what, None, None, "warning")
