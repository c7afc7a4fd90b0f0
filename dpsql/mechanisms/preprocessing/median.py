"""The median with a wanted sensitivity, from value counts in one pass.

Let M_s be the median of the s smallest of n values, f = M_n the median of all (the middle of the two middle ones for
even n), c the centre, and f >= c (else negate everything). Let s0 be the largest s with M_s < c, or 0.

Theorem. The preprocessed median (`general`, Delta for all) is the least of

    M_s + (n - s) Delta  for s0 < s <= n,    and    phi + (n - s0 - 1) Delta,

where phi = max(M_s0 + Delta, c) if s0 is odd, and c + Delta if it is even.

Proof. With f >= c the lower end never binds (Cummings, Durfee, 5.5), and g(D) = min(f(D), g(D without its largest) +
Delta); unroll this while the median is at least c. Below c the rule is mirrored: g(the s0 smallest + 1) is phi, from
the core of the s0 + 1 smallest without both ends, whose two medians are the same; repeat to the empty set.  QED

M_s changes with s only at the ranks of distinct values, and of equal M_s the largest s is best: a value v with r values
up to it and the next value v+ gives two candidates, at s = 2r - 1 (M = v) and at s = 2r (M = (v + v+) / 2).

g lies between c and f. g = f if |f - c| <= n Delta / 2 and each value j ranks from the middle, on the side of c, is
within 2 j Delta of f, for j <= (n + 1) / 4. A wrong centre biases the answer, and more data do not mend it.

Neighbours: ``add_remove``; under ``replace_one`` twice Delta. NULLs are left out, ties count each; none gives c.

Source: Cummings, Durfee 2020, section 5; the formula and the sharper condition of Theorem 1.6 are ours.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

from dpsql.mechanisms.preprocessing.counts import Counts, Data
from dpsql.mechanisms.preprocessing.exact import Exact, exact, sensitivity_of

__all__ = ["median"]


def median(data: Data, *, centre: Exact, sensitivity: Exact) -> Fraction:
    """The median, moved towards the centre as far as the sensitivity demands.

    Args:
        data: One value per unit: value counts, exact numbers or an integer array.
        centre: c, the answer for an empty table; public, in the column's unit.
        sensitivity: Delta >= 0, public, in the column's unit.

    Returns:
        g, exact (on half the grid, or c or Delta away from it). One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, or the sensitivity is negative.

    >>> median([3, 4, 5, 1000], centre=0, sensitivity=2)
    Fraction(9, 2)
    >>> median([900, 1000, 1100], centre=0, sensitivity=2)
    Fraction(6, 1)
    """
    counts = Counts.of(data)
    c = exact(centre, "the centre") / counts.grid
    delta = sensitivity_of(sensitivity) / counts.grid
    unit = Fraction(1, 2 * math.lcm(c.denominator, delta.denominator))  # all candidates are whole numbers of it
    n, middle = counts.count, _middle(counts)
    if n == 0:
        return c * counts.grid
    if middle >= 2 * c:
        best = min(_candidates(counts, middle, int(c / unit), int(delta / unit), int(1 / unit)))
    else:
        best = -min(_candidates(counts.negated(), -middle, int(-c / unit), int(delta / unit), int(1 / unit)))
    return best * unit * counts.grid


def _middle(counts: Counts) -> int:
    """Twice the median, in grid steps; 0 for no values.

    >>> _middle(Counts((1, 2, 7), (1, 1, 2)))
    9
    """
    if not counts.values:
        return 0
    ranks = list(accumulate(counts.counts))
    n = ranks[-1]
    return counts.values[bisect_left(ranks, (n + 1) // 2)] + counts.values[bisect_left(ranks, n // 2 + 1)]


def _candidates(counts: Counts, middle: int, c: int, delta: int, scale: int) -> Iterator[int]:
    """What g is the least of, where the median is at least c; in 1 / scale of a grid step, as c and delta are."""
    n = counts.count
    half = scale // 2
    yield middle * half
    rank = below = 0
    across = False  # is there a pair of neighbours v < c <= (v + next) / 2?
    for value, after, count in zip(counts.values, (*counts.values[1:], 0), counts.counts, strict=True):
        rank += count
        if 2 * rank - 1 > n:
            break
        v, u = value * scale, (value + after) * half
        if v >= c:
            yield v + (n - 2 * rank + 1) * delta
        else:
            below = rank
        if 2 * rank <= n and u >= c:
            across |= v < c
            yield (u if v >= c else max(v + delta, c)) + (n - 2 * rank) * delta
    if not across:
        yield c + (n - 2 * below) * delta
