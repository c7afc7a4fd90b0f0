"""What each unit has in all, stored beside its rows: how many rows, and count and sum of each column of numbers.

Sums that listed columns alone choose and group read one row a unit then, instead of all its rows. What is stored
follows from the policy and its public tables alone, and is made with the table: how long it takes, and what is there,
tells nobody what was asked. It is never larger than the table.

A table has its totals by unit, and once more by unit and listed columns, where a unit may have several rows in each of
their cells. `by_size` adds these up over all units.

Tests: tests/unit/owner/building/test_totals.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.dialect import Dialect
from dpsql.owner.building.by_size import sizes_of_totals, summable
from dpsql.owner.building.numbered import value_at
from dpsql.owner.shape import ColumnShape, TableShape
from dpsql.plan.catalog import NUMBER, StoredTotals, place_name

__all__ = ["added_up", "stored_totals", "totals_order", "totals_rows"]

SHARED = 4
"""Rows that a unit may have, by the policy, for each cell of listed columns at least. It is a choice: with fewer, a
table of cells is hardly smaller than that of the rows."""


def stored_totals(table: TableShape) -> tuple[StoredTotals, ...]:
    """The totals that are stored of a table, the smallest first."""
    if table.public or table.rows_per_unit < 2:
        return ()
    summed = tuple(column.name for column in table.columns if summable(table, column))
    keys, cells = list[str](), 1
    for column in table.columns:
        listed = (False, True) if column.type == "boolean" else column.values or ()
        own = len(listed) + 1 if listed else 0  # with NULL
        if own and SHARED * cells * own <= table.rows_per_unit:
            keys.append(column.name)
            cells *= own
    found = list[StoredTotals]()
    for by in ((), tuple(keys)) if keys else ((),):
        name = f"{table.name}${'cells' if by else 'totals'}"
        found.append(StoredTotals(name, by, summed, sizes_of_totals(table, name, by, summed)))
    return tuple(found)


def totals_rows(table: TableShape, totals: StoredTotals, words: Dialect) -> str:
    """SQL of what is stored, from the bounded table: of the units of one range, where an engine takes these apart."""
    places = _places(table, totals, words)
    by = [words.quoted(name) for name in totals_order(table, totals, words)]
    number = words.quoted(NUMBER)
    shown = [words.quoted(str(table.unit))]
    shown += [
        f"{value_at(places[name], words.quoted(place_name(name)), words)} AS {words.quoted(name)}"
        if name in places
        else words.quoted(name)
        for name in totals.keys
    ]
    if table.numbered and words.counts:
        shown.append(f"min({number}) AS {number}")  # the same in all rows of a group
    shown += [words.quoted(place_name(name)) for name in places]
    values = added_up(table, totals.columns, words)
    shown += [f"{words.cast(value, 'BIGINT')} AS {words.quoted(name)}" for name, value in values]
    within = f" WHERE {words.call('within', by[0])}" if words.has("within") else ""
    return f"SELECT {', '.join(shown)} FROM {words.bounded(table.name)}{within} GROUP BY {', '.join(by)}"


def added_up(table: TableShape, columns: Sequence[str], words: Dialect) -> list[tuple[str, str]]:
    """What is stored of some rows of a bounded table, by the names of `StoredTotals`, each with its SQL."""
    grids = {column.name: words.quoted(column.in_steps) for column in table.columns}
    values = [(StoredTotals.rows, "count(*)")]
    for name in columns:
        values += [(StoredTotals.count(name), f"count({grids[name]})"), (StoredTotals.sum(name), f"sum({grids[name]})")]
    return values


def totals_order(table: TableShape, totals: StoredTotals, words: Dialect) -> list[str]:
    """The columns by which rows are added up, in whose order the totals lie.

    Of a listed column it is the place, where the rows have it: two are the same just if the values are, they rise as
    these do, and small whole numbers are grouped and sorted faster than texts.
    """
    places = _places(table, totals, words)
    return [str(table.unit), *(place_name(name) if name in places else name for name in totals.keys)]


def _places(table: TableShape, totals: StoredTotals, words: Dialect) -> dict[str, ColumnShape]:
    """The columns by which rows are added up whose places stand beside them, by name, in the table's order."""
    if not (table.numbered and words.counts):
        return {}
    return {column.name: column for column in table.columns if column.name in totals.keys and column.places}
