"""Quantiles, MIN and MAX: points of the declared grid, chosen by their rank among a group's values.

Neighbours: ``add_remove`` and ``replace_one``. Loss: stated by `exponential`, with the k of this theorem.

Let p = a / b in lowest terms be the fraction. For a grid point v let below(v) be the number of values less than v,
upto(v) that of values not above v, n that of all (NULLs left out), and t = a n + b offset the wanted rank, in units of
1 / b of a rank. Constants ``above``, ``under``, ``deepest``, and whole numbers g and h are public. The score is

    q(v) = -min(deepest, max(0, h (b below(v) - t + above), g (t - b upto(v) + under))).

Theorem. w = max d - min d is at most max(h (b - a), g a) + max(h a, g (b - a)) for each row that comes or goes, and
at most (g + h) b for each row that is replaced.

Proof. A new row at x changes b below(v) - t by b - a if x < v, else by -a, and t - b upto(v) by a if x > v, else by
a - b. So the two terms with their factors rise by at most h (b - a) and g a, and fall by at most h a and g (b - a). If
a row changes its value for a higher one, t stays, b below(v) - t changes by 0 or -b, and t - b upto(v) by 0 or b; if
for a lower one, the other way. Maxima, minima and sums with constants rise and fall by no more than what they are taken
of, and what several rows change adds up.  QED

*Either side.* With g = h = 1 a row tells 2 max(a, b - a). Far from the middle one side of the quantile has few rows,
and a point beyond all of them is the likelier the fewer they are. A rank on that side counts `LOPSIDED` times as much
as one on the other, where p is at most a quarter or at least three: for p = 9 / 10 the rows above tell of a point 4 / 3
times as much as with equal factors.

*Few rows.* An interval needs many rows: with fewer its ends are the bounds, and their draws say nothing. So a small
part of the price releases the number of each group's values first, with discrete Laplace noise. An end whose wanted
rank would not exist among so many is the bound, and its part of the rate goes to the answer.

Theorem. The noised counts, of rate s, and the draws that follow lose together what `exponential` states.
Proof. A row that comes, goes or is replaced moves one count by 1 at most. What is drawn for a group follows from what
was released, so that the losses add up by adaptive composition. The planned draws have the rates r_0, r_1, ...; those
of any path add up to no more than these do, or their squares, as the price is in epsilon or in rho, and the squares
that are stated are those of the dearest path.  QED

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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Offer, Request, derive
from dpsql.mechanisms.choice.groups import GroupedRows, at_once, counted
from dpsql.mechanisms.choice.landscape import LOPSIDED, Draw, Rank, chosen
from dpsql.mechanisms.choice.measure import LOOSE, WIDE, BaseMeasure, base_measure
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.noised import in_unit, unit_of
from dpsql.mechanisms.noise.sensitivity import Sensitivity, moved_rows
from dpsql.plan.guesses import rows_of_a_total
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["COUNT", "QUANTILES", "QuantileQuery", "QuantileRelease", "quantile_query"]

QUANTILES = ("quantile_cont", "quantile_disc", "min", "max")

MISS = 1 / 200
"""How likely the true quantile lies beyond each end of the interval; with both, `CONFIDENCE` is what is left."""
CONFIDENCE = 0.99
"""The level of the interval that is told with a quantile."""
SHARE = Fraction(1, 2)
"""The share of the exponent's rate for the answer itself; the rest is for its interval. A guess."""
COUNT = Fraction(1, 32)
"""The share of the rate for the number of values. It is a choice: the noise is then a fifth of the number that decides
whether there is an interval."""
OUTER = Fraction(1, 4)  # Up to so small a part of the rows a side has few. It is a choice.
UNSEEN = 60  # In binary digits: points that are less likely than 2^-60 together are treated alike. It is a choice.
COLUMNS = {0: "value", -1: "low", 1: "high"}
"""What is released of the answer's draw, and of each end's."""
DECLINED = "no interval was bought; the error is what is expected of rows that lie evenly, and may be larger."


