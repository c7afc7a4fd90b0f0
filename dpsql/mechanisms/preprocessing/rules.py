"""How large a sensitivity to want, and what it is expected to cost, from public facts alone.

Any public number is a valid sensitivity Delta: a bad one costs accuracy, never privacy. A small one moves the answer
away from the statistic (bias), a large one adds noise; the rules here balance the two for n rows, an epsilon, and a
column whose rows typically lie a distance s (``spread``) from a centre.

Guess. The chance of a row further than d from the centre is taken to be (1.5 s / d)^3, and 1 up to d = 1.5 s: a tail
that is heavy, with a variance. It serves to choose and to predict, never to prove.

    mean      Delta = W / n      W = 1.5 s (n epsilon)^(1/3), which leaves about 1 / epsilon rows beyond W
    variance  Delta = W^2 / n    the same W
    median    Delta = 3 s / n    exact while the median lies within 1.5 s of the centre and not alone there
    quantile  Delta = W / n      W = 1.2 s q^(-4/3), q the smaller part on either side of it: as wide as the median's
                                 beside how fast the guessed tail thins out there
    trimmed   Delta = W / n      W = 2 s share^(-1/3), a little beyond where the kept values end; at most the mean's
    min, max  none: the outermost of n values may lie anywhere, so Delta has to be named
    sum       none: values are clipped to +- Delta, which has to be named

W never exceeds the width of declared bounds. Expected errors follow from the guess:

    mean      bias E[(D - W)+], D being a row's distance; (1.5 s)^3 / (2 W^2) for W >= 1.5 s
    variance  bias E[(D^2 - W^2)+], 2 (1.5 s)^3 / W, and (x^2 - W^2)+ / n for the outermost value
    median    bias s - n Delta / 2 where that is above 0: the centre may be s away
    quantile  the greatest of d(q) - n Delta, where d(v) = 1.5 s v^(-1/3) is the distance that a part v of the rows lies
              beyond, and of d(q) - d(v) - n Delta (v - q) / p, where p = 1 - q is the larger part
    trimmed   as the mean's, up to where the kept values end
    min, max  the greatest of x - d - Delta k, where x = 1.5 s n^(1/3) is about the outermost distance and k = n
              (1.5 s / d)^3 the number of values beyond d: x - 4 d / 3 at d = (3 Delta n (1.5 s)^3)^(1/4)
    sum       n E[(|c| + D - Delta)+]

By the guess D^2 has no variance, so 19 of 20 tables do not keep within the mean of a variance's bias. Such a sum is far
above its mean where its largest part is: beyond x = 1.5 s (20 n)^(1/3) in one table of 20 (never beyond the bounds).
Without that part the expected error was 4 to 9 times too small on skewed data.

A centre that is wrong by more than the rules allow biases the median, and no number of rows mends it.

Neighbours: ``add_remove``; for others, and for units with several rows, epsilon is that of one row more or less.

Source: ours; measured against lognormal and Pareto data (bench/). The form of the median's and the mean's bias is from
Cummings, Durfee 2020, Theorems 1.6 and 1.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

__all__ = [
    "ExtremeRule",
    "MeanRule",
    "MedianRule",
    "QuantileRule",
    "Rule",
    "SumRule",
    "TrimmedRule",
    "VarianceRule",
    "half_width",
]

ONE_IN = 20
"""One in so many tables has an outermost value further out than the bias of a variance allows for. A guess."""
TAIL = 1.5
"""Where the guessed tail begins, in spreads. A guess."""

THINNING = 1.2
"""In spreads: W of a quantile, times q^(4/3). It is a choice, that of the median: 3 spreads at q = 1/2."""


class Rule(Protocol):
    """One statistic's way from public facts to a sensitivity."""

    def reach(self, rows: int, epsilon: Fraction) -> Fraction | None:
        """W: how far rows may lie from the centre (or apart) before the answer is moved; None without spread or bounds.

        In the column's unit, three digits, rounded up.
        """
        ...

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        """Delta of one row, in the statistic's unit."""
        ...

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        """How far the answer is expected to be moved, in the statistic's unit; 0 where there is no spread to tell."""
        ...


