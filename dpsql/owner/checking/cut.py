"""What the bounded tables cut off: of a column's total, by its bounds, and of long texts. For `dpsql check`, in the
owner's process.

Tests: tests/unit/owner/checking/test_check.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from dpsql.engine.database import Database, SourceTable
from dpsql.owner.building.bounded import READABLE, ColumnReading, reading
from dpsql.owner.building.owners import Owned
from dpsql.owner.finding import Finding
from dpsql.owner.shape import TableShape

__all__ = ["cut_texts", "part_cut"]

FINITE = 1e150  # Beyond it a value has no part of a total: no sum is infinite. It is a choice.


def part_cut(database: Database, source: SourceTable, read: ColumnReading) -> float:
    """Which part of all that values add up to, each by its size, is lost where they are moved to the nearer bound.

    Args:
        database: The source's.
        source: The table.
        read: How the column is read, a number without listed values.
    """
    words = database.dialect
    held, kept = (words.cast(value, "DOUBLE") for value in (read.parsed, read.value))
    size, off, most = words.call("abs", "held"), words.call("abs", "held - kept"), words.constant(FINITE, "DOUBLE")
    parts = f"{held} AS held, {kept} AS kept, {read.outside} AS outside"
    ((total, lost),) = database.rows(
        f"SELECT sum({size}), sum(CASE WHEN outside THEN {off} END) "
        f"FROM (SELECT {parts} FROM {source.sql} AS s) AS r WHERE {size} < {most}"
    )
    return float(lost or 0) / float(total) if total else 0.0


def cut_texts(
    table: TableShape, source: SourceTable, rows: Owned, row: Callable[[str], tuple[int, ...]]
) -> Iterator[Finding]:
    """A finding for each column of which texts are cut.

    Args:
        table: A private table.
        source: Its source.
        rows: Its rows, with their units.
        row: The one row of a query of counts.
    """
    for column in table.columns:
        kind = source.type_of(column.name)
        if column.max_length is None or kind is None or kind.family not in READABLE[column.type]:
            continue
        shown = f"SELECT {rows.unit} AS u, {reading(table, column, source, None).cut} AS c FROM {rows.sql}"
        counts = "count(*), count(*) FILTER (WHERE c), count(DISTINCT CASE WHEN c THEN u END)"
        every, cut, units = row(f"SELECT {counts} FROM ({shown}) AS r")
        if cut:
            whose = f"texts, of {units:,} unit{'s' * (units != 1)},"
            what = f"{whose} are longer than max_length: {column.max_length:,}. They are cut; write more to keep more."
            yield Finding(
                table.name, column.name, what, cut, Fraction(cut, every), "warning", read_as="their first letters"
            )  # fmt: skip
