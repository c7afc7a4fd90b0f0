"""The rows of a bounded table in one pass: sorted once, then placed, numbered and cut while they stream by.

For engines whose windows over all rows take these as they come (`Dialect.counts`). Elsewhere `caps.placed` and
`caps.one_of_each` say the same in windows over each unit's rows, which are sorted once more for the table.

Theorem. The places of the rows are those of `caps.placed`, and of rows with one place the first by `first_of_a_place`
is the one that `caps.one_of_each` takes.

Proof. The rows are sorted by what `placed` orders them by. (The statement compares each with the one before it, and
fails where unit and hash fall: it relies on no rule of the engine's about how rows stream.) Where no key tells them
apart, a row's place is one more than how many rows of its unit came before it. Rows of one key have one hash, and are
next to each other behind rows of lesser keys: how many different keys of the unit came until then is the place. Then no
two keys have one place, so the rows of a place are those of a key, and `first_rows` takes the first of them by the same
order.  QED

Where a unit has one row at all (`unit_by_unit`), it is the first of its rows by the same order: the first of each key
are compared by it, too, so it is the one that `first_rows` takes of these.

Each unit's number (`numbered`) is how many units came before it. `row_number` has it and the place as one.

Listed texts of a table with a key are sorted as their places in the list, and written as texts (`numbered.carried`).

Of a large table the rows are sorted range by range of units (`in_parts`), two at once, so that what is sorted stays
small and two processors write. Nothing above changes: all rows of a unit are in one range, the ranges follow each other
in the order of the units, and the numbers of each begin with how many units are before it.

Tests: tests/unit/owner/building/test_one_pass.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dpsql.engine.database import Parts, SourceTable
from dpsql.engine.dialect import Dialect
from dpsql.owner.building.caps import shown_hash
from dpsql.owner.building.numbered import MOST_UNITS, listed_places, value_at
from dpsql.owner.shape import ColumnShape, TableShape
from dpsql.plan.catalog import MOST_RANK, NUMBER, RANK, ROW, rank_digits

__all__ = [
    "begins_unit",
    "first_of_a_place",
    "in_parts",
    "one_pass",
    "row_number",
    "totals_in_parts",
    "unit_by_unit",
    "units_before",
]

PART = 10_000_000
"""Rows of a range, about, before there are `MOST_PARTS`. It is a choice: of two ranges at once, narrow rows are sorted
in 2 GiB of memory."""
MOST_PARTS = 16
"""Ranges of a table. It is a choice: each reads the source once more, which takes a small part of what its building
takes, and an eighth of the rows is sorted on disk where it must be."""
LEAST_MOST = 2**16
"""Places are stored as numbers that hold at least so many. It is a choice: DuckDB writes 32 bits in two thirds of the
time of 64, or of 16 or 8."""
TWO = 2_000_000
"""Rows from which on there are two ranges, so that two processors write. It is a choice: fewer are written at once."""


def one_pass(
    rows: str, columns: Sequence[str], table: TableShape, words: Dialect, places: Collection[ColumnShape] = ()
) -> str:
    """SQL of rows with their places (`RANK`) up to the table's cap, their units' numbers, and `listed_places`.

    They come in the order of unit and place. Rows of one key have one place.

    Args:
        rows: SQL of the rows, whose unit and key are never NULL.
        columns: All their columns.
        table: Their table, where a unit may have several rows.
        words: The database's.
        places: Of the columns `numbered.carried`, those which hold the places of values in their lists.
    """
    names = ", ".join(map(words.quoted, columns))
    at, first, rank, number = map(words.quoted, ("$at", "$first", RANK, NUMBER))
    past = "OVER (ROWS UNBOUNDED PRECEDING)"
    start = f"last_value(CASE WHEN {first} THEN {at} END IGNORE NULLS)"  # DuckDB streams it faster than their max
    counted = (
        f"SELECT {names}, {at} - {start} {past} + 1 AS {rank}, {units_before(first, words)} AS {number} "
        f"FROM ({_streaming(rows, columns, table, words)}) AS s"
    )
    narrow = words.narrowed(number, 0, MOST_UNITS)
    place = words.narrowed(rank, 0, max(table.rows_per_unit, LEAST_MOST))
    values = {column.name: f"{value_at(column, words.quoted(column.name), words)} AS " for column in places}
    own = [values.get(name, "") + words.quoted(name) for name in columns]
    shown = [*own, f"{place} AS {rank}", f"{narrow} AS {number}", row_number(table, words)]
    shown += listed_places(table, words, places)
    return f"SELECT {', '.join(shown)} FROM ({counted}) AS c WHERE {rank} <= {table.rows_per_unit}"


def _streaming(rows: str, columns: Sequence[str], table: TableShape, words: Dialect) -> str:
    """SQL of sorted rows: whether each is its unit's ``$first``, and ``$at``, which rises by one where a place does."""
    names, unit = ", ".join(map(words.quoted, columns)), words.quoted(str(table.unit))
    at, first, hash_ = map(words.quoted, ("$at", "$first", "$hash"))
    key = [words.quoted(name) for name in table.keys]
    number = words.call("of_hexadecimal", shown_hash(columns, str(table.unit), table.keys, words))
    hashed = f"SELECT {names}, {number} AS {hash_} FROM ({rows}) AS r WHERE {words.call('within', unit)}"
    by = [unit, hash_, *(f"{name} NULLS FIRST" for name in key or map(words.quoted, columns))]
    ordered = f"SELECT * FROM ({hashed}) AS h ORDER BY {', '.join(by)}"
    differs = [f"lag({name}) OVER () IS DISTINCT FROM {name}" for name in (unit, *key)]
    seen = f"SELECT {names}, {begins_unit(unit, hash_, words)} AS {first}"
    if not key:
        return f"{seen}, row_number() OVER () AS {at} FROM ({ordered}) AS o"
    new = words.quoted("$new")
    seen = f"{seen}, {' OR '.join(differs)} AS {new} FROM ({ordered}) AS o"
    counted = f"count(*) FILTER (WHERE {new}) OVER (ROWS UNBOUNDED PRECEDING)"
    return f"SELECT {names}, {first}, {counted} AS {at} FROM ({seen}) AS n"


