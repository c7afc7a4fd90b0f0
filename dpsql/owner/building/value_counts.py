"""How many rows of a table have each value of a column of numbers, stored beside it, where an engine counts.

Means, variances, medians and other quantiles of a whole table read these numbers then, in the place of all rows. Which
columns are counted follows from the policy alone, and they are counted when the table is made.

Tests: tests/unit/owner/building/test_value_counts.py.
"""

from __future__ import annotations

from dpsql.engine.dialect import Dialect
from dpsql.owner.building.bounded import grid_limits
from dpsql.owner.building.by_size import summable
from dpsql.owner.shape import TableShape
from dpsql.plan.catalog import COUNTS, StoredCounts

__all__ = ["counted_values", "stored_counts"]

MOST_VALUES = 1 << 21
"""Values of a column that is counted, in steps of its grid. It is a choice: cents up to 20,000, which ten million rows
have counted in 0.2 s of a processor, and more of them take a build longer, and save a statement less. The guess of rows
does not choose: it may change while a version stands (`shape.Shape.digest`)."""


def stored_counts(table: TableShape) -> StoredCounts | None:
    """The columns whose values are counted; None where none are."""
    if table.public:
        return None
    columns = list[str]()
    for column in table.columns:
        if summable(table, column):
            low, high = grid_limits(column)
            if high - low < MOST_VALUES:
                columns.append(column.name)
    return StoredCounts(f"{table.name}$counts", tuple(columns)) if columns else None


def counted_values(table: TableShape, counts: StoredCounts, words: Dialect) -> str:
    """SQL of the numbers, from the bounded table."""
    columns, parts = {column.name: column for column in table.columns}, list[str]()
    of, value, rows = map(words.quoted, COUNTS)
    for place, name in enumerate(counts.columns):
        x = words.quoted(columns[name].in_steps)
        shown = f"{place} AS {of}, {words.cast(x, 'BIGINT')} AS {value}, count(*) AS {rows}"
        parts.append(f"SELECT {shown} FROM {words.bounded(table.name)} WHERE {x} IS NOT NULL GROUP BY {x}")
    return " UNION ALL ".join(parts)
