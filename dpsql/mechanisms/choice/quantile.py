"""Quantiles, MIN and MAX: points of the declared grid, chosen by their rank among a group's values.

Neighbours: ``add_remove`` and ``replace_one``. Loss: stated by `exponential`, with the k of this theorem.

Let p = a / b in lowest terms be the fraction. For a grid point v let below(v) be the number of values less than v,
upto(v) that of values not above v, n that of all (NULLs left out), and t = a n + b offset the wanted rank, in units of
1 / b of a rank. Constants ``above``, ``under`` and ``deepest`` are public. The score is

    q(v) = -min(deepest, max(0, b below(v) - t + above, t - b upto(v) + under)).

Theorem. A row that comes or goes changes every q(v) by at most max(a, b - a); a row that changes its value, by at most
b. So w = max d - min d <= 2 max(a, b - a) for each row that comes or goes, and <= 2 b for each that is replaced.

Proof. A new row at x changes b below(v) - t by b - a if x < v, else by -a, and t - b upto(v) by a if x > v, else by
a - b. If a row changes its value, t stays, and each of the two changes by -b, 0 or b. Maxima, minima and sums with
constants change by no more than what they are taken of.  QED

Without groups, a swap replaces rows in pairs, at 2 b each, and no single row costs more. Between groups it is counted
as rows that go and rows that come.

Which points are best (offset 0). QUANTILE_DISC, MIN and MAX have above = 1 for p > 0 and under = 1 for p = 0: the best
point is the value of rank ceil(p n), or the smallest value for p = 0. QUANTILE_CONT and MEDIAN have neither for
0 < p < 1: where p n is whole, all points from the value of rank p n to the next one are equally good, and with the
noise off the answer is the middle of them by weight. Either lies between the two values next to DuckDB's answer. In an
empty group all points are equally good, and their weights alone decide.

The answer's points have weights of their own (`measure`): P(v) ~ w(v) exp(c q(v)). That changes no loss. The draws for
the interval weigh all points alike, as its argument wants.

MIN and MAX rest on a single row, as a private answer must not: they are little better than a point drawn between the
bound and the outermost few values. A quantile such as 0.01 or 0.99 says more. ``deepest`` treats points alike whose
chance is below 2^-60 together; then only the intervals near the wanted rank are looked at one by one.

Interval. Two more draws from the same rows, a quarter of the rate each, bracket the answer: their offsets are -r and r,
with r more ranks counted below the lowest and above the highest grid point, so that every wanted rank exists. If the
lower draw l is above the exact quantile, which lies within 1 rank of p n, then q(l) <= -b (r - 1) while the best score
is 0. Among W grid points this has chance at most W exp(-c b (r - 1)), and r is the least that makes it 1/200. With the
upper draw this is 99% confidence, whatever the data are. The answer is added to the interval. Where p is 0 the lower
bound itself is the lower end, where p is 1 the upper, at no cost. ``interval = 'none'`` declines the two draws: the
answer then has the whole rate, and its error is foretold for rows that lie evenly, but not bounded.

Source: Smith 2011, "Privacy-preserving statistical estimation with optimal convergence rates", section 3 (scoring grid
points by rank, interval by interval); the theorem and the brackets are above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpsql.errors import InvariantBroken
from dpsql.limits import MOST_ROWS
from dpsql.mechanisms.base import Interval, Offer, Request, derive
from dpsql.mechanisms.choice.groups import Whole, grouped
from dpsql.mechanisms.choice.measure import BaseMeasure, base_measure
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.mechanisms.noise.sensitivity import Sensitivity, moved_rows
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["QUANTILES", "QuantileQuery", "QuantileRelease", "Rank", "chosen", "landscape", "quantile_query"]

QUANTILES = ("quantile_cont", "quantile_disc", "min", "max")

MISS = 1 / 200
"""How likely the true quantile lies beyond each end of the interval; with both, `CONFIDENCE` is what is left."""
CONFIDENCE = 0.99
"""The level of the interval that is told with a quantile."""
SHARE = Fraction(1, 2)
"""The share of the exponent's rate for the answer itself; the rest is for its interval. A guess."""
UNSEEN = 60  # In binary digits: points that are less likely than 2^-60 together are treated alike. It is a choice.
DECLINED = "no interval was bought; the error is what is expected of rows that lie evenly, and may be larger."


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank that one draw wants.

    Attributes:
        fraction: p, 0 to 1.
        offset: Ranks added to p n; as many are counted outside either end of the grid.
        above: Added where a point lies too high, in units of 1 / b of a rank.
        under: Added where it lies too low.
    """

    fraction: Fraction
    offset: int = 0
    above: int = 0
    under: int = 0


@dataclass(frozen=True, slots=True)
class QuantileQuery:
    """What a quantile needs to know, all of it public.

    Attributes:
        need: The values.
        grid: Of the argument.
        rank: Of the answer.
        moved: Rows that come or go, or that are replaced, over the groups.
        replaced: Whether each of those rows is replaced by another, and changes w by the theorem's 2 b, not by its
            2 max(a, b - a).
        rows_about: Guess of the rows per group.
        extent: Guess of the distance over which the rows lie, in grid steps.
        bracketed: Whether its interval is drawn, too.
        measure: What the points weigh where the answer is drawn.
    """

    need: Values
    grid: Grid
    rank: Rank
    moved: Sensitivity
    replaced: bool
    rows_about: int
    extent: float
    measure: BaseMeasure
    bracketed: bool = True

    @property
    def width(self) -> int:
        """By how much a row changes w."""
        over, under = self.rank.fraction.numerator, self.rank.fraction.denominator
        return 2 * (under if self.replaced else max(over, under - over))

    @property
    def ends(self) -> tuple[int, ...]:
        """The ends of the interval that must be drawn: -1 the lower, 1 the upper."""
        return tuple(side for side, bound in ((-1, 0), (1, 1)) if self.bracketed and self.rank.fraction != bound)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Of the rate: the answer's, then one for each end that is drawn."""
        ends = len(self.ends)
        return (SHARE, *[(1 - SHARE) / ends] * ends) if ends else (Fraction(1),)


