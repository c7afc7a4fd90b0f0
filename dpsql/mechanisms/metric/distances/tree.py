"""Values in a hierarchy: the distance is the length of the way along its branches.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import Branches, Lines, MetricError, Pairs
from dpsql.mechanisms.metric.distances.exact import in_common_unit
from dpsql.mechanisms.metric.distances.slopes import slope_of_pairs
from dpsql.mechanisms.metric.distances.table import Edge

__all__ = ["Tree"]


LONGEST = 2**61  # Of all branches together, in their common unit, so that they stay within int64.


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """d(u, v) = lengths of the branches between u and v. Every node is a value.

    Where only some nodes are values (leaves, say), `Table.of_graph(...).among(values)` has the same distances.

    Theorem. Branches are enough for every slope, as the gaps of a `Chain` are.

    Attributes:
        parents: (size,) integers: the value that each hangs from, on its way to the root; -1 for the root.
        ways: (size,) integers: how far each value is from the root, in units.
        unit: > 0.

    >>> Tree.of(4, [(0, 1, Fraction(1)), (0, 2, Fraction(2)), (2, 3, Fraction(1, 2))]).distance(1, 3)
    Fraction(7, 2)
    """

    parents: npt.NDArray[np.int64]
    ways: npt.NDArray[np.int64]
    unit: Fraction

    @classmethod
    def of(cls, size: int, edges: Sequence[Edge]) -> Self:
        """From its branches, in any order; the root is the value in the middle, so that none is far from it.

        Raises:
            MetricError: If a length is not above 0, or the branches do not make one tree of all values.
        """
        for one, other, length in edges:
            if length <= 0:
                raise MetricError(f"the edge between {{0}} and {{1}} is {length}; write one above 0.", one, other)
        if len(edges) != size - 1:
            raise MetricError(f"a tree of {size} nodes has {size - 1} edges, not {len(edges)}; or write kind: graph.")
        steps, unit = in_common_unit([length for _, _, length in edges])
        if sum(steps.tolist()) > LONGEST:
            raise MetricError("the edges have too many digits between them; round them to fewer.")
        near: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        for (one, other, _), step in zip(edges, steps.tolist(), strict=True):
            near[one].append((other, step))
            near[other].append((one, step))
        _, from_first = _hung(near, 0)
        _, from_end = _hung(near, int(from_first.argmax()))
        _, from_other_end = _hung(near, int(from_end.argmax()))
        return cls(*_hung(near, int(np.maximum(from_end, from_other_end).argmin())), unit)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.ways)

    def distance(self, one: int, other: int) -> Fraction:
        """Up from both until the ways meet."""
        length = 0
        while one != other:
            if self.ways[one] < self.ways[other]:  # the value that is further out is no ancestor of the other
                one, other = other, one
            parent = int(self.parents[one])
            length += int(self.ways[one] - self.ways[parent])
            one = parent
        return length * self.unit

    def diameter(self) -> Fraction:
        """The two deepest ways down that meet, at the best place to meet."""
        hung, longest = self.branches(), 0
        deepest = [0] * self.size
        for parent, child, step in zip(
            hung.parents[::-1].tolist(), hung.children[::-1].tolist(), hung.lengths[::-1].tolist(), strict=True
        ):
            depth = deepest[child] + step
            longest = max(longest, deepest[parent] + depth)
            deepest[parent] = max(deepest[parent], depth)
        return longest * self.unit

    def slope(self, lines: Lines) -> Fraction:
        """The largest difference along a branch / its length, exactly, with groups too."""
        return slope_of_pairs(lines, self.pairs())

    def pairs(self) -> Pairs:
        """Each value and its parent."""
        hung = self.branches()
        return Pairs(hung.parents, hung.children, hung.lengths, self.unit)

    def branches(self) -> Branches:
        """As they are, those nearer the root first."""
        root, *children = np.argsort(self.ways, kind="stable").tolist()
        ends = np.array(children, dtype=np.int64)
        starts = self.parents[ends]
        return Branches(root, starts, ends, self.ways[ends] - self.ways[starts], self.unit)


def _hung(near: Sequence[Sequence[tuple[int, int]]], root: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(size,) parent of each value, and how far each is from the root.

    Raises:
        MetricError: If some value is not joined to the root.
    """
    parents, ways, reached = [-1] * len(near), [-1] * len(near), [root]
    ways[root] = 0
    for value in reached:
        for other, step in near[value]:
            if ways[other] < 0:
                parents[other], ways[other] = value, ways[value] + step
                reached.append(other)
    if len(reached) < len(near):
        text = "there is no way from {0} to {1}: nothing would protect them from each other. Join them by an edge."
        raise MetricError(text, root, ways.index(-1))
    return np.array(parents, dtype=np.int64), np.array(ways, dtype=np.int64)
