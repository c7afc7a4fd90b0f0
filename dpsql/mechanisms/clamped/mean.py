"""A mean over several rows a unit, from what each unit adds to the distance from a centre.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Pure`.

A unit with n rows and the sum s of their values is one pair (n, s). Around a centre c its total is s - c n: values
below the centre make up for those above, so that many rows of a unit add up to far less than they could. The mean of
all rows is c + T / N for the sum T of all totals and the number N of all rows. Every unit is in one group at most, and
in each group:

1. The number of units, with noise.
2. The centre: if there are units enough, by the exponential mechanism on the rank of the units' own means, the
   median's; else the middle of a clamp of these means, which is chosen for all such groups together.
3. A window for totals: where the centre was found, from noised numbers of units by their total's distance from 0, and
   no farther than totals about this centre can lie by the bounds of values; else a clamp of totals, chosen for all such
   groups together as well.
4. The sum of totals clipped to that window, with noise for its farther end.
5. The number of rows, each unit's clamped at a cap that is chosen for all groups together as `clamped` chooses one,
   with noise for that cap.

Theorem. The release is epsilon-DP.
Proof. A unit is one pair in one group, of which each part with a share p of epsilon is (p epsilon / w)-DP for one unit
that comes or goes, at any fixed outcome of the earlier parts, with w = 1 under ``add_remove`` and 2 under
``replace_one``: 1 to 4 are the parts of `located.mechanism`, with units for rows, their means for the values of which
one is the centre, and their totals for the values that lie around it; a clipped total is at most the farther end.
Groups with few units have two clamps in the place of one, and a share for each. The choice of the cap is that of
`clamped`, and a unit moves the number of rows by at most the cap. Along every path the shares add up to 1 at most. So
each unit adds epsilon / w to the loss, and w of them epsilon.  QED

The interval is Fieller's for the clipped sum and the capped number (`noise.mean`), and besides what `located` counts
for totals beyond the window, and `clamped` allows for rows beyond the cap.

Source: that a unit's total varies less than its rows is common knowledge of sampling; bounds per unit and group are
those of Wilson et al. 2020, "Differentially private SQL with bounded user contribution". Totals about a private centre
are ours.

Tests: tests/unit/mechanisms/clamped/test_mean.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpsql.mechanisms.base import Offer, Refusal, Request, derive
from dpsql.mechanisms.choice.clamp import MISS, ClampSearch, by_edges
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.choice.tails import THINS
from dpsql.mechanisms.clamped.units import (
    ASIDE,
    CAP,
    NAME,
    UnitsQuery,
    means_of,
    records,
    totals_of,
    units_query,
    why_not,
)
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss
from dpsql.mechanisms.located.clamp import Clamps
from dpsql.mechanisms.located.parts import COUNT, Shares, shares_for
from dpsql.mechanisms.located.place import total
from dpsql.mechanisms.located.release import LAPLACE
from dpsql.mechanisms.located.search import PlaceSearch, Row
from dpsql.mechanisms.noise.mean import fieller
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["NO_TOTALS", "SUMMED", "ClampedMean", "mean_of_units"]

SUMMED = ("sum", "half", "low", "high", "under", "over")
"""Columns of a released sum: what it is, the farther end of its window, the ends, and what lies beyond them."""
ROWS = Fraction(1, 8)
"""Of what is left, for the number of rows where a centre was found: near it the mean hardly moves with that number. It
is a choice."""
FEW = Shares(centre=Fraction(3, 16), tails=Fraction(3, 16), again=Fraction(4, 16))
"""Of what is left, in groups with too few units to find a centre: for the clamp of totals, for the clamp of means whose
middle is the centre, and for the number of rows. A choice."""


@dataclass(frozen=True, slots=True)
class ClampedMean(PlaceSearch):
    """An offer to release each group's mean from its units' totals."""

    query: UnitsQuery
    columns: ClassVar[tuple[str, ...]] = ("clamp", "rows", "centre", "cap", *SUMMED)

    def __post_init__(self) -> None:
        width = self.interval_foreseen(self.query.rows_about)
        derive(self, need=self.query.need, half_width=width, notes=self.notes)

    def _added(self, rows: int, shares: Shares | None) -> float:
        found = self.outside(rows, shares, (self.query.clamps, self._search), self.query.reach)
        return found.hidden / self.query.rows * float(self.query.values.step)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, and what was released before it: numbers of units and rows, the centre, the window, the cap."""
        query, groups = self.query, list(records(raw, self.need.columns))
        cap = query.cap.choose(by_edges(((held[:, 1], units) for held, units in groups), query.cap.edges), sampler)
        counts, few = self.counted([int(units.sum()) for _, units in groups], sampler)
        alone = [group for group, small in zip(groups, few, strict=True) if small]
        place = self._place([means_of(*group, query.values) for group in alone], sampler)
        together = self._together(alone, query.places.window(place).middle, sampler)
        found = [
            self._row(*group, Row(count=n, cap=cap, **(together if small else {"clamp": None})), sampler)
            for group, n, small in zip(groups, counts, few, strict=True)
        ]
        return ReleasedTable({name: [row[name] for row in found] for name in ("value", "count", *self.columns)})

    def rows(self, row: Row) -> int:
        """The released number of rows; where that is lost in its noise, as many as the noise could hide."""
        return max(int(row["rows"]), math.ceil(self.query.of_rows(self.shares(row), row["cap"]).spread))

    def _together(self, groups: Sequence[tuple[Whole, Whole]], middle: int, sampler: Sampler) -> Row:
        """What groups with few units have in common."""
        clamp = self.clamp([(totals_of(held, middle), units) for held, units in groups], sampler)
        return {"centre": middle, "clamp": clamp}

    def _value(self, row: Row) -> float:
        grid = self.query.values
        mean = Fraction(row["centre"]) + Fraction(row["sum"], self.rows(row))
        return float(min(max(mean, Fraction(grid.low)), Fraction(grid.high)) * grid.step)

    @property
    def few(self) -> Shares:
        """The shares of a group with few units: for two clamps, and a number of rows that weighs about as the sum."""
        return FEW

    def _place(self, groups: Sequence[tuple[Whole, Whole]], sampler: Sampler) -> int:
        """The place of the clamp of units' means that gives groups with few units their centre."""
        query = self.query
        if not groups:
            return len(query.places.edges) - 1
        search = query.places.search(self.few.tails * query.epsilon, query.moved, 1)
        return search.choose(query.places.counts(groups), sampler)

    def located(self, units: float) -> Shares | None:
        shares = shares_for(units, self.query.each)
        return None if shares is None else replace(shares, again=ROWS)

    def _row(self, held: Whole, units: Whole, row: Row, sampler: Sampler) -> Row:
        query, shares, cap = self.query, self.shares(row), self.query.cap.edges[row["cap"]]
        if row["clamp"] is None:
            row["centre"] = self.centre(*means_of(held, units, query.values), query.values, shares, sampler)
        row |= self._sums(held, units, row, shares, sampler)
        exact = int((np.minimum(held[:, 1], cap) * units).sum())
        (row["rows"],) = noised([exact], query.of_rows(shares, row["cap"]).draw(sampler, 1)).tolist()
        return {**row, "value": self._value(row)}

    def _sums(self, held: Whole, units: Whole, row: Row, shares: Shares, sampler: Sampler) -> Row:
        """What is released of a group's totals."""
        parts, few = (shares.tails, shares.answer), (self.query.clamps_of(row), self._search, row["clamp"])
        return self.summed((totals_of(held, row["centre"]), units), row, parts, few, sampler)

    def summed(
        self,
        group: tuple[Whole, Whole],
        row: Row,
        parts: tuple[Fraction, Fraction],
        few: tuple[Clamps, ClampSearch | None, int | None],
        sampler: Sampler,
        thins: float = THINS[1],
    ) -> Row:
        """The sum of what units add up to within a window, and the window (`SUMMED`).

        Args:
            group: What units add up to, and how many of them.
            row: What was released of the group.
            parts: The shares of the price for finding the window, and for the sum.
            few: Clamps of such numbers, how one was chosen, and its place where there are too few units for a window.
            sampler: For the noise.
            thins: As in `window_of`.
        """
        clamps, search, place = few
        if place is None:
            found = self.around(0, group, row["count"], parts, clamps.grid, sampler, thins)
        else:
            sway = self.query.law(COUNT).quantile(1 - MISS)
            below, above, _ = (0.0, 0.0, 0.0) if search is None else clamps.outside(search, place, row["count"], sway)
            most = max(1, row["count"] + sway)  # units that there may be
            found = replace(clamps.window(place), under=below * most, over=above * most)
        window = replace(found, middle=0, half=max(1, -found.low, found.high))
        (steps,) = noised([total(*group, window)], self.query.law(parts[1], window.half).draw(sampler, 1)).tolist()
        return {"sum": steps, **{name: getattr(window, name) for name in SUMMED[1:]}}

    def _around(self, rows: Sequence[Row], confidence: float) -> list[tuple[float, float]]:
        return [self._interval(row, confidence) for row in rows]

    def _interval(self, row: Row, confidence: float) -> tuple[float, float]:
        """Fieller's for the clipped totals and capped rows, then what lies beyond the window, and beyond the cap."""
        query, grid = self.query, self.query.values
        bounds = float(grid.low - row["centre"]), float(grid.high - row["centre"])
        low, high = bounds
        if row["rows"] >= 1:
            shares = self.shares(row)
            laws = query.law(shares.answer, row["half"]), query.of_rows(shares, row["cap"])
            sums, counts = np.array([float(row["sum"])]), np.array([float(row["rows"])])
            (low,), (high,) = (end.tolist() for end in fieller(sums, counts, *laws, *bounds, 1 - confidence))
            low, high = low - row["under"] / row["rows"], high + row["over"] / row["rows"]
            more = row["rows"] / (row["rows"] + query.cap.lost(row["cap"]))  # with rows that the cap left out
            low, high = min(low, low * more), max(high, high * more)
        step, centre = float(grid.step), row["centre"]
        return max(low + centre, grid.low) * step, min(high + centre, grid.high) * step

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """Where totals are clipped, and the cap of rows, as one note."""
        if not released.values:
            return ()
        query, place = self.query, released.columns["cap"][0]
        cap = f"{query.cap.edges[place]:,}"
        if place == len(query.cap.edges) - 1:
            capped = f"All of a unit's rows are counted, up to the {cap} that it may have."
        else:
            capped = (
                f"Of each unit at most {cap} {'row is' if cap == '1' else 'rows are'} counted, a cap found so, too: at "
                f"most {query.cap.most_above(place):,} units have more (95%)."
            )
        halves = [f"{in_unit(half, query.values.step):,.6g}" for half in sorted(set(released.columns["half"]))]
        ends = halves[0] if len(halves) == 1 else f"{halves[0]} to {halves[-1]}"
        return (
            f"what the rows of one unit add to the distance from a centre is clipped at {ends}, which a part of the "
            f"price found. {capped} The interval allows for what noised numbers of units show beyond; it may not hold "
            "where units that noise hides lie very much farther out than others.",
        )

    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        query, step, few = self.query, float(self.query.values.step), self.few
        shares = self.located_shares(query.rows_about if rows is None else rows)
        aside = query.of_rows(shares, query.cap.guess).spread * query.skew
        located = LAPLACE * math.hypot(query.law(shares.answer).spread * query.reach, aside) / query.rows * step
        edge = query.clamps.edges[query.clamps.hope]
        aside = query.of_rows(few, query.cap.guess).spread * query.places.window(query.places.hope).half * ASIDE
        noise = math.hypot(query.law(few.answer).spread * edge, aside)
        clamped = (LAPLACE * noise + self._clipped * edge) / query.rows * step
        if self._search is not None and query.fewest <= self._search.most_above(query.clamps.guess):
            clamped = self.most  # the interval of so few reaches to the bounds
        clamped = max(min(clamped, self.most), 1e-300)
        return min(max(located, 1e-300), clamped), clamped

    @property
    def most(self) -> float:
        grid = self.query.values
        return float((grid.high - grid.low) * grid.step) / 2


def mean_of_units(request: Request) -> Offer | Refusal:
    """An offer for a mean whose statement names no bound, or why there is none."""
    grid, loss = request.grid, pure_loss(request.price)
    if reason := why_not(request, squares=False):
        return Refusal(NAME, reason)
    if grid is None or loss is None:
        return Refusal(NAME, TOO_SMALL)
    query = units_query(request, grid, loss, squares=False)
    return Refusal(NAME, NO_TOTALS) if query is None else ClampedMean(NAME, loss, query, quoted=(NOTE,))


NO_TOTALS = "its rows have no totals per unit."
NOTE = (
    "What one unit adds to it is clipped, and so is how many rows it counts with, at "
    f"{float(CAP + ROWS * (1 - CAP)):.0%} of its price. The interval may not hold where units that noise hides lie "
    "very much farther out than others."
)
