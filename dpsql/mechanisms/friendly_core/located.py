"""Means without bounds: find the place and the scale of the data, then clamp all rows to a ball there.

Neighbours: ``add_remove`` and ``replace_one`` with a public number of rows. Loss: the sum of its parts.

1. The number of rows, with noise; nothing where it is public. In more than one dimension `place` bounds its work by it,
   raised by a slack.
2. A radius r, by `diameter`; nothing where it is public.
3. The core's average y, by `place`, with noise of standard deviation t.
4. All rows are moved into the ball around y of radius R, and the sum of what is left of x - y is released with noise.
   The answer is y + sum / number.

R = 3/2 r (3/4 r in more than three dimensions, where norms vary little) + t (sqrt(d) + 2), in one dimension + 2 t.
A row that comes or goes moves the sum by at most R, one replaced by at most 2 R; there is neither a factor of the
filter nor a logarithm of delta in it. Given r and y, the ball is public, and every row is moved by a function of it
alone: each part is private whatever came before, and losses add.

Where the rows have public bounds, a place that was not found (too few friends) is answered, too: by the ball that holds
all of the bounds. Whether the place was found is part of what the third step released, and the sum's price has not been
spent by then: so the ball is public, as the other is, and the losses are the same. Nothing is moved in that ball.

What is promised is the mean of the rows so moved. It differs from the mean of all rows by what lies outside of the
ball: data with one long tail lean to their core. At epsilon 1 that was below 0.005 of a standard deviation for
exponential data, 0.006 to 0.03 for lognormal(0, 1) data, and 0.07 where one row in 100 lies 30 standard deviations
away; docs/friendly_core.md has the figures. No interval here counts it.

Source: the location is that of Tsfadia, Cohen, Kaplan, Mansour, Stemmer 2022, "FriendlyCore"; the second step is ours
(as in "coarse, then fine" estimates of Karwa, Vadhan 2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.diameter import DiameterSearch, inflation, tolerance
from dpsql.mechanisms.friendly_core.friends import FARTHEST
from dpsql.mechanisms.friendly_core.noise import gaussian_law
from dpsql.mechanisms.friendly_core.place import Place, exact_sums
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["GaussianTotal", "LaplaceTotal", "LocateThenClamp", "Located", "SumNoise", "put_into_ball"]

Points = npt.NDArray[Any]
SHRUNK = 1 - 2.0**-40
"""As a factor: below 1 by more than float64 can err in a norm, so that what is moved is surely inside the ball."""


class SumNoise(Protocol):
    """What the noise of the sum costs."""

    def law(self, moved: int) -> Law:
        """The noise of each coordinate of a sum that a neighbour moves by so much (L2), in grid steps."""
        ...

    @property
    def price(self) -> str:
        """What it costs, for people to read."""
        ...


@dataclass(frozen=True, slots=True)
class LaplaceTotal:
    """epsilon-DP, in one dimension."""

    epsilon: Fraction

    def law(self, moved: int) -> Law:
        return LaplaceLaw(moved / self.epsilon)

    @property
    def price(self) -> str:
        return f"epsilon {float(self.epsilon):.3g}"


@dataclass(frozen=True, slots=True)
class GaussianTotal:
    """rho-zCDP."""

    rho: Fraction

    def law(self, moved: int) -> Law:
        return gaussian_law(Fraction(moved**2), self.rho)

    @property
    def price(self) -> str:
        return f"rho {float(self.rho):.3g}"


@dataclass(frozen=True, slots=True)
class Located:
    """A released mean; every attribute may be shown.

    Attributes:
        centre: (d,) y, in grid steps.
        reach: R, in grid steps.
        sums: (d,) noised sums of what is left of x - y, in grid steps.
        rows: Noised, or public, number of rows, >= 1.
    """

    centre: tuple[int, ...]
    reach: int
    sums: tuple[int, ...]
    rows: int

    @property
    def mean(self) -> tuple[Fraction, ...]:
        """(d,) in grid steps; within R of y in each coordinate."""
        return tuple(
            y + min(max(Fraction(s, self.rows), Fraction(-self.reach)), Fraction(self.reach))
            for y, s in zip(self.centre, self.sums, strict=True)
        )


@dataclass(frozen=True, slots=True)
class LocateThenClamp:
    """The whole, with every part's loss fixed.

    Attributes:
        count: Noise of the number of rows; None where it is public.
        search: epsilon of the search for the radius; None where ``low`` is the radius.
        place: How the place is found.
        total: The noise of the sum.
        low, high: Public ends of the radius, in grid steps, 1 <= low <= high.
        dimensions: d.
        swap: Whether a neighbour is a row replaced.
        bounds: The least and greatest value of each coordinate, in grid steps, where all of them are bounded; else ().
    """

    count: Law | None
    search: Fraction | None
    place: Place
    total: SumNoise
    low: int
    high: int
    dimensions: int
    swap: bool = False
    bounds: tuple[tuple[int, int], ...] = ()

    def run(self, points: Points, sampler: Sampler) -> Located | None:
        """The mean; without bounds None for too few friends.

        Args:
            points: (n, d) int64 in grid steps within +- FARTHEST, one row per privacy unit.
            sampler: For the exact noise.
        """
        about = max(1, len(points) + (0 if self.count is None else int(self.count.draw(sampler, 1)[0])))
        chosen = self.low if self.search is None else self._search(about).choose(points, sampler)
        radius = min(chosen, FARTHEST)
        place = self.place.find(points, radius, about, sampler, self.slack)
        if place is None:
            if not self.bounds:
                return None
            centre, reach = self._everywhere()
        else:
            centre = tuple(min(max(y, -FARTHEST), FARTHEST) for y in place.nearest)
            reach = self.reach(radius, place.spread)
        law = self.total.law(self._moved(reach))
        sums = noised(exact_sums(put_into_ball(points, centre, reach)), law.draw(sampler, self.dimensions))
        return Located(centre, reach, tuple(int(s) for s in sums), about)

    @property
    def slack(self) -> int:
        """What is added to the number of rows so that there are hardly ever more; nothing where it bounds no work."""
        if self.count is None or self.dimensions == 1:
            return 0
        return self.count.beyond(self.place.beyond)

    def _everywhere(self) -> tuple[tuple[int, ...], int]:
        """The ball that holds all of the bounds: its centre, and its radius rounded up."""
        centre = tuple((low + high) // 2 for low, high in self.bounds)
        squares = sum(max(high - y, y - low) ** 2 for y, (low, high) in zip(centre, self.bounds, strict=True))
        return centre, max(1, math.isqrt(squares) + (math.isqrt(squares) ** 2 < squares))

    def sum_law(self, reach: int) -> Law:
        """The noise of each coordinate of the sum for that R."""
        return self.total.law(self._moved(reach))

    def half_width(self, rows: float, radius: float) -> float:
        """Expected half width of a 95% interval for so many rows with this radius, in grid steps; infinite for few."""
        spread = self.place.spread(rows, radius, self.dimensions, self.slack)
        if math.isinf(spread):
            return spread
        return self.sum_law(self.reach(math.ceil(radius), spread)).quantile(0.95) / rows

    def radius(self, rows: float, deviation: float) -> float:
        """The radius to expect for normal data of this standard deviation, in grid steps."""
        if self.search is None:
            return float(self.low)
        allowed = tolerance(self.search, rows)
        pairs = {3: 0.95, 2: 1.8}.get(int(inflation(allowed)), 2.8)  # of standard deviations, as in `inflation`
        wanted = pairs * deviation * math.sqrt(self.dimensions)
        return float(inflation(allowed)) * min(max(wanted, self.low), self.high)

    def _search(self, about: float) -> DiameterSearch:
        epsilon = self.search or Fraction(1)
        return DiameterSearch(self.low, self.high, epsilon, tolerance(epsilon, about), self.swap)

    def reach(self, radius: int, spread: float) -> int:
        """R for that radius and standard deviation of the place, in grid steps; no row is farther than 2 FARTHEST."""
        d = self.dimensions
        slack = 2 * spread if d == 1 else (math.sqrt(d) + 2) * spread
        return min(math.ceil((1.5 if d <= 3 else 0.75) * radius + slack) + 1, 2 * FARTHEST)

    def _moved(self, reach: int) -> int:
        return 2 * reach if self.swap else reach


def put_into_ball(points: Points, centre: tuple[int, ...], reach: int) -> Points:
    """(n, d) int64, x - centre, moved towards 0 until its norm is at most ``reach``; exact where it lies inside.

    Args:
        points: (n, d) int64 within +- FARTHEST.
        centre: (d,) within +- FARTHEST.
        reach: >= 0, in grid steps.

    >>> put_into_ball(np.array([[13, 14], [10, 11]]), (10, 10), 3).tolist()
    [[1, 2], [0, 1]]
    """
    left = points - np.array(centre, dtype=np.int64)
    if left.shape[1] == 1:
        return np.asarray(np.clip(left, -reach, reach), dtype=np.int64)
    squares = np.zeros(len(left))
    for column in left.T:  # column by column: a row's norm depends on that row alone
        squares += column.astype(np.float64) ** 2
    outside = squares > reach**2 * SHRUNK
    factor = reach * SHRUNK / np.sqrt(np.maximum(squares, 1))
    shrunk = np.trunc(left * factor[:, None]).astype(np.int64)
    return np.where(outside[:, None], shrunk, left)
