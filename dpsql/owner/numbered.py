"""Small whole numbers beside the rows of a bounded table, by which an engine adds them up unit by unit, and fast.

Each unit has a number, from 0, in the units' own order; each value of a short list its place in that list, rising, NULL
behind all.

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
from dpsql.plan.catalog import NUMBER, place_name

__all__ = ["numbered"]

MOST_UNITS = 2**31 - 1
"""Units of a table: what 32 bits number. A build with more of them fails; no country has so many people."""


def numbered(rows: str, table: TableShape, units: str, words: Dialect) -> str:
    """SQL of rows with the number of their unit (`NUMBER`), and the places of listed values (`place_name`).

    Args:
        rows: SQL of the rows.
        table: Their table.
        units: What to write after FROM for rows of the same units, perhaps more of each.
        words: The database's.
    """
    unit, number = words.quoted(str(table.unit)), words.quoted(NUMBER)
    distinct = f"SELECT DISTINCT {unit} FROM {units}"
    each = f"SELECT {unit}, row_number() OVER (ORDER BY {unit}) - 1 AS {number} FROM ({distinct}) AS d"
    shown = ["r.*", f"{words.narrowed(f'n.{number}', 0, MOST_UNITS)} AS {number}"]
    shown += [
        f"{_place(column, words)} AS {words.quoted(place_name(column.name))}"
        for column in table.columns
        if column.places
    ]
    return f"SELECT {', '.join(shown)} FROM ({rows}) AS r JOIN ({each}) AS n ON r.{unit} = n.{unit}"


def _place(column: ColumnShape, words: Dialect) -> str:
    value, last = f"r.{words.quoted(column.name)}", len(column.places)
    cases = " ".join(
        f"WHEN {words.constant(listed, wire_of(column))} THEN {place}" for place, listed in enumerate(column.places)
    )
    return words.narrowed(f"CASE {value} {cases} ELSE {last} END", 0, last)