def quantile_query(request: Request) -> QuantileQuery | str:
    """The quantile's values and public guesses, or in a sentence why there is none."""
    grid, aggregate = request.grid, request.aggregate
    if grid is None or aggregate.argument is None:
        return f"{aggregate.text} has no bounds; declare bounds in the policy, or keep it within constants."
    if grid.low == grid.high:
        return f"{aggregate.text} can take one value only; there is nothing to ask."
    fraction = {"min": Fraction(0), "max": Fraction(1)}.get(aggregate.function, aggregate.fraction)
    if fraction is None or not 0 <= fraction <= 1:
        raise InvariantBroken("a quantile has a fraction from 0 to 1")
    between = aggregate.function == "quantile_cont" and 0 < fraction < 1
    rank = Rank(fraction, above=int(fraction > 0 and not between), under=int(fraction == 0))
    moved, replaced = moved_rows(request), request.neighbour_rows == 2 and not request.source.keys
    if replaced:
        rows = request.source.contribution.total
        moved = Sensitivity(rows, rows**2, one_cell=True)
    spread = request.facts.spread
    # Rows spread evenly over such an extent have the declared distance from their middle.
    extent = grid.high - grid.low if spread is None else min(grid.high - grid.low, float(spread / grid.step) * 12**0.5)
    return QuantileQuery(
        need=Values(request.source, aggregate.argument, grid),
        grid=grid,
        rank=rank,
        moved=moved,
        replaced=replaced,
        rows_about=max(1, request.rows_about),
        extent=float(extent),
        measure=base_measure(grid, request.facts),
        bracketed=request.options.interval is None,
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


@dataclass(frozen=True, slots=True)
class QuantileRelease(Offer):
    """An offer to release an order statistic, and the ends of its interval.

    Attributes:
        loss: Of all draws and groups together.
        half_width: The expected error, where the interval is declined.
        need: The values, counted.
        query: What is asked and publicly known.
        rates: Of the answer, then of each end that is drawn: what one row may tell.
    """

    need: Values = field(init=False)
    query: QuantileQuery
    rates: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if self.query.bracketed:
            derive(self, need=self.query.need, half_width=self._bracket())
        else:
            derive(self, need=self.query.need, half_width=self.expected_error, notes=(DECLINED,))

    def _bracket(self) -> float:
        """Half the width of the drawn interval, for ``rows_about`` rows that lie evenly over their extent."""
        query, ranks = self.query, max(abs(draw.rank.offset) for draw in self.draws())
        widest = Fraction(query.grid.high - query.grid.low, 2)
        return float(min(Fraction(query.extent) * ranks / query.rows_about, widest) * query.grid.step)

    @property
    def expected_error(self) -> float:
        """Of the answer itself, for ``rows_about`` rows that lie evenly over their extent, 95 times of 100."""
        return self.foreseen(self.query.rows_about, self.query.extent)

    def foreseen(self, rows: int, extent: float) -> float:
        """The same for so many rows over such an extent, in grid steps.

        A point r ranks off is exp(-r c b) times as likely as the best, so that 95% are within ln(20) / (c b) ranks:
        unless the grid beyond the rows, all of those on one side off, holds so many more points that it is likelier all
        the same.
        """
        grid, p, per_rank = self.query.grid, self.query.rank.fraction, float(self.per_rank)
        widest, beyond = (grid.high - grid.low) / 2, self.query.measure.beyond(extent)
        if rows * float(min(p, 1 - p) or Fraction(1, 2)) * per_rank < math.log(20 * beyond):
            return widest * float(grid.step)
        return min(extent * math.log(20) / per_rank / rows, widest) * float(grid.step)

    def draws(self) -> tuple[Draw, ...]:
        """The answer's, then one for each end that is drawn."""
        ends = zip(self.query.ends, self.rates[1:], strict=True)
        return (self.answer(), *(self.end(side, rate) for side, rate in ends))

    def answer(self) -> Draw:
        """That of the answer."""
        return self.draw(self.query.rank, self.rates[0], self.query.measure)

    def end(self, side: int, rate: Fraction) -> Draw:
        """That of the lower end (-1) or the upper one (1), so many ranks away that it lies on its side."""
        points = self.query.grid.high - self.query.grid.low + 1
        reach = 1 + math.ceil(Fraction(math.log(points / MISS)) / self._per_rank(rate))
        return self.draw(Rank(self.query.rank.fraction, side * reach), rate)

    @property
    def per_rank(self) -> Fraction:
        """By what the log of a point's chance to be the answer falls with each rank."""
        return self._per_rank(self.rates[0])

    def _per_rank(self, rate: Fraction) -> Fraction:
        """c b: by what the log of a point's chance falls with each rank."""
        return rate / self.query.width * self.query.rank.fraction.denominator

    def draw(self, rank: Rank, rate: Fraction, measure: BaseMeasure | None = None) -> Draw:
        """One that wants a rank, of the query's fraction."""
        exponent = rate / self.query.width
        points = self.query.grid.high - self.query.grid.low + 1 if measure is None else measure.total
        return Draw(rank, exponent, math.ceil(Fraction(math.log(points) + UNSEEN * math.log(2)) / exponent), measure)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, with ``low`` and ``high``, the ends of its interval where it has one; all in the column's unit."""
        grid, draws = self.query.grid, self.draws()
        found = [[chosen(group, grid, draw, sampler) for draw in draws] for group in grouped(raw)]
        sides = (0, *self.query.ends)
        named = (("value", 0, 0), ("low", -1, grid.low), ("high", 1, grid.high))
        columns = {
            name: [steps[sides.index(side)] if side in sides else bound for steps in found]
            for name, side, bound in (named if self.query.bracketed else named[:1])
        }
        return ReleasedTable({name: [in_unit(k, grid.step) for k in steps] for name, steps in columns.items()})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """The drawn ends up to 99% confidence, all of the bounds beyond; none where they were declined."""
        grid = self.query.grid
        if not self.query.bracketed:
            return [(None, None)] * len(released.values)
        if confidence > CONFIDENCE:
            return [(in_unit(grid.low, grid.step), in_unit(grid.high, grid.step))] * len(released.values)
        ends = zip(released.values, released.columns["low"], released.columns["high"], strict=True)
        return [(min(value, low), max(value, high)) for value, low, high in ends]


def chosen(group: tuple[Whole, Whole], grid: Grid, draw: Draw, sampler: Sampler) -> int:
    """The grid point that one draw chooses, in steps."""
    widths, scores = landscape(*group, grid, draw.rank, draw.deepest)
    weights = widths if draw.measure is None else draw.measure.within(widths)
    index, offset = sampler.intervals(weights.tolist(), scores.tolist(), draw.exponent)
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
    exact = b * (MOST_ROWS + 2 * pad) + deepest < 2**62
    points, counts = _with_ends(values, rows.astype(np.int64 if exact else object), grid)
    upto = np.cumsum(counts)
    below = upto - counts
    wanted = a * int(upto[-1]) + b * rank.offset
    between = upto[:-1]
    below[0] -= pad
    upto = upto.copy()
    upto[-1] += pad

    def scores_of(under: Whole, over: Whole) -> Whole:
        missed = np.maximum(b * under - wanted + rank.above, wanted - b * over + rank.under)
        scored: Whole = -np.minimum(np.maximum(missed, 0), deepest)
        return scored

    widths = np.ones(2 * len(points) - 1, dtype=np.int64)
    widths[1::2] = np.diff(points) - 1
    scores = np.empty(len(widths), dtype=upto.dtype)
    scores[::2] = scores_of(below, upto)
    scores[1::2] = scores_of(between, between)
    widths, scores = widths[widths > 0], scores[widths > 0]
    starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    return np.add.reduceat(widths, starts), scores[starts]


def _with_ends(values: Whole, rows: Whole, grid: Grid) -> tuple[Whole, Whole]:
    """The same values and counts, with the grid's ends added at count 0 where no row holds them."""
    present = values.tolist()
    front = [] if present and present[0] == grid.low else [grid.low]
    back = [] if present and present[-1] == grid.high else [grid.high]
    points = np.concatenate([np.array(front, dtype=np.int64), values, np.array(back, dtype=np.int64)])
    counts = np.concatenate([np.zeros(len(front), dtype=rows.dtype), rows, np.zeros(len(back), dtype=rows.dtype)])
    return points, counts
