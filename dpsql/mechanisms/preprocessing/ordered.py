"""Any ordered statistic with a wanted sensitivity, by walks that each decide one threshold.

A statistic f of a multiset is *ordered* if it never falls when a value rises: mean, quantiles, trimmed mean, minimum,
maximum, sum. Let w(a, b) be f without the a smallest and the b largest of n values, W(a, b) = w(a, b) + (b - a) Delta.

Theorem. 1. With G(a, b) = c + (b - a) Delta where a + b = n, and else the median of W(a, b), G(a + 1, b) and
G(a, b + 1), the preprocessed f (the general rule, Delta for all) is G(0, 0); and G(a + 1, b) <= G(a, b + 1).
2. Walk from (0, 0): to (a, b + 1) where W(a, b) >= t, else to (a + 1, b). G(0, 0) >= t if and only if the walk ends
where c + (b - a) Delta >= t.

Proof. 1. Of all g(D - i) the largest leaves out the smallest value, the smallest the largest one (Cummings, Durfee,
5.2): the clip is a median of three in sorted order. 2. So G >= t if W >= t and G(a, b + 1) >= t, or if W < t and
G(a + 1, b) >= t.  QED

g is found by bisection on t, which ends exactly: if the answer is yes, all t up to the least W that passed (and the
end) take the same walk, so g is at least that; if no, at most the greatest that failed. g is one of finitely many.

Leaps. Where dropping the largest value never raises f, and dropping the smallest never lowers it, the W of m steps to
b + 1, ..., b + m are all at least w(a, b + m) + (b + 1 - a) Delta; if that is clear of t, they need no look.

Early ends of the trimmed mean, which leaves out the share p at either end. Let s values be left at (a, b), T their
trimmed mean, L the smallest of them, H the largest that it keeps, W(a, b) >= t, and last >= 0 the greatest j with
c + (n - 2 (a + j)) Delta >= t. If last >= s, or max(H - T, T - L) <= (1 - 2 p) (last + 1) Delta, the walk ends with
yes. So in the mirror for W < t, with the largest of the values and the smallest that it keeps. For p = 0, the mean,
H - T alone will do (or its mirror).

Proof. Without the j largest it keeps s' >= (1 - 2 p) (s - j) values: j - i fewer of the upper ones, each at most H, and
i more of the lower ones, each at least L, for some i of 0 to j (of 0 for p = 0). So it is lower by at most
((j - i) (H - T) + i (T - L)) / s', which is at most j Delta while more than `last` are left: W does not fall, and the
walk goes on dropping the largest. Once `last` are left, every end passes.  QED

Neighbours: ``add_remove``; under ``replace_one`` twice Delta. NULLs are left out, ties count each; none gives c.
Different sensitivities for different units have no such form: the order would have to hold for the sensitivities too.

Source: Cummings, Durfee 2020, section 5 (an n^2 dynamic programme); thresholds, leaps and early ends are ours.

Tests: tests/unit/mechanisms/preprocessing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from dpsql.mechanisms.preprocessing.counts import Counts, Data, RankedSums
from dpsql.mechanisms.preprocessing.exact import Exact, exact, sensitivity_of

__all__ = ["Walk", "between", "by_thresholds", "ordered", "solved", "trimmed_mean"]

LONGEST_PAUSE = 64
"""The most steps after a leap that failed before the next is tried, which costs as much as a step. A guess."""

Walk: TypeAlias = Callable[[Fraction, Fraction, Fraction], tuple[bool, Fraction]]
"""walk(t, low, high), low < t <= high: (is g >= t?, a new low in [t, high] if so, else a new high in [low, t))."""

Window: TypeAlias = Callable[[int, int], tuple[int, int]]
"""w(a, b) as numerator and positive denominator, not reduced."""

Reach: TypeAlias = Callable[[int, int, bool], tuple[int, int]]
"""reach(a, b, upper), as numerator and positive denominator: where it is no more than (last + 1) Delta, W stays on its
side of t while the largest values (upper), or the smallest, are dropped until `last` are left."""


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

    return solved(ratio, count, exact(centre, "the centre"), sensitivity_of(sensitivity))


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

    def reach(a: int, b: int, upper: bool) -> tuple[int, int]:
        cut = p.numerator * (n - a - b) // p.denominator
        total, size = window(a, b)
        low, high = (a, n - b - 1 - cut) if upper else (a + cut, n - b - 1)
        above, below = sums.value(high) * size - total, total - sums.value(low) * size
        most = max(above, below) if p else above if upper else below
        return most * p.denominator, size * (p.denominator - 2 * p.numerator)

    c, delta = exact(centre, "the centre") / counts.grid, sensitivity_of(sensitivity) / counts.grid
    return solved(window, n, c, delta, reach) * counts.grid


def solved(window: Window, n: int, c: Fraction, delta: Fraction, reach: Reach | None = None) -> Fraction:
    """g by walks over the window; with leaps and early ends where there is a reach."""
    if n == 0 or delta == 0:
        return c

    def walk(t: Fraction, low: Fraction, high: Fraction) -> tuple[bool, Fraction]:
        scale = math.lcm(*(number.denominator for number in (t, low, high, c, delta)))
        threshold, toll = int(t * scale), int(delta * scale)
        # The least W that passed and the greatest that failed, as far as they are news, as numerator and denominator.
        passed, failed = (min(int(high * scale), threshold + toll), 1), (max(int(low * scale), threshold - toll), 1)

        def clear(a: int, b: int, leap: int, up: bool) -> bool:
            """Whether the next so many steps in this direction pass no threshold."""
            total, size = window(a, b + leap - 1) if up else window(a + leap - 1, b)
            value = total * scale + (b - a + (1 if up else -1)) * toll * size
            return value * passed[1] >= passed[0] * size if up else value * failed[1] <= failed[0] * size

        most_a = math.floor((n + (c - t) / delta) / 2)  # more of the smallest dropped, and the end is below t
        most_b = math.ceil((n + (t - c) / delta) / 2) - 1  # more of the largest dropped, and it is not
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
            leap = 1
            if reach is not None and not waiting:
                last = most_a - a if up else most_b - b
                spread, over = reach(a, b, up)
                if last >= n - a - b or (last >= 0 and (last + 1) * toll * over >= spread * scale):
                    a, b = (most_a, n - most_a) if up else (n - most_b, most_b)
                    break
                leap = min(stride, n - a - b)
                while leap > 1 and not clear(a, b, leap, up):
                    leap //= 2
                stride, pause = (2 * leap, 1) if leap > 1 else (2, min(2 * pause, LONGEST_PAUSE))
                waiting = pause if leap == 1 else 0
            else:
                waiting = max(waiting - 1, 0)
            a, b = (a, b + leap) if up else (a + leap, b)
        end = c + (b - a) * delta
        if end >= t:
            return True, min(end, Fraction(*passed) / scale)
        return False, max(end, Fraction(*failed) / scale)

    total, size = window(0, 0)
    return by_thresholds(walk, c - n * delta, c + n * delta, guess=Fraction(total, size))
