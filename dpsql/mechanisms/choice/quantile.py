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

``deepest`` treats points alike whose chance is below 2^-60 together; then only the intervals near the wanted rank are
looked at one by one.

MIN and MAX rest on a single row, as a private answer must not: all points between the bound and the outermost row are
nearly as likely as that row, whatever the price. So where rows are many, the answer wants a rank some r rows inside:
p is 0 or 1, the offset r or -r, all points weigh alike, and a rank outside counts `LOPSIDED` times one inside, the
factor being g for MIN and h for MAX. A point beyond all rows then scores -`LOPSIDED` (r + 1) at most and the best score
is 0, so that among W points the answer is beyond with a chance of W exp(-c `LOPSIDED` (r + 1)) at most. r is the least
that makes it 1/200: then the answer is an end of its interval itself, as of those below, and has the whole rate. That
costs r rows of accuracy: the answer is asked inside where the noised number of rows says that there are more than
`INSIDE` r^2 of them. With fewer it is little better than a point drawn between the bound and the outermost few values.

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
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.choice.groups import GroupedRows, at_once, counted
from dpsql.mechanisms.choice.landscape import LOPSIDED, Draw, Rank, chosen
from dpsql.mechanisms.choice.measure import BaseMeasure
from dpsql.mechanisms.choice.query import QuantileQuery
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.noised import in_unit, unit_of
from dpsql.mechanisms.ranked import OFTEN, SURE, Ranked
from dpsql.plan.needs import Values
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["COUNT", "QuantileRelease"]

MISS = 1 / 200
"""How likely the true quantile lies beyond each end of the interval; with both, `SURE` is what is left."""
COUNT = Fraction(1, 32)
"""The share of the rate for the number of values. It is a choice: the noise is then a fifth of the number that decides
whether there is an interval."""
INSIDE = 2
"""How many times the square of the ranks between an extreme and the answer there must be rows. Measured on real
columns: with fewer rows, or many a thin tail, the rows left out cost more than what noise does without."""
UNSEEN = 60  # In binary digits: points that are less likely than 2^-60 together are treated alike. It is a choice.
COLUMNS = {0: "value", -1: "low", 1: "high"}
"""What is released of the answer's draw, and of each end's."""
INSIDE_NOTE = (
    "about {ranks:,} rows lie {where} the answer, where a group has more than about {enough:,}: noise must hide who is "
    "outermost."
)
DECLINED = "no interval was bought: how far off the value is cannot be told."


