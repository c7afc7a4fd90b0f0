"""SmallDB for an ordered domain, exactly and in polynomial time: databases are lattice paths, and paths are counted.

Neighbours: ``replace_one`` alone, with one row a unit and the number of rows n public (`smalldb` says why). Loss:
`Pure`, or `Concentrated`.

The questions are the numbers of rows F_1, ..., F_N in the cells up to each cell t: a range is the difference of two. A
database of m rows is a path 0 <= c_1 <= ... <= c_N = m, c_t of its rows being in the cells up to t. It misses by

    s = min(max(0, ceil(max_t |n c_t / m - F_t|) - floor(n / (2 m))), K)

and is chosen with probability proportional to exp(-epsilon s / 2). What is subtracted is what rounding to m rows costs
at most; K caps the score where all that is beyond weighs next to nothing: both are public.

Theorem. This is epsilon-DP, and epsilon^2 / 8-zCDP. A swap moves each F_t by at most 1, hence the maximum, and all of
ceil, the shift by a whole number and the caps keep that.

*Drawn exactly.* The paths with s <= j < K are those with |n c_t / m - F_t| <= floor(n / (2 m)) + j for all t: a band,
of which W_j are counted by running sums over t, in Python integers. `Sampler.intervals` draws a miss j, of which there
are W_j - W_(j - 1), and a place among them. The path at that place is found from left to right: those in band j less
those in band j - 1, as long as the path has not left band j - 1.

The distribution is that of `smalldb` over these questions and scores, for 10^145 databases in seconds: 1,024 cells and
100 rows.

**Usefulness.** Rounding gives a path that misses by at most n / (2 m) + 1. All ranges are within
n / m + 2 + (4 / epsilon) (ln(paths) + ln(1 / beta)) rows but for a probability of beta (two thresholds each).

**By a metric** on the line with gaps w_t: with epsilon = min w_t it is d-private (`payment`).

Source: ours; the mechanism is that of Blum, Ligett, Roth 2013, section 3.

Tests: tests/unit/mechanisms/releases/test_smalldb.py.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.releases.payment import Payment, root_below
from dpsql.mechanisms.releases.smalldb import Codes, check_swaps
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.privacy.sampling import Sampler

__all__ = ["MOST_STEPS", "cap_of", "small_ordered_database"]

MOST_STEPS = 10**8  # Sums of Python integers that one release may take: about ten seconds. It is a choice.
LEAST_WEIGHT = 1e-3  # The weight of all paths at the cap, at most, against that of one path without a miss. A choice.


def small_ordered_database(counts: Codes, rows: int, payment: Payment, sampler: Sampler, told: Told = unheard) -> Codes:
    """(N,) the chosen small database: how many of its rows each cell has.

    Args:
        counts: (N,) exact numbers of rows, in the order of the domain.
        rows: m >= 1, of the small database.
        payment: The price; the neighbours are ``replace_one`` with one row a unit.
        sampler: Of the choice.
        told: Before each band of paths.

    Raises:
        ValueError: If the neighbours are others, or the counting takes too long.
    """
    check_swaps("smalldb_paths", payment)
    n, cells = int(counts.sum()), len(counts)
    if rows < 1 or n < 1:
        raise ValueError(f"{rows} rows for a table of {n}: give 1 row or more, of a table that has some")
    loss = payment.epsilon if payment.epsilon is not None else root_below(8 * payment.amount)
    cap = cap_of(cells, rows, float(loss))
    width = min(rows + 1, 2 * (n // (2 * rows) + cap) * rows // n + 2)
    if cells * width * cap > MOST_STEPS:
        raise ValueError(
            f"{cells} cells, {rows} rows and {cap} scores take {cells * width * cap} sums, above {MOST_STEPS}; take "
            "fewer cells or rows, more epsilon, or `tree`"
        )
    bands = _Bands(np.cumsum(counts), rows)
    up_to = [0]
    for miss in range(cap):
        told(miss / cap)
        up_to.append(bands.paths(miss))
    up_to.append(math.comb(cells + rows - 1, rows))
    widths = [more - less for less, more in pairwise(up_to)]
    miss, place = sampler.intervals(widths, [-j for j in range(cap + 1)], loss / 2)
    path = bands.path_at(place, miss if miss < cap else None, miss - 1)
    return np.diff(path, prepend=0)


def cap_of(cells: int, rows: int, epsilon: float) -> int:
    """K: paths that miss by as much weigh together less than a thousandth of one that does not miss."""
    logarithm = sum(math.log1p((cells - 1) / i) for i in range(1, rows + 1))  # of binom(N + m - 1, m)
    return math.ceil(2 * (logarithm - math.log(LEAST_WEIGHT)) / epsilon)


class _Bands:
    """The paths within each distance of the table."""

    def __init__(self, up_to: Codes, rows: int) -> None:
        self.up_to, self.rows, self.n = up_to, rows, int(up_to[-1])

    def allowed(self, miss: int | None) -> tuple[list[int], list[int]]:
        """The least and the largest c_t of each cell in a band; of all paths where ``miss`` is None."""
        cells = len(self.up_to)
        if miss is None:
            low, high = [0] * cells, [self.rows] * cells
        elif miss < 0:
            return [1] * cells, [0] * cells
        else:
            reach = self.n // (2 * self.rows) + miss
            low = [max(0, -(-self.rows * (f - reach) // self.n)) for f in self.up_to.tolist()]
            high = [min(self.rows, self.rows * (f + reach) // self.n) for f in self.up_to.tolist()]
        low[-1] = max(low[-1], self.rows)
        return low, high

    def paths(self, miss: int) -> int:
        """W: how many paths lie in a band."""
        low, high = self.allowed(miss)
        ways, first = [1], 0  # ways[i]: of paths so far that end at first + i
        for least, most in zip(low, high, strict=True):
            if least > most:
                return 0
            running, total = [], 0
            for c in range(first, most + 1):
                total += ways[c - first] if c - first < len(ways) else 0
                if c >= least:
                    running.append(total)
            ways, first = running, least
        return ways[-1] if ways else 0

    def path_at(self, place: int, within: int | None, outside: int) -> Codes:
        """The path at a place among those in one band and not in another, from left to right."""
        wide, narrow = self._ends(within), self._ends(outside)
        path, at, left = [], 0, False
        for t in range(len(self.up_to)):
            for c in range(at, self.rows + 1):
                number = wide[t].get(c, 0) - (0 if left else narrow[t].get(c, 0))
                if place < number:
                    break
                place -= number
            else:
                raise InvariantBroken("fewer paths than were counted")
            path.append(c)
            at, left = c, left or c not in narrow[t]
        return np.array(path, dtype=np.int64)

    def _ends(self, miss: int | None) -> list[dict[int, int]]:
        """For each cell and c_t there, how many ways there are to go on from it to the end of a band."""
        low, high = self.allowed(miss)
        found: list[dict[int, int]] = [{}] * len(low)
        after: dict[int, int] = {}
        for t in range(len(low) - 1, -1, -1):
            here: dict[int, int] = {}
            total, last = 0, max(after, default=-1)
            for c in range(max(high[t], last), low[t] - 1, -1):
                total += after.get(c, 0)
                if c <= high[t]:
                    here[c] = 1 if t == len(low) - 1 else total
            after = found[t] = here
        return found