@dataclass(frozen=True, slots=True)
class MeanRule:
    """AVG.

    Attributes:
        spread: A typical distance from the centre, > 0, or None.
        width: Upper less lower bound, or None. In the column's unit, as everything here.

    >>> MeanRule(Fraction(20_000), Fraction(10**6)).reach(rows=1000, epsilon=Fraction(1))
    Fraction(300000, 1)
    """

    spread: Fraction | None
    width: Fraction | None

    def reach(self, rows: int, epsilon: Fraction) -> Fraction | None:
        return _least(_of_tails(self.spread, rows, epsilon), self.width)

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        return reach / rows

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        return _beyond(self.spread, self.width, float(sensitivity * rows))


@dataclass(frozen=True, slots=True)
class VarianceRule:
    """VAR_POP and VAR_SAMP; attributes as `MeanRule`."""

    spread: Fraction | None
    width: Fraction | None

    def reach(self, rows: int, epsilon: Fraction) -> Fraction | None:
        return _least(_of_tails(self.spread, rows, epsilon), self.width)

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        return reach**2 / rows

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        squared = float(sensitivity * rows)
        if self.spread is None or (self.width is not None and squared >= float(self.width) ** 2):
            return 0.0
        start = TAIL * float(self.spread)
        inside = max(start**2 - squared, 0.0)  # the guess has nobody nearer than `start`
        outermost = min(start * math.cbrt(ONE_IN * rows), float(self.width or math.inf))
        alone = max(outermost**2 - max(squared, start**2), 0.0) / rows
        return inside + 2 * start**3 / max(start, math.sqrt(squared)) + alone


@dataclass(frozen=True, slots=True)
class MedianRule:
    """MEDIAN; attributes as `MeanRule`.

    >>> MedianRule(Fraction(20), None).sensitivity(Fraction(60), rows=1000)
    Fraction(3, 50)
    """

    spread: Fraction | None
    width: Fraction | None

    def reach(self, rows: int, epsilon: Fraction) -> Fraction | None:
        return _least(None if self.spread is None else 3 * self.spread, self.width)

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        return reach / rows

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        if self.spread is None:
            return 0.0
        return max(0.0, float(min(self.spread, self.width or self.spread) - sensitivity * rows / 2))


@dataclass(frozen=True, slots=True)
class QuantileRule:
    """Quantiles; attributes as `MeanRule`, and ``share``, the part of the rows below, in (0, 1).

    >>> QuantileRule(Fraction(20), None, Fraction(9, 10)).reach(rows=1000, epsilon=Fraction(1))
    Fraction(518, 1)
    """

    spread: Fraction | None
    width: Fraction | None
    share: Fraction

    def reach(self, rows: int, epsilon: Fraction) -> Fraction | None:
        if self.spread is None:
            return self.width
        return _least(_three_digits(THINNING * float(self.spread) * self._outer ** (-4 / 3)), self.width)

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        return reach / rows

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        if self.spread is None:
            return 0.0
        start, outer, wide = TAIL * float(self.spread), self._outer, float(sensitivity * rows)
        far = start * outer ** (-1 / 3)
        within = min(1.0, max(outer, (start * (1 - outer) / (3 * max(wide, 1e-300))) ** 0.75))
        pulled = far - start * within ** (-1 / 3) - wide * (within - outer) / (1 - outer)
        return float(min(max(0.0, far - wide, pulled), float(self.width or math.inf)))

    @property
    def _outer(self) -> float:
        """q: the smaller part of the rows on either side."""
        return float(min(self.share, 1 - self.share))


