"""The discrete metric: any two values are as far apart as any others. Plain epsilon-DP for one attribute.

Tests: tests/unit/mechanisms/metric/distances/test_product.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.distances.base import MANY_PAIRS, Branches, Lines, Pairs
from dpsql.mechanisms.metric.distances.exact import positive
from dpsql.mechanisms.metric.distances.slopes import slope_across, slope_of_pairs

__all__ = ["Discrete"]


@dataclass(frozen=True, slots=True)
class Discrete:
    """d(u, v) = epsilon for u != v.

    Attributes:
        size: Number of values, >= 1.
        epsilon: > 0.

    >>> Discrete(3, Fraction(1, 2)).slope(Lines(np.array([[4, 0, 1]])))
    Fraction(8, 1)
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")

    def distance(self, one: int, other: int) -> Fraction:
        """Epsilon, or 0 for a value and itself."""
        return self.epsilon if one != other else Fraction(0)

    def diameter(self) -> Fraction:
        """Epsilon, or 0 where there is one value."""
        return self.distance(0, self.size - 1)

    def slope(self, lines: Lines) -> Fraction:
        """(max - min) / epsilon on each line; with groups on a line its pairs, or a bound where they are too many."""
        inside, across = lines.split()
        widest = Fraction(0)
        if inside is not None:
            width = inside.values.max(axis=1) - inside.values.min(axis=1)
            widest = Fraction(int(width.max())) / self.epsilon
        if across is None:
            return widest
        pairs = self.pairs()
        return max(widest, slope_of_pairs(across, pairs) if pairs else slope_across(across, self.epsilon))

    def pairs(self) -> Pairs | None:
        """All of them."""
        if self.size * (self.size - 1) > 2 * MANY_PAIRS:
            return None
        one, other = Pairs.all_of(self.size)
        return Pairs(one, other, np.ones(len(one), dtype=np.int64), self.epsilon)

    def branches(self) -> Branches:
        """A star with rays of half epsilon."""
        every = np.arange(self.size, dtype=np.int64)
        return Branches(None, np.full(self.size, -1), every, np.ones(self.size, dtype=np.int64), self.epsilon / 2)
