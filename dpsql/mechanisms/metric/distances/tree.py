"""Values in a hierarchy: the distance is the length of the way along its branches."""

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

__all__ = ["Tree"]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """d(u, v) = lengths of the branches between u and v. Every node is a value; value 0 is the root.

    Where only some nodes are values (leaves, say), `Table.of_graph(...).among(values)` has the same distances.

    Theorem. Branches are enough for every slope, as the gaps of a `Chain` are.

    Attributes:
        parents: (size - 1,) integers: the parent of values 1, 2, ..., each with a smaller number than its child.
        steps: (size - 1,) integers > 0: length of the branch to the parent, in units.
        unit: > 0.

    >>> Tree.of([(0, Fraction(1)), (0, Fraction(2)), (2, Fraction(1, 2))]).distance(1, 3)
    Fraction(7, 2)
    """

    parents: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    unit: Fraction

    @classmethod
    def of(cls, branches: Sequence[tuple[int, Fraction]]) -> Self:
        """From the parent of values 1, 2, ... and the length of the branch to it.

        Raises:
            MetricError: If a length is not above 0, or a parent does not come before its child.
        """
        for value, (parent, length) in enumerate(branches, start=1):
            if not 0 <= parent < value:
                raise MetricError("{0} comes before its parent; number parents first, from the root.", value)
            if length <= 0:
                raise MetricError(f"the branch from {{0}} to {{1}} is {length}; write one above 0.", value, parent)
        steps, unit = in_common_unit([length for _, length in branches])
        return cls(np.array([parent for parent, _ in branches], dtype=np.int64), steps, unit)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.steps) + 1

    def distance(self, one: int, other: int) -> Fraction:
        """Up from both until the ways meet."""
        length = 0
        while one != other:
            one, other = max(one, other), min(one, other)  # the larger number is no ancestor of the smaller
            length += int(self.steps[one - 1])
            one = int(self.parents[one - 1])
        return length * self.unit

    def diameter(self) -> Fraction:
        """The two deepest ways down that meet, at the best place to meet."""
        deepest, longest = [0] * self.size, 0
        for value in range(self.size - 1, 0, -1):
            parent, depth = int(self.parents[value - 1]), deepest[value] + int(self.steps[value - 1])
            longest = max(longest, deepest[parent] + depth)
            deepest[parent] = max(deepest[parent], depth)
        return longest * self.unit

    def slope(self, lines: Lines) -> Fraction:
        """The largest difference along a branch / its length, exactly, with groups too."""
        return slope_of_pairs(lines, self.pairs())

    def pairs(self) -> Pairs:
        """Each value and its parent."""
        return Pairs(self.parents, np.arange(1, self.size, dtype=np.int64), self.steps, self.unit)

    def branches(self) -> Branches:
        """As they are."""
        return Branches(0, self.parents, np.arange(1, self.size, dtype=np.int64), self.steps, self.unit)
