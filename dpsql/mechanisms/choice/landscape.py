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
from dpsql.privacy.sampling import ExpOf, Sampler

__all__ = ["LOPSIDED", "STRETCH", "Draw", "Rank", "chosen", "landscape", "scored", "stretches"]

LOPSIDED = 2
"""How many times as much a rank counts on the side of few rows. Measured: with more, answers err more where rows are
many."""


MANY = 1 << 12
"""Values from which on a draw takes stretches of points first. It is a choice: fewer are soon looked at one by one."""
STRETCH = 0.5
"""By how much the depths of a stretch differ at most, in units of 1 / c: three draws of four are kept then. It is a
choice: longer stretches are fewer, and their draws are kept less often."""


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

    def wanted(self, total: int) -> int:
        """w, of so many rows, in units of 1 / b."""
        return self.fraction.numerator * total + self.fraction.denominator * self.offset

    def turn(self, total: int) -> int:
        """The most rows up to a point, of so many, with which it lies too low rather than too high."""
        low, high = self.factors
        wanted = self.wanted(total)
        return (low * (wanted + self.under) + high * (wanted - self.above)) // (
            (low + high) * self.fraction.denominator
        )


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
    """The grid point that one draw chooses, in steps; of a group as `scored` takes it.

    Of many values, stretches of points are drawn from first, as deep as `stretches` takes them for.

    Theorem. The law is that of the draw, whatever depths r(v) are taken, if no r(v) exceeds the depth s(v).

    Proof. Of weight w(v), a point comes with a chance in proportion to w exp(-c r), and is kept with the chance
    exp(-c (s - r)), which is 1 at most. So a point that is kept has a chance in proportion to w exp(-c s), which is the
    law of the draw; and one that is not kept is drawn again, independently of it.  QED
    """
    if len(group[0]) < MANY:
        return _drawn(*_weighed(*scored(*group, grid, draw.rank, draw.deepest), draw), grid, draw, sampler)[0]
    cells = _weighed(*stretches(*group, grid, draw), draw)
    while True:
        point, depth = _drawn(*cells, grid, draw, sampler)
        deeper = _depth(*group, grid, draw, point) - depth
        if not deeper or sampler.bernoulli(ExpOf(draw.exponent * deeper), 1)[0]:
            return point


def _weighed(widths: Whole, scores: Whole, draw: Draw) -> tuple[Whole, Whole, Whole]:
    """Intervals with what their points weigh, and their scores."""
    return widths, widths if draw.measure is None else draw.measure.within(widths), scores


def _drawn(widths: Whole, weights: Whole, scores: Whole, grid: Grid, draw: Draw, sampler: Sampler) -> tuple[int, int]:
    """The point that a draw chooses among intervals with such weights, and how far its score is below 0."""
    index, offset = sampler.intervals(cast("Sequence[int]", weights), cast("Sequence[int]", scores), draw.exponent)
    start = grid.low + int(widths[:index].sum())
    point = start + offset if draw.measure is None else draw.measure.point(start, offset)
    return point, -int(scores[index])


def _depth(values: Whole, sums: Whole, grid: Grid, draw: Draw, point: int) -> int:
    """How far the score of a point is below 0."""
    rank, pad, b = draw.rank, abs(draw.rank.offset), draw.rank.fraction.denominator
    total, (low, high) = int(sums[-1]), rank.factors
    first, behind = int(np.searchsorted(values, point)), int(np.searchsorted(values, point, side="right"))
    below = -pad if point == grid.low else int(sums[first - 1]) if first else 0
    upto = (int(sums[behind - 1]) if behind else 0) + (pad if point == grid.high else 0)
    wanted = rank.wanted(total)
    deep = max(0, high * (b * below - wanted + rank.above), low * (wanted - b * upto + rank.under))
    return min(deep, draw.deepest)


