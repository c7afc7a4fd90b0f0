"""Tables that may not leave, and tables that may.

`RawTable` holds exact numbers from the engine. Only a mechanism turns one into a `ReleasedTable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.errors import InvariantBroken

__all__ = ["Group", "RawTable", "ReleasedTable"]

Group = tuple[Any, ...]
"""The key values of one group, in the order of the statement's keys; ``()`` for a statement without keys."""


class RawTable:
    """Exact numbers, column by column. Its text shows nothing, so that no log or traceback can.

    Args:
        columns: Name to values; every column has the same length. Integers are Python ints or int64 arrays.
    """

    __slots__ = ("_columns", "_length")

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise InvariantBroken("a raw table has columns of unequal length")
        self._columns = dict(columns)
        self._length = lengths.pop() if lengths else 0

    def __repr__(self) -> str:
        return "RawTable(<private>)"

    def __len__(self) -> int:
        return self._length

    def column(self, name: str) -> Sequence[Any]:
        """The exact values of one column."""
        try:
            return self._columns[name]
        except KeyError:
            raise InvariantBroken(f"a raw table has no column {name!r}") from None

    def groups(self, keys: Sequence[str]) -> list[Group]:
        """One tuple of key values per row; ``()`` for each row when there are no keys."""
        if not keys:
            return [()] * self._length
        return list(zip(*(self.column(key) for key in keys), strict=True))

    def aligned(self, keys: Sequence[str], groups: Sequence[Group], fill: Mapping[str, Any]) -> RawTable:
        """The columns named in ``fill``, one row per wanted group; groups that are absent get the fill value."""
        where = {group: row for row, group in enumerate(self.groups(keys))}
        rows = [where.get(group, -1) for group in groups]
        return RawTable(
            {
                name: [column[row] if row >= 0 else absent for row in rows]
                for name, absent in fill.items()
                for column in (self.column(name),)
            }
        )


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """Noised numbers that may leave: each column has one entry per group.

    Attributes:
        columns: ``value`` is the answer in the column's own unit (None where there is none); further columns
            (``sum``, ``count``, ...) are what the error bars need. All are results of charged mechanisms.
    """

    columns: Mapping[str, Sequence[Any]]

    @property
    def values(self) -> Sequence[Any]:
        """The answers, one per group."""
        return self.columns["value"]
