"""What rows have in all by their place within their unit, stored beside them, where an engine counts.

Counts and sums over a whole table read a few rows then, and so they do where each unit's first rows count alone, which
are those of the least ranks. What is stored follows from the policy alone, and is made with the table. There are never
more rows than one unit has.

Tests: tests/unit/owner/building/test_by_rank.py.
"""

from __future__ import annotations

from dpsql.engine.dialect import Dialect
from dpsql.owner.building.by_size import summable
from dpsql.owner.building.totals import added_up
from dpsql.owner.shape import TableShape
from dpsql.plan.catalog import RANK, StoredRanks

__all__ = ["stored_ranks", "sums_by_rank"]

MOST_RANKS = 1 << 16
"""Rows that a unit may have, in a table whose ranks are added up. It is a choice: as many take no time to speak of."""


def stored_ranks(table: TableShape) -> StoredRanks | None:
    """What is added up by rank; None where units have one row, or too many."""
    if table.public or not 2 <= table.rows_per_unit <= MOST_RANKS:
        return None
    return StoredRanks(f"{table.name}$ranks", tuple(own.name for own in table.columns if summable(table, own)))


def sums_by_rank(table: TableShape, ranks: StoredRanks, words: Dialect) -> str:
    """SQL of the numbers, from the bounded table."""
    rank, values = words.quoted(RANK), added_up(table, ranks.columns, words)
    shown = [rank, *(f"{words.cast(value, 'HUGEINT')} AS {words.quoted(name)}" for name, value in values)]
    return f"SELECT {', '.join(shown)} FROM {words.bounded(table.name)} GROUP BY {rank}"