def begins_unit(unit: str, within: str, words: Dialect) -> str:
    """SQL of whether a row is its unit's first, of rows in the order of these columns; it fails where they fall."""
    falls = f"lag({unit}) OVER () > {unit} OR (lag({unit}) OVER () = {unit} AND lag({within}) OVER () > {within})"
    return f"CASE WHEN {falls} THEN {words.call('out_of_order')} ELSE lag({unit}) OVER () IS DISTINCT FROM {unit} END"


def units_before(first: str, words: Dialect) -> str:
    """SQL of a row's unit's number, where a column says of all rows until it whether each is the first of a unit."""
    return f"{words.call('numbered')} + count(*) FILTER (WHERE {first}) OVER (ROWS UNBOUNDED PRECEDING) - 1"


def row_number(table: TableShape, words: Dialect) -> str:
    """SQL of a column (`ROW`) with the number of each row's unit and its place, of rows that have both."""
    number, rank = words.cast(words.quoted(NUMBER), "BIGINT"), words.narrowed(words.quoted(RANK), 0, MOST_RANK)
    return f"{number} * {1 << rank_digits(table.rows_per_unit)} + {rank} AS {words.quoted(ROW)}"


def unit_by_unit(rows: str, unit: str, words: Dialect) -> str:
    """SQL of the rows of a table where a unit has one row, in the order of the units; a unit's rows have one place."""
    column = words.quoted(unit)
    return f"SELECT * FROM ({rows}) AS r WHERE {words.call('within', column)} ORDER BY {column}"


def in_parts(rows: str, table: TableShape, source: SourceTable) -> Parts | None:
    """The ranges of units whose rows are sorted apart from each other; None where all are sorted at once.

    How many follows from the policy alone. What is slow to read, as text or through other tables, is read once.
    """
    if table.via is not None or not source.typed:
        return None
    return _parts(rows, table, source.dialect, source.dialect.quoted(NUMBER) if table.numbered else None)


def totals_in_parts(table: TableShape, words: Dialect) -> Parts | None:
    """The same for what is added up of a bounded table's own units, whose rows lie together."""
    unit = words.quoted(str(table.unit))
    return _parts(f"SELECT {unit} FROM {words.bounded(table.name)}", table, words, None) if words.counts else None


def _parts(rows: str, table: TableShape, words: Dialect, number: str | None) -> Parts | None:
    many = min(max(-(-table.rows_about // PART), 1 + (table.rows_about >= TWO)), MOST_PARTS)
    return Parts(rows, words.quoted(str(table.unit)), many, number) if many > 1 else None


def first_of_a_place(columns: Sequence[str], table: TableShape, words: Dialect) -> str:
    """SQL of the order in which rows of one unit and place come, of which the first stays; empty where all stay.

    It goes by what the rows say alone, so that rows of other keys, which move the place, never change which one stays.
    """
    if table.numbered and not table.keys:
        return ""
    encoded = " || ".join(words.call("told_apart", words.quoted(name)) for name in columns)
    hash_ = words.call("hash", words.call("secret"), encoded)
    return ", ".join([hash_, *(f"{words.quoted(name)} NULLS FIRST" for name in columns)])