@dataclass(frozen=True, slots=True)
class QuantileRelease(Offer, Ranked):
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
        rows = self.query.rows_about
        half_width = self.foretold(rows, self.sides(rows)) if self.query.bracketed else self.expected_error
        notes = self._inside(rows) + (() if self.query.bracketed else (DECLINED,))
        derive(self, need=self.query.need, half_width=half_width, notes=notes)

    @property
    def bracketed(self) -> bool:
        """Whether its interval is drawn, too."""
        return self.query.bracketed

    @property
    def evenly(self) -> bool:
        """See `Ranked`."""
        return self.query.evenly

    @property
    def most(self) -> float:
        """See `Ranked`."""
        return self.query.widest * float(self.query.grid.step)

    @property
    def between(self) -> bool:
        """See `Ranked`."""
        return len(self.sides(self.query.rows_about)) == 2

    @property
    def few(self) -> int | None:
        """See `Ranked`; an end of an extreme's is a bound always."""
        known = [] if self.query.inward else [rows for rows in self._fewest().values() if rows < math.inf]
        return int(max(known)) if known else None

    def foretold(self, rows: int, drawn: Collection[int]) -> float:
        """Half the width of the interval as it is told before it is bought: rather too wide than too narrow.

        Args:
            rows: Of a group.
            drawn: The ends that are drawn, -1 the lower and 1 the upper; the others are bounds.
        """
        return min(sum(self._away(rows, drawn)) / 2, self.query.widest) * float(self.query.grid.step)

    def nearer(self, rows: int, drawn: Collection[int]) -> float:
        """How far the nearer end of it is, as that is told."""
        return min(self._away(rows, drawn)) * float(self.query.grid.step)

    @property
    def near_end(self) -> float:
        """See `nearer`."""
        rows = self.query.rows_about
        return self.nearer(rows, self.sides(rows)) if self.query.bracketed else self.half_width

    def _away(self, rows: int, drawn: Collection[int]) -> list[float]:
        """How far the ends are from the value, in grid steps.

        Of the rows on its side of the quantile an end leaves some behind it. Where these are most of them the values
        thin out, as if so many times less were left with each eighth of the extent: an end is as far away as they lie,
        or as rows that lie evenly do, whichever is farther. A bound is half of the bounds away where it is the one next
        to 0, any other almost all of them. A minimum or a maximum is next to the nearer one by an eighth of them.
        """
        query, p, extent = self.query, self.query.rank.fraction, self.query.extent
        widest, away = query.widest, list[float]()
        far = 2 * widest - min(extent, 2 * widest / OFTEN)
        next_to_0 = {-1: query.grid.low >= 0, 1: query.grid.high <= 0}
        if query.inward:
            away.append(widest / 4 if next_to_0[-query.inward] else far)
        for side, rate in zip(query.ends, self.rates[1:], strict=True):
            ranks, beyond = self.reach(Rank(p), rate), float(p if side < 0 else 1 - p) * rows
            thinned = -math.log1p(-min(ranks / beyond, 1 - 1 / rows)) * extent / OFTEN
            bound = widest if next_to_0[side] else far
            away.append(min(max(extent * ranks / rows, thinned), bound) if side in drawn else bound)
        if self.inside(rows):
            away[-1] = min(extent * self.ranks / rows, widest)
        return away

    def bracket(self, rows: int, drawn: Collection[int]) -> float:
        """The same by which caps are compared, for so many rows that lie evenly over their extent.

        Args:
            rows: Of a group.
            drawn: The ends that are drawn, -1 the lower and 1 the upper; the others are bounds.

        That of a minimum or a maximum ends at a bound, which is thought to lie half of the bounds away or more: an
        eighth of them where it is the one next to 0.
        """
        query, ends, p = self.query, self.query.ends, self.query.rank.fraction
        widest = query.widest
        at_bound = 0.0
        if len(ends) == 1:
            next_to_0 = query.grid.low >= 0 if p == 0 else query.grid.high <= 0
            at_bound = widest / 4 if next_to_0 else 2 * widest - min(query.extent, widest)
        away = [
            min(query.extent * self.reach(Rank(p), rate) / rows, widest) if side in drawn else widest
            for side, rate in zip(ends, self.rates[1:], strict=True)
        ]
        if self.inside(rows):
            away = [min(query.extent * self.ranks / rows, widest)]
        return (sum(away) + at_bound) / 2 * float(query.grid.step)

    @property
    def expected_error(self) -> float:
        """Of the answer itself, for ``rows_about`` rows that lie evenly over their extent, 95 times of 100."""
        return self.foreseen(self.query.rows_about, self.query.extent)

    def foreseen(self, rows: int, extent: float) -> float:
        """The same for so many rows over such an extent, in grid steps.

        A point r ranks off is exp(-r c b) times as likely as the best, so that 95% are within ln(20) / (c b) ranks:
        unless the grid beyond the rows, all of those on one side off, holds so many more points that it is likelier all
        the same. An extreme is thought to err as much as one that is asked inside, at least: nothing says how far the
        bound is beyond it.
        """
        grid, rank = self.query.grid, self.query.rank
        widest, step = (grid.high - grid.low) / 2, float(grid.step)
        off = self.ranks + math.log(20) / float(self.inner.exponent) if self.query.inward else 0.0
        if self.inside(rows):
            return min(extent * off / rows, widest) * step
        answer = self.answer(len(self.query.ends) - len(self.sides(rows)))
        per_rank = float(answer.exponent * rank.fraction.denominator)
        fewer = float(min(rank.fraction, 1 - rank.fraction) or Fraction(1, 2)) * max(rank.factors)
        if rows * fewer * per_rank < math.log(20 * self.query.measure.beyond(extent)):
            return widest * step
        off = max(off, math.log(20) * 2 / sum(rank.factors) / per_rank)
        return min(extent * off / rows, widest) * step

    def sides(self, rows: int | None) -> tuple[int, ...]:
        """The ends that are drawn in a group of so many rows, as released; of an unknown number all."""
        return () if self.inside(rows) else _beyond(self._fewest(), rows)

    def inside(self, rows: int | None) -> bool:
        """Whether an extreme of so many rows, as released, is asked some ranks inside."""
        return rows is not None and rows > self.enough

    @property
    def enough(self) -> float:
        """With how many rows an extreme is not yet asked inside; infinite where it never is."""
        return INSIDE * self.ranks**2 if self.count and self.query.inward else math.inf

    @property
    def ranks(self) -> int:
        """How many ranks inside it is asked then: the fewest for which it is beyond with a chance of `MISS` at most."""
        return abs(self.inner.rank.offset)

    @property
    def inner(self) -> Draw:
        """That of an answer some ranks inside, which is an end of its interval."""
        rate, side = (*self.rates[:1], *self.merged)[-1], self.query.inward
        factors = (LOPSIDED, 1) if side > 0 else (1, LOPSIDED)
        rank = replace(self.query.rank, factors=factors)
        ranks = max(0, self.reach(rank, rate) - 2)
        return self.draw(replace(rank, offset=side * ranks), rate)

    def _fewest(self) -> dict[int, float]:
        """Each end, and beyond how many rows it is drawn: whole numbers, as fractions are compared far slower."""
        p, found = self.query.rank.fraction, dict[int, float]()
        for side, rate in zip(self.query.ends, self.rates[1:], strict=True):
            part = p if side < 0 else 1 - p
            found[side] = math.floor(self.reach(Rank(p), rate) / part) if part else math.inf
        return found

    def draws(self, rows: int | None) -> dict[int, Draw]:
        """Of a group of so many rows, as released: the answer's, at 0, then one for each of its `sides`."""
        return self._draws(self.sides(rows), inside=self.inside(rows))

    def _draws(self, sides: Sequence[int], *, inside: bool = False) -> dict[int, Draw]:
        if inside:
            return {0: self.inner}
        rates, p = dict(zip(self.query.ends, self.rates[1:], strict=True)), self.query.rank.fraction
        return {0: self.answer(len(rates) - len(sides)), **{side: self.end(side, rates[side], p) for side in sides}}

    def answer(self, dropped: int) -> Draw:
        """That of the answer, where so many ends are not drawn."""
        rate = (self.rates[0], *self.merged)[dropped]
        return self.draw(self.query.rank, rate, self.query.measure)

    def end(self, side: int, rate: Fraction, fraction: Fraction) -> Draw:
        """That of the lower end (-1) or the upper one (1), so many ranks away from a quantile as to be on its side."""
        return self.draw(Rank(fraction, side * self.reach(Rank(fraction), rate)), rate)

    def reached(self, side: int, rate: Fraction, fraction: Fraction, rows: int) -> bool:
        """Whether so many rows have the rank that an end wants; else it is the bound, and is not drawn."""
        return self.reach(Rank(fraction), rate) < rows * (fraction if side < 0 else 1 - fraction)

    def reach(self, rank: Rank, rate: Fraction) -> int:
        """How many ranks away from a quantile a draw is on its side, but for a chance of `MISS`."""
        points = self.query.grid.high - self.query.grid.low + 1
        above, below = math.log(points / MISS).as_integer_ratio()
        above *= self.query.width(rank) * rate.denominator  # whole numbers: a Fraction would take ten times as long
        below *= rate.numerator * rank.fraction.denominator * max(rank.factors)
        return 1 - -above // below

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
        for (sides, inside), alike in self.ways(counts).items():
            part = groups.only(alike)
            for side, draw in self._draws(sides, inside=inside).items():
                filled = [columns[COLUMNS[end]] for end in ((side, self.query.inward) if inside else (side,))]
                for group, point in zip(alike, chosen([part], grid, draw, sampler), strict=True):
                    for column in filled:
                        column[group] = point
        shown = columns if self.query.bracketed else {"value": columns["value"]}
        released = {name: [*map(unit_of(grid.step), steps)] for name, steps in shown.items()}
        return ReleasedTable({**released, "count": counts} if self.count else released)

    def ways(self, counts: Sequence[int | None]) -> dict[tuple[tuple[int, ...], bool], list[int]]:
        """The groups that have the same `sides`, and are asked `inside` or not, by these: they are drawn together."""
        found, fewest, enough = dict[tuple[tuple[int, ...], bool], list[int]](), self._fewest(), self.enough
        for group, rows in enumerate(counts):
            inside = rows is not None and rows > enough
            found.setdefault(((), True) if inside else (_beyond(fewest, rows), False), []).append(group)
        return found

    def _counted(self, groups: GroupedRows, sampler: Sampler) -> list[int] | list[None]:
        """The noised number of values of each group; None where it is not released."""
        exact = groups.totals
        if not self.count:
            return [None] * len(exact)
        return [int(k) for k in noised(exact, LaplaceLaw(1 / self.count).draw(sampler, len(exact)))]

    def _inside(self, rows: int | None) -> tuple[str, ...]:
        """What is to be said of an answer among so many rows."""
        if not self.inside(rows) or not self.ranks:
            return ()
        where = "below" if self.query.inward > 0 else "above"
        return (INSIDE_NOTE.format(ranks=self.ranks, enough=self.enough, where=where),)

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """Where an extreme is asked inside, which was not foretold."""
        return () if self.notes or not self.count else self._inside(max(released.columns["count"], default=0))

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """The drawn ends up to 99% confidence, all of the bounds beyond; none where they were declined.

        Where values may lie beyond the grid, one of its ends is no end of an interval.
        """
        grid = self.query.grid
        if not self.query.bracketed:
            return [(None, None)] * len(released.values)
        least, most = in_unit(grid.low, grid.step), in_unit(grid.high, grid.step)
        ends = zip(released.values, released.columns["low"], released.columns["high"], strict=True)
        found = [(min(value, low), max(value, high)) for value, low, high in ends]
        if confidence > SURE:
            found = [(least, most)] * len(found)
        if not self.query.unbounded:
            return found
        return [(low if low > least else None, high if high < most else None) for low, high in found]


def _beyond(fewest: Mapping[int, float], rows: int | None) -> tuple[int, ...]:
    """The ends whose number so many rows exceed; of an unknown number all."""
    return tuple(side for side, few in fewest.items() if rows is None or rows > few)
