"""One draw of a point of a grid by its rank: the scores of all points, as few intervals.

Neighbours and loss: none of its own; `choice.quantile` defines the scores, with the theorem, and `exponential` states
the loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from dpsql.limits import MOST_ROWS
from dpsql.mechanisms.choice.groups import GroupedRows, Whole, starts_of
from dpsql.mechanisms.choice.measure import BaseMeasure
from dpsql.plan.types import Grid
from dpsql.privacy.inversion import MOST_FLOATS, MOST_GROUPS
from dpsql.privacy.sampling import Sampler

__all__ = ["LOPSIDED", "STRETCH", "Draw", "Landscape", "Rank", "chosen", "landscape", "scored", "stretches"]

LOPSIDED = 2
"""How many times as much a rank counts on the side of few rows. Measured: with more, answers err more where rows are
many."""


MANY = 1 << 12
"""Values from which on a draw takes stretches of points first. It is a choice: fewer are soon looked at one by one."""
STRETCH = 0.5
"""By how much the depths of a stretch differ at most, in units of 1 / c: three draws of four are kept then. It is a
choice: longer stretches are fewer, and their draws are kept less often."""
MOST_DEPTH = 2**62  # As a number of int64: of what lies deeper, fewer stretches are taken. It is a choice.


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

    def wanted(self, total: Any) -> Any:
        """w, of so many rows, or of each of (k,) numbers of rows; in units of 1 / b."""
        return self.fraction.numerator * total + self.fraction.denominator * self.offset

    def turn(self, total: Any) -> Any:
        """The most rows up to a point, of so many, with which it lies too low rather than too high; as `wanted`."""
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


def chosen(batches: Iterable[GroupedRows], grid: Grid, draw: Draw, sampler: Sampler) -> list[int]:
    """The grid point that one draw chooses in each group, in steps.

    Each batch is some of the groups, in order; what is drawn again is drawn before the groups behind.
    """
    found, together = list[int](), _together(draw)
    for alone, run in groupby((own for groups in batches for own in groups.apart(MANY)), _alone):
        some = list(run)
        if alone:
            for first in range(0, len(some), together):
                found += _far_apart(some[first : first + together], grid, draw, sampler)
        else:
            for own in some:
                found += _drawn(scored(own, grid, draw.rank, draw.deepest), draw, sampler)[0].tolist()
    return found


def _alone(groups: GroupedRows) -> bool:
    """Whether it is one group of many values."""
    return len(groups.starts) == 2 and len(groups.values) >= MANY


def _drawn(found: Landscape, draw: Draw, sampler: Sampler) -> tuple[Whole, Whole]:
    """(k,) the point that is drawn in each group, and (k,) what its interval scores."""
    weights = found.ends - found.begins
    if draw.measure is not None:  # what lies below the end of an interval lies below the next one of the group
        below = draw.measure.below(found.begins)
        weights = np.append(below[1:], 0)
        weights[found.starts[1:] - 1] = draw.measure.total
        weights -= below
    index, offset = sampler.intervals_of_each(found.starts, weights, found.scores, draw.exponent)
    places = found.starts[:-1] + index
    starts = found.begins[places]
    points = starts + offset if draw.measure is None else draw.measure.points(starts, offset)
    return points, found.scores[places]


def _far_apart(groups: Sequence[GroupedRows], grid: Grid, draw: Draw, sampler: Sampler) -> list[int]:
    """The same of groups of many values: stretches of points are drawn from, as deep as `stretches` takes them for.

    Theorem. The law is that of the draw, whatever depths r(v) are taken, if no r(v) exceeds the depth s(v), and groups
    are independent.

    Proof. Of weight w(v), a point comes with a chance in proportion to w exp(-c r), and is kept with the chance
    exp(-c (s - r)), which is 1 at most. So a point that is kept has a chance in proportion to w exp(-c s), which is the
    law of the draw; and one that is not kept is drawn again, independently of it. Whether a group is drawn again
    follows from its own point and coin, and those of each group are independent of all others.  QED
    """
    points, left, shape = np.empty(len(groups), dtype=np.int64), np.arange(len(groups)), stretches(groups, grid, draw)
    while len(left):
        points[left], scores = _drawn(shape, draw, sampler)
        deeper = _depths([groups[at] for at in left.tolist()], grid, draw, points[left]) + scores
        again = ~sampler.bernoulli_of_each(deeper, draw.exponent)
        left, shape = left[again], shape.only(again)
    drawn: list[int] = points.tolist()
    return drawn


def _depths(groups: Sequence[GroupedRows], grid: Grid, draw: Draw, points: Whole) -> Whole:
    """(k,) how far the score of a point of each group is below 0."""
    rank, pad, b, (low, high) = draw.rank, abs(draw.rank.offset), draw.rank.fraction.denominator, draw.rank.factors
    below, upto, totals = np.zeros((3, len(groups)), dtype=np.int64)
    for at, (group, point) in enumerate(zip(groups, points.tolist(), strict=True)):
        first, behind = group.values.searchsorted((point, point + 1)).tolist()
        below[at] = group.sums[first - 1] if first else 0
        upto[at] = group.sums[behind - 1] if behind else 0
        totals[at] = group.sums[-1]
    below[points == grid.low] = -pad
    upto[points == grid.high] += pad
    below, upto, totals = (_exact(rows, rank, draw.deepest) for rows in (below, upto, totals))
    wanted = rank.wanted(totals)
    deep = np.maximum(high * (b * below - wanted + rank.above), low * (wanted - b * upto + rank.under))
    found: Whole = np.minimum(np.maximum(deep, 0), draw.deepest)
    return found


def _step(draw: Draw) -> int:
    """How many rows lie between the ends of a stretch, where there are so many."""
    worth = float(draw.exponent) * draw.rank.fraction.denominator * max(draw.rank.factors)
    return max(1, int(min(STRETCH / worth, MOST_ROWS)))


def _together(draw: Draw) -> int:
    """Of how many groups stretches are drawn together: as many as floats add up the weights of."""
    step, b = _step(draw), draw.rank.fraction.denominator
    most = sum(draw.deepest // (factor * b * step) + 1 for factor in draw.rank.factors) + 3
    return min(MOST_GROUPS, max(1, MOST_FLOATS // most))


def stretches(groups: Sequence[GroupedRows], grid: Grid, draw: Draw) -> Landscape:
    """As `scored`, of single groups, but few intervals, which may be empty, and no score is below that of a point in
    its interval.

    The point at which the score turns is alone. On either side an interval ends where some rows more, worth `STRETCH`,
    are reached.

    Proof. Let T < T' be two such numbers of rows, and x <= x' the first values up to which there are as many. Below the
    turn, x <= v < x' gives T <= upto(v) < T', and v is no deeper than with T rows and no less deep than with T' - 1.
    Above it, x < v <= x' gives T <= below(v) < T', and v is no less deep than with T rows.  QED
    """
    rank, b, (low, high) = draw.rank, draw.rank.fraction.denominator, draw.rank.factors
    totals, deepest = np.array([group.sums[-1] for group in groups], dtype=np.int64), min(draw.deepest, MOST_DEPTH)
    exact = _exact(totals, rank, draw.deepest)
    turns = np.minimum(np.maximum(rank.turn(exact) + 1, 0), totals + 1).astype(np.int64)
    steps = np.minimum(_step(draw), totals + 1)
    few = np.maximum(0, np.minimum(deepest // (low * b) // steps + 1, (turns - 1) // steps))
    many = np.maximum(0, np.minimum(deepest // (high * b) // steps + 1, (totals - turns) // steps))
    starts = starts_of(few + many + 1)
    middle, own = starts[:-1] + few, np.repeat(np.arange(len(groups)), few + many + 1)
    place = np.arange(starts[-1]) - middle[own]
    marks = turns[own] + steps[own] * place
    parts = zip(groups, pairwise(starts.tolist()), strict=True)
    ends = np.concatenate([g.values.take(g.sums.searchsorted(marks[a:z]), mode="clip") for g, (a, z) in parts])
    ends[middle] = np.where(turns == 0, grid.low, np.where(turns > totals, grid.high, ends[middle]))
    # Of each group one interval ends at each mark up to the turn, one begins behind each from there on, and the turn
    # lies between: there are two more than marks.
    left, right = np.flatnonzero(place <= 0), np.flatnonzero(place >= 0)
    before, behind = left + 2 * own[left], right + 2 * own[right] + 2
    rows, wanted = _exact(marks, rank, draw.deepest), rank.wanted(exact)
    scores = np.empty(len(marks) + 2 * len(groups), dtype=rows.dtype)
    scores[before] = low * b * rows[left] - (low * (wanted + rank.under + b))[own[left]]
    scores[behind] = (high * (wanted - rank.above))[own[right]] - high * b * rows[right]
    starts = starts + 2 * np.arange(len(starts))
    scores[starts[:-1] + few + 1] = -_depths(groups, grid, draw, ends[middle])
    np.maximum(np.minimum(scores, 0, out=scores), -draw.deepest, out=scores)
    begins = np.full(len(scores), grid.low, dtype=np.int64)
    begins[before + 1], begins[behind] = ends[left], ends[right] + 1
    return Landscape(starts, begins, _ends(starts, begins, grid), scores)


def _ends(starts: Whole, begins: Whole, grid: Grid) -> Whole:
    """(m,) the first point behind each interval, of those that begin so."""
    ends = np.append(begins[1:], 0)
    ends[starts[1:] - 1] = grid.high + 1
    return ends


def _exact(rows: Whole, rank: Rank, deepest: int) -> Whole:
    """The same numbers of rows, as Python's own where int64 might not hold their scores."""
    most = LOPSIDED * rank.fraction.denominator * (MOST_ROWS + 2 * abs(rank.offset)) + deepest
    return rows.astype(object) if most >= 2**62 else rows