def stretches(values: Whole, sums: Whole, grid: Grid, draw: Draw) -> tuple[Whole, Whole]:
    """As `scored`, but few intervals, which may be empty, and no score is below that of a point in its interval.

    The point at which the score turns is alone. On either side an interval ends where some rows more, worth `STRETCH`,
    are reached.

    Proof. Let T < T' be two such numbers of rows, and x <= x' the first values up to which there are as many. Below the
    turn, x <= v < x' gives T <= upto(v) < T', and v is no deeper than with T rows and no less deep than with T' - 1.
    Above it, x < v <= x' gives T <= below(v) < T', and v is no less deep than with T rows.  QED
    """
    rank, b, (low, high), total = draw.rank, draw.rank.fraction.denominator, draw.rank.factors, int(sums[-1])
    wanted, turn = rank.wanted(total), min(max(rank.turn(total) + 1, 0), total + 1)
    step = min(max(1, int(STRETCH / (float(draw.exponent) * b * max(low, high)))), total + 1)
    few = max(0, min(draw.deepest // (low * b * step) + 1, (turn - 1) // step))
    many = max(0, min(draw.deepest // (high * b * step) + 1, (total - turn) // step))
    marks = turn + step * np.arange(-few, many + 1)
    ends = values.take(np.searchsorted(sums, marks), mode="clip")
    ends[few] = middle = grid.low if turn == 0 else grid.high if turn > total else int(ends[few])
    apart, rows = ends[1:] - ends[:-1], _exact(marks, rank, draw.deepest)
    widths = np.concatenate([ends[:1] - grid.low, apart[:few], [1], apart[few:], grid.high - ends[-1:]])
    scores = np.empty(len(widths), dtype=rows.dtype)
    scores[: few + 1] = low * b * rows[: few + 1] - low * (wanted + rank.under + b)
    scores[few + 1] = -_depth(values, sums, grid, draw, middle)
    scores[few + 2 :] = high * (wanted - rank.above) - high * b * rows[few:]
    np.maximum(np.minimum(scores, 0, out=scores), -draw.deepest, out=scores)
    return widths, scores


def _exact(rows: Whole, rank: Rank, deepest: int) -> Whole:
    """The same numbers of rows, as Python's own where int64 might not hold their scores."""
    most = LOPSIDED * rank.fraction.denominator * (MOST_ROWS + 2 * abs(rank.offset)) + deepest
    return rows.astype(object) if most >= 2**62 else rows


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
    return scored(values, np.cumsum(rows), grid, rank, deepest)


def scored(values: Whole, sums: Whole, grid: Grid, rank: Rank, deepest: int) -> tuple[Whole, Whole]:
    """As `landscape`, of (k,) how many rows hold each value or one below: several draws share them.

    A value may stand there several times, the last time with all its rows, or have none of its own.
    """
    b, pad = rank.fraction.denominator, abs(rank.offset)
    low, high = rank.factors
    total = int(sums[-1]) if len(sums) else 0
    wanted = rank.wanted(total)
    few = (wanted + rank.under - -(-deepest // low)) // b
    many = -((wanted - rank.above - -deepest // high) // -b)
    points, upto = _with_ends(*_once(*_near(values, sums, few, many)), grid)
    upto = _exact(upto, rank, deepest)
    # Behind a value the one term, low (wanted + under - b upto), falls and the other, high (b upto - wanted + above),
    # rises from one to the next. So up to the turn, where the other exceeds the one, each value scores as what follows
    # it, and behind the turn as what is before it.
    turn = int(np.searchsorted(upto[:-1], rank.turn(total), side="right"))
    below = int(upto[turn - 1]) if turn else -pad
    above = int(upto[turn]) + (pad if turn == len(points) - 1 else 0)
    scores = np.empty(len(upto), dtype=upto.dtype)
    scores[:turn] = low * b * upto[:turn] - low * (wanted + rank.under)
    scores[turn] = -max(high * (b * below - wanted + rank.above), low * (wanted - b * above + rank.under))
    scores[turn + 1 :] = high * (wanted - rank.above) - high * b * upto[turn:-1]
    np.maximum(np.minimum(scores, 0, out=scores), -deepest, out=scores)
    begins = np.empty(len(points) + 1, dtype=points.dtype)
    begins[: turn + 1], begins[turn + 1 : -1], begins[-1] = points[: turn + 1], points[turn:-1], grid.high + 1
    begins[turn + 1 : -1] += 1
    first = np.ones(len(scores) + 1, dtype=np.bool_)
    np.not_equal(scores[1:], scores[:-1], out=first[1:-1])
    begins = begins[first]
    return begins[1:] - begins[:-1], scores[first[:-1]]


def _near(values: Whole, sums: Whole, few: int, many: int) -> tuple[Whole, Whole]:
    """The values that may have more than the deepest score, with their sums, and one more on either side.

    All that lies beyond has the deepest score, as the points next to it: whatever its values are, it is one interval.

    Args:
        values: (k,) rising.
        sums: (k,) how many rows hold each or one below.
        few: A value is too low with so many rows up to it, or fewer.
        many: A value is too high with so many rows below it, or more.
    """
    first = int(np.searchsorted(sums, max(few, -1), side="right"))
    last = int(np.searchsorted(sums, min(many, int(sums[-1]) + 1 if len(sums) else 0), side="left"))
    if first > last:
        return values, sums
    near = slice(max(first - 1, 0), last + 2)
    return values[near], sums[near]


def _once(values: Whole, sums: Whole) -> tuple[Whole, Whole]:
    """Each value once, as it stands there last."""
    last = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=last[:-1])
    return (values, sums) if last.all() else (values[last], sums[last])


def _with_ends(values: Whole, sums: Whole, grid: Grid) -> tuple[Whole, Whole]:
    """The same, with the grid's ends added where no row of these holds them: no row is below, and all are up to it."""
    many = len(values)
    start = 0 if many and values[0] == grid.low else 1
    end = start + many
    points, upto = np.empty((2, end + (0 if many and values[-1] == grid.high else 1)), dtype=np.int64)
    points[:start], upto[:start] = grid.low, 0
    points[start:end], upto[start:end] = values, sums
    points[end:], upto[end:] = grid.high, sums[-1] if many else 0
    return points, upto
