"""Variances, covariances, correlations and slopes as functions of sums of powers.

With shifted values x and y on their grids, the moments of a group are

    n           the number of rows (pairs)
    x, y        the sums of x and of y
    xx, yy, xy  the sums of x^2, y^2 and x y

and n^2 times the covariance is n xy - x y, whatever the shifts. Everything here is arithmetic on public or released
numbers; integers are exact, and the results are the nearest floats.

Each statistic is total. Of fewer than ``least`` rows a variance is the largest that its bounds allow: 0 would say that
the rows are all alike, where nothing is known of them. The others are 0 there, and where they would divide by a
variance that is not above 0. All are put inside bounds that hold for all data on the grids.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = [
    "STATISTICS",
    "Central",
    "Correlation",
    "Deviation",
    "Guess",
    "Likely",
    "Many",
    "Moments",
    "Slope",
    "Statistic",
]

Floats = npt.NDArray[np.float64]

Moments = Mapping[str, int]
"""Exact, of one group."""

Many = Mapping[str, Floats]
"""(k,) each: moments that one group could have."""

Range = tuple[float, float]

BELOW = 2
"""How many times its own error a variance counts by which something is divided. A guess: a ratio says nothing once its
noise may be all of the variance, as it may where a spread is declared three times too large. Then half widths are half
as large, or less; with the true spread, up to a seventh larger for no correlation, and no larger for one of 1/2."""

Number = TypeVar("Number", int, Floats)


@dataclass(frozen=True, slots=True)
class Guess:
    """A typical distance of each variable from its shift, in grid steps; also taken for its standard deviation."""

    x: float
    y: float

    def of(self, names: str) -> float:
        """The product of the distances: ``of("xy")``."""
        return math.prod(self.x if name == "x" else self.y for name in names)


class MomentStatistic(Hashable, Protocol):
    """One function of the moments, in grid steps."""

    @property
    def moments(self) -> tuple[str, ...]:
        """Those it needs, n first."""
        ...

    @property
    def least(self) -> int:
        """Rows below which nothing is known of it."""
        ...

    def bounds(self, widths: Mapping[str, int]) -> Range:
        """Its least and greatest value; ``widths``: high - low of each variable, in grid steps."""
        ...

    def value(self, m: Moments, widths: Mapping[str, int]) -> float:
        """Its value inside the bounds."""
        ...

    def weights(self, guess: Guess) -> dict[str, float]:
        """By how much an error of 1 in each moment moves it, times n, at the guess, or how much that counts; >= 0."""
        ...

    def step(self, x: Fraction, y: Fraction) -> float:
        """Its unit: what 1 is worth in the columns' units, whose grid steps are given."""
        ...


class Likely(MomentStatistic, Protocol):
    """One that is so near to linear that what it is under many noises tells where it may lie."""

    def likely(self, m: Many, widths: Mapping[str, int]) -> tuple[Floats, Floats]:
        """(k,), (k,) its value for each of many moments, twice; its two bounds where it is not defined."""
        ...


def _covariance(m: Mapping[str, Number], pair: str) -> Number:
    """n^2 times the covariance of a pair, exactly for integers."""
    return m["n"] * m[pair] - m[pair[0]] * m[pair[1]]


