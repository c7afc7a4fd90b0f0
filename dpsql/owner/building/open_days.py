"""How many units and rows have each day of a column without bounds, stored beside the rows, where an engine counts.

Groups by such a day are found in a few rows then, however many rows the table has. Which columns these are follows from
the policy alone, and they are counted when the table is made. There are never more days than rows, nor than a calendar
has.

Tests: tests/unit/owner/building/test_open_days.py.
"""

from __future__ import annotations

from dpsql.engine.dialect import Dialect
from dpsql.owner.shape import TableShape
from dpsql.plan.catalog import NUMBER, StoredDays

__all__ = ["rows_by_day", "stored_days"]


def stored_days(table: TableShape) -> tuple[StoredDays, ...]:
    """The columns whose days are counted: those that a statement may group by, and nobody listed."""
    if not table.numbered:
        return ()
    days = [column for column in table.columns if column.type == "date" and column.low is None and column.high is None]
    listed = {column.name for column in days if column.values or column.values_from}
    return tuple(StoredDays(f"{table.name}$open${own.name}", own.name) for own in days if own.name not in listed)


def rows_by_day(table: TableShape, days: StoredDays, words: Dialect) -> str:
    """SQL of the number of each row's unit and its day, from the bounded table."""
    return f"SELECT {words.quoted(NUMBER)}, {words.quoted(days.column)} FROM {words.bounded(table.name)}"
