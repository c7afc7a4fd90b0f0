"""The mean with a wanted sensitivity, from the number of values, their sum, and the values at both ends.

The walks of `ordered` stop early, so they read only values further than about n Delta / 2 from the mean.

Theorem. Let W(a, b) >= t on the walk, with h the largest value left, R the sum and s the number left, and let last be
the greatest j with c + (n - 2 (a + j)) Delta >= t. If last >= s, or last >= 0 and s (last + 1) Delta >= s h - R, then
the walk ends with yes. So in the mirror for W < t, where the end has to be below t.

Proof. Dropping the j largest of s lowers the mean R / s by at most j (h - R / s) / (s - j), as each is at most h. While
more than `last` are left, s - j >= last + 1, so this is at most j Delta: W does not fall, and the walk goes on dropping
the largest. Once `last` are left, each end c + (n - 2 (a + j)) Delta has j <= last, and is at least t.  QED

g = mean if the values lie within a width of n Delta and |mean - c| <= n Delta. Else |g - mean| is at most
max(|mean - c| - n Delta / 2, 0) plus the sum of max(2 |x - mean| / n - Delta, 0) over all values x.

Neighbours: ``add_remove``; under ``replace_one`` twice Delta, where clipping each value to centre +- W is the better
way. NULLs are left out, ties count each, an empty table has c.

Source: Cummings, Durfee 2020, Theorem 1.7; early ends are ours, as is the 2, which the proof needs.

Tests: tests/unit/mechanisms/preprocessing/test_fast_forms.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dpsql.mechanisms.preprocessing.counts import MOST_DIFFERENT, Counts, Data
from dpsql.mechanisms.preprocessing.exact import Exact, exact, exact_all, sensitivity_of
from dpsql.mechanisms.preprocessing.ordered import by_thresholds, trimmed_mean

__all__ = ["TailsTooShortError", "mean", "mean_of"]


class TailsTooShortError(ValueError):
    """A walk wanted a value beyond the ends that were given. Whether it does depends on the data."""


def mean(
    count: int, total: Exact, smallest: Sequence[Exact], largest: Sequence[Exact], *, centre: Exact, sensitivity: Exact
) -> Fraction:
    """The mean, moved as far as the sensitivity demands.

    Args:
        count: Number of values, n.
        total: Their sum, exact: never a sum of floats.
        smallest: The smallest values, as many as were read, in any order.
        largest: The largest values, as many as were read, in any order. Both ends may overlap; all n do always.
        centre: c, the answer for an empty table; public, in the column's unit.
        sensitivity: Delta >= 0, public, in the column's unit.

    Returns:
        g, exact. One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, the sensitivity negative, or there are more values at an end than in all.
        TailsTooShortError: If values beyond those given are needed. That depends on the data, so it must not reach an
            analyst: where it can happen, read all value counts at once and take `mean_of`.

    Source: Cummings, Durfee 2020, Algorithm 1 for the mean.

    >>> mean(4, 1010, [1, 2, 7], [1000, 7, 2], centre=0, sensitivity=5)
    Fraction(25, 3)
    >>> mean(1000, 20_500, [10], [90], centre=0, sensitivity=1)  # exact: all within a width of 1000
    Fraction(41, 2)
    """
    c, delta = exact(centre, "the centre"), sensitivity_of(sensitivity)
    lows, highs = sorted(exact_all(smallest, "a value")), sorted(exact_all(largest, "a value"), reverse=True)
    everything = exact(total, "the total")
    if max(len(lows), len(highs)) > count:
        raise ValueError(f"there are {max(len(lows), len(highs))} values at one end of {count}; count every value.")
    grid = Fraction(1, math.lcm(everything.denominator, *(v.denominator for v in (*lows, *highs))))
    tails = _Tails(count, int(everything / grid), [int(v / grid) for v in lows], [int(v / grid) for v in highs])
    return tails.solved(c / grid, delta / grid) * grid


def mean_of(data: Data, *, centre: Exact, sensitivity: Exact) -> Fraction:
    """The mean of values that are all at hand, moved as far as the sensitivity demands.

    Args:
        data: One value per unit: value counts, exact numbers or an integer array.
        centre, sensitivity: As for `mean`.

    Returns:
        g, exact. One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, or the sensitivity is negative.

    >>> mean_of([1, 2, 7, 1000], centre=0, sensitivity=5)
    Fraction(25, 3)
    """
    counts, c, delta = Counts.of(data), exact(centre, "the centre"), sensitivity_of(sensitivity)
    values, n = counts.arrays()[0], counts.count
    if n and (int(values[-1]) - int(values[0])) * counts.grid <= n * delta:
        average = Fraction(counts.total, n) * counts.grid
        if abs(average - c) <= n * delta:
            return average
    if n > MOST_DIFFERENT:  # walked by leaps, which read few where the sensitivity is sensible
        return trimmed_mean(counts, 0, centre=c, sensitivity=delta)
    listed: list[int] = np.repeat(*counts.arrays()).tolist()
    return _Tails(n, counts.total, listed, listed[::-1]).solved(c / counts.grid, delta / counts.grid) * counts.grid


class _Tails:
    """Values at both ends in grid steps, the smallest ascending and the largest descending, and their running sums."""

    __slots__ = ("highs", "highs_sum", "lows", "lows_sum", "n", "total")

    def __init__(self, n: int, total: int, lows: list[int], highs: list[int]) -> None:
        self.n, self.total, self.lows, self.highs = n, total, lows, highs
        self.lows_sum = list(accumulate(lows, initial=0))
        self.highs_sum = list(accumulate(highs, initial=0))

    def solved(self, c: Fraction, delta: Fraction) -> Fraction:
        """g of the mean, in grid steps."""
        n = self.n
        if n == 0:
            return c

        def walk(t: Fraction, low: Fraction, high: Fraction) -> tuple[bool, Fraction]:
            return self._walk(c, delta, t, low, high)

        return by_thresholds(walk, c - n * delta, c + n * delta, guess=Fraction(self.total, n))

    def _walk(self, c: Fraction, delta: Fraction, t: Fraction, low: Fraction, high: Fraction) -> tuple[bool, Fraction]:
        """One walk of `ordered`, ended as soon as the theorem allows."""
        n, lows, highs, lows_sum, highs_sum = self.n, self.lows, self.highs, self.lows_sum, self.highs_sum
        scale = math.lcm(t.denominator, delta.denominator, low.denominator, high.denominator)
        threshold, toll = int(t * scale), int(delta * scale)
        passed, failed = (int(high * scale), 1), (int(low * scale), 1)
        most_a = math.floor((n + (c - t) / delta) / 2)  # more of the smallest dropped, and the end is below t
        most_b = math.ceil((n + (t - c) / delta) / 2) - 1  # more of the largest dropped, and it is not
        a = b = 0
        try:
            while size := n - a - b:
                total = self.total - lows_sum[a] - highs_sum[b]
                value = total * scale + (b - a) * toll * size
                if value >= threshold * size:
                    if value * passed[1] < passed[0] * size:
                        passed = value, size
                    last = most_a - a
                    if last >= size or (last >= 0 and size * (last + 1) * toll >= (size * highs[b] - total) * scale):
                        a, b = most_a, n - most_a
                        break
                    b += 1
                else:
                    if value * failed[1] > failed[0] * size:
                        failed = value, size
                    last = most_b - b
                    if last >= size or (last >= 0 and size * (last + 1) * toll >= (total - size * lows[a]) * scale):
                        a, b = n - most_b, most_b
                        break
                    a += 1
        except IndexError:
            raise TailsTooShortError(
                f"{len(lows)} smallest and {len(highs)} largest of {n} values are too few for this sensitivity; "
                "read more of them, or all value counts and take mean_of."
            ) from None
        end = c + (b - a) * delta
        if end >= t:
            return True, min(end, Fraction(*passed) / scale)
        return False, max(end, Fraction(*failed) / scale)
