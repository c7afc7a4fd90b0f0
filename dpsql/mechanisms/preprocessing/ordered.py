"""Any ordered statistic with a wanted sensitivity, by walks that each decide one threshold.

A statistic f of a multiset is *ordered* if it never falls when a value rises: mean, quantiles, trimmed mean, minimum,
maximum, sum. Let w(a, b) be f without the a smallest and the b largest of n values, W(a, b) = w(a, b) + (b - a) Delta.

Theorem. 1. With G(a, b) = c + (b - a) Delta where a + b = n, and else the median of W(a, b), G(a + 1, b) and
G(a, b + 1), the preprocessed f (`general`, Delta for all) is G(0, 0); and G(a + 1, b) <= G(a, b + 1).
2. Walk from (0, 0): to (a, b + 1) where W(a, b) >= t, else to (a + 1, b). G(0, 0) >= t if and only if the walk ends
where c + (b - a) Delta >= t.

Proof. 1. Of all g(D - i) the largest leaves out the smallest value, the smallest the largest one (Cummings, Durfee,
5.2): the clip is a median of three in sorted order. 2. So G >= t if W >= t and G(a, b + 1) >= t, or if W < t and
G(a + 1, b) >= t.  QED

g is found by bisection on t, which ends exactly: if the answer is yes, all t up to the least W that passed (and the
end) take the same walk, so g is at least that; if no, at most the greatest that failed. g is one of finitely many.

Leaps. Where dropping the largest value never raises f, and dropping the smallest never lowers it, the W of m steps to
b + 1, ..., b + m are all at least w(a, b + m) + (b + 1 - a) Delta; if that is clear of t, they need no look.

Neighbours: ``add_remove``; under ``replace_one`` twice Delta. NULLs are left out, ties count each; none gives c.
Different sensitivities for different units have no such form: the order would have to hold for the sensitivities too.

Source: Cummings, Durfee 2020, section 5 (an n^2 dynamic programme); thresholds and leaps are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from dpsql.mechanisms.preprocessing.counts import Counts, Data, RankedSums
from dpsql.mechanisms.preprocessing.exact import Exact, exact, sensitivity_of

__all__ = ["Walk", "between", "by_thresholds", "ordered", "trimmed_mean"]

LONGEST_PAUSE = 64  # steps after a leap that failed; trying costs as much as a step

Walk: TypeAlias = Callable[[Fraction, Fraction, Fraction], tuple[bool, Fraction]]
"""walk(t, low, high), low < t <= high: (is g >= t?, a new low in [t, high] if so, else a new high in [low, t))."""

Window: TypeAlias = Callable[[int, int], tuple[int, int]]
"""w(a, b) as numerator and positive denominator, not reduced."""


def by_thresholds(walk: Walk, low: Fraction, high: Fraction, guess: Fraction) -> Fraction:
    """The number between low and high that the walks enclose; guess is where it is likely.

    >>> def walk(t, low, high):
    ...     return (True, Fraction(7)) if t <= 7 else (False, Fraction(7))
    >>> by_thresholds(walk, Fraction(0), Fraction(10), guess=Fraction(3))
    Fraction(7, 1)
    """
    if low == high:
        return low
    t = guess if low < guess <= high else between(low, high, Fraction(1, 2))
    stride = (high - low) / 2**40
    while low < high:
        answer, bound = walk(t, low, high)
        low, high = (bound, high) if answer else (low, bound)
        if low < high:
            # Near the last threshold at first: a walk far from g reads deep into the data.
            share = min(Fraction(1, 2), stride / (high - low))
            t = between(low, high, share if answer else 1 - share)
            stride *= 256
    return low


def between(low: Fraction, high: Fraction, share: Fraction) -> Fraction:
    """A number of few digits strictly between the two, about that share of the way from low to high, 0 < share < 1.

    >>> between(Fraction(0), Fraction(10, 3), Fraction(1, 2))
    Fraction(7, 4)
    """
    digits = 4 * math.ceil(1 / ((high - low) * min(share, 1 - share)))
    return Fraction(math.ceil((low + (high - low) * share) * digits), digits)


def ordered(window: Callable[[int, int], Exact], count: int, *, centre: Exact, sensitivity: Exact) -> Fraction:
    """Any ordered statistic, moved as far as the sensitivity demands. About 80 walks of n steps.

    Args:
        window: window(a, b) is the statistic without the a smallest and the b largest values, a + b < count; exact.
        count: Number of values, n.
        centre: The statistic of no values; public.
        sensitivity: Delta >= 0, public, in the statistic's unit.

    Returns:
        g, exact. One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, or the sensitivity or the count is negative.

    >>> data = sorted([3, 1, 50])
    >>> ordered(lambda a, b: data[len(data) - b - 1], 3, centre=0, sensitivity=10)  # the maximum
    Fraction(13, 1)
    """
    if count < 0:
        raise ValueError(f"the count is {count}; write the number of values.")

    def ratio(a: int, b: int) -> tuple[int, int]:
        return exact(window(a, b), "the statistic").as_integer_ratio()

    return _solved(ratio, count, exact(centre, "the centre"), sensitivity_of(sensitivity), longest=1)


def trimmed_mean(data: Data, share: Exact, *, centre: Exact, sensitivity: Exact) -> Fraction:
    """The mean without the smallest and the largest values, moved as far as the sensitivity demands.

    Args:
        data: One value per unit: value counts, exact numbers or an integer array.
        share: Of s values the floor(share * s) smallest and as many largest are left out; 0 <= share < 1/2, public.
        centre: c, the answer for an empty table; public, in the column's unit.
        sensitivity: Delta >= 0, public, in the column's unit.

    Returns:
        g, exact. One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, the sensitivity negative, or the share outside [0, 1/2).

    >>> trimmed_mean([1, 3, 4, 5, 10**6], Fraction(1, 5), centre=0, sensitivity=2)
    Fraction(4, 1)
    """
    counts, p = Counts.of(data), exact(share, "the share")
    if not 0 <= 2 * p < 1:
        raise ValueError(f"the share is {p}; write one of 0 or more, below 1/2 (median trims all but the middle).")
    n, sums = counts.count, RankedSums(counts)

    def window(a: int, b: int) -> tuple[int, int]:
        cut = p.numerator * (n - a - b) // p.denominator
        first, last = a + cut, n - b - cut
        return sums.upto(last) - sums.upto(first), last - first

    c, delta = exact(centre, "the centre") / counts.grid, sensitivity_of(sensitivity) / counts.grid
    return _solved(window, n, c, delta, longest=n) * counts.grid


def _solved(window: Window, n: int, c: Fraction, delta: Fraction, *, longest: int) -> Fraction:
    """g by walks over the window; longest is the longest leap allowed, 1 for none."""
    if n == 0:
        return c

    def walk(t: Fraction, low: Fraction, high: Fraction) -> tuple[bool, Fraction]:
        scale = math.lcm(*(number.denominator for number in (t, low, high, c, delta)))
        threshold, toll = int(t * scale), int(delta * scale)
        # The least W that passed and the greatest that failed, as far as they are news, as numerator and denominator.
        passed, failed = (min(int(high * scale), threshold + toll), 1), (max(int(low * scale), threshold - toll), 1)
        a = b = waiting = 0
        stride, pause = 2, 1
        while a + b < n:
            total, size = window(a, b)
            value = total * scale + (b - a) * toll * size
            up = value >= threshold * size
            if up and value * passed[1] < passed[0] * size:
                passed = value, size
            elif not up and value * failed[1] > failed[0] * size:
                failed = value, size
            leap = 1 if waiting else min(stride, longest, n - a - b)
            waiting = max(waiting - 1, 0)
            if leap > 1:
                total, size = window(a, b + leap - 1) if up else window(a + leap - 1, b)
                value = total * scale + (b - a + (1 if up else -1)) * toll * size
                if value * passed[1] >= passed[0] * size if up else value * failed[1] <= failed[0] * size:
                    stride, pause = 2 * leap, 1
                else:
                    leap, stride, pause = 1, max(leap // 2, 2), min(2 * pause, LONGEST_PAUSE)
                    waiting = pause
            a, b = (a, b + leap) if up else (a + leap, b)
        end = c + (b - a) * delta
        if end >= t:
            return True, min(end, Fraction(*passed) / scale)
        return False, max(end, Fraction(*failed) / scale)

    total, size = window(0, 0)
    return by_thresholds(walk, c - n * delta, c + n * delta, guess=Fraction(total, size))
