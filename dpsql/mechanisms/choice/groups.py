"""What mechanisms of value counts share: the counts of each group, and values of which none is missing.

Tests: tests/unit/mechanisms/choice/test_quantile.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.mean import centre_of
from dpsql.plan.grids import saturating_grid
from dpsql.plan.needs import Values
from dpsql.plan.types import Facts
from dpsql.privacy.inversion import MOST_GROUPS
from dpsql.privacy.tables import CLOSE, Digits, RawTable

__all__ = [
    "GroupedRows",
    "Whole",
    "at_once",
    "batches",
    "counted",
    "grouped",
    "in_groups",
    "numbers_of",
    "of_every_row",
    "starts_of",
    "together",
    "totals_of",
]

Whole = npt.NDArray[Any]
"""(n,) int64, or Python ints where the public facts do not rule out that int64 overflows."""


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """How many rows hold each value, of several groups next to each other.

    Attributes:
        starts: (k + 1,) where each group begins, and last where the last one ends.
        values: (n,) rising in each group, in grid steps.
        sums: (n,) how many rows of its group hold each value or one below it.
    """

    starts: Whole
    values: Whole
    sums: Whole

    @property
    def totals(self) -> Whole:
        """(k,) the rows of each group."""
        ends = self.starts[1:]
        return np.where(ends > self.starts[:-1], self.sums[ends - 1], 0) if len(self.sums) else np.zeros_like(ends)

    def between(self, begin: Whole, end: Whole) -> GroupedRows:
        """(k,) parts of groups, from one place up to another; their sums are those of all of the group."""
        sizes = end - begin
        starts = starts_of(sizes)
        places = np.arange(starts[-1]) + np.repeat(begin - starts[:-1], sizes)
        return GroupedRows(starts, self.values[places], self.sums[places])

    def only(self, groups: Sequence[int]) -> GroupedRows:
        """Some of the groups, in the order of these."""
        if len(groups) == len(self.starts) - 1:
            return self
        own = np.array(groups, dtype=np.int64)
        return self.between(self.starts[own], self.starts[own + 1])

    def apart(self, many: int) -> Iterator[GroupedRows]:
        """All groups in order: one with so many values or more by itself, of others as many as have `CLOSE`."""
        last, bounds = 0, [*np.flatnonzero(np.diff(self.starts) >= many).tolist(), len(self.starts) - 1]
        for bound in bounds:
            while last < bound:
                first, held = last, int(np.searchsorted(self.starts, self.starts[last] + CLOSE, side="right")) - 1
                last = min(max(held, first + 1), first + MOST_GROUPS, bound)
                yield self._part(first, last)
            if bound < bounds[-1]:
                last = bound + 1
                yield self._part(bound, last)

    def _part(self, first: int, last: int) -> GroupedRows:
        begin, end = self.starts[first], self.starts[last]
        return GroupedRows(self.starts[first : last + 1] - begin, self.values[begin:end], self.sums[begin:end])


def counted(starts: Whole, values: Whole, rows: Whole) -> GroupedRows:
    """The same from (n,) how many rows hold each value.

    >>> counted(np.array([0, 2, 3]), np.array([1, 2, 9]), np.array([3, 4, 5])).sums.tolist()
    [3, 7, 5]
    """
    sums = np.cumsum(rows, dtype=np.int64)
    if len(starts) > 2:  # one running sum begins anew in each group
        sums -= np.repeat(np.append(0, sums)[starts[:-1]], np.diff(starts))
    return GroupedRows(starts, values, sums)


def starts_of(counts: Whole) -> Whole:
    """(k + 1,) where each of several begins that have so many, next to each other, and where the last one ends."""
    return np.append(0, np.cumsum(counts))


def totals_of(starts: Whole, column: Whole) -> Whole:
    """(k,) int64: what each group's part of a column adds up to.

    >>> totals_of(np.array([0, 2, 2, 3]), np.array([3, 4, 5])).tolist()
    [7, 0, 5]
    """
    found, some = np.zeros(len(starts) - 1, dtype=np.int64), np.flatnonzero(np.diff(starts))
    if len(some):
        found[some] = np.add.reduceat(column, starts[some], dtype=np.int64)
    return found


def grouped(raw: RawTable) -> Iterator[tuple[Whole, Whole]]:
    """The (distinct, rising) values of each group in order, int64, and how many rows hold each.

    >>> raw = RawTable({"group": [1, 1, 0], "value": [7, 2, 5], "rows": [1, 3, 1]}, size=2)
    >>> [(values.tolist(), rows.tolist()) for values, rows in grouped(raw)]
    [([5], [1]), ([2, 7], [3, 1])]
    """
    return ((values, rows) for values, rows in in_groups(raw, "value", "rows"))


def in_groups(raw: RawTable, value: str, *others: str) -> Iterator[list[Whole]]:
    """Columns of each group in order, int64, a group's rows in an order in which its values do not fall.

    >>> raw = RawTable({"group": [1, 1, 0, 1], "value": [7, 2, 5, 4]}, size=3)
    >>> [values.tolist() for (values,) in in_groups(raw, "value")]
    [[5], [2, 4, 7], []]
    """
    for starts, own in batches(raw, value, *others):
        for start, end in pairwise(starts.tolist()):
            yield [column[start:end] for column in own]


def batches(raw: RawTable, value: str, *others: str) -> Iterator[tuple[Whole, list[Whole]]]:
    """Columns of several groups in order at once, int64, a group's rows in an order in which its values do not fall.

    Whatever order the engine sent them in: proofs need rising values. It mostly sends them so. Numbers are made of as
    many groups as have `CLOSE` rows, or of one that has more, for these stay close to the processor.

    Yields:
        (k + 1,) where each of k groups begins, and last where the last one ends; and the columns.

    >>> raw = RawTable({"group": [1, 1, 0, 1], "value": [7, 2, 5, 4]}, size=3)
    >>> [(starts.tolist(), values.tolist()) for starts, (values,) in batches(raw, "value")]
    [([0, 1, 4, 4], [5, 2, 4, 7])]
    """
    edges, columns = _laid_out(raw, value, *others)
    first = 0
    while first < raw.size:
        last = max(first + 1, int(np.searchsorted(edges, edges[first] + CLOSE, side="right")) - 1)
        yield _rising(edges[first : last + 1], columns)
        first = last


def at_once(raw: RawTable, value: str, *others: str) -> tuple[Whole, list[Whole]]:
    """All groups as `batches` has some: where each begins, and last where the last one ends; and the columns."""
    return _rising(*_laid_out(raw, value, *others))


def _laid_out(raw: RawTable, *names: str) -> tuple[Whole, list[Any]]:
    """Where each group begins, and last where the last one ends; columns in their order, as `numbers_of` has them."""
    group = np.asarray(raw.column("group"), dtype=np.min_scalar_type(-1 - raw.size))
    columns = [numbers_of(raw, name) for name in names]
    if bool((group[1:] < group[:-1]).any()):
        order = np.argsort(group, kind="stable")
        group, columns = group[order], [column[order] for column in columns]
    return np.searchsorted(group, np.arange(raw.size + 1, dtype=group.dtype)), columns


def _rising(edges: Whole, columns: Sequence[Any]) -> tuple[Whole, list[Whole]]:
    """Some groups of them, whose first values do not fall in any."""
    own: list[Whole] = [np.asarray(column[edges[0] : edges[-1]]) for column in columns]
    starts = edges - edges[0]
    if _falls(own[0], starts):
        order = np.lexsort((own[0], np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
        own = [column[order] for column in own]
    return starts, own


def together(groups: Iterable[tuple[Whole, Whole]]) -> Iterator[tuple[Whole, Whole, Whole]]:
    """Several groups at once, as `batches` has them: where each begins, and the end; their values; how many rows.

    >>> groups = [(np.array([1, 2]), np.array([3, 4])), (np.array([9]), np.array([5]))]
    >>> [[part.tolist() for part in parts] for parts in together(groups)]
    [[[0, 2, 3], [1, 2, 9], [3, 4, 5]]]
    """
    held, size = list[tuple[Whole, Whole]](), 0
    for group in groups:
        held.append(group)
        size += len(group[0])
        if size >= CLOSE:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(groups: Sequence[tuple[Whole, Whole]]) -> tuple[Whole, Whole, Whole]:
    starts = np.cumsum([0, *(len(values) for values, _ in groups)])
    if len(groups) == 1:
        return starts, *groups[0]
    return starts, np.concatenate([values for values, _ in groups]), np.concatenate([rows for _, rows in groups])


def _falls(values: Whole, starts: Whole) -> bool:
    """Whether a value is below the one before it of the same group."""
    falls = values[1:] < values[:-1]
    falls[starts[(starts > 0) & (starts < len(values))] - 1] = False
    return bool(falls.any())


def numbers_of(raw: RawTable, name: str) -> Any:
    """A column of whole numbers whose parts can be looked at: an int64 array, or digits that become one."""
    column = raw.column(name)
    return column if isinstance(column, Digits) else np.asarray(column, dtype=np.int64)


def of_every_row(need: Values, facts: Facts) -> Values:
    """The same values, a missing one (NULL, or no number) standing at the centre.

    For proofs that know the number of values because every row has one: that a column is not nullable is what the owner
    says, and nothing in the tables holds them to it.

    Args:
        need: The values.
        facts: What is known of them.
    """
    return replace(need, missing=centre_of(need.grid or saturating_grid(facts), facts))