@dataclass(frozen=True, slots=True)
class Landscape:
    """The scores of all grid points for several groups, as intervals on which they are constant, next to each other.

    Attributes:
        starts: (k + 1,) where each group's intervals begin, and last where the last one's end.
        begins: (m,) the first point of each interval, in steps.
        ends: (m,) the first point behind it.
        scores: (m,) what its points score; that of the next interval of the group differs.
    """

    starts: Whole
    begins: Whole
    ends: Whole
    scores: Whole

    def only(self, some: Whole) -> Landscape:
        """Those of the groups of which (k,) bool says so."""
        sizes = np.diff(self.starts)
        own = np.repeat(some, sizes)
        return Landscape(starts_of(sizes[some]), self.begins[own], self.ends[own], self.scores[own])


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
    found = scored(GroupedRows(np.array([0, len(values)]), values, np.cumsum(rows)), grid, rank, deepest)
    return found.ends - found.begins, found.scores


def scored(groups: GroupedRows, grid: Grid, rank: Rank, deepest: int) -> Landscape:
    """As `landscape`, of several groups at once.

    A value may stand there several times, the last time with all its rows, or have none of its own.
    """
    b, pad = rank.fraction.denominator, abs(rank.offset)
    low, high = rank.factors
    totals = groups.totals
    before = np.cumsum(totals) - totals  # rows of the groups before: with them the sums of all groups rise together
    starts, points, upto = _with_ends(_once(_near(groups, before, rank, deepest)), grid)
    own = np.repeat(np.arange(len(totals)), np.diff(starts))
    # Behind a value the one term, low (wanted + under - b upto), falls and the other, high (b upto - wanted + above),
    # rises from one to the next. So up to the turn, where the other exceeds the one, each value scores as what follows
    # it, and behind the turn as what is before it.
    exact, wanted = _exact(upto, rank, deepest), rank.wanted(_exact(totals, rank, deepest))
    turns = np.clip(rank.turn(_exact(totals, rank, deepest)), -1, totals).astype(np.int64)
    turn = np.clip(np.searchsorted(upto + before[own], before + turns, side="right"), starts[:-1], starts[1:] - 1)
    below = np.where(turn > starts[:-1], exact[turn - 1], -pad)
    above = exact[turn] + np.where(turn == starts[1:] - 1, pad, 0)
    place, at = np.arange(len(points)), turn[own]
    rising = low * b * exact - low * (wanted + rank.under)[own]
    falling = high * (wanted - rank.above)[own]
    falling[1:] -= high * b * exact[:-1]
    scores = np.where(place < at, rising, falling)
    scores[turn] = -np.maximum(high * (b * below - wanted + rank.above), low * (wanted - b * above + rank.under))
    np.maximum(np.minimum(scores, 0, out=scores), -deepest, out=scores)
    begins = points.copy()
    behind = np.flatnonzero(place > at)
    begins[behind] = points[behind - 1] + 1
    first = np.ones(len(points), dtype=np.bool_)
    np.not_equal(scores[1:], scores[:-1], out=first[1:])
    first[starts[:-1]] = True
    begins, counts = begins[first], np.add.reduceat(first, starts[:-1], dtype=np.int64)
    starts = starts_of(counts)
    return Landscape(starts, begins, _ends(starts, begins, grid), scores[first])


