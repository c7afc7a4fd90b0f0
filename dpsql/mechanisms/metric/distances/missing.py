"""One more value, NULL, at the same distance from all others.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.distances.base import Lines, Metric, MetricError, Pairs
from dpsql.mechanisms.metric.distances.slopes import slope_of_pairs

__all__ = ["WithNull"]


@dataclass(frozen=True, slots=True)
class WithNull:
    """d of the known values, at most twice ``epsilon``; the last value is NULL, at ``epsilon`` from each of them.

    Theorem. Pairs of known values under their own metric and those with NULL are enough: where two known ones are
    further apart than 2 epsilon, the way by NULL is shorter, and its two halves are among these.

    Attributes:
        known: The metric of the other values.
        epsilon: > 0.

    >>> from dpsql.mechanisms.metric.distances.chain import Chain
    >>> grades = WithNull(Chain.even(6, Fraction(1)), Fraction(2))
    >>> grades.distance(0, 3), grades.distance(0, 5), grades.distance(3, 6)
    (Fraction(3, 1), Fraction(4, 1), Fraction(2, 1))
    """

    known: Metric
    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise MetricError(f"the distance of NULL is {self.epsilon}; write one above 0.")

    @property
    def size(self) -> int:
        """Number of values, NULL too."""
        return self.known.size + 1

    def distance(self, one: int, other: int) -> Fraction:
        """The shorter of the direct way and that by NULL."""
        if one == other:
            return Fraction(0)
        if self.known.size in (one, other):
            return self.epsilon
        return min(self.known.distance(one, other), 2 * self.epsilon)

    def diameter(self) -> Fraction:
        """Of the known values, at most 2 epsilon; at least epsilon."""
        return max(self.epsilon, min(self.known.diameter(), 2 * self.epsilon))

    def slope(self, lines: Lines) -> Fraction:
        """The slope of the known values, or to NULL."""
        known = slice(self.known.size)
        rest = Lines(lines.values[:, known], None if lines.groups is None else lines.groups[:, known])
        return max(
            self.known.slope(rest) if self.known.size > 1 else Fraction(0), slope_of_pairs(lines, self._to_null())
        )

    def pairs(self) -> Pairs | None:
        """Those of the known values, and each of them with NULL."""
        known = self.known.pairs()
        if known is None:
            return None
        return known.joined(self._to_null()) if len(known) else self._to_null()

    def branches(self) -> None:
        """It is no tree."""

    def _to_null(self) -> Pairs:
        here = np.arange(self.known.size, dtype=np.int64)
        return Pairs(here, np.full(len(here), len(here)), np.ones(len(here), dtype=np.int64), self.epsilon)
