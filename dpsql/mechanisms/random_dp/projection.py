"""The nearest histogram of so many points to noised counts: whole, never negative, of that total.

Given integers y_1, ..., y_r and a number of points n >= 0, minimise sum |m_j - y_j| over integers m_j >= 0 with
sum m_j = n; among the minimisers take one that minimises sum (m_j - y_j)^2, and of those the first in order.

Theorem. Let p_j = max(y_j, 0). If n >= sum p_j the minimisers are exactly the m >= p with that total, and if
n <= sum p_j exactly the 0 <= m <= p with it.

Proof. Every m has sum |m_j - y_j| >= |n - sum p_j| + sum (p_j - y_j): moving from y to p costs sum (p_j - y_j), which
every m >= 0 has to pay, and |m_j - p_j| on top of it; and sum |m_j - p_j| >= |n - sum p_j| with equality if and only if
all m_j - p_j have one sign.  QED

Among them the squares decide. One more point in cell j adds 2 (m_j - y_j) + 1 to them, a rising sequence in each cell,
so the greedy choice is optimal: points go where m_j - y_j is least, and are taken from where it is greatest. That fills
(or drains) all cells to one level, like water, and the level follows from one sort: O(r log r).

Careless ties (all of the difference in the first cells) have the same sum |m_j - y_j|, and 2 to 5 times the distance
from the true counts: see docs/random_dp.md.

The projection is of noised counts alone, hence free. It is closer to the truth than they are up to a factor of 2: the
true counts c are feasible, so sum |m - y| <= sum |c - y|, and sum |m - c| <= 2 sum |y - c|. It is biased: a sum of
noised counts is a better estimate of a total than a sum of projected ones.

Source: Hall, Rinaldo, Wasserman 2013, equation (2) (the problem); the rest is above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["project"]

Whole = npt.NDArray[Any]
"""(r,) int64, or Python ints where int64 could overflow."""


def project(noised: Sequence[int] | Whole, points: int) -> Whole:
    """The whole, non-negative counts of that total that are nearest to noised ones.

    Args:
        noised: (r,) integers y.
        points: n >= 0, the total; only 0 where r = 0.

    Returns:
        (r,) integers m >= 0 with sum n, as the module says.

    Raises:
        ValueError: If points are below 0, or above 0 where there is no cell.

    >>> project([5, -2, 3], 10).tolist(), project([5, 1, 4], 4).tolist()
    ([6, 0, 4], [2, 0, 2])
    """
    y = _whole(noised, points)
    if points < 0 or (points > 0 and not len(y)):
        raise ValueError(f"{points} points cannot lie in {len(y)} cells; write 0 or more, and give them a cell")
    positive = np.maximum(y, 0)
    missing = points - int(positive.sum())
    if missing >= 0:
        return _whole(positive + _filled(positive - y, missing), points)
    return _whole(positive - _drained(positive, -missing), points)


def _whole(values: Sequence[int] | Whole, points: int) -> Whole:
    """(r,) int64 where no sum can overflow, else Python ints."""
    exact = np.asarray(values, dtype=object) if not isinstance(values, np.ndarray) else values
    largest = max(abs(int(exact.max())), abs(int(exact.min())), points) if len(exact) else 0
    return exact.astype(np.int64 if largest * (len(exact) + 1) < 2**62 else object)


def _filled(heights: Whole, points: int) -> Whole:
    """How many points each cell gets, if each goes to a lowest one, the first of several."""
    if not points:
        return np.zeros_like(heights)
    ordered = np.sort(heights)
    counts = np.arange(1, len(ordered) + 1)
    # To raise the lowest t cells to the height of the t-th takes so many points.
    needed = counts * ordered - np.cumsum(ordered)
    lowest = int(np.searchsorted(needed, points, side="right"))
    level = (points + int(ordered[:lowest].sum())) // lowest
    got = np.maximum(level - heights, 0)
    return _one_more(got, np.flatnonzero(heights <= level), points - int(got.sum()))


def _drained(heights: Whole, points: int) -> Whole:
    """How many points each cell loses, if each is taken from a cell that lost least and has one, the first of several.

    Cell j loses min(heights_j, level), and some of those that have more lose one more.
    """
    ordered = np.sort(heights)
    cells = np.arange(len(ordered), 0, -1)
    # With the level at the height of the t-th lowest cell so many points are lost.
    lost = np.cumsum(ordered) - ordered + cells * ordered
    below = int(np.searchsorted(lost, points, side="right"))
    whole = int(ordered[:below].sum())
    level = (points - whole) // (len(ordered) - below) if below < len(ordered) else int(ordered[-1])
    taken = np.minimum(heights, level)
    return _one_more(taken, np.flatnonzero(heights > level), points - int(taken.sum()))


def _one_more(given: Whole, cells: Whole, rest: int) -> Whole:
    given = given.copy()
    given[cells[:rest]] += 1
    return given
