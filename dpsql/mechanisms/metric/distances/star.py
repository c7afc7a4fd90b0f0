"""One epsilon a value: d(u, v) = p_u + p_v. Values that harm when known get a small one.

This is the example of the paper (attributes with harmless and harmful values) in a form that holds for more than two
values. Its own form, min(p_u, p_v), is a metric for two values only: among p = 0.1, 1, 1 the last two are 1 apart, but
0.2 by way of the first. max(p_u, p_v) is a metric, and protects the harmful value least: no check of the triangle
inequality finds that, so look at the noise that each value gets.

Source: Kamalaruban, Perrier, Asghar, Kaafar 2018, example 1; the form for several values is ours.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import MANY_PAIRS, Branches, Integers, Lines, MetricError, Pairs
from dpsql.mechanisms.metric.distances.exact import in_common_unit
from dpsql.mechanisms.metric.distances.slopes import slope_across, slope_of_pairs

__all__ = ["Star"]

INT64 = 2**62  # As a whole number: sums and differences of two below it are exact in int64.


@dataclass(frozen=True, slots=True, eq=False)
class Star:
    """d(u, v) = p_u + p_v for u != v.

    Attributes:
        rays: (size,) integers > 0: each value's epsilon, in units.
        unit: > 0.

    >>> star = Star.of([Fraction(1, 10), Fraction(1), Fraction(1)])
    >>> star.distance(0, 1), star.slope(Lines(np.array([[0, 0, 11]])))
    (Fraction(11, 10), Fraction(10, 1))
    """

    rays: npt.NDArray[np.int64]
    unit: Fraction

    @classmethod
    def of(cls, epsilons: Sequence[Fraction]) -> Self:
        """From one epsilon a value.

        Raises:
            MetricError: If one is not above 0.
        """
        for value, epsilon in enumerate(epsilons):
            if epsilon <= 0:
                raise MetricError(f"the epsilon of {{0}} is {epsilon}; write one above 0.", value)
        return cls(*in_common_unit(epsilons))

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.rays)

    def distance(self, one: int, other: int) -> Fraction:
        """p_u + p_v, or 0 for a value and itself."""
        return int(self.rays[one] + self.rays[other]) * self.unit if one != other else Fraction(0)

    def diameter(self) -> Fraction:
        """The two largest epsilons, added up."""
        return int(np.sort(self.rays)[-2:].sum()) * self.unit if self.size > 1 else Fraction(0)

    def slope(self, lines: Lines) -> Fraction:
        """Exact without groups; with groups on a line from its pairs, or a bound where they are too many."""
        inside, across = lines.split()
        steepest = self._slope(inside.values) if inside is not None else Fraction(0)
        if across is None:
            return steepest
        if pairs := self.pairs():
            return max(steepest, slope_of_pairs(across, pairs))
        least = int(np.sort(self.rays)[:2].sum()) * self.unit
        return max(steepest, slope_across(across, least))

    def _slope(self, values: Integers) -> Fraction:
        """The least L = a / b with max(b q - a p) <= min(b q + a p) on every line, by Newton's method.

        The pair that breaks L worst gives the next, larger L. All in integers, so the last L holds exactly.
        """
        tops, bottoms = 0, 1
        while True:
            reach = bottoms * int(np.abs(values).max()) + tops * int(self.rays.max())
            kind = np.int64 if reach < INT64 else object
            scaled = values.astype(kind) * bottoms
            reduced = self.rays.astype(kind) * tops
            high, low = (scaled - reduced).argmax(axis=1), (scaled + reduced).argmin(axis=1)
            every = np.arange(len(values))
            broken = (scaled[every, high] - reduced[high]) - (scaled[every, low] + reduced[low])
            line = int(broken.argmax())
            if broken[line] <= 0:
                return Fraction(tops, bottoms) / self.unit
            one, other = int(high[line]), int(low[line])
            found = Fraction(int(values[line, one]) - int(values[line, other]), int(self.rays[one] + self.rays[other]))
            tops, bottoms = found.numerator, found.denominator

    def pairs(self) -> Pairs | None:
        """All of them."""
        if self.size * (self.size - 1) > 2 * MANY_PAIRS:
            return None
        one, other = Pairs.all_of(self.size)
        return Pairs(one, other, self.rays[one] + self.rays[other], self.unit)

    def branches(self) -> Branches:
        """A ray to each value from a root that is none."""
        return Branches(None, np.full(self.size, -1), np.arange(self.size, dtype=np.int64), self.rays, self.unit)
