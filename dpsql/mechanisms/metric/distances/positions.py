"""Values at positions on a line that are protected most from their near ones (Blowfish).

Source: He, Machanavajjhala, Ding 2014 (distance thresholds); the smooth form as in Kamalaruban, Perrier, Asghar, Kaafar
2018, section 4. That few pairs are enough is proved in each class.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import MANY_PAIRS, Integers, Lines, MetricError, Pairs
from dpsql.mechanisms.metric.distances.exact import in_common_unit, positive
from dpsql.mechanisms.metric.distances.slopes import slope_across, slope_of_pairs

__all__ = ["DistanceThreshold", "Smooth"]

SLICES = 64
"""In how many slices distances beyond theta are looked at, where there are too many pairs. A guess."""


@dataclass(frozen=True, slots=True, eq=False)
class DistanceThreshold:
    """d(u, v) = epsilon times the hops from u to v, each at most theta long: values within theta are epsilon apart.

    Theorem. Pairs within theta are enough: they are the edges, and d is their shortest paths.

    Attributes:
        positions: (size,) integers, ascending.
        theta: In the positions' steps; no gap is longer.
        epsilon: > 0.

    >>> ages = DistanceThreshold.at([Fraction(age) for age in range(100)], Fraction(10), epsilon=Fraction(1, 2))
    >>> ages.distance(20, 30), ages.distance(20, 31), ages.slope(Lines(np.arange(100)[None, :]))
    (Fraction(1, 2), Fraction(1, 1), Fraction(20, 1))
    """

    positions: npt.NDArray[np.int64]
    theta: int
    epsilon: Fraction

    @classmethod
    def at(cls, positions: Sequence[Fraction], theta: Fraction, epsilon: Fraction) -> Self:
        """From ascending positions and theta, in one unit.

        Raises:
            MetricError: If they do not ascend, or a gap is longer than theta.
        """
        whole, steps, _ = _whole(positions, theta)
        for value in np.flatnonzero(np.diff(whole) > steps)[:1].tolist():
            gap = positions[value + 1] - positions[value]
            text = f"{{0}} and {{1}} are {gap} apart, further than theta = {theta}: nothing would protect them from "
            raise MetricError(f"{text}each other. Write a larger theta.", value, value + 1)
        return cls(whole, steps, positive(epsilon, "epsilon"))

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.positions)

    def distance(self, one: int, other: int) -> Fraction:
        """Epsilon for each hop, every one as far as theta allows."""
        here, there, hops = min(one, other), max(one, other), 0
        while here < there:
            reached = np.searchsorted(self.positions, self.positions[here] + self.theta, side="right")
            here, hops = int(reached) - 1, hops + 1
        return hops * self.epsilon

    def diameter(self) -> Fraction:
        """From the first to the last."""
        return self.distance(0, self.size - 1)

    def slope(self, lines: Lines) -> Fraction:
        """The widest range within theta / epsilon, exactly; with groups on a line its pairs, or a bound."""
        inside, across = lines.split()
        steepest = Fraction(0)
        if inside is not None:
            steepest = widest_range(inside.values, _last(self.positions, self.theta)) / self.epsilon
        if across is None:
            return steepest
        pairs = self.pairs()
        return max(steepest, slope_of_pairs(across, pairs) if pairs else slope_across(across, self.epsilon))

    def pairs(self) -> Pairs | None:
        """All pairs within theta."""
        ends = pairs_within(self.positions, self.theta)
        return ends and Pairs(*ends, np.ones(len(ends[0]), dtype=np.int64), self.epsilon)

    def branches(self) -> None:
        """It is no tree."""


@dataclass(frozen=True, slots=True, eq=False)
class Smooth:
    """d(u, v) = epsilon max(1, |position - position| / theta) for u != v: epsilon within theta, then ever more.

    Theorem. Pairs within 2 theta + g are enough, for g the largest gap. Proof: let w be the first value at least theta
    after u: it is at most theta + g away. If v is further than 2 theta + g, it is more than theta after w, so that
    d(u, w) + d(w, v) = d(u, v): the pairs (u, w) and (w, v), both shorter, imply (u, v).  QED

    Attributes:
        positions: (size,) integers, ascending.
        theta: In the positions' steps, >= 1.
        epsilon: > 0.

    >>> Smooth.at([Fraction(age) for age in range(100)], Fraction(10), Fraction(1, 2)).distance(20, 35)
    Fraction(3, 4)
    """

    positions: npt.NDArray[np.int64]
    theta: int
    epsilon: Fraction

    @classmethod
    def at(cls, positions: Sequence[Fraction], theta: Fraction, epsilon: Fraction) -> Self:
        """From ascending positions and theta, in one unit.

        Raises:
            MetricError: If positions do not ascend.
        """
        whole, steps, _ = _whole(positions, theta)
        return cls(whole, steps, positive(epsilon, "epsilon"))

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.positions)

    def distance(self, one: int, other: int) -> Fraction:
        """By the formula."""
        apart = abs(int(self.positions[one]) - int(self.positions[other]))
        return max(apart, self.theta) * self._unit if one != other else Fraction(0)

    def diameter(self) -> Fraction:
        """From the first to the last."""
        return self.distance(0, self.size - 1)

    def slope(self, lines: Lines) -> Fraction:
        """Exact where the pairs are not too many; otherwise above the exact one by at most 1/64."""
        if pairs := self.pairs():
            return slope_of_pairs(lines, pairs)
        inside, across = lines.split()
        steepest = self._bound(inside.values) if inside is not None else Fraction(0)
        return max(steepest, slope_across(across, self.epsilon)) if across else steepest

    def _bound(self, values: Integers) -> Fraction:
        """Range within each slice's end / its beginning, the first slice being all pairs within theta."""
        span = self._reach - self.theta
        ends = sorted({self.theta + -(-span * part // SLICES) for part in range(SLICES + 1)})
        starts = [self.theta, *ends[:-1]]
        ranges = (widest_range(values, _last(self.positions, end)) for end in ends)
        return max(Fraction(found) / start for found, start in zip(ranges, starts, strict=True)) / self._unit

    def pairs(self) -> Pairs | None:
        """All pairs within 2 theta and the largest gap."""
        ends = pairs_within(self.positions, self._reach)
        if ends is None:
            return None
        apart = self.positions[ends[1]] - self.positions[ends[0]]
        return Pairs(*ends, np.maximum(apart, self.theta), self._unit)

    def branches(self) -> None:
        """It is no tree."""

    @property
    def _unit(self) -> Fraction:
        return self.epsilon / self.theta

    @property
    def _reach(self) -> int:
        return 2 * self.theta + int(np.diff(self.positions).max(initial=0))


def widest_range(values: Integers, last: npt.NDArray[np.int64]) -> int:
    """The largest max - min of values[:, i] ... values[:, last[i]] on any line and for any i.

    A window is covered by two of the largest power of two that fits; these are made by doubling.

    >>> widest_range(np.array([[5, 1, 9, 2]]), np.array([1, 2, 3, 3]))
    8
    """
    size = values.shape[1]
    level = np.frexp(last - np.arange(size) + 1)[1] - 1
    high = low = values
    widest, width = 0, 1
    for power in range(int(level.max()) + 1):
        first = np.flatnonzero(level == power)
        second = last[first] - width + 1
        if len(first):
            top = np.maximum(high[:, first], high[:, second])
            widest = max(widest, int((top - np.minimum(low[:, first], low[:, second])).max()))
        if width < high.shape[1]:
            high, low = np.maximum(high[:, :-width], high[:, width:]), np.minimum(low[:, :-width], low[:, width:])
        width *= 2
    return widest


def pairs_within(
    positions: npt.NDArray[np.int64], reach: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """The two ends of all pairs at most ``reach`` apart; None if they are too many."""
    here = np.arange(len(positions))
    later = _last(positions, reach) - here
    if int(later.sum()) > MANY_PAIRS:
        return None
    one = np.repeat(here, later)
    begun = np.repeat(np.cumsum(later) - later, later)
    return one, one + 1 + (np.arange(len(one)) - begun)


def _last(positions: npt.NDArray[np.int64], reach: int) -> npt.NDArray[np.int64]:
    """(size,) number of the last value at most ``reach`` after each."""
    return np.asarray(np.searchsorted(positions, positions + reach, side="right") - 1, dtype=np.int64)


def _whole(positions: Sequence[Fraction], theta: Fraction) -> tuple[npt.NDArray[np.int64], int, Fraction]:
    """Positions and theta in whole steps, and the step."""
    positive(theta, "theta")
    for value, (before, after) in enumerate(pairwise(positions)):
        if after <= before:
            raise MetricError(f"{{1}} is at {after}, not after {{0}} at {before}; sort them.", value, value + 1)
    whole, unit = in_common_unit([*positions, Fraction(theta)])
    return whole[:-1], int(whole[-1]), unit