@dataclass(frozen=True, slots=True)
class QuantileQuery:
    """What a quantile needs to know, all of it public.

    Attributes:
        need: The values.
        grid: Of the argument.
        rank: Of the answer.
        moved: Rows that come or go, or that are replaced, over the groups.
        replaced: Whether each of those rows is replaced by another, and changes w as the theorem says of these.
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

    def width(self, rank: Rank) -> int:
        """By how much a row changes w where a draw wants a rank of this fraction."""
        (low, high), a, b = rank.factors, rank.fraction.numerator, rank.fraction.denominator
        if self.replaced:
            return (low + high) * b
        return max(high * (b - a), low * a) + max(high * a, low * (b - a))

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
    fraction = aggregate.rank
    if fraction is None or not 0 <= fraction <= 1:
        raise InvariantBroken("a quantile has a fraction from 0 to 1")
    between = aggregate.function == "quantile_cont" and 0 < fraction < 1
    factors = (LOPSIDED, 1) if 0 < fraction <= OUTER else (1, LOPSIDED) if 1 - OUTER <= fraction < 1 else (1, 1)
    rank = Rank(fraction, 0, int(fraction > 0 and not between), int(fraction == 0), factors)
    moved, replaced = moved_rows(request), request.neighbour_rows == 2 and not request.source.keys
    if replaced:
        rows = request.source.contribution.total
        moved = Sensitivity(rows, rows**2, one_cell=True)
    width, spread = float(grid.high - grid.low), request.facts.spread
    # Rows spread evenly over such an extent have the declared distance from their middle.
    extent = _of_totals(request, grid, width) if spread is None else min(width, float(spread / grid.step) * 12**0.5)
    return QuantileQuery(
        need=Values(request.source, aggregate.argument, grid),
        grid=grid,
        rank=rank,
        moved=moved,
        replaced=replaced,
        rows_about=max(1, request.rows_about),
        extent=extent,
        measure=base_measure(grid, request.facts),
        bracketed=request.options.interval is None,
    )


def _of_totals(request: Request, grid: Grid, width: float) -> float:
    """Guess of the distance over which values without a spread lie, in grid steps: all of their bounds.

    Counts and sums of units lie closer: their bounds are for as many rows as a unit may have. Wide bounds of a row are
    thought to be loose, as where the answer is drawn.
    """
    argument = request.aggregate.argument
    total = None if argument is None else rows_of_a_total(request.source.relation, argument)
    if total is None:
        return width
    rows, most, added = total
    spread, centre = (None, None) if added is None else (added.facts.spread, added.facts.centre)
    if spread is None or centre is None:
        loose = LOOSE if added is not None and width >= WIDE * most else 1
        return max(1.0, width * rows / most / loose)
    return min(width, max(1.0, rows * float((abs(centre) + 2 * spread) / grid.step)))  # as `clamped` guesses a size


@dataclass(frozen=True, slots=True)
class QuantileRelease(Offer):
    """An offer to release an order statistic, and the ends of its interval.

    Attributes:
        loss: Of all draws and groups together.
        half_width: The expected error, where the interval is declined.
        need: The values, counted.
        query: What is asked and publicly known.
        rates: Of the answer, then of each end that is drawn: what one row may tell.
        merged: Of the answer, where one end is not drawn, and where two are not.
        count: Of the number of values; 0 where none is released, and all ends are drawn.
    """

    need: Values = field(init=False)
    query: QuantileQuery
    rates: tuple[Fraction, ...]
    merged: tuple[Fraction, ...] = ()
    count: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.query.bracketed:
            rows = self.query.rows_about
            derive(self, need=self.query.need, half_width=self.bracket(rows, self.sides(rows)))
        else:
            derive(self, need=self.query.need, half_width=self.expected_error, notes=(DECLINED,))

    def bracket(self, rows: int, drawn: Collection[int]) -> float:
        """Half the width of the interval, for so many rows that lie evenly over their extent.

        Args:
            rows: Of a group.
            drawn: The ends that are drawn, -1 the lower and 1 the upper; the others are bounds.

        That of a minimum or a maximum ends at a bound, which is thought to lie half of the bounds away or more: an
        eighth of them where it is the one next to 0.
        """
        query, ends, p = self.query, self.query.ends, self.query.rank.fraction
        widest = (query.grid.high - query.grid.low) / 2
        at_bound = 0.0
        if len(ends) == 1:
            next_to_0 = query.grid.low >= 0 if p == 0 else query.grid.high <= 0
            at_bound = widest / 4 if next_to_0 else 2 * widest - min(query.extent, widest)
        away = (
            min(query.extent * self.reach(p, rate) / rows, widest) if side in drawn else widest
            for side, rate in zip(ends, self.rates[1:], strict=True)
        )
        return (sum(away) + at_bound) / 2 * float(query.grid.step)

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
        grid, rank = self.query.grid, self.query.rank
        answer = self.answer(len(self.query.ends) - len(self.sides(rows)))
        per_rank = float(answer.exponent * rank.fraction.denominator)
        widest, beyond = (grid.high - grid.low) / 2, self.query.measure.beyond(extent)
        fewer = float(min(rank.fraction, 1 - rank.fraction) or Fraction(1, 2)) * max(rank.factors)
        if rows * fewer * per_rank < math.log(20 * beyond):
            return widest * float(grid.step)
        return min(extent * math.log(20) * 2 / sum(rank.factors) / per_rank / rows, widest) * float(grid.step)

    def sides(self, rows: int | None) -> tuple[int, ...]:
        """The ends that are drawn in a group of so many rows, as released; of an unknown number all."""
        return _beyond(self._fewest(), rows)

    def _fewest(self) -> dict[int, Fraction | float]:
        """Each end, and beyond how many rows it is drawn."""
        p, found = self.query.rank.fraction, dict[int, Fraction | float]()
        for side, rate in zip(self.query.ends, self.rates[1:], strict=True):
            part = p if side < 0 else 1 - p
            found[side] = self.reach(p, rate) / part if part else math.inf
        return found

    def draws(self, rows: int | None) -> dict[int, Draw]:
        """Of a group of so many rows, as released: the answer's, at 0, then one for each of its `sides`."""
        return self._draws(self.sides(rows))

    def _draws(self, sides: Sequence[int]) -> dict[int, Draw]:
        rates, p = dict(zip(self.query.ends, self.rates[1:], strict=True)), self.query.rank.fraction
        return {0: self.answer(len(rates) - len(sides)), **{side: self.end(side, rates[side], p) for side in sides}}

    def answer(self, dropped: int) -> Draw:
        """That of the answer, where so many ends are not drawn."""
        rate = (self.rates[0], *self.merged)[dropped]
        return self.draw(self.query.rank, rate, self.query.measure)

    def end(self, side: int, rate: Fraction, fraction: Fraction) -> Draw:
        """That of the lower end (-1) or the upper one (1), so many ranks away from a quantile as to be on its side."""
        return self.draw(Rank(fraction, side * self.reach(fraction, rate)), rate)

    def reached(self, side: int, rate: Fraction, fraction: Fraction, rows: int) -> bool:
        """Whether so many rows have the rank that an end wants; else it is the bound, and is not drawn."""
        return self.reach(fraction, rate) < rows * (fraction if side < 0 else 1 - fraction)

    def reach(self, fraction: Fraction, rate: Fraction) -> int:
        """How many ranks away from a quantile an end is drawn."""
        points = self.query.grid.high - self.query.grid.low + 1
        per_rank = rate / self.query.width(Rank(fraction)) * fraction.denominator
        return 1 + math.ceil(Fraction(math.log(points / MISS)) / per_rank)

    def draw(self, rank: Rank, rate: Fraction, measure: BaseMeasure | None = None) -> Draw:
        """One that wants a rank."""
        exponent = rate / self.query.width(rank)
        points = self.query.grid.high - self.query.grid.low + 1 if measure is None else measure.total
        return Draw(rank, exponent, math.ceil(Fraction(math.log(points) + UNSEEN * math.log(2)) / exponent), measure)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, with ``low`` and ``high``, the ends of its interval where it has one, all in the column's unit;
        and the noised ``count`` that decides which ends are drawn."""
        starts, own = at_once(raw, "value", "rows")
        groups, grid = counted(starts, *own), self.query.grid
        counts = self._counted(groups, sampler)
        columns = {"value": [0] * raw.size, "low": [grid.low] * raw.size, "high": [grid.high] * raw.size}
        for sides, alike in self.ways(counts).items():
            part = groups.only(alike)
            for side, draw in self._draws(sides).items():
                for group, point in zip(alike, chosen(part, grid, draw, sampler), strict=True):
                    columns[COLUMNS[side]][group] = point
        shown = columns if self.query.bracketed else {"value": columns["value"]}
        released = {name: [*map(unit_of(grid.step), steps)] for name, steps in shown.items()}
        return ReleasedTable({**released, "count": counts} if self.count else released)

    def ways(self, counts: Sequence[int | None]) -> dict[tuple[int, ...], list[int]]:
        """The groups that have the same `sides`, by these: they are drawn together, one draw after the other."""
        found, fewest = dict[tuple[int, ...], list[int]](), self._fewest()
        for group, rows in enumerate(counts):
            found.setdefault(_beyond(fewest, rows), []).append(group)
        return found

    def _counted(self, groups: GroupedRows, sampler: Sampler) -> list[int] | list[None]:
        """The noised number of values of each group; None where it is not released."""
        exact = groups.totals
        if not self.count:
            return [None] * len(exact)
        return [int(k) for k in noised(exact, LaplaceLaw(1 / self.count).draw(sampler, len(exact)))]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """The drawn ends up to 99% confidence, all of the bounds beyond; none where they were declined."""
        grid = self.query.grid
        if not self.query.bracketed:
            return [(None, None)] * len(released.values)
        if confidence > CONFIDENCE:
            return [(in_unit(grid.low, grid.step), in_unit(grid.high, grid.step))] * len(released.values)
        ends = zip(released.values, released.columns["low"], released.columns["high"], strict=True)
        return [(min(value, low), max(value, high)) for value, low, high in ends]


def _beyond(fewest: Mapping[int, Fraction | float], rows: int | None) -> tuple[int, ...]:
    """The ends whose number so many rows exceed; of an unknown number all."""
    return tuple(side for side, few in fewest.items() if rows is None or rows > few)