def _near(groups: GroupedRows, before: Whole, rank: Rank, deepest: int) -> GroupedRows:
    """Of each group the values that may have more than the deepest score, and one more on either side.

    All that lies beyond has the deepest score, as the points next to it: whatever its values are, it is one interval.

    Args:
        groups: All values.
        before: (k,) rows of the groups before each.
        rank: A value is too low with few rows up to it, and too high with many rows below it.
        deepest: No score is below its negative.
    """
    (low, high), b, totals = rank.factors, rank.fraction.denominator, groups.totals
    wanted = rank.wanted(_exact(totals, rank, deepest))
    few = np.clip((wanted + rank.under - -(-deepest // low)) // b, -1, totals).astype(np.int64)
    many = np.clip(-((wanted - rank.above - -deepest // high) // -b), -1, totals + 1).astype(np.int64)
    begin, end = groups.starts[:-1], groups.starts[1:]
    sums = groups.sums + np.repeat(before, end - begin)
    first = np.clip(np.searchsorted(sums, before + few, side="right"), begin, end)
    last = np.clip(np.searchsorted(sums, before + many, side="left"), begin, end)
    whole = first > last
    return groups.between(
        np.where(whole, begin, np.maximum(first - 1, begin)), np.where(whole, end, np.minimum(last + 2, end))
    )


def _once(groups: GroupedRows) -> GroupedRows:
    """Each value of a group once, as it stands there last."""
    last = np.ones(len(groups.values), dtype=np.bool_)
    np.not_equal(groups.values[1:], groups.values[:-1], out=last[:-1])
    last[groups.starts[1:][groups.starts[1:] > 0] - 1] = True
    if last.all():
        return groups
    return GroupedRows(starts_of(last)[groups.starts], groups.values[last], groups.sums[last])


def _with_ends(groups: GroupedRows, grid: Grid) -> tuple[Whole, Whole, Whole]:
    """The same, with the grid's ends added where no row of these holds them: no row is below, and all are up to it.

    Returns:
        (k + 1,) where each group begins, and last where the last one ends; the points; how many rows are up to each.
    """
    begin, end = groups.starts[:-1], groups.starts[1:]
    some, totals = end > begin, groups.totals
    at_low, at_high = some.copy(), some.copy()
    at_low[some] = groups.values[begin[some]] == grid.low
    at_high[some] = groups.values[end[some] - 1] == grid.high
    starts = starts_of(end - begin + ~at_low + ~at_high)
    points, upto = np.empty((2, int(starts[-1])), dtype=np.int64)
    points[starts[:-1]], upto[starts[:-1]] = grid.low, 0
    points[starts[1:] - 1], upto[starts[1:] - 1] = grid.high, totals
    place = np.arange(len(groups.values)) + np.repeat(starts[:-1] + ~at_low - begin, end - begin)
    points[place], upto[place] = groups.values, groups.sums
    return starts, points, upto
