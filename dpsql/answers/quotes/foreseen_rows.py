"""The rows of an answer before anything is released: what they are grouped by, and what lies in windows over them.

Tests: tests/unit/answers/quotes/test_foreseen.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from dpsql.answers.computed.forms import choosing
from dpsql.answers.computed.intervals import known_value
from dpsql.answers.computed.totals import RISING, Over, several_rows
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.nodes import Apply, Column, Constant, Expression, Total, Windowed
from dpsql.plan.over_answers.ranged import Ranged, Told
from dpsql.plan.rows.windows import SHOWING
from dpsql.prepare import Prepared
from dpsql.sql.syntax import Frame

__all__ = ["RowsForeseen"]

LOOKED_AT = 100
"""Rows of which intervals are worked out, or up to twice as many, in equal steps. It is a choice: so many take a few
milliseconds."""


@dataclass(frozen=True, slots=True)
class RowsForeseen:
    """The rows of an answer, where the groups are listed.

    Attributes:
        prepared: The statement.
    """

    prepared: Prepared

    @property
    def count(self) -> int | None:
        """How many there are; None where groups are found in the data."""
        sizes = [None if own.groups is None else len(own.groups) for own in self.prepared.groupings]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def values(self, keys: Sequence[str]) -> list[dict[str, Told]] | None:
        """What some rows of the first grouping have of these keys; None where that is not known."""
        if not keys:
            return [{}]
        places, groups = self._places(keys), self.prepared.groupings[0].groups
        if places is None or groups is None:
            return None
        looked = groups[:: max(1, len(groups) // LOOKED_AT)]
        different = dict.fromkeys(tuple(group[place] for place in places) for group in looked)
        return [dict(zip(keys, map(known_value, group), strict=True)) for group in different]

    def over(self, node: Over | Apply, known: Mapping[str, Told]) -> Interval | None:
        """What a window, a sub-query as a value or an aggregate of all rows lies in, if all rows are as this one.

        None where nothing tells.
        """
        counted = self.counted(node) if isinstance(node, Apply) else (node.arguments[0] if node.arguments else None, ())
        if counted is None:
            return None
        argument, read = counted
        if isinstance(node, Apply) and node.function.name == "count":
            return Interval.point(len(read))
        if node.function.name not in RISING or argument is None or several_rows(argument):
            return None
        keys = {key.name for key in self.prepared.plan.keys}
        if not isinstance(node, Apply) and any(column.name not in keys for column in choosing(node)):
            return None  # which rows are read is left to chance
        own = Ranged(argument).possible(lambda own: known.get(own.name) if isinstance(own, Column) else None)
        if own.range is None or (own.null and argument.facts.nullable):
            return None  # how many rows count is not known
        found = own.range
        if not isinstance(found, Interval):
            return None  # two dates
        if not found.finite:
            return EVERYTHING
        if node.function.name != "sum":
            return found
        rows = [len(read)] if isinstance(node, Apply) else self._sizes(node)
        return None if rows is None else found * Interval.point(max(rows))

    def counted(self, node: Apply) -> tuple[Expression | None, Sequence[int]] | None:
        """What an aggregate is of, and of which rows, where its interval is the widest; None where nothing tells."""
        each = [own.counted(node) for own in self.prepared.members or ()]
        filled = [own for own in each if own[1]]
        return (min if node.function.name == "avg" else max)(filled, key=lambda own: len(own[1]), default=None)

    def most(self, nodes: Sequence[Apply]) -> int | None:
        """How many rows aggregates read at most, of one row of the answer; None where that is not known."""
        found = [self.counted(node) for node in nodes]
        return max((len(own[1]) for own in found if own is not None), default=None)

    def read(self, node: Over) -> tuple[Expression | None, Sequence[int]] | None:
        """What a window or a sub-query reads of which rows in the row, 0, where its interval is the widest.

        None where that is not known.
        """
        rows = self._read(node)
        return None if rows is None else (node.arguments[0] if node.arguments else None, rows)

    def _read(self, node: Over) -> Sequence[int] | None:
        name = node.function.name
        if name in SHOWING:
            offset = node.arguments[1] if len(node.arguments) > 1 else None
            away = offset.value if isinstance(offset, Constant) and isinstance(offset.value, int) else 1
            return [-away if name == "lead" else away]
        sizes = self._sizes(node if not isinstance(node, Windowed) else replace(node, frame=None))
        if sizes is None:
            return None
        most = min(sizes) if name == "avg" else max(sizes)
        if not isinstance(node, Windowed):
            return range(most)
        frame = node.frame or (Frame(rows=False, start=None, end=0) if node.order else None)
        before, behind = (None, None) if frame is None else (frame.start, frame.end)
        if (before or 0) > 0 or (behind or 0) < 0:
            return None
        if name == "avg":  # at an end of the partition there are the fewest
            least = min(most if own is None else abs(own) + 1 for own in (before, behind))
            return range(min(least, most))
        return range(most if before is None or behind is None else min(most, behind - before + 1))

    def _sizes(self, node: Over) -> Collection[int] | None:
        """How many rows a sum is over, in each partition; None where that is not known."""
        every = None if self.count is None else [self.count]
        if isinstance(node, Total):
            return every if node.where is None else None
        names = [own.name for own in node.partition if isinstance(own, Column)]
        places, groups = self._places(names), self.prepared.groupings[0].groups
        if node.frame is not None or len(names) < len(node.partition) or places is None or groups is None:
            return None
        if not names:
            return every
        return Counter(tuple(group[place] for place in places) for group in groups).values() or [0]

    def _places(self, keys: Sequence[str]) -> list[int] | None:
        """Where a listed group has these keys."""
        held = [self.prepared.plan.keys[index].name for index in self.prepared.groupings[0].keys]
        return [held.index(key) for key in keys] if set(keys) <= set(held) else None
