"""A mean over several rows a unit, from what each unit adds to the distance from a centre.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Pure`.

A unit with n rows and the sum s of their values is one pair (n, s). Around a centre c its total is s - c n: values
below the centre make up for those above, so that many rows of a unit add up to far less than they could. The mean of
all rows is c + T / N for the sum T of all totals and the number N of all rows. Every unit is in one group at most, and
in each group:

1. The number of units, with noise.
2. The centre: if there are units enough, by the exponential mechanism on the rank of the units' own means, the
   median's; else the declared centre, or 0, or the bound next to it.
3. A window for totals: where the centre was found, from noised numbers of units by their total's distance from 0; else
   a clamp that is chosen for all such groups together.
4. The sum of totals clipped to that window, with noise for its farther end.
5. The number of rows, each unit's clamped at a cap that is chosen for all groups together as `clamped` chooses one,
   with noise for that cap.

Theorem. The release is epsilon-DP.
Proof. A unit is one pair in one group, of which each part with a share p of epsilon is (p epsilon / w)-DP for one unit
that comes or goes, at any fixed outcome of the earlier parts, with w = 1 under ``add_remove`` and 2 under
``replace_one``: 1 to 4 are the parts of `located.mechanism`, with units for rows, their means for the values of which
one is the centre, and their totals for the values that lie around it; a clipped total is at most the farther end. The
choice of the cap is that of `clamped`, and a unit moves the number of rows by at most the cap. Along every path the
shares add up to 1 at most. So each unit adds epsilon / w to the loss, and w of them epsilon.  QED

The interval is Fieller's for the clipped sum and the capped number (`noise.mean`), and besides what `located` counts
for totals beyond the window, and `clamped` allows for rows beyond the cap.

Source: that a unit's total varies less than its rows is common knowledge of sampling; bounds per unit and group are
those of Wilson et al. 2020, "Differentially private SQL with bounded user contribution". Totals about a private centre
are ours.

Tests: tests/unit/mechanisms/clamped/test_mean.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, takewhile
from typing import ClassVar

import numpy as np

from dpsql.errors import UnsupportedQuery
from dpsql.limits import FARTHEST_STEP
from dpsql.mechanisms.base import Offer, Refusal, Request, derive
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.clamped.facts import known_sizes
from dpsql.mechanisms.clamped.release import ClampSearch, place_of
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss
from dpsql.mechanisms.located.clamp import Clamps, clamps_of
from dpsql.mechanisms.located.mechanism import reach_of, worth_of
from dpsql.mechanisms.located.parts import Shares, shares_for
from dpsql.mechanisms.located.place import total
from dpsql.mechanisms.located.release import LAPLACE
from dpsql.mechanisms.located.search import LocatedQuery, PlaceSearch, Row
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.mean import fieller
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.plan.needs import Contribution, Source, Values
from dpsql.plan.nodes import Scan
from dpsql.plan.per_unit import sums_per_unit
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ClampedMean", "mean_of_units"]

NAME = "clamped"
ALIAS = "totals"

CAP = Fraction(1, 8)  # Of the price, for the cap of the rows that a unit counts with. It is a choice.
ROWS = Fraction(1, 8)
"""Of what is left, for the number of rows where a centre was found: near it the mean hardly moves with that number. It
is a choice."""
FEW = Shares(centre=Fraction(3, 16), tails=Fraction(3, 16), again=Fraction(4, 16))
"""Of what is left, in groups with too few units to find a centre: for the clamp of totals, for the clamp of means whose
middle is the centre, and for the number of rows. A choice."""
ASIDE = 0.2
"""How far a mean is thought to be from the middle of a clamp of units' means, as a share of its half width. A guess:
half of what `located` thinks of rows, which vary more."""
FIRST = 256  # Clamps of totals begin at this part of the farthest value of one row, as in `clamped`.
LOOSE = 4  # How many times what a unit has a cap is thought to be. A guess, as in `capped`.
MANY = 16  # From so many rows a unit on, a cap is thought to be loose. A guess.
SKEW = Fraction(1, 16)
"""How far the mean is thought to be from the centre, as a share of the reach of single rows. A guess."""
MOST_UNITS = 2_000_000
"""Rows by the policy's guess; of more the mean is asked for by name alone. Each unit may be a pair of its own, which
the worker sends: a million take one to two seconds, as measured for `located`."""


@dataclass(frozen=True, slots=True)
class UnitsQuery(LocatedQuery):
    """What such a mean needs to know, all of it public: `LocatedQuery` of units and their totals, and of their rows.

    Attributes:
        grid: Of totals about any centre; ``reach`` and ``clamps`` are theirs too, and ``rows_about`` counts units.
        values: The grid of one row's value.
        places: Clamps of units' means: the middle of one is the centre where there are too few units to find one.
        cap: How the cap of a unit's rows is chosen.
        rows: Guess of the rows per group.
        skew: Guess of the mean's distance from the centre, in grid steps.
    """

    values: Grid
    places: Clamps
    cap: ClampSearch
    rows: int
    skew: float

    def of_rows(self, shares: Shares, cap: int) -> LaplaceLaw:
        """The noise of a number of rows, at the place of a cap."""
        return self.law(shares.again, self.cap.edges[cap])


@dataclass(frozen=True, slots=True)
class ClampedMean(PlaceSearch):
    """An offer to release each group's mean from its units' totals."""

    query: UnitsQuery
    columns: ClassVar[tuple[str, ...]] = (
        "clamp", "rows", "sum", "centre", "half", "low", "high", "under", "over", "cap",
    )  # fmt: skip

    def __post_init__(self) -> None:
        derive(self, need=self.query.need, half_width=self.foreseen(self.query.rows_about), notes=self.notes)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, and what was released before it: numbers of units and rows, the centre, the window, the cap."""
        query, groups = self.query, list(_pairs(raw))
        cap = query.cap.choose(_by_size(groups, query.cap.edges), sampler)
        counts, few = self.counted([units for _, units in groups], sampler)
        alone = [group for group, small in zip(groups, few, strict=True) if small]
        place = self._place([_means(*group, query.values) for group in alone], sampler)
        middle = query.places.window(place).middle
        clamp = self.clamp([(_totals(pairs, middle), units) for pairs, units in alone], sampler)
        found = [
            self._row(*group, Row(count=n, cap=cap, clamp=clamp if small else None, centre=middle), sampler)
            for group, n, small in zip(groups, counts, few, strict=True)
        ]
        return ReleasedTable({name: [row[name] for row in found] for name in ("value", "count", *self.columns)})

    def _mean(self, centre: int, total: int, rows: int) -> float:
        grid = self.query.values
        mean = Fraction(centre) + (Fraction(total, rows) if rows >= 1 else 0)
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
        search = query.places.search(self.few.tails * query.epsilon, query.moved, query.groups, 1)
        return search.choose(query.places.counts(groups), sampler)

    def located(self, units: float) -> Shares | None:
        shares = shares_for(units, self.query.each)
        return None if shares is None else replace(shares, again=ROWS)

    def _row(self, pairs: Whole, units: Whole, row: Row, sampler: Sampler) -> Row:
        query, shares, cap = self.query, self.shares(row), self.query.cap.edges[row["cap"]]
        if row["clamp"] is None:
            centre = self.centre(*_means(pairs, units, query.values), query.values, shares, sampler)
            totals = _totals(pairs, centre)
            found = self.around(0, totals, units, row["count"], shares, sampler)
        else:
            centre, totals = row["centre"], _totals(pairs, row["centre"])
            below, above = self._beyond(row)
            found = replace(query.clamps.window(row["clamp"]), under=below, over=above)
        window = replace(found, middle=0, half=max(1, -found.low, found.high))
        law = query.law(shares.answer, window.half)
        (steps,) = noised([total(totals, units, window)], law.draw(sampler, 1)).tolist()
        exact = int((np.minimum(pairs[:, 1], cap) * units).sum())
        (rows,) = noised([exact], query.of_rows(shares, row["cap"]).draw(sampler, 1)).tolist()
        told = {name: getattr(window, name) for name in ("half", "low", "high", "under", "over")}
        return {**row, **told, "centre": centre, "sum": steps, "rows": rows, "value": self._mean(centre, steps, rows)}

    def _beyond(self, row: Row) -> tuple[float, float]:
        """What totals beyond the clamp of groups with few units may take from their sum, and add to it."""
        search, count = self._search, max(1, row["count"])
        if search is None:
            return 0.0, 0.0
        below, above, _ = self.query.clamps.outside(search, row["clamp"], row["count"])
        return below * count, above * count

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
            more = row["rows"] / (row["rows"] + query.cap.allowed(row["cap"]))  # with rows that the cap left out
            low, high = min(low, low * more), max(high, high * more)
        step, centre = float(grid.step), row["centre"]
        return max(low + centre, grid.low) * step, min(high + centre, grid.high) * step

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """The cap of rows, and where totals are clipped."""
        if not released.values:
            return ()
        query, place = self.query, released.columns["cap"][0]
        cap = f"{query.cap.edges[place]:,}"
        if place == len(query.cap.edges) - 1:
            capped = f"all of a unit's rows are counted, up to the {cap} that it may have."
        else:
            capped = (
                f"of each unit at most {cap} rows are counted, a cap chosen privately: at most "
                f"{query.cap.most_above(place):,} units have more (95%)."
            )
        halves = sorted({f"{in_unit(half, query.values.step):,.6g}" for half in released.columns["half"]}, key=len)
        ends = halves[0] if len(halves) == 1 else f"{halves[0]} to {halves[-1]}"
        return (
            f"what the rows of one unit add to the distance from a centre is clipped at {ends}, found privately; the "
            "interval allows for what noised numbers of units show beyond it.",
            capped,
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
        clamped = max(min(clamped, self._most), 1e-300)
        return min(max(located, 1e-300), clamped), clamped

    @property
    def _most(self) -> float:
        grid = self.query.values
        return float((grid.high - grid.low) * grid.step) / 2


def _pairs(raw: RawTable) -> Iterator[tuple[Whole, Whole]]:
    """The pairs of each group, (k, 2) sums and numbers of rows, and how many units have each."""
    names = ("group", "value", "value_1", "rows")
    group, sums, held, units = (np.asarray(raw.column(name), dtype=np.int64) for name in names)
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(1, raw.size))
    pairs = np.stack((sums, held), axis=1)[order]
    return zip(np.split(pairs, ends), np.split(units[order], ends), strict=True)


