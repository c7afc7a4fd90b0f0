"""Values at points of a plane or a space: the distance is that of the points, or at least `least`.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import MANY_PAIRS, Integers, Lines, MetricError, Pairs
from dpsql.mechanisms.metric.distances.exact import (
    Floats,
    largest_ratio,
    positive,
    root_above,
    root_below,
    safely_above,
)
from dpsql.mechanisms.metric.distances.nearby import steepest
from dpsql.mechanisms.metric.distances.slopes import worst_costs

__all__ = ["Points"]

LARGEST = 2**29  # Grid steps of a coordinate: differences are exact in float64, and their roots times 2^30 fit int64.
SPACE = 16  # Coordinates of a point: the sum of so many squares errs by less than 2^-47 of itself in float64.
ROOT = 30  # Binary digits after the point of the roots among `pairs`. It is a choice: as many as fit int64.
DOWN = 1 - 2.0**-46  # As a factor: roots of sums of squares err by less than 2^-46 of themselves in float64.


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
        if self._many:
            box = int((np.ptp(self.coordinates, axis=0).astype(object) ** 2).sum())
            return root_above(Fraction(max(box, self.least**2))) * self.unit
        one, other, lengths = _all_pairs(self)
        far = np.flatnonzero(lengths >= lengths.max() * DOWN)
        return root_above(Fraction(max(self._squares(one[far], other[far])))) * self.unit

    def slope(self, lines: Lines) -> Fraction:
        """The largest cost / distance of all pairs: one by one where they are few, else by a tree of boxes."""
        if self._many:
            return safely_above(steepest(self.coordinates, lines, float(max(self.least, 0)))) / self.unit
        one, other, lengths = _all_pairs(self)
        costs = worst_costs(lines, one, other)
        if not costs.any():
            return Fraction(0)
        # The largest cost^2 / distance^2, exactly: float64 finds which may be the largest, integers decide.
        ratios = costs.astype(np.float64) / lengths
        close = np.flatnonzero(ratios >= ratios.max() * DOWN)
        square = largest_ratio(costs[close].astype(object) ** 2, self._squares(one[close], other[close]))
        return root_above(square) / self.unit

    def pairs(self) -> Pairs | None:
        """All of them, up to a million: none follows from others."""
        if self._many:
            return None
        one, other, lengths = _all_pairs(self)
        return Pairs(one, other, np.floor(lengths * 2.0**ROOT * DOWN).astype(np.int64), self.unit / 2**ROOT)

    def branches(self) -> None:
        """It is no tree."""

    @property
    def _many(self) -> bool:
        return self.size * (self.size - 1) > 2 * MANY_PAIRS

    def _square(self, one: int, other: int) -> int:
        """The square of the distance, in steps."""
        return int(self._squares(np.array([one]), np.array([other]))[0])

    def _squares(self, one: Integers, other: Integers) -> Integers:
        """(n,) Python ints: squares of distances, in steps."""
        apart = (self.coordinates[one] - self.coordinates[other]).astype(object)
        return np.asarray(np.maximum((apart**2).sum(axis=1), self.least**2))


@lru_cache(maxsize=2)  # 24 bytes a pair
def _all_pairs(points: Points) -> tuple[Integers, Integers, Floats]:
    """The ends of all pairs, and their float64 distances in steps, to a relative 2^-47."""
    one, other = Pairs.all_of(points.size)
    apart = (points.coordinates[one] - points.coordinates[other]).astype(np.float64)
    return one, other, np.asarray(np.maximum(np.sqrt((apart**2).sum(axis=1)), points.least))


def _apart(points: npt.NDArray[np.int64]) -> None:
    """Refuse two values at one point."""
    order = np.lexsort(points.T)
    same = np.flatnonzero(np.all(points[order[1:]] == points[order[:-1]], axis=1))
    for place in same[:1].tolist():
        one, other = sorted((int(order[place]), int(order[place + 1])))
        text = "{0} and {1} are at the same point: no answer may tell them apart. Make them one value, or move one."
        raise MetricError(text, one, other)
