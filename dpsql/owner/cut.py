"""How much of a column's total its bounds take off: for the owner's eyes. A few values may hold most of it.

Tests: tests/unit/owner/test_check.py.
"""

from __future__ import annotations

from dpsql.engine.database import Database, SourceTable
from dpsql.owner.bounded import ColumnReading

__all__ = ["part_cut"]

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
