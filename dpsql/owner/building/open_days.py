"""How many units and rows have each day of a column without bounds, stored beside the rows, where an engine counts.

Groups by such a day are found in a few rows then, however many rows the table has; so they are where few of each unit's
groups count. Which columns these are follows from the policy alone, and they are counted when the table is made. There
are never more numbers than rows, nor than `MOST_FIRST` + 1 for each day of a calendar.

Tests: tests/unit/owner/building/test_open_days.py.
"""

from __future__ import annotations

from dpsql.owner.shape import TableShape
from dpsql.plan.catalog import StoredDays

__all__ = ["stored_days"]


def stored_days(table: TableShape) -> tuple[StoredDays, ...]:
    """The columns whose days are counted: those that a statement may group by, and nobody listed."""
    if not table.numbered:
        return ()
    days = [column for column in table.columns if column.type == "date" and column.low is None and column.high is None]
    listed = {column.name for column in days if column.values or column.values_from}
    return tuple(StoredDays(f"{table.name}$open${own.name}", own.name) for own in days if own.name not in listed)
