"""The rows of a bounded table whose source has new files beside all of its old ones: made of those stored, and the new.

The old files are not read again. Rows of units that have no new row are taken as they are stored, places and all; those
of all others are placed anew together with the new ones. `again.Again.new_files` says where this may be done.

Theorem. The table is that of a whole build, row by row: the same rows, places and numbers, in the same order.

Proof. Let O be the old rows and N the new ones, cleaned. Cleaning looks at one row at a time, so a whole build places
those of O and N together, and the stored table holds what it keeps of O. What is kept of a unit follows from its own
rows, so that of a unit without new rows is what is stored of it. Take one with new rows, of which the cap leaves the
first k places.

Without a key, the rows stand in an order that is total but for equal rows, by a hash of what they say and by all they
say (`one_pass`). A row that is not among the first k of O has k before it in O, and so in O and N: it is cut again.
What is left out may be left out, so the first k of O and N are the first k of what is kept of O, and of N.

With a key, keys stand in such an order, and the place of a key says how many stand up to it. By the same argument a key
that was cut is cut again, also where it comes once more in N: its place only rose. The first k keys of O and N are in
what is kept of O, or in N, so the place of each is right, and any other key is behind them all. Of the rows of a key
the first by `first_of_a_place` stays, an order of rows that knows no place: the first of O and N is the first of N and
of the first of O, which is stored.

Where a unit has one row at all it is the first of its rows by the same order, and the same holds.

Hash and order are of the table's own columns, which are stored as they were cleaned, in the same types. Places of
listed values follow from each row. Numbers of units are counted anew, over the rows in order of unit and place; the
statement compares each with the one before it, and fails where they fall.  QED

Totals of units are added up from the table, as ever.

Tests: tests/unit/owner/building/test_appended.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.database import SourceTable
from dpsql.engine.dialect import Dialect
from dpsql.owner.building.numbered import MOST_UNITS
from dpsql.owner.building.one_pass import begins_unit, one_pass, row_number, unit_by_unit, units_before
from dpsql.owner.shape import TableShape
from dpsql.plan.catalog import NUMBER, RANK, place_name

__all__ = ["appended", "together"]


def appended(stored: str, new: str, columns: Sequence[str], table: TableShape, words: Dialect) -> str:
    """SQL of the bounded table's rows, in its order; of those with one place the first by `first_of_a_place` stays.

    Args:
        stored: What to write after FROM for the bounded table of the version before.
        new: The same for the cleaned rows that came.
        columns: All columns of these.
        table: The table.
        words: The database's.
    """
    names, unit = ", ".join(map(words.quoted, columns)), words.quoted(str(table.unit))
    if not table.numbered:
        rows = f"SELECT {names} FROM {stored} AS b UNION ALL SELECT {names} FROM {new} AS n"
        return unit_by_unit(rows, str(table.unit), words)
    moves = f"EXISTS (SELECT 1 FROM {new} AS n WHERE n.{unit} = b.{unit})"
    moved = f"SELECT {names} FROM {stored} AS b WHERE {moves} UNION ALL SELECT {names} FROM {new} AS n"
    places = [words.quoted(place_name(column.name)) for column in table.columns if column.places]
    placed = ", ".join([names, words.quoted(RANK), *places])
    rows = (
        f"SELECT {placed} FROM {stored} AS b WHERE {words.call('within', unit)} AND NOT {moves} "
        f"UNION ALL SELECT {placed} FROM ({one_pass(moved, columns, table, words)}) AS p"
    )
    return _numbered(rows, [names, words.quoted(RANK)], [row_number(table, words), *places], unit, words)


def _numbered(rows: str, before: Sequence[str], behind: Sequence[str], unit: str, words: Dialect) -> str:
    """SQL of rows with places in the order of unit and place, with their units' numbers between other columns."""
    rank, number, first = map(words.quoted, (RANK, NUMBER, "$first"))
    ordered = f"SELECT * FROM ({rows}) AS r ORDER BY {unit}, {rank}"
    seen = f"SELECT *, {begins_unit(unit, rank, words)} AS {first} FROM ({ordered}) AS o"
    counted = f"SELECT *, {units_before(first, words)} AS {number} FROM ({seen}) AS s"
    shown = [*before, f"{words.narrowed(number, 0, MOST_UNITS)} AS {number}", *behind]
    return f"SELECT {', '.join(shown)} FROM ({counted}) AS c"


def together(sources: Sequence[SourceTable]) -> str:
    """What to write after FROM for the rows of several files, at least one, with the columns of the first."""
    names = ", ".join(map(sources[0].dialect.quoted, sources[0].types))
    return f"({' UNION ALL '.join(f'SELECT {names} FROM {source.sql}' for source in sources)})"