def _within(bounds: Range, values: Floats, defined: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The values inside the bounds; where they are not defined, the lower and the upper bound."""
    clipped = np.clip(values, *bounds)
    return np.where(defined, clipped, bounds[0]), np.where(defined, clipped, bounds[1])


def _add(weights: dict[str, float], pair: str, guess: Guess, factor: float) -> dict[str, float]:
    """Adds factor times a covariance's: d cov = (d xy - E[x] d y - E[y] d x + (E[x] E[y] - cov) d n) / n.

    The guess takes E[x], E[y] and the standard deviations to be as large as the distances.
    """
    first, second = guess.of(pair[0]), guess.of(pair[1])
    for name, weight in ((pair, 1.0), (pair[0], second), (pair[1], first), ("n", first * second)):
        weights[name] = weights.get(name, 0.0) + factor * weight
    return weights


@dataclass(frozen=True, slots=True)
class Central:
    """VAR and COVAR: the covariance of a pair, over n (``lost`` 0) or n - 1 (``lost`` 1).

    >>> Central("xx", lost=1).value({"n": 3, "x": 6, "xx": 14}, {"x": 3})  # of 1, 2 and 3
    1.0
    """

    pair: str
    lost: int

    @property
    def moments(self) -> tuple[str, ...]:
        return ("n", *dict.fromkeys(self.pair), self.pair)

    @property
    def least(self) -> int:
        return 1 + self.lost

    def bounds(self, widths: Mapping[str, int]) -> Range:
        # Half of the rows at either end; of two rows where one is lost.
        most = widths[self.pair[0]] * widths[self.pair[1]] / (2 if self.lost else 4)
        return (0.0 if self.pair[0] == self.pair[1] else -most), most

    def value(self, m: Moments, widths: Mapping[str, int]) -> float:
        low, high = self.bounds(widths)
        if m["n"] < self.least:
            return high if self.pair[0] == self.pair[1] else 0.0
        return min(max(_covariance(m, self.pair) / (m["n"] * (m["n"] - self.lost)), low), high)

    def likely(self, m: Many, widths: Mapping[str, int]) -> tuple[Floats, Floats]:
        n = np.maximum(m["n"], self.least)
        return _within(self.bounds(widths), _covariance(m, self.pair) / (n * (n - self.lost)), m["n"] >= self.least)

    def weights(self, guess: Guess) -> dict[str, float]:
        return _add({}, self.pair, guess, 1.0)

    def step(self, x: Fraction, y: Fraction) -> float:
        one, other = (x if self.pair[0] == "x" else y), (x if self.pair[1] == "x" else y)
        return _product(one.numerator, one.denominator, other.numerator, other.denominator)


@lru_cache(maxsize=64)  # asked for by every group: whole numbers are hashed far faster than fractions
def _product(a: int, b: int, c: int, d: int) -> float:
    """a / b times c / d."""
    return float(Fraction(a * c, b * d))


@dataclass(frozen=True, slots=True)
class Deviation:
    """STDDEV: the root of a variance."""

    variance: Central

    @property
    def moments(self) -> tuple[str, ...]:
        return self.variance.moments

    @property
    def least(self) -> int:
        return self.variance.least

    def bounds(self, widths: Mapping[str, int]) -> Range:
        return 0.0, math.sqrt(self.variance.bounds(widths)[1])

    def value(self, m: Moments, widths: Mapping[str, int]) -> float:
        return math.sqrt(self.variance.value(m, widths))

    def likely(self, m: Many, widths: Mapping[str, int]) -> tuple[Floats, Floats]:
        low, high = self.variance.likely(m, widths)
        return np.sqrt(low), np.sqrt(high)

    def weights(self, guess: Guess) -> dict[str, float]:
        return _add({}, self.variance.pair, guess, 1 / (2 * guess.x))

    def step(self, x: Fraction, y: Fraction) -> float:
        return float(x)


@dataclass(frozen=True, slots=True)
class Correlation:
    """CORR: the covariance over both standard deviations."""

    moments: tuple[str, ...] = ("n", "x", "y", "xx", "yy", "xy")
    least: int = 2

    def bounds(self, widths: Mapping[str, int]) -> Range:
        return -1.0, 1.0

    def value(self, m: Moments, widths: Mapping[str, int]) -> float:
        both, x, y = (_covariance(m, pair) for pair in ("xy", "xx", "yy"))
        if m["n"] < self.least or x <= 0 or y <= 0:
            return 0.0
        size = 1.0 if both**2 >= x * y else math.sqrt(both**2 / (x * y))
        return math.copysign(size, both)

    def weights(self, guess: Guess) -> dict[str, float]:
        weights = _add({}, "xy", guess, 1 / guess.of("xy"))
        # At a correlation of 1/2 each variance moves it a quarter as much, times `BELOW`.
        return _add(_add(weights, "xx", guess, BELOW / (4 * guess.of("xx"))), "yy", guess, BELOW / (4 * guess.of("yy")))

    def step(self, x: Fraction, y: Fraction) -> float:
        return 1.0


@dataclass(frozen=True, slots=True)
class Slope:
    """REGR_SLOPE(y, x): the covariance over the variance of x.

    It is an average of the slopes between two rows, weighted by their squared distance in x. Rows that differ in x do
    so by a step or more, so no slope is steeper than all of y's width in one step.
    """

    moments: tuple[str, ...] = ("n", "x", "y", "xx", "xy")
    least: int = 2

    def bounds(self, widths: Mapping[str, int]) -> Range:
        return -float(widths["y"]), float(widths["y"])

    def value(self, m: Moments, widths: Mapping[str, int]) -> float:
        both, x = _covariance(m, "xy"), _covariance(m, "xx")
        if m["n"] < self.least or x <= 0:
            return 0.0
        size = float(widths["y"]) if abs(both) >= widths["y"] * x else abs(both) / x
        return math.copysign(size, both)

    def weights(self, guess: Guess) -> dict[str, float]:
        # At a correlation of 1/2 the slope is half of y's distance over x's; times `BELOW`.
        weights = _add({}, "xy", guess, 1 / guess.of("xx"))
        return _add(weights, "xx", guess, BELOW * guess.y / (2 * guess.x**3))

    def step(self, x: Fraction, y: Fraction) -> float:
        return float(y / x)


Statistic = Correlation | Slope | Likely

STATISTICS: Mapping[str, Statistic] = {
    "var_pop": Central("xx", lost=0),
    "var_samp": Central("xx", lost=1),
    "stddev_pop": Deviation(Central("xx", lost=0)),
    "stddev_samp": Deviation(Central("xx", lost=1)),
    "covar_pop": Central("xy", lost=0),
    "covar_samp": Central("xy", lost=1),
    "corr": Correlation(),
    "regr_slope": Slope(),
}
"""Every statistic of moments, by the name of its SQL function; of two arguments the first is y, the second x."""
