"""Columns of one quantity at several times, told by their names: a panel's income_2019, income_2020, ..

Tests: tests/unit/owner/advice/test_waves.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.policy.column import ColumnPolicy

__all__ = ["waves_of"]

_NUMBERS = re.compile(r"([0-9]+)")


def waves_of(name: str, columns: Mapping[str, ColumnPolicy]) -> list[str]:
    """The other columns of one type whose names differ from this one's in one number alone, as their order is.

    Args:
        name: Of a column among these.
        columns: A table's.
    """
    parts = _NUMBERS.split(name)
    return [other for other, column in columns.items() if column.type == columns[name].type and _once(parts, other)]


def _once(parts: list[str], other: str) -> bool:
    """Whether a name has the same parts but for one number; its parts at odd places are its numbers."""
    own = _NUMBERS.split(other)
    if len(own) != len(parts):
        return False
    return [place % 2 for place, pair in enumerate(zip(parts, own, strict=True)) if pair[0] != pair[1]] == [1]
