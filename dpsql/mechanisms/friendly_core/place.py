"""Where the data lie: a filter with the rows within a radius as friends, and the average of its core.

Neighbours: ``add_remove`` and ``replace_one`` with a public number of rows. Loss: (epsilon, delta) by `PlaceByCoins`,
(rho, delta)-zCDP by `PlaceByNoise`; by the filters' theorems on the average's.

In more than one dimension friends are counted pair by pair. Where there may be more than `MOST_PAIRED` rows, the place
is found on a sample instead: every row takes part with probability q, by a coin of its own from the kernel, at every
release.

Theorem (a sample; add_remove). An (e', d')-DP mechanism of such a sample is (ln(1 + q (e^e' - 1)), q d')-DP.
Source: Li, Qardaji, Su 2012, "On sampling, anonymization, and differential privacy", Theorem 1; Balle, Barthe,
Gaboardi 2018, Theorem 8. For zCDP no such factor is proved, so `PlaceByNoise` gives way to coins there: what is
(epsilon, delta)-DP is delta-approximately epsilon tanh(epsilon / 2)-zCDP (`privacy.kinds.Approximate`).

*How many rows there may be.* A released number N = n + noise may lie far below n, and to pair what there is would take
n^2 steps. So N is raised by a public slack, with which it hardly ever lies below n: M = N + slack is what decides
whether there is a sample, and q = `MOST_PAIRED` / M. And if more than `MOST_COMPARED` rows are to be paired all the
same, none are: no place is found.

Theorem (work). Whatever the data and the noise are, at most `MOST_COMPARED` rows are paired.

Theorem (loss; add_remove). Let the release of N alone be e-DP, or rho-zCDP, with P(noise <= -slack) <= b delta, where b
is `BEYOND`. Let the filter and its average have delta' = (1 - 2b) delta, at e' <= 100 or at rho'. Then N and the place
are together (e + e', delta)-DP, or delta-approximately (rho / (1 - delta) + rho')-zCDP.

Proof. Of two neighbours let n be the larger number of rows. Whether G holds, that M >= n, is seen in N. It fails with a
chance of at most b delta on either side: where there are n - 1 rows, it fails if noise <= -slack. Now let N be given,
with G. If M <= `MOST_PAIRED`, so is n, and nothing is cut off on either side. Otherwise a sample has X rows, of mean
n q <= m = `MOST_PAIRED`, and by Chernoff P(X >= 3/2 m) <= (e^(1/2) / (3/2)^(3/2))^m < 2^-3100 =: c. To cut off such
samples moves either law by at most c in total variation. So an event's chance is at most e^e' times that on the other
side, plus delta' + c (1 + e^e'), where c (1 + e^100) < 10^-250 <= b delta (`laws` has a slack for no lesser chance):
given N, the place is (e', (1 - b) delta)-DP. Together, for an event S,

    P(S) <= b delta + sum over N in G of P(N) P(S | N)
         <= b delta + sum over N in G of e^e P'(N) (e^e' P'(S | N)) + P(N) (1 - b) delta <= e^(e + e') P'(S) + delta.

In zCDP conditioning N on G costs the factor 1 / (1 - b delta) on rho at most (`concentrated`, step 3 of its proof); the
rest is given N, and losses and deltas add up.  QED

A public number of rows needs no slack, and is no less private where it is too large to be paired.

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
MOST_COMPARED = MOST_PAIRED * 3 // 2
"""Rows that are ever compared pair by pair. It is a choice: it bounds the work, and no sample in 2^3100 has so many."""
BEYOND = Fraction(1, 2**11)
"""The share of delta for more rows than a released number is thought to stand for; as much goes for samples that are
too large. It is a choice: so small a share costs next to nothing, and so small a chance is soon reached."""
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

    @property
    def beyond(self) -> Fraction:
        """The chance, within delta, that there are more rows than a released number and its slack stand for."""
        ...

    def spread(self, rows: float, radius: float, dimensions: int, slack: int = 0) -> float:
        """Expected standard deviation of each coordinate for so many rows, in grid steps; infinite for too few."""
        ...

    def find(self, points: Points, radius: int, about: int, sampler: Sampler, slack: int = 0) -> Average | None:
        """The core's average, or None for too few friends.

        Args:
            points: (n, d) int64 in grid steps, one row per privacy unit.
            radius: Of friendship, in grid steps, >= 1; released or public.
            about: A released or public number of rows.
            sampler: For the exact noise.
            slack: But for a chance of `beyond`, noise is above its negative; 0 where the number is public.
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

    @property
    def beyond(self) -> Fraction:
        return self.delta * BEYOND

    def spread(self, rows: float, radius: float, dimensions: int, slack: int = 0) -> float:
        if _too_many(dimensions, rows, self.swap):
            return math.inf
        own, rows = self._for(dimensions, rows, slack)
        average = own._average(rows)
        return math.inf if average is None else average.spread(CORE * rows, radius)

    def find(self, points: Points, radius: int, about: int, sampler: Sampler, slack: int = 0) -> Average | None:
        n, dimensions = points.shape
        own, rows = self._for(dimensions, about, slack)
        if _samples(dimensions, about + slack, self.swap):
            points = points[sampler.chances(np.full(n, MOST_PAIRED), about + slack)]
        points, ball = _compared(points), Ball(radius, dimensions)
        average = own._average(rows)
        kept = self._filter.kept(ball.friends(points), sampler)
        return None if average is None else _average_of(points[kept], average, ball, sampler)

    @property
    def _filter(self) -> BasicFilter | BasicSwapFilter:
        return BasicSwapFilter() if self.swap else BasicFilter()

    def _average(self, about: float) -> FriendlyAverage | None:
        if self.epsilon <= 0:  # a rho so small has none
            return None
        return FriendlyAverage.approximate(*self._filter.inner(self.epsilon, self.delta), about)

    def _for(self, dimensions: int, about: float, slack: int) -> tuple[PlaceByCoins, float]:
        """What the loss buys for the rows that are paired, and about how many these are."""
        most, sampled = about + slack, self._sampled(dimensions, about + slack)
        if sampled is None:
            return PlaceByCoins(self.epsilon, _kept_of(self.delta, dimensions, self.swap), self.swap), about
        return sampled, about * MOST_PAIRED / most

    def _sampled(self, dimensions: int, most: float) -> PlaceByCoins | None:
        """What the same loss buys on the sample; None where all rows are paired."""
        if not _samples(dimensions, most, self.swap):
            return None
        q = Fraction(MOST_PAIRED, math.ceil(most))
        inner = math.log1p(math.expm1(min(float(self.epsilon), 100.0)) / float(q))
        return PlaceByCoins(safely_below(inner), min(_kept_of(self.delta, dimensions, self.swap) / q, Fraction(1, 2)))


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

    @property
    def beyond(self) -> Fraction:
        return self.delta * BEYOND

    def spread(self, rows: float, radius: float, dimensions: int, slack: int = 0) -> float:
        if _samples(dimensions, rows + slack, self.swap):
            return self._coins.spread(rows, radius, dimensions, slack)
        share = self._share(rows)
        if share > MOST_FILTER_SHARE or _too_many(dimensions, rows, self.swap):
            return math.inf
        return self._average(share, rows).spread(CORE * rows, radius)

    def find(self, points: Points, radius: int, about: int, sampler: Sampler, slack: int = 0) -> Average | None:
        dimensions = points.shape[1]
        if _samples(dimensions, about + slack, self.swap):
            return self._coins.find(points, radius, about, sampler, slack)
        own = PlaceByNoise(self.rho, _kept_of(self.delta, dimensions, self.swap), self.swap)
        return own._paired(_compared(points), radius, about, sampler)

    def _paired(self, points: Points, radius: int, about: int, sampler: Sampler) -> Average | None:
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

    @property
    def _coins(self) -> PlaceByCoins:
        return PlaceByCoins(pure_epsilon_of_rho(self.rho), self.delta)


