"""Which times of the source have a zone, and how they are read: for `dpsql check`, in the owner's process.

Tests: tests/unit/owner/checking/test_check.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from dpsql.engine.database import SourceType
from dpsql.engine.dialect import Dialect
from dpsql.owner.finding import Finding
from dpsql.owner.shape import ColumnShape, TableShape

__all__ = ["times_with_zones"]


def times_with_zones(
    table: TableShape, column: ColumnShape, held: SourceType, counts: Callable[..., tuple[int, ...]], words: Dialect
) -> Iterator[Finding]:
    """A finding where the days or times of a column have zones.

    Args:
        table, column: Where they are.
        held: What the source holds.
        counts: The number of rows, and of those for which each of several conditions holds.
        words: The database's.
    """
    if held.zoned:
        view = _view(table, column, words)
        what = f"has time zones in the data: it is read as UTC. For local time cast it in {view}."
        yield Finding(table.name, column.name, what, None, None, "warning")
    elif held.family == "text":
        rows, zoned = counts(words.call("has_offset", f"s.{words.quoted(column.name)}"))
        read = "they are read as UTC" if column.type == "timestamp" else "each is the day in UTC"
        what = f"values have an offset, as in 10:15+02:00: {read}. For local time leave it out of the texts."
        if zoned:
            yield Finding(table.name, column.name, what, zoned, Fraction(zoned, rows), "warning")


def _view(table: TableShape, column: ColumnShape, words: Dialect) -> str:
    """Where the owner can write a view in which a column's times are local ones; over a file, its statement."""
    file = table.place[1]
    if file is None or words.name != "DuckDB":
        return "a view of the data"
    own = words.quoted(dict(table.rename).get(column.name, column.name))
    local = f"SELECT * REPLACE ({own} AT TIME ZONE 'Europe/Berlin' AS {own}) FROM {words.text(file)}"
    return f"a DuckDB file with a view over it, and name that file: CREATE VIEW {table.name} AS {local}"
