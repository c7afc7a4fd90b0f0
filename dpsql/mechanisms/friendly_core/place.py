"""Where the data lie: a filter with the rows within a radius as friends, and the average of its core.

Neighbours: ``add_remove`` and ``replace_one`` with a public number of rows. Loss: (epsilon, delta) by `PlaceByCoins`,
(rho, delta)-zCDP by `PlaceByNoise`; by the filters' theorems on the average's.

In more than one dimension friends are counted pair by pair. Beyond `MOST_PAIRED` rows, by a released count, the place
is found on a sample instead: every row takes part with probability q, by a coin of its own from the kernel, at every
release.

Theorem (add_remove). An (e', d')-DP mechanism of such a sample is (ln(1 + q (e^e' - 1)), q d')-DP.
Source: Li, Qardaji, Su 2012, "On sampling, anonymization, and differential privacy", Theorem 1; Balle, Barthe,
Gaboardi 2018, Theorem 8. For zCDP no such factor is proved, so `PlaceByNoise` gives way to coins there: what is
(epsilon, delta)-DP is delta-approximately epsilon tanh(epsilon / 2)-zCDP (`privacy.kinds.Approximate`).

Tests: tests/unit/mechanisms/friendly_core/test_located.py, tests/unit/mechanisms/friendly_core/test_mechanism.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.average import Average, FriendlyAverage
from dpsql.mechanisms.friendly_core.basic import BasicFilter, BasicSwapFilter
from dpsql.mechanisms.friendly_core.concentrated import ConcentratedFilter, ConcentratedSwapFilter
from dpsql.mechanisms.friendly_core.friends import Ball
from dpsql.mechanisms.friendly_core.noise import safely_below
from dpsql.privacy.conversions import pure_epsilon_of_rho
from dpsql.privacy.sampling import Sampler

__all__ = ["MOST_PAIRED", "Place", "PlaceByCoins", "PlaceByNoise", "exact_sums"]

Points = npt.NDArray[Any]

MOST_PAIRED = 20_000  # Rows whose friends are counted pair by pair. It is a choice: so many take about a second.
FILTER_SHARE = 0.1
"""The share of rho that the filter takes; it takes more where there are few rows. A guess."""
MOST_FILTER_SHARE = 0.6
"""The largest share of rho that the filter may take; where it needs more, no place is expected to be found. A guess."""
CORE = 0.95
"""The share of the rows that is expected in the core. A guess."""


class Place(Protocol):
    """A way to find the place."""

    @property
    def price(self) -> str:
        """What it costs, for people to read."""
        ...

    def spread(self, rows: float, radius: float, dimensions: int) -> float:
        """Expected standard deviation of each coordinate for so many rows, in grid steps; infinite for too few."""
        ...

    def find(self, points: Points, radius: int, about: int, sampler: Sampler) -> Average | None:
        """The core's average, or None for too few friends.

        Args:
            points: (n, d) int64 in grid steps, one row per privacy unit.
            radius: Of friendship, in grid steps, >= 1; released or public.
            about: A released or public number of rows.
            sampler: For the exact noise.
        """
        ...


@dataclass(frozen=True, slots=True)
class PlaceByCoins:
    """The basic filter and its average: (epsilon, delta)-DP.

    Attributes:
        epsilon: > 0.
        delta: 0 < delta < 1.
        swap: Whether a neighbour is a row replaced; there is no sampling then.
    """

    epsilon: Fraction
    delta: Fraction
    swap: bool = False

    @property
    def price(self) -> str:
        return f"epsilon {float(self.epsilon):.3g}, delta {float(self.delta):.2g}"

    def spread(self, rows: float, radius: float, dimensions: int) -> float:
        sampled = self._sampled(dimensions, rows)
        if sampled is not None:
            return sampled.spread(MOST_PAIRED, radius, 1)
        average = self._average(rows)
        return math.inf if average is None else average.spread(CORE * rows, radius)

    def find(self, points: Points, radius: int, about: int, sampler: Sampler) -> Average | None:
        n, dimensions = points.shape
        sampled = self._sampled(dimensions, about)
        if sampled is not None:
            chosen = points[sampler.chances(np.full(n, MOST_PAIRED), about)]
            return sampled.find(chosen, radius, MOST_PAIRED, sampler)
        ball = Ball(radius, dimensions)
        average = self._average(about)
        kept = self._filter.kept(ball.friends(points), sampler)
        return None if average is None else _average_of(points[kept], average, ball, sampler)

    @property
    def _filter(self) -> BasicFilter | BasicSwapFilter:
        return BasicSwapFilter() if self.swap else BasicFilter()

    def _average(self, about: float) -> FriendlyAverage | None:
        if self.epsilon <= 0:  # a rho so small has none
            return None
        return FriendlyAverage.approximate(*self._filter.inner(self.epsilon, self.delta), about)

    def _sampled(self, dimensions: int, about: float) -> PlaceByCoins | None:
        """What the same loss buys on the sample; None where all rows are paired."""
        if dimensions == 1 or about <= MOST_PAIRED or self.swap:
            return None
        q = Fraction(MOST_PAIRED, math.ceil(about))
        inner = math.log1p(math.expm1(min(float(self.epsilon), 100.0)) / float(q))
        return PlaceByCoins(safely_below(inner), min(self.delta / q, Fraction(1, 2)))


@dataclass(frozen=True, slots=True)
class PlaceByNoise:
    """The concentrated filter and its average: (rho, delta)-zCDP.

    Attributes:
        rho: > 0.
        delta: 0 < delta < 1.
        swap: Whether a neighbour is a row replaced.
    """

    rho: Fraction
    delta: Fraction
    swap: bool = False

    @property
    def price(self) -> str:
        return f"rho {float(self.rho):.3g}, delta {float(self.delta):.2g}"

    def spread(self, rows: float, radius: float, dimensions: int) -> float:
        if self._by_coins(dimensions, rows):
            return self._coins.spread(rows, radius, dimensions)
        share = self._share(rows)
        if share > MOST_FILTER_SHARE:
            return math.inf
        return self._average(share, rows).spread(CORE * rows, radius)

    def find(self, points: Points, radius: int, about: int, sampler: Sampler) -> Average | None:
        if self._by_coins(points.shape[1], about):
            return self._coins.find(points, radius, about, sampler)
        ball, share = Ball(radius, points.shape[1]), min(self._share(about), MOST_FILTER_SHARE)
        chosen = ConcentratedSwapFilter if self.swap else ConcentratedFilter
        core = chosen(self.rho * safely_below(share), self.delta / 2).core(ball.friends(points), sampler)
        return _average_of(points[core.kept], self._average(share, core.about), ball, sampler)

    def _average(self, share: float, about: float) -> FriendlyAverage:
        return FriendlyAverage.concentrated(self.rho * (1 - safely_below(share)), self.delta / 2, about)

    def _share(self, about: float) -> float:
        """The filter's share of rho: enough for data in which all are friends to stay, with a factor of 2 to spare."""
        rows = max(about, 1)
        tails = math.sqrt(2 * math.log(4 * (rows + 1) / self.delta)) + math.sqrt(2 * math.log(20 * rows))
        floor = (4 if self.swap else 1) * tails**2 / (1.8 * rows)
        return max(FILTER_SHARE, 2 * floor / float(self.rho))

    def _by_coins(self, dimensions: int, about: float) -> bool:
        return dimensions > 1 and about > MOST_PAIRED and not self.swap

    @property
    def _coins(self) -> PlaceByCoins:
        return PlaceByCoins(pure_epsilon_of_rho(self.rho), self.delta)


def _average_of(core: Points, average: FriendlyAverage, ball: Ball, sampler: Sampler) -> Average | None:
    return average.release(exact_sums(core), len(core), max(1, ball.diameter), sampler)


def exact_sums(points: Points) -> list[int]:
    """(d,) column sums as Python ints: halves of 32 bits do not overflow below 2^31 rows."""
    high, low = points >> 32, points & 0xFFFFFFFF
    return [(int(h) << 32) + int(k) for h, k in zip(high.sum(axis=0), low.sum(axis=0), strict=True)]
