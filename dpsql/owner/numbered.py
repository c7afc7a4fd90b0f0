"""Small whole numbers beside the rows of a bounded table, by which an engine adds them up unit by unit, and fast.

Each unit has a number (`NUMBER`), from 0, in the units' own order (`one_pass` counts them); each value of a short list
its place in that list, rising, NULL behind all.

Theorem. Statements that ask of numbers only whether those of two rows are the same, and whether they rise, find of each
unit what they find without any other unit.

Proof. A unit's number says how many units are before it, so it changes as others come and go. But two rows have the
same number just if they are of one unit, and numbers rise just where units do: neither depends on a third.  QED

So nothing else may read them, and no name of a policy or statement has a $. A place follows from its row alone.

Tests: tests/unit/owner/test_numbered.py.
"""

from __future__ import annotations

from dpsql.engine.dialect import Dialect
from dpsql.owner.bounded import wire_of
from dpsql.owner.shape import ColumnShape, TableShape
from dpsql.plan.catalog import place_name

__all__ = ["MOST_UNITS", "listed_places"]

MOST_UNITS = 2**31 - 1
"""Units of a table: what 32 bits number. A build with more of them fails; no country has so many people."""


def listed_places(table: TableShape, words: Dialect) -> list[str]:
    """SQL of a column (`place_name`) for each of a table's that has a short list of values: the place of its value."""
    return [
        f"{_place(column, words)} AS {words.quoted(place_name(column.name))}"
        for column in table.columns
        if column.places
    ]


def _place(column: ColumnShape, words: Dialect) -> str:
    value, last = words.quoted(column.name), len(column.places)
    cases = " ".join(
        f"WHEN {words.constant(listed, wire_of(column))} THEN {place}" for place, listed in enumerate(column.places)
    )
    return words.narrowed(f"CASE {value} {cases} ELSE {last} END", 0, last)
