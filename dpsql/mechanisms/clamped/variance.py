"""Variances and deviations over several rows a unit, from what each unit adds to the squared distance from a centre.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Pure`.

A unit in a group is a record (s, n, q) of the sum of its values, their number, and the sum of their squares. Around a
centre c its total is s - c n, and its square q - 2 c s + c^2 n, which is never below 0. With the sums T and Q of all
totals and squares, and the number N of all rows, the variance is Q / N - (T / N)^2.

Everything is found and released as for means (`mean`), and besides: a second window, of squares, from noised numbers of
units by their square; in groups with few units a second clamp; and the sum of squares clipped to it, with noise for its
end.

Theorem. The release is epsilon-DP.
Proof. As in `mean`: what is added is numbers of units of which each is in one bin, a choice among clamps by numbers of
units, and a sum of which each unit's part is at most the farther end of its window. The shares of a group's parts still
add up to 1 at most: the window and the clamp of squares share what those of totals had, and so do the sums.  QED

Several statistics of the same values are functions of the same released numbers.

Interval. The number of rows, T and Q are each within the quantile of their noise, with what `located` and `clamped`
allow beyond their windows and the cap; with chance 1 - miss all of them are, by the union bound, and the interval holds
every variance that such numbers can have.

Tests: tests/unit/mechanisms/clamped/test_variance.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from dpsql.mechanisms.base import Joint, Offer, Refusal, Request, alike, total_price
from dpsql.mechanisms.choice.clamp import WIDE, ClampSearch
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.choice.tails import THINS
from dpsql.mechanisms.clamped.mean import NO_TOTALS, SUMMED, ClampedMean
from dpsql.mechanisms.clamped.units import MANY, NAME, has_enough, squares_of, totals_of, units_query, why_not
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss
from dpsql.mechanisms.located.clamp import Clamps
from dpsql.mechanisms.located.mechanism import VARIANCES, reach_of, same_values
from dpsql.mechanisms.located.parts import Shares
from dpsql.mechanisms.located.release import LAPLACE
from dpsql.mechanisms.located.search import Row, rows_in
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ClampedVariance", "together", "variance_of_units"]

SQUARES = Fraction(7, 10)
"""The share of the answer for the sum of squares; that of totals has the rest: near the centre it hardly matters. It is
a choice."""
HALF = Fraction(1, 2)  # Of what finds windows, for that of squares.
FEW = Shares(centre=Fraction(3, 16), tails=Fraction(2, 16), again=Fraction(3, 16))
"""Of what is left, in groups with too few units to find a centre: for the clamps of totals and of squares, half each,
for the clamp of means whose middle is the centre, and for the number of rows. A choice."""
THIN = THINS[1] ** 0.5
"""What an interval takes to be left of a tail of squares after one more doubling, which is half a one of distances."""
MISSES = {"rows": 0.2, "sum": 0.2, "squared_sum": 0.6}
"""Of the chance that is left for noise. It is a choice: squares have most of the noise."""
SQUARED = tuple(f"squared_{name}" for name in SUMMED)


@dataclass(frozen=True, slots=True)
class ClampedVariance(ClampedMean):
    """An offer to release variances and deviations from what units add up to.

    Attributes:
        functions: Of each place.
        at: Which of them this is.
    """

    functions: tuple[str, ...]
    at: int = 0

    columns: ClassVar[tuple[str, ...]] = (*ClampedMean.columns, "squared_clamp", *SQUARED)

    def placed(self, place: int) -> ClampedVariance:
        """The same release, as what answers another place."""
        return replace(self, at=place, notes=self.notes)

    @property
    def few(self) -> Shares:
        """The shares of a group with few units."""
        return FEW

    @property
    def _function(self) -> str:
        return self.functions[self.at]

    @property
    def _search(self) -> ClampSearch | None:
        """How the clamp of totals of groups with few units is chosen."""
        return self._choice(self.query.clamps)

    def _choice(self, clamps: Clamps) -> ClampSearch | None:
        """How a clamp of totals or of squares is chosen, each for half of the price; None where there is one edge."""
        query = self.query
        if len(clamps.edges) == 1:
            return None
        return clamps.search(self.few.centre * HALF * query.epsilon, query.moved, 1)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """As `ClampedMean`; the places after the first are ``value_1`` and so on."""
        released = ClampedMean.release(self, raw, sampler)
        rows = rows_in(released)
        more = {f"value_{at}": [self.placed(at)._value(row) for row in rows] for at in range(1, len(self.functions))}
        return ReleasedTable({**released.columns, **more})

    def _together(self, groups: Sequence[tuple[Whole, Whole]], middle: int, sampler: Sampler) -> Row:
        common, squares = ClampedMean._together(self, groups, middle, sampler), self.query.squares
        search, place = self._choice(squares), len(squares.edges) - 1
        if search is not None and groups:
            counts = squares.counts((squares_of(held, middle, self.query.coarse), units) for held, units in groups)
            place = search.choose(counts, sampler)
        return {**common, "squared_clamp": place}

    def _sums(self, held: Whole, units: Whole, row: Row, shares: Shares, sampler: Sampler) -> Row:
        row.setdefault("squared_clamp", None)
        query, squares, tails = self.query, self.query.squares, shares.tails * HALF
        totals, few = (totals_of(held, row["centre"]), units), (query.clamps_of(row), self._search, row["clamp"])
        found = self.summed(totals, row, (tails, shares.answer * (1 - SQUARES)), few, sampler)
        squared = squares_of(held, row["centre"], query.coarse), units
        few = (squares, self._choice(squares), row["squared_clamp"])
        second = self.summed(squared, row, (tails, shares.answer * SQUARES), few, sampler, THIN)
        return {**found, **{f"squared_{name}": value for name, value in second.items()}}

    def _value(self, row: Row) -> float:
        rows = self.rows(row)
        mean, square = Fraction(row["sum"], rows), Fraction(row["squared_sum"], rows)
        return self._shown(float(square * self._unit - mean**2 * self.query.values.step**2), rows)

    @property
    def _unit(self) -> Fraction:
        """One step of sums of squares, in squared units of the column."""
        return self.query.squares.grid.step

    def _shown(self, variance: float, rows: float) -> float:
        """The statistic of a variance of all rows, in its unit, within what the bounds allow."""
        if self._function.endswith("samp"):
            variance = variance * rows / (rows - 1) if rows > 1 else math.inf
        variance = min(max(variance, 0.0), self._greatest)
        return math.sqrt(variance) if self._function.startswith("stddev") else variance

    @property
    def _greatest(self) -> float:
        """The largest variance within the bounds; a sample of two may have twice that of all rows."""
        grid = self.query.values
        return float(((grid.high - grid.low) * grid.step) ** 2) / (2 if self._function.endswith("samp") else 4)

    def _interval(self, row: Row, confidence: float) -> tuple[float, float]:
        """The least and greatest statistic of all numbers that noise, windows and the cap leave open."""
        query, shares, miss = self.query, self.shares(row), 1 - confidence
        laws = {
            "rows": query.of_rows(shares, row["cap"]),
            "sum": query.law(shares.answer * (1 - SQUARES), row["half"]),
            "squared_sum": query.law(shares.answer * SQUARES, row["squared_half"]),
        }
        off = {name: law.quantile(1 - miss * MISSES[name]) for name, law in laws.items()}
        fewest = row["rows"] - off["rows"]
        if fewest < (2 if self._function.endswith("samp") else 1):
            return 0.0, self._shown(math.inf, 2)
        most = row["rows"] + off["rows"] + query.cap.lost(row["cap"])
        step, unit = float(query.values.step), float(self._unit)
        ends = (row["sum"] - off["sum"] - row["under"]) * step, (row["sum"] + off["sum"] + row["over"]) * step
        least = max(0.0, row["squared_sum"] - off["squared_sum"] - row["squared_under"]) * unit
        greatest = max(0.0, row["squared_sum"] + off["squared_sum"] + row["squared_over"]) * unit
        near = 0.0 if ends[0] <= 0 <= ends[1] else min(map(abs, ends))
        low = least / most - (max(map(abs, ends)) / fewest) ** 2
        high = greatest / fewest - (near / most) ** 2
        return self._shown(low, most), self._shown(high, fewest)

    def _added(self, rows: int, shares: Shares | None) -> float:
        query, clamped = self.query, (self.query.squares, self._choice(self.query.squares))
        found = self.outside(rows, shares, clamped, query.squares_reach, HALF, THIN)
        added = found.hidden / query.rows * float(self._unit)
        if not self._function.startswith("stddev"):
            return added
        deviation = query.deviation * float(query.values.step)
        return math.sqrt(deviation**2 + added) - deviation

    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        query, few, squares = self.query, self.few, self.query.squares
        shares = self.located_shares(query.rows_about if rows is None else rows)
        located = LAPLACE * query.law(shares.answer * SQUARES).spread * query.squares_reach / query.rows
        edge = squares.edges[squares.hope]
        noise = LAPLACE * query.law(few.answer * SQUARES).spread + self._clipped
        aside = LAPLACE * query.of_rows(few, query.cap.guess).spread * query.squares_reach / max(1.0, query.typical)
        widths = (self._width(located), self._width(math.hypot(noise * edge, aside) / query.rows))
        return min(widths), widths[1]

    def _width(self, width: float) -> float:
        """In the statistic's unit, of one in steps of squares."""
        width *= float(self._unit)
        if self._function.startswith("stddev"):  # its error is that of the variance over twice of it
            width /= max(2 * self.query.deviation * float(self.query.values.step), 1e-300)
        return max(min(width, self.most), 1e-300)

    @property
    def most(self) -> float:
        return self._shown(math.inf, 2) / 2


