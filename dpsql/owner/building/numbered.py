"""Small whole numbers beside the rows of a bounded table, by which an engine adds them up unit by unit, and fast.

Each unit has a number (`NUMBER`), from 0, in the units' own order (`one_pass` counts them), and each row that number
with its own place below it (`ROW`); each value of a short list its place in that list, rising, NULL behind all.

Theorem. Statements that ask of numbers only whether those of two rows are the same, and whether they rise, find of each
unit what they find without any other unit.

Proof. A unit's number says how many units are before it, so it changes as others come and go. But two rows have the
same number just if they are of one unit, and numbers rise just where units do: neither depends on a third. Nor does a
row's place within its unit, by which two rows of one unit differ where their numbers are alike.  QED

So nothing else may read them, and no name of a policy or statement has a $. A place follows from its row alone.

Tests: tests/unit/owner/building/test_numbered.py.
"""

from __future__ import annotations

from collections.abc import Collection

from dpsql.engine.dialect import Dialect
from dpsql.owner.building.bounded import wire_of
from dpsql.owner.shape import ColumnShape, TableShape
from dpsql.plan.catalog import place_name

__all__ = ["MOST_COMPARED", "MOST_UNITS", "carried", "listed_place", "listed_places", "value_at"]

MOST_COMPARED = 10
"""Values of a list that are compared with each row one by one, where an engine finds a value in a list. It is a choice:
from there on finding it is faster, six times of 64 values (measured over 5 million rows of Parquet)."""
MOST_UNITS = 2**31 - 1
"""Units of a table: what 32 bits number. A build with more of them fails; no country has so many people."""


def carried(table: TableShape) -> list[ColumnShape]:
    """The columns whose places alone need to be sorted with a table's rows: listed texts, which nothing is hashed of.

    Theorem. `value_at` of the `listed_place` of a column's parsed values are its cleaned ones.

    Proof. A listed value has a place of its own, at which it stands in the list. Any other is cleaned to NULL, as NULL
    is; both have the place behind all, where the list has nothing.  QED
    """
    hashed = {str(table.unit), *table.keys}
    return [
        column
        for column in table.columns
        if table.keys and column.places and column.type == "text" and column.name not in hashed
    ]


def listed_places(table: TableShape, words: Dialect, places: Collection[ColumnShape] = ()) -> list[str]:
    """SQL of a column (`place_name`) for each of a table's that has a short list of values: the place of its value.

    Args:
        table: The table.
        words: The database's.
        places: Columns that hold the places already, under their own names.
    """
    return [
        f"{words.quoted(column.name) if column in places else listed_place(column, words.quoted(column.name), words)} "
        f"AS {words.quoted(place_name(column.name))}"
        for column in table.columns
        if column.places
    ]


def listed_place(column: ColumnShape, value: str, words: Dialect) -> str:
    """SQL of the place of a column's value in its list; of any other value, and of NULL, it is behind all."""
    values, last = [words.constant(listed, wire_of(column)) for listed in column.places], len(column.places)
    if last > MOST_COMPARED and words.has("place_among"):
        return words.narrowed(f"coalesce({words.call('place_among', value, *values)}, {last})", 0, last)
    cases = " ".join(f"WHEN {listed} THEN {place}" for place, listed in enumerate(values))
    return words.narrowed(f"CASE {value} {cases} ELSE {last} END", 0, last)


def value_at(column: ColumnShape, place: str, words: Dialect) -> str:
    """SQL of the value of a column's list at a place; NULL behind all."""
    return words.call("at_place", place, *(words.constant(listed, wire_of(column)) for listed in column.places))