def _samples(dimensions: int, most: float, swap: bool) -> bool:
    """Whether the place of so many rows is found on a sample."""
    return dimensions > 1 and most > MOST_PAIRED and not swap


def _kept_of(delta: Fraction, dimensions: int, swap: bool) -> Fraction:
    """What of delta is left for filter and average: all where the number of rows decides nothing, or is public."""
    return delta if dimensions == 1 or swap else delta * (1 - 2 * BEYOND)


def _too_many(dimensions: int, rows: float, swap: bool) -> bool:
    """Whether so many rows, a public number, are not paired, as there is no sample where rows are replaced."""
    return swap and dimensions > 1 and rows > MOST_COMPARED


def _compared(points: Points) -> Points:
    """The points, if friends are not counted by pairs or they are few enough for that; else none of them."""
    return points if points.shape[1] == 1 or len(points) <= MOST_COMPARED else points[:0]


def _average_of(core: Points, average: FriendlyAverage, ball: Ball, sampler: Sampler) -> Average | None:
    return average.release(exact_sums(core), len(core), max(1, ball.diameter), sampler)


def exact_sums(points: Points) -> list[int]:
    """(d,) column sums as Python ints: halves of 32 bits do not overflow below 2^31 rows."""
    high, low = points >> 32, points & 0xFFFFFFFF
    return [(int(h) << 32) + int(k) for h, k in zip(high.sum(axis=0), low.sum(axis=0), strict=True)]
