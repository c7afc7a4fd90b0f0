"""What all units of a table have in all, stored by size (`plan.needs.Sized`), where an engine counts.

Counts and sums of `mechanisms.clamped` over a whole table, by listed columns too, read a few rows then, however many
units there are. The bins are those that a statement without bounds asks for. What is stored follows from the policy and
its public tables alone, and is made with the table. Where each unit has one row, it is made of the rows; else of what
is stored of each unit (`totals`).

Tests: tests/unit/owner/building/test_totals.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.engine.dialect import Dialect
from dpsql.engine.printer import Printer
from dpsql.engine.sized import WIRES, sized_totals
from dpsql.limits import FARTHEST_STEP
from dpsql.owner.building.bounded import grid_limits
from dpsql.owner.building.numbered import listed_place
from dpsql.owner.shape import NUMERIC, ColumnShape, TableShape
from dpsql.plan.catalog import NUMBER, SIZES, StoredSizes, StoredTotals, place_name
from dpsql.plan.grids import Bins, bins_of_totals
from dpsql.plan.types import Grid, Value

if TYPE_CHECKING:
    from dpsql.engine.database import BySize

__all__ = [
    "days_by_size",
    "rows_by_size",
    "sizes_by_day",
    "sizes_of_rows",
    "sizes_of_totals",
    "summable",
    "totals_by_size",
]

MOST_CELLS = 1_000
"""Cells of listed columns by which totals are stored. It is a choice: few enough that reading them takes no time to
speak of, and that the builder holds them all."""

MOST_DAYS = 4_096
"""Days within a column's bounds by which totals are stored, eleven years of them. It is a choice, as that of cells: a
day has a row for every bin of every kind of total."""


def summable(table: TableShape, column: ColumnShape) -> bool:
    """Whether a unit's sum of a column is a whole number of steps, and no unit's is too large."""
    if column.type not in NUMERIC or not (column.grid or (column.type == "integer" and column.step == 1)):
        return False
    return table.rows_per_unit * max(map(abs, grid_limits(column))) <= FARTHEST_STEP


def sizes_of_totals(table: TableShape, totals: str, keys: Sequence[str], summed: Collection[str]) -> StoredSizes | None:
    """What is stored of units' totals; None where the values of a key have no places, or there are too many cells.

    Args:
        table: The table.
        totals: The name of what is stored of each unit.
        keys: The listed columns.
        summed: The columns whose counts and sums it holds.
    """
    columns = {column.name: column for column in table.columns}
    cells = tuple((key, _listed(columns[key])) for key in keys)
    if not all(values for _, values in cells) or math.prod(len(values) + 1 for _, values in cells) > MOST_CELLS:
        return None
    count = bins_of_totals(Grid(Fraction(1), 0, 1), table.rows_per_unit)
    kinds = [(StoredTotals.rows, count)]
    for name in summed:
        kinds += [(StoredTotals.count(name), count), (StoredTotals.sum(name), _bins(table, columns[name]))]
    return StoredSizes(f"{totals}$sizes", cells, tuple(kinds), (None,))


def sizes_of_rows(table: TableShape) -> StoredSizes | None:
    """What is stored of a table where each unit has one row; None where nothing is."""
    if table.public or table.rows_per_unit != 1:
        return None
    bounded = [column for column in table.columns if column.low is not None and column.high is not None]
    kinds = tuple((column.name, _bins(table, column)) for column in bounded if summable(table, column))
    keys, cells = list[tuple[str, tuple[Value, ...]]](), 1
    for column in table.columns:
        values = _listed(column)
        if values and cells * (len(values) + 1) <= MOST_CELLS:
            keys.append((column.name, values))
            cells *= len(values) + 1
    return StoredSizes(f"{table.name}$sizes", tuple(keys), kinds) if kinds else None


def totals_by_size(table: TableShape, totals: StoredTotals, sizes: StoredSizes, words: Dialect) -> BySize:
    """How units' totals are added up, from what is stored of each unit."""
    from dpsql.engine.database import BySize

    columns = {column.name: column for column in table.columns}
    shown = [f"{_place(columns[key], words, stored=True)} AS {words.quoted(place_name(key))}" for key, _ in sizes.keys]
    shown += [words.quoted(NUMBER)] if sizes.keys else []
    shown += [words.quoted(name) for name, _ in sizes.kinds]
    return BySize(
        f"SELECT {', '.join(shown)} FROM {words.bounded(totals.name)}",
        tuple((place_name(key), len(values) + 1) for key, values in sizes.keys),
        (*(("sum", at) for at, _ in enumerate(sizes.kinds)), *(("rows", -1) for _ in sizes.plain)),  # rows are units
        (*(bins for _, bins in sizes.kinds), *(None for _ in sizes.plain)),
    )


