"""Values at points of a plane or a space: the distance is that of the points, or at least `least`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.base import MANY_PAIRS, Integers, Lines, MetricError, Pairs
from dpsql.mechanisms.metric.exact import Floats, largest_ratio, positive, root_above, root_below, safely_above
from dpsql.mechanisms.metric.nearby import steepest
from dpsql.mechanisms.metric.slopes import worst_costs

__all__ = ["Points"]

LARGEST = 2**29  # of a coordinate: differences are exact in float64, and their roots times 2^30 fit int64
SPACE = 16  # coordinates of a point at most: the sum of so many squares errs by less than 2^-47 in float64
ROOT = 30  # binary digits after the point of the roots among `pairs`
DOWN = 1 - 2.0**-46


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """d(u, v) = unit * max(least, root of the squares of the coordinates' differences), for u != v.

    With ``least`` above 0 it is the smooth form of a distance threshold: near values are all equally far apart. That is
    a metric, for max(c, x + y) <= max(c, x) + max(c, y).

    Roots. Differences of the coordinates are exact in float64, and a root errs by less than 2^-46 of itself: all the
    margins are wider. Slopes are never too small. Up to 1,448 points they are exact but for the last of 60 digits,
    beyond that above the exact one by 2^-12 of itself at most (`nearby`).

    Attributes:
        coordinates: (size, k) integers: a grid's steps; no two values at the same point unless ``least`` is above 0.
        unit: Epsilon of one step, > 0.
        least: Steps, >= 0.

    >>> Points.of([(0, 0), (3, 4)], Fraction(1, 10)).distance(0, 1)
    Fraction(1, 2)
    """

    coordinates: npt.NDArray[np.int64]
    unit: Fraction
    least: int = 0

    @classmethod
    def of(cls, coordinates: Sequence[Sequence[int]], unit: Fraction, least: int = 0) -> Self:
        """From each value's coordinates, in steps of their grid.

        Raises:
            MetricError: If two values are at the same point, or coordinates are too large or too many.
        """
        try:
            points = np.array(coordinates, dtype=np.int64)
        except OverflowError:
            points = np.full((1, 1), 2 * LARGEST)
        if points.ndim != 2 or not 1 <= points.shape[1] <= SPACE:
            raise MetricError(f"a point has 1 to {SPACE} coordinates, and all values as many.")
        if np.abs(points).max() > LARGEST:
            raise MetricError(f"a coordinate is beyond {LARGEST} steps; write coarser ones.")
        positive(unit, "epsilon")
        if least <= 0:
            _apart(points)
        return cls(points, unit, least)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.coordinates)

    def distance(self, one: int, other: int) -> Fraction:
        """By the formula; roots rounded down."""
        return root_below(Fraction(self._square(one, other))) * self.unit if one != other else Fraction(0)

    def diameter(self) -> Fraction:
        """At most the diagonal of the box around all points, and for few points the exact one; rounded up."""
        if self.size < 2:
            return Fraction(0)
        pairs = self.pairs()
        if pairs is None:
            box = int((np.ptp(self.coordinates, axis=0).astype(object) ** 2).sum())
            return root_above(Fraction(max(box, self.least**2))) * self.unit
        farthest = int(pairs.distance.argmax())
        return root_above(Fraction(self._square(int(pairs.one[farthest]), int(pairs.other[farthest])))) * self.unit

    def slope(self, lines: Lines) -> Fraction:
        """The largest cost / distance of all pairs: one by one where they are few, else by a tree of boxes."""
        if self.size * (self.size - 1) > 2 * MANY_PAIRS:
            return safely_above(steepest(self.coordinates, lines, float(max(self.least, 0)))) / self.unit
        one, other = Pairs.all_of(self.size)
        return root_above(self._largest_square(one, other, worst_costs(lines, one, other))) / self.unit

    def _largest_square(self, one: Integers, other: Integers, costs: Integers) -> Fraction:
        """The largest cost^2 / distance^2, exactly: float64 finds which may be the largest, integers decide."""
        ratios = costs.astype(np.float64) / self._lengths(one, other)
        close = np.flatnonzero(ratios >= ratios.max() * DOWN)
        squares = [self._square(u, v) for u, v in zip(one[close].tolist(), other[close].tolist(), strict=True)]
        return largest_ratio(costs[close].astype(object) ** 2, np.array(squares, dtype=object))

    def pairs(self) -> Pairs | None:
        """All of them, up to a million: none follows from others."""
        if self.size * (self.size - 1) > 2 * MANY_PAIRS:
            return None
        one, other = Pairs.all_of(self.size)
        rounded = np.floor(self._lengths(one, other) * 2.0**ROOT * DOWN)
        return Pairs(one, other, rounded.astype(np.int64), self.unit / 2**ROOT)

    def branches(self) -> None:
        """It is no tree."""

    def _lengths(self, one: Integers, other: Integers) -> Floats:
        """(n,) float64 distances in steps, to a relative 2^-47."""
        apart = (self.coordinates[one] - self.coordinates[other]).astype(np.float64)
        return np.asarray(np.maximum(np.sqrt((apart**2).sum(axis=1)), self.least))

    def _square(self, one: int, other: int) -> int:
        """The square of the distance, in steps."""
        apart = self.coordinates[one] - self.coordinates[other]
        return max(sum(int(x) ** 2 for x in apart), self.least**2)


def _apart(points: npt.NDArray[np.int64]) -> None:
    """Refuse two values at one point."""
    order = np.lexsort(points.T)
    same = np.flatnonzero(np.all(points[order[1:]] == points[order[:-1]], axis=1))
    for place in same[:1].tolist():
        one, other = sorted((int(order[place]), int(order[place + 1])))
        text = "{0} and {1} are at the same point: no answer may tell them apart. Make them one value, or move one."
        raise MetricError(text, one, other)