def variance_of_units(request: Request) -> Offer | Refusal:
    """An offer for a variance or deviation whose statement names no bound, or why there is none."""
    return _offer((request,))


def together(requests: Sequence[Request]) -> Sequence[Joint]:
    """Offers for several variances and deviations of the same values."""
    found = []
    for members in alike(requests, _fits, same_values):
        offer = _offer([requests[index] for index in members])
        if isinstance(offer, ClampedVariance):
            found.append(Joint.of_one(members, offer))
    return found


def _fits(request: Request) -> bool:
    return request.aggregate.function in VARIANCES and _why_not(request) is None


def _why_not(request: Request) -> str | None:
    """Why there is no offer, but for a price that buys nothing.

    Unasked there is none where little is gained, by public facts: where units have few rows, or values are thought to
    fill their bounds. Nor is there where bounds are wide and units too few to find a centre: a guessed clamp may stand
    then, and `capped` and `located` err less. Within narrow bounds no guess is far off.
    """
    reason, grid = why_not(request, squares=True), request.grid
    if reason is not None or grid is None or request.options.mechanism == NAME:
        return reason
    loss, width = pure_loss(request.price), grid.high - grid.low
    if request.source.contribution.rows < MANY:
        return "of few rows a unit little is gained: it is offered only by name."
    if reach_of(grid, request.facts) >= width:
        return "its values reach over all of their bounds, as far as is known: it is offered only by name."
    if width >= WIDE and loss is not None and not has_enough(request, loss):
        return "by the guess of its rows it has too few units for this price: it is offered only by name."
    return None


def _offer(requests: Sequence[Request]) -> Offer | Refusal:
    first = requests[0]
    grid, loss = first.grid, pure_loss(total_price(requests))
    if reason := _why_not(first):
        return Refusal(NAME, reason)
    if grid is None or loss is None:
        return Refusal(NAME, TOO_SMALL)
    query = units_query(first, grid, loss, squares=True)
    if query is None:
        return Refusal(NAME, NO_TOTALS)
    functions = tuple(request.aggregate.function for request in requests)
    return ClampedVariance(NAME, loss, query, functions, quoted=(NOTE,))


NOTE = (
    "What one unit adds to it is clipped, and so is how many rows it counts with. The interval may not hold where "
    "units that noise hides lie very much farther out than others."
)
