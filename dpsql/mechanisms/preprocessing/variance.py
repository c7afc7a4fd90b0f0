"""The variance with a wanted sensitivity, from sums and the values at both ends.

Write S(A) for the squared deviations of the values A from their own mean, k for their number, n for the number of all
values, ddof for 0 (population) or 1 (sample). The variance of A is S(A) / (k - ddof), and 0 for one value or none.

Theorem. The preprocessed variance (the general rule, Delta for all, 0 for the empty table) is the least of
variance(A) + (n - k) Delta over the windows A of the sorted values.

Proof. The lower end never binds: where f(D) <= (n - 1) Delta, g(D - i) <= f(D - i) <= f(D) n / (n - 1) <= f(D) + Delta,
and else g(D - i) <= (n - 1) Delta < f(D) (for the sample, n - 1 for n). So g(D) = min(f(D), min_i g(D - i) + Delta), a
least over all subsets, of each size the best being a window.  QED

How the best window is found. Let m(r) be the least S of the windows that leave out r values. A total of at most v
somewhere means m(r) <= (v - r Delta)(n - r - ddof), which is convex in r: so the best r is a corner of the lower hull
of m. The corner for slope t minimises S(A) + t r, so it holds just the values within sqrt(t) of its mean: `Windows`
lists all windows for which this may be so; none of them parts equal values. Edges of the hull are split, except where
not even the crossing of the two supporting lines is better than the best so far.

Only far values can be left out: the best A lacks r <= f / Delta values, each at least sqrt(k Delta) from the mean of A,
which is at most sd sqrt(r / k) from the mean of all.

g = f if (largest - smallest)^2 <= n Delta, wherever the values lie. Else 0 <= f - g <= max(0, f - n Delta / 2, E), E
the sum of max(4 (x - mean)^2 / n - f / n - Delta, 0) over all values x.

Neighbours: ``add_remove``; under ``replace_one`` twice Delta. NULLs are left out, ties count each; none gives 0.
The standard deviation is the root of the noised variance.

Source: ours, on Cummings, Durfee 2020 (Algorithm 1, 6.2, 6.3; the error is their Theorem 1.8 with our constant).

Tests: tests/unit/mechanisms/preprocessing/test_bounds.py, tests/unit/mechanisms/preprocessing/test_fast_forms.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Literal, TypeAlias

from dpsql.mechanisms.preprocessing.counts import Counts, Data
from dpsql.mechanisms.preprocessing.exact import Exact, exact, exact_all, sensitivity_of
from dpsql.mechanisms.preprocessing.mean import TailsTooShortError
from dpsql.mechanisms.preprocessing.windows import Corner, Moments, Windows

__all__ = ["Ddof", "variance", "variance_of"]

Ddof: TypeAlias = Literal[0, 1]


def variance(
    count: int,
    total: Exact,
    squares: Exact,
    smallest: Sequence[Exact],
    largest: Sequence[Exact],
    *,
    sensitivity: Exact,
    ddof: Ddof = 0,
) -> Fraction:
    """The variance, lowered as far as the sensitivity demands.

    Args:
        count: Number of values, n.
        total: Their sum, exact.
        squares: The sum of their squares, exact. All values may be counted from any one public point.
        smallest: The smallest values, as many as were read, in any order.
        largest: The largest values, as many as were read, in any order. Both ends may overlap; all n do always.
        sensitivity: Delta >= 0, public, in the square of the column's unit.
        ddof: 0 for the population's variance (VAR_POP), 1 for the sample's (VAR_SAMP, and 0 for a single value).

    Returns:
        g, exact; 0 for an empty table. One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, the sensitivity negative, or ddof neither 0 nor 1.
        TailsTooShortError: If values beyond those given are needed. That depends on the data, so it must not reach an
            analyst: where it can happen, read all value counts at once and take `variance_of`.

    >>> variance(4, 1009, 1000035, [1, 3, 5, 1000], [1, 3, 5, 1000], sensitivity=10)
    Fraction(38, 3)
    """
    values = [exact_all(end, "a value") for end in (smallest, largest)]
    sums = [exact(total, "the total"), exact(squares, "the sum of squares")]
    if max(map(len, values)) > count:
        raise ValueError(f"there are {max(map(len, values))} values at one end of {count}; count every value.")
    steps = math.lcm(*(number.denominator for number in chain(sums, *values)))
    moments = Moments(count, int(sums[0] * steps), int(sums[1] * steps**2))
    search = _Search(moments, sensitivity_of(sensitivity) * steps**2, _ddof(ddof))
    lows, highs = (sorted(int(value * steps) for value in end) for end in values)
    if search.is_settled:
        return Fraction(0)
    low, high = search.reach()
    if (len(lows) < count and lows[-1:] <= [low]) or (len(highs) < count and (not highs or highs[0] >= high)):
        raise TailsTooShortError(
            f"{len(lows)} smallest and {len(highs)} largest of {count} values are too few for this sensitivity; "
            "read more of them, or all value counts and take variance_of."
        )
    far = Counter(v for v in lows if v <= low), Counter(v for v in highs if v >= high)
    return search.least(*far) / steps**2


def variance_of(data: Data, *, sensitivity: Exact, ddof: Ddof = 0) -> Fraction:
    """The variance of values that are all at hand, lowered as far as the sensitivity demands.

    Args:
        data: One value per unit: value counts, exact numbers or an integer array.
        sensitivity, ddof: As for `variance`.

    Returns:
        g, exact; 0 for an empty table. One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, the sensitivity negative, or ddof neither 0 nor 1.

    >>> variance_of([1, 3, 5, 1000], sensitivity=10)
    Fraction(38, 3)
    >>> variance_of([1, 3, 5], sensitivity=10, ddof=1)
    Fraction(4, 1)
    """
    counts = Counts.of(data)
    values, occur = counts.arrays()
    moments = Moments(counts.count, counts.total, counts.squares)
    search = _Search(moments, sensitivity_of(sensitivity) / counts.grid**2, _ddof(ddof))
    if search.is_settled:
        return Fraction(0)
    if (int(values[-1]) - int(values[0])) ** 2 <= moments.count * search.delta:
        return moments.deviations / (moments.count - ddof) * counts.grid**2
    low, high = search.reach()
    below, above = values.searchsorted(low, side="right"), values.searchsorted(high)
    lows = dict(zip(values[:below].tolist(), occur[:below].tolist(), strict=True))
    highs = dict(zip(values[above:].tolist(), occur[above:].tolist(), strict=True))
    return search.least(lows, highs) * counts.grid**2


def _ddof(ddof: int) -> int:
    if ddof not in (0, 1):
        raise ValueError(f"ddof is {ddof}; write 0 for the population's variance, 1 for the sample's.")
    return ddof


@dataclass(frozen=True, slots=True)
class _Search:
    """The best window of the theorem, in grid steps."""

    whole: Moments
    delta: Fraction
    ddof: int

    @property
    def is_settled(self) -> bool:
        """Whether the variance is 0 whatever the values are."""
        return self.whole.count < 2 or not self.delta

    def reach(self) -> tuple[int, int]:
        """Values that a best window can leave out: those up to the first from below, from the second on from above.

        >>> _Search(Moments(1000, 0, 10**6), Fraction(100), 0).reach()
        (-310, 310)
        """
        n = self.whole.count
        f = self.whole.deviations / (n - self.ddof)
        left_out = min(math.floor(f / self.delta), n - self.ddof - 1)
        kept = n - left_out
        moved = math.isqrt(math.ceil(self.whole.deviations / n * left_out / kept)) + 1
        far = math.isqrt(math.floor(kept * self.delta)) - moved
        return self.whole.total // n - far, -(-self.whole.total // n) + far

    def least(self, lows: Mapping[int, int], highs: Mapping[int, int]) -> Fraction:
        """The least of all windows, given how often each value that may be left out occurs, ascending."""
        n = self.whole.count
        windows = Windows(self.whole, lows, highs, least=self.ddof + 1)
        # Nothing is left out where one value costs as much as all that deviates.
        full = Corner(0, self.whole.deviations, price=self.whole.deviations)
        least = windows.best(Fraction(0))
        best = min(self._variance(full), self._variance(least), (n - 1) * self.delta)
        edges = [(full, least)]
        while edges:
            a, b = edges.pop()
            if a.left_out >= b.left_out or a.price <= b.price:
                continue
            crossing = _crossing(a, b)
            if self._at(*crossing) >= best:
                continue
            price = (a.deviations - b.deviations) / (b.left_out - a.left_out)
            corner = windows.best(price)
            if corner.deviations + price * corner.left_out < a.deviations + price * a.left_out:
                best = min(best, self._variance(corner))
                edges += [(a, corner), (corner, b)]
        return best

    def _variance(self, corner: Corner) -> Fraction:
        return self._at(Fraction(corner.left_out), corner.deviations)

    def _at(self, left_out: Fraction, deviations: Fraction) -> Fraction:
        """Variance and toll."""
        return deviations / (self.whole.count - left_out - self.ddof) + left_out * self.delta


def _crossing(a: Corner, b: Corner) -> tuple[Fraction, Fraction]:
    """Where the lines meet below which no window lies: left out, deviations.

    >>> _crossing(Corner(0, Fraction(10), Fraction(10)), Corner(4, Fraction(2), Fraction(1)))
    (Fraction(4, 9), Fraction(50, 9))
    """
    cost_a, cost_b = (each.deviations + each.price * each.left_out for each in (a, b))
    left_out = (cost_a - cost_b) / (a.price - b.price)
    return left_out, cost_a - a.price * left_out