def sizes_by_day(table: TableShape) -> tuple[StoredSizes, ...]:
    """What is stored of a table by the days of each of its columns that has bounds, and no list of values.

    Of one sign alone: then all days of a month, say, add up to what units have in it.
    """
    if table.public or table.rows_per_unit < 2:
        return ()
    added = [column for column in table.columns if summable(table, column) and grid_limits(column)[0] >= 0]
    rows = StoredTotals.rows, bins_of_totals(Grid(Fraction(1), 0, 1), table.rows_per_unit)
    kinds = rows, *((StoredTotals.sum(column.name), _bins(table, column)) for column in added)
    plain = tuple(StoredTotals.count(column.name) for column in added)
    days = ((column.name, _days(column)) for column in table.columns if not column.values and not column.values_from)
    return tuple(StoredSizes(f"{table.name}$days${name}", ((name, own),), kinds, plain) for name, own in days if own)


def days_by_size(table: TableShape, sizes: StoredSizes, words: Dialect) -> BySize:
    """How rows are added up by day."""
    from dpsql.engine.database import BySize

    ((name, days),) = sizes.keys
    first, day, place = words.constant(days[0], "DATE"), words.quoted(name), words.quoted(place_name(name))
    far = words.narrowed(f"COALESCE({words.call('days_between', day, first)}, {len(days)})", 0, len(days))
    shown, adds = [f"{far} AS {place}", words.quoted(NUMBER)], [("rows", -1)]
    added = [column for column in table.columns if StoredTotals.count(column.name) in sizes.plain]
    shown += [words.narrowed(words.quoted(column.in_steps), *grid_limits(column)) for column in added]
    for function in ("sum", "count"):
        adds += [(function, at) for at, _ in enumerate(added)]
    known = f"CASE WHEN {place} < {len(days)} THEN {words.call('add_days', first, place)} END"
    return BySize(
        f"SELECT {', '.join(shown)} FROM {words.bounded(table.name)}",
        ((place_name(name), len(days) + 1),),
        tuple(adds),
        (*(bins for _, bins in sizes.kinds), *(None for _ in sizes.plain)),
        ((name, known),),
    )


def rows_by_size(table: TableShape, sizes: StoredSizes, words: Dialect) -> str:
    """SQL of what is stored of a table where each unit has one row, from the bounded table."""
    columns, parts = {column.name: column for column in table.columns}, list[str]()
    keys = [words.quoted(place_name(key)) for key, _ in sizes.keys]
    placed = [f"{_place(columns[key], words)} AS {name}" for (key, _), name in zip(sizes.keys, keys, strict=True)]
    shown = [f"{words.cast(key, 'BIGINT')} AS {key}" for key in keys]
    shown += [f"{words.quoted(own)} AS {words.quoted(name)}" for (own, _), name in zip(WIRES, SIZES[1:], strict=True)]
    for kind, (name, bins) in enumerate(sizes.kinds):
        x = words.quoted(columns[name].in_steps)
        rows = f"SELECT {', '.join([*placed, f'{x} AS x'])} FROM {words.bounded(table.name)}"
        totals = sized_totals(Printer(words), keys, bins, rows, "x", None)
        parts.append(f"SELECT {kind} AS {words.quoted(SIZES[0])}, {', '.join(shown)} FROM ({totals}) AS t")
    return " UNION ALL ".join(parts)


def _bins(table: TableShape, column: ColumnShape) -> Bins:
    """Of sums of a column: those of whoever has as many rows as a unit may have."""
    return bins_of_totals(Grid(column.step, *grid_limits(column)), table.rows_per_unit)


def _days(column: ColumnShape) -> tuple[Value, ...]:
    """All days within a column's bounds, rising; () where there are none, or too many."""
    low, high = column.low, column.high
    if column.type != "date" or not isinstance(low, date) or not isinstance(high, date):
        return ()
    numbers = range(low.toordinal(), high.toordinal() + 1)
    return tuple(map(date.fromordinal, numbers)) if len(numbers) <= MOST_DAYS else ()


def _listed(column: ColumnShape) -> tuple[Value, ...]:
    """The values of a listed column that have places, rising; () where none do."""
    return (False, True) if column.type == "boolean" else column.places


def _place(column: ColumnShape, words: Dialect, *, stored: bool = False) -> str:
    """SQL of the place of a column's value, NULL behind all; it may be stored beside it, but for TRUE and FALSE."""
    name = words.quoted(column.name)
    if column.type == "boolean":
        return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 ELSE 2 END"
    return words.quoted(place_name(column.name)) if stored else listed_place(column, name, words)
