"""What was found of a relation, kept for those who ask next: most steps of a plan ask of the relations below, too.

Tests: tests/unit/plan/test_remembered.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from dpsql.plan.catalog import TableInfo
from dpsql.plan.nodes import Relation

__all__ = ["MOST_KEPT", "remembered"]

MOST_KEPT = 256  # Relations, which is more than most statements have. Few, since what they list is kept with them.

Asked = TypeVar("Asked", Relation, TableInfo)
Found = TypeVar("Found")


def remembered(find: Callable[[Asked], Found]) -> Callable[[Asked], Found]:
    """The same function of a relation, or of a table, which works out once what it finds of each.

    A relation never changes, and is known by where it is in memory: to compare two would take longer than to find out.
    """
    kept: dict[int, tuple[Asked, Found]] = {}  # with the relation itself, so that no other one is put in its place

    @wraps(find)
    def found(relation: Asked) -> Found:
        known = kept.get(id(relation))
        if known is not None:
            return known[1]
        value = find(relation)
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[id(relation)] = relation, value
        return value

    return found
