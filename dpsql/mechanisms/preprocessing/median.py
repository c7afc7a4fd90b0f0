"""The median with a wanted sensitivity, from value counts in one pass.

Let M_s be the median of the s smallest of n values, f = M_n the median of all (the middle of the two middle ones for
even n), c the centre, and f >= c (else negate everything). Let s0 be the largest s with M_s < c, or 0.

Theorem. The preprocessed median (the general rule, Delta for all) is the least of

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

Tests: tests/unit/mechanisms/preprocessing/test_bounds.py, tests/unit/mechanisms/preprocessing/test_counts.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.preprocessing.counts import Counts, Data, exactly
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
        best = _least(counts, middle, int(c / unit), int(delta / unit), int(1 / unit))
    else:
        best = -_least(counts.negated(), -middle, int(-c / unit), int(delta / unit), int(1 / unit))
    return best * unit * counts.grid


def _middle(counts: Counts) -> int:
    """Twice the median, in grid steps; 0 for no values.

    >>> _middle(Counts((1, 2, 7), (1, 1, 2)))
    9
    """
    values, occur = counts.arrays()
    if not len(values):
        return 0
    ranks = np.cumsum(occur)
    n = int(ranks[-1])
    return int(values[ranks.searchsorted((n + 1) // 2)]) + int(values[ranks.searchsorted(n // 2 + 1)])


def _least(counts: Counts, middle: int, c: int, delta: int, scale: int) -> int:
    """g where the median is at least c; in 1 / scale of a grid step, as c and delta are; scale is even.

    Only the last value below c and those from c to the median matter.
    """
    n = counts.count
    half = scale // 2
    values, occur = counts.arrays()
    ranks = np.cumsum(occur)
    first = max(int(values.searchsorted(-(-c // scale))) - 1, 0)  # the last value below c, if there is one
    last = int(ranks.searchsorted(n // 2 + 1))  # the upper one of the two middle values
    farthest = max(abs(int(values[first])), abs(int(values[last])))
    largest = 2 * (farthest * scale + abs(c) + (n + 1) * delta)
    v, r = (exactly(each[first : last + 1], largest) for each in (values, ranks))
    reached = v * scale >= c
    twice, rest = v[:-1] + v[1:], n - 2 * r[:-1]
    pairs = (rest >= 0) & (twice * half >= c)
    across = pairs & ~reached[:-1]
    found = [
        [middle * half],
        (v * scale + (n - 2 * r + 1) * delta)[reached & (2 * r - 1 <= n)],
        (twice * half + rest * delta)[pairs & reached[:-1]],
        (np.maximum(v[:-1] * scale + delta, c) + rest * delta)[across],
    ]
    if not across.any():
        below = int(r[~reached].max(initial=0))
        found.append([c + (n - 2 * below) * delta])
    return min(int(np.min(each)) for each in found if len(each))
