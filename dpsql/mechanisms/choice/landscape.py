"""One draw of a point of a grid by its rank: the scores of all points, as few intervals.

Neighbours and loss: none of its own; `choice.quantile` defines the scores, with the theorem, and `exponential` states
the loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from dpsql.limits import MOST_ROWS
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.choice.measure import BaseMeasure
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler

__all__ = ["LOPSIDED", "Draw", "Rank", "chosen", "landscape"]

LOPSIDED = 2
"""How many times as much a rank counts on the side of few rows. Measured: with more, answers err more where rows are
many."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank that one draw wants.

    Attributes:
        fraction: p, 0 to 1.
        offset: Ranks added to p n; as many are counted outside either end of the grid.
        above: Added where a point lies too high, in units of 1 / b of a rank.
        under: Added where it lies too low.
        factors: g and h: what a rank counts where a point lies too low, and where it lies too high.
    """

    fraction: Fraction
    offset: int = 0
    above: int = 0
    under: int = 0
    factors: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Draw:
    """One use of the exponential mechanism.

    Attributes:
        rank: What it wants.
        exponent: c, per unit of the score.
        deepest: No score is below its negative.
        measure: What the points weigh; None where they weigh alike.
    """

    rank: Rank
    exponent: Fraction
    deepest: int
    measure: BaseMeasure | None = None


def chosen(group: tuple[Whole, Whole], grid: Grid, draw: Draw, sampler: Sampler) -> int:
    """The grid point that one draw chooses, in steps."""
    widths, scores = landscape(*group, grid, draw.rank, draw.deepest)
    weights = widths if draw.measure is None else draw.measure.within(widths)
    index, offset = sampler.intervals(cast("Sequence[int]", weights), cast("Sequence[int]", scores), draw.exponent)
    start = grid.low + int(widths[:index].sum())
    return start + offset if draw.measure is None else draw.measure.point(start, offset)


def landscape(values: Whole, rows: Whole, grid: Grid, rank: Rank, deepest: int) -> tuple[Whole, Whole]:
    """The scores of all grid points, as the fewest intervals on which they are constant.

    Args:
        values: (k,) distinct and rising, in grid steps within the grid.
        rows: (k,) how many rows hold each, >= 1.
        grid: The candidates, from ``low`` to ``high``.
        rank: What is wanted.
        deepest: No score is below its negative.

    Returns:
        (m,) numbers of grid points, >= 1, in the order of the grid, and (m,) their scores.

    >>> widths, scores = landscape(np.array([2, 5]), np.array([1, 1]), Grid(Fraction(1), 0, 9), Rank(Fraction(1, 2)), 9)
    >>> widths.tolist(), scores.tolist()
    ([2, 4, 4], [-2, 0, -2])
    """
    a, b, pad = rank.fraction.numerator, rank.fraction.denominator, abs(rank.offset)
    exact = LOPSIDED * b * (MOST_ROWS + 2 * pad) + deepest < 2**62
    points, counts = _with_ends(values, rows.astype(np.int64 if exact else object), grid)
    upto = np.cumsum(counts)
    below = upto - counts
    wanted = a * int(upto[-1]) + b * rank.offset
    between = upto
    below[0] -= pad
    upto = upto.copy()
    upto[-1] += pad

    low, high = rank.factors

    def scores_of(under: Whole, over: Whole) -> Whole:
        missed = np.maximum(high * (b * under - wanted + rank.above), low * (wanted - b * over + rank.under))
        scored: Whole = -np.minimum(np.maximum(missed, 0), deepest)
        return scored

    # What lies so far off that it has the deepest score is one interval on either side, whatever its values are.
    first = int(np.searchsorted(upto, (wanted + rank.under - -(-deepest // low)) // b, side="right"))
    last = int(np.searchsorted(below, -((wanted - rank.above - -deepest // high) // -b), side="left")) - 1
    near = slice(first, last + 1) if first <= last else slice(0, len(points))
    kept = points[near]
    widths = np.ones(2 * len(kept) - 1, dtype=np.int64)
    widths[1::2] = np.diff(kept) - 1
    scores = np.empty(len(widths), dtype=upto.dtype)
    scores[::2] = scores_of(below[near], upto[near])
    scores[1::2] = scores_of(between[near][:-1], between[near][:-1])
    widths = np.concatenate([kept[:1] - points[0], widths, points[-1] - kept[-1:]])
    scores = np.concatenate([[-deepest], scores, [-deepest]]).astype(upto.dtype)
    widths, scores = widths[widths > 0], scores[widths > 0]
    starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    return np.add.reduceat(widths, starts), scores[starts]


def _with_ends(values: Whole, rows: Whole, grid: Grid) -> tuple[Whole, Whole]:
    """The same values and counts, with the grid's ends added at count 0 where no row holds them."""
    front = [] if len(values) and values[0] == grid.low else [grid.low]
    back = [] if len(values) and values[-1] == grid.high else [grid.high]
    points = np.concatenate([np.array(front, dtype=np.int64), values, np.array(back, dtype=np.int64)])
    counts = np.concatenate([np.zeros(len(front), dtype=rows.dtype), rows, np.zeros(len(back), dtype=rows.dtype)])
    return points, counts
