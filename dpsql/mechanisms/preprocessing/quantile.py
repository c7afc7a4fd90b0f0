"""Any quantile with a wanted sensitivity; for the median `median` is the faster form.

Neighbours, source and theorem: `ordered`. A quantile is ordered; to drop the largest value never raises it, and to drop
the smallest never lowers it, so that walks leap.

Proof of the latter. The discrete quantile of n values has rank ceil(p n), at least 1. Without the largest it has rank
ceil(p (n - 1)) of the same order, which is not higher; without the smallest that rank is one higher in the old order,
and ceil(p (n - 1)) + 1 >= ceil(p n) as p <= 1. The continuous one lies at the place p (n - 1), counted from 0, between
the two values around it; without the largest at p (n - 2), without the smallest at p (n - 2) + 1 >= p (n - 1).  QED

g = f where |f - c| <= n Delta, and for each j < n the quantiles without the j largest and without the j smallest values
lie within j Delta of f: the walks for t = f, and for any t above, then drop from one end alone. `rules.QuantileRule`
says how large an n Delta that takes. A wrong centre biases the answer, and more data do not mend it.

Tests: tests/unit/mechanisms/preprocessing/test_quantile.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.mechanisms.preprocessing.counts import Counts, Data, RankedSums
from dpsql.mechanisms.preprocessing.exact import Exact, exact, sensitivity_of
from dpsql.mechanisms.preprocessing.ordered import solved

__all__ = ["quantile"]

NOWHERE = (1, 0)  # A ratio that nothing reaches: walks of quantiles leap, and never end early.


def quantile(data: Data, share: Exact, *, centre: Exact, sensitivity: Exact, discrete: bool = False) -> Fraction:
    """A quantile, moved as far as the sensitivity demands.

    Args:
        data: One value per unit: value counts, exact numbers or an integer array.
        share: p, 0 to 1, public: 0 is the minimum, 1 the maximum.
        centre: c, the answer for an empty table; public, in the column's unit.
        sensitivity: Delta >= 0, public, in the column's unit.
        discrete: The value of rank ceil(p n), as QUANTILE_DISC has it, instead of one between two values.

    Returns:
        g, exact. One value more or less moves it by at most Delta.

    Raises:
        ValueError: If a number is not exact, the sensitivity negative, or the share outside [0, 1].

    >>> quantile([1, 2, 3, 4, 1000], Fraction(3, 4), centre=0, sensitivity=2)
    Fraction(4, 1)
    >>> quantile([900, 1000, 1100], Fraction(3, 4), centre=0, sensitivity=2)
    Fraction(6, 1)
    """
    counts, p = Counts.of(data), exact(share, "the share")
    if not 0 <= p <= 1:
        raise ValueError(f"the share is {p}; write one from 0 to 1.")
    n, ranked = counts.count, RankedSums(counts)

    def at_rank(a: int, b: int) -> tuple[int, int]:
        rank = -(-p.numerator * (n - a - b) // p.denominator)
        return ranked.value(a + max(rank, 1) - 1), 1

    def between_ranks(a: int, b: int) -> tuple[int, int]:
        below, part = divmod(p.numerator * (n - a - b - 1), p.denominator)
        low = ranked.value(a + below)
        return low * p.denominator + (part * (ranked.value(a + below + 1) - low) if part else 0), p.denominator

    c, delta = exact(centre, "the centre") / counts.grid, sensitivity_of(sensitivity) / counts.grid
    return solved(at_rank if discrete else between_ranks, n, c, delta, lambda a, b, up: NOWHERE) * counts.grid