@dataclass(frozen=True, slots=True)
class TrimmedRule:
    """The trimmed mean; attributes as `MeanRule`, and ``share``, left out at either end, in [0, 1/2)."""

    spread: Fraction | None
    width: Fraction | None
    share: Fraction

    def reach(self, rows: int, epsilon: Fraction) -> Fraction | None:
        wide = _of_tails(self.spread, rows, epsilon)
        if self.spread is None or not self.share:
            return _least(wide, self.width)
        return _least(wide, _three_digits(2 * float(self.spread) * float(self.share) ** (-1 / 3)), self.width)

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        return reach / rows

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        beyond = MeanRule(self.spread, self.width).bias
        if not self.share or self.spread is None:
            return beyond(sensitivity, rows)
        end = Fraction(TAIL * float(self.spread) * float(self.share) ** (-1 / 3))
        return max(0.0, beyond(sensitivity, rows) - beyond(end, rows=1))


@dataclass(frozen=True, slots=True)
class ExtremeRule:
    """MIN and MAX; attributes as `MeanRule`."""

    spread: Fraction | None
    width: Fraction | None

    def reach(self, rows: int, epsilon: Fraction) -> None:
        return None

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        return reach / rows

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        if self.spread is None:
            return 0.0
        start = TAIL * float(self.spread)
        outermost: float = min(start * float(rows) ** (1 / 3), float(self.width or math.inf))
        return max(0.0, outermost - 4 / 3 * math.sqrt(math.sqrt(3 * float(sensitivity) * rows * start**3)))


@dataclass(frozen=True, slots=True)
class SumRule:
    """SUM of values clipped to plus or minus Delta; attributes as `MeanRule`, and the ``centre``."""

    spread: Fraction | None
    width: Fraction | None
    centre: Fraction

    def reach(self, rows: int, epsilon: Fraction) -> None:
        return None

    def sensitivity(self, reach: Fraction, rows: int) -> Fraction:
        return reach

    def bias(self, sensitivity: Fraction, rows: int) -> float:
        return rows * _beyond(self.spread, self.width, float(max(sensitivity - abs(self.centre), Fraction(0))))


def half_width(scale: float, bias: float, confidence: float = 0.95) -> float:
    """The x with P(|bias + noise| <= x) = confidence, for Laplace noise of that scale.

    P(|bias + noise| > x) = exp(-x / scale) cosh(bias / scale) for x >= |bias|, and the x of a confidence of 1/2 or more
    is that large.

    >>> round(half_width(scale=1, bias=0), 3), round(half_width(scale=1, bias=50), 3)
    (2.996, 52.303)
    """
    far = abs(bias) / scale
    log_cosh = far + math.log1p(math.exp(-2 * far)) - math.log(2)
    return scale * (log_cosh - math.log(1 - confidence))


def _of_tails(spread: Fraction | None, rows: int, epsilon: Fraction) -> Fraction | None:
    """1.5 s (n epsilon)^(1/3)."""
    if spread is None:
        return None
    return _three_digits(TAIL * float(spread) * float(rows * epsilon) ** (1 / 3))


def _beyond(spread: Fraction | None, width: Fraction | None, reach: float) -> float:
    """E[(D - reach)+] by the guess; 0 where bounds are no wider than the reach."""
    if spread is None or (width is not None and reach >= width):
        return 0.0
    start = TAIL * float(spread)
    return max(start - reach, 0.0) + start**3 / (2 * max(start, reach) ** 2)


def _least(*reaches: Fraction | None) -> Fraction | None:
    return min((reach for reach in reaches if reach is not None), default=None)


def _three_digits(number: float) -> Fraction:
    """The number in three decimal digits, rounded up.

    >>> _three_digits(139247.7), _three_digits(0.0012)
    (Fraction(140000, 1), Fraction(3, 2500))
    """
    unit = Fraction(10) ** (math.floor(math.log10(number)) - 2)
    return math.ceil(Fraction(number) / unit * (1 - Fraction(1, 10**12))) * unit