def _totals(pairs: Whole, centre: int) -> Whole:
    """What each unit's rows add to the distance from a centre."""
    totals: Whole = pairs[:, 0] - centre * pairs[:, 1]
    return totals


def _means(pairs: Whole, units: Whole, grid: Grid) -> tuple[Whole, Whole]:
    """The units' own means, rounded down, distinct and rising, and how many have each."""
    means, where = np.unique(np.clip(pairs[:, 0] // pairs[:, 1], grid.low, grid.high), return_inverse=True)
    found = np.zeros(len(means), dtype=np.int64)
    np.add.at(found, where, units)
    return means, found


def _by_size(groups: Sequence[tuple[Whole, Whole]], edges: Sequence[int]) -> list[int]:
    """How many units have more rows than the edge before and at most each; last those above all, none."""
    found = np.zeros(len(edges) + 1, dtype=np.int64)
    for pairs, units in groups:
        np.add.at(found, np.searchsorted(edges, pairs[:, 1], side="left"), units)
    return [int(n) for n in found]


def mean_of_units(request: Request) -> Offer | Refusal:
    """An offer for a mean whose statement names no bound, or why there is none."""
    grid, loss, argument = request.grid, pure_loss(request.price), request.aggregate.argument
    if reason := _why_not(request):
        return Refusal(NAME, reason)
    if grid is None or argument is None or loss is None:
        return Refusal(NAME, TOO_SMALL)
    source, facts = request.source, request.facts
    try:
        relation, keys, sums, held = sums_per_unit(source.relation, source.keys, request.aggregate, ALIAS)
    except UnsupportedQuery:
        return Refusal(NAME, "its rows have no totals per unit.")
    most, wide = source.contribution.rows, grid.high - grid.low
    own = Source(relation, keys, Contribution(1, 1, 1))
    of_sums = Grid(grid.step, min(grid.low, 0) * most, max(grid.high, 0) * most)
    need = Values(own, sums, of_sums, others=((held, Grid(Fraction(1), 1, most)),))
    typical, rows = _rows_of_a_unit(request, most), max(1, request.rows_about)
    units, moved = max(1, round(rows / math.sqrt(typical))), request.neighbour_rows
    groups = math.prod(len(key.domain or ()) for key in source.keys)
    reach = reach_of(grid, facts)
    skew = float(SKEW) * reach
    rest = loss.epsilon * (1 - CAP)
    caps = (*takewhile(most.__gt__, (1 << k for k in count())), most)
    query = UnitsQuery(
        need=need,
        grid=Grid(grid.step, -wide * most, wide * most),
        moved=moved,
        epsilon=rest,
        rows_about=units,
        reach=reach * math.sqrt(typical) + skew * typical,
        worth=worth_of(units * float(rest / moved)),
        clamps=_clamps(grid, most, reach * math.sqrt(typical)),
        groups=groups,
        values=grid,
        places=clamps_of(grid, facts),
        cap=ClampSearch(caps, CAP * loss.epsilon, moved, place_of(caps, typical), groups),
        rows=rows,
        skew=skew,
    )
    return ClampedMean(NAME, loss, query, notes=(NOTE,))


def _clamps(grid: Grid, most: int, guess: float) -> Clamps:
    """Clamps of a unit's total about a centre."""
    far = grid.high - grid.low
    edges = (*takewhile((far * most).__gt__, (max(1, far // FIRST) << k for k in count())), far * most)
    around = Grid(grid.step, -far * most, far * most)
    return Clamps(around, 0, edges, place_of(edges, guess), place_of(edges, guess / 2), None)  # as `located` hopes


def _rows_of_a_unit(request: Request, most: int) -> float:
    """About the most rows that units have, by facts or by the cap that the owner is sure of; conditions leave fewer."""
    known = known_sizes(request)
    if known is not None and known[0].units:
        return min(most, float(known[0].high(max(bin_ for bin_, seen in enumerate(known[0].seen) if seen))))
    typical = most / LOOSE if most >= MANY else float(most)
    return typical if isinstance(request.source.relation, Scan) else min(typical, 2 * math.sqrt(most))


def _why_not(request: Request) -> str | None:
    """Why there is no offer, but for a price that buys nothing."""
    aggregate, source, grid = request.aggregate, request.source, request.grid
    if request.selects:
        return "it cannot decide which groups of an open domain appear; only a threshold can."
    if aggregate.bounds is not None or source.cap_rows or source.cap_groups or source.cap_rows_in_group:
        return "the statement or the policy names contribution bounds of its own."
    if source.contribution.rows == 1:
        return "a unit has one row; there is no total to clip."
    if source.contribution.groups > 1 or any(key.domain is None for key in source.keys):
        return "it answers means without groups, or of listed ones where a unit is in one alone."
    if grid is None or grid.low == grid.high:
        return f"{aggregate.text} has no bounds to find a place within; declare bounds in the policy."
    if max(abs(grid.low), abs(grid.high), grid.high - grid.low) * source.contribution.rows > FARTHEST_STEP:
        return "the totals of units would be too large for exact sums; declare a coarser grid."
    if request.rows_about > MOST_UNITS and request.options.mechanism != NAME:
        return "for so many units it takes long, and is offered only by name."
    return None


NOTE = (
    "What the rows of one unit add to the distance from a centre is clipped, and so is the number of rows that it "
    f"counts with: {float(CAP + ROWS * (1 - CAP)):.0%} of its price is for that number. Units whose totals noise hides "
    "are thought to lie near the others: the interval may not hold where some lie very much farther."
)
