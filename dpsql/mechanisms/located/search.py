"""How the place of a group is found: what statistics of rows (`release`) and means of units (`clamped.mean`) share.

Neighbours and loss: stated by `located.mechanism`, with the theorem; everything here follows from its offer. What is
counted is called a row here; for means of units it is a unit.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Offer
from dpsql.mechanisms.choice.clamp import ClampSearch
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.choice.landscape import Rank, landscape
from dpsql.mechanisms.choice.tails import THINS
from dpsql.mechanisms.located.clamp import Clamps
from dpsql.mechanisms.located.parts import COUNT, FEWEST, Shares, few_shares, shares_for
from dpsql.mechanisms.located.place import Bins, Clip, Side, side_foreseen, window_of
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import ReleasedTable

__all__ = ["LocatedQuery", "PlaceSearch", "Row", "rows_in"]

HALF = Fraction(1, 2)  # The rank of the centre, as a share of the rows: the definition of a median.
UNSEEN = 60  # In binary digits: points that are less likely than 2^-60 together are treated alike. It is a choice.
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LocatedQuery:
    """What a located statistic needs to know, all of it public.

    Attributes:
        need: The values, counted.
        grid: Of the argument.
        moved: Rows that a neighbour brings and takes, over all groups.
        epsilon: Of the whole release.
        rows_about: Guess of the rows per group.
        reach: Guess of how far the window reaches, in grid steps.
        worth: The chance, as far as is known, that a group has rows enough to be located.
        clamps: Of groups that have not.
        each: What the release may lose to one row.
    """

    need: Values
    grid: Grid
    moved: int
    epsilon: Fraction
    rows_about: int
    reach: float
    worth: float
    clamps: Clamps
    each: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "each", float(self.epsilon / self.moved))

    def law(self, share: Fraction, reach: int = 1) -> LaplaceLaw:
        """The noise of a number that one row moves by at most ``reach``, for a share of the price."""
        return LaplaceLaw(self.moved * reach / (share * self.epsilon))


@dataclass(frozen=True, slots=True)
class PlaceSearch(Offer):
    """An offer that finds each group's place first.

    Attributes:
        loss: Of all parts and groups together.
        need: The values, counted.
        query: What is asked and publicly known.
    """

    need: Values = field(init=False)
    query: LocatedQuery

    power: ClassVar[int] = 1

    def counted(self, exact: Sequence[int] | Whole, sampler: Sampler) -> tuple[list[int], list[bool]]:
        """The noised number of rows of each group, of its exact one, and whether those are too few to be located."""
        counts = [int(n) for n in noised(exact, self.query.law(COUNT).draw(sampler, len(exact)))]
        return counts, [self.located(n) is None for n in counts]

    def clamp(self, groups: Sequence[tuple[Whole, Whole]], sampler: Sampler) -> int:
        """The place of the clamp of all groups with few rows; the last where there is none to choose, or no group."""
        clamps, search = self.query.clamps, self._search
        if search is None or not groups:
            return len(clamps.edges) - 1
        return search.choose(clamps.counts(groups), sampler)

    def located(self, rows: float) -> Shares | None:
        """The shares of a group of so many rows; None where they are too few to be located."""
        return shares_for(rows, self.query.each)

    @property
    def few(self) -> Shares:
        """The shares of a group with few rows."""
        return few_shares(self.power, len(self.query.clamps.edges))

    def few_at(self, place: int) -> Shares:
        """The same where the clamp is known."""
        return self.few

    @property
    def _search(self) -> ClampSearch | None:
        """How the clamp of groups with few rows is chosen; None where there is one edge only."""
        query, share = self.query, self.few.centre
        if not share:
            return None
        return query.clamps.search(share * query.epsilon, query.moved, self.power)

    def shares(self, row: Row) -> Shares:
        """Those of a released group."""
        shares = self.located(row["count"]) if row["clamp"] is None else self.few_at(row["clamp"])
        if shares is None:
            raise InvariantBroken("a group without a place has a clamp")
        return shares

    def centre(self, values: Whole, rows: Whole, grid: Grid, shares: Shares, sampler: Sampler) -> int:
        """A point of the grid by its rank among the values, which are distinct and rise."""
        exponent = shares.centre * self.query.epsilon / self.query.moved / 2  # a row moves two scores 2 apart
        deepest = math.ceil(Fraction(math.log(grid.high - grid.low + 1) + UNSEEN * math.log(2)) / exponent)
        widths, scores = landscape(values, rows, grid, Rank(HALF), deepest)
        index, offset = sampler.intervals(widths.tolist(), scores.tolist(), exponent)
        return grid.low + int(widths[:index].sum()) + offset

    def around(
        self,
        centre: int,
        group: tuple[Whole, Whole],
        count: int,
        parts: tuple[Fraction, Fraction],
        grid: Grid,
        sampler: Sampler,
        thins: float = THINS[1],
    ) -> Clip:
        """The window, by noised numbers of rows at each distance from a centre.

        Args:
            centre: In grid steps.
            group: Its values, and how many rows hold each.
            count: Its noised number of rows.
            parts: The shares of the price for these numbers, and for the sum that is clipped to the window.
            grid: Of the values.
            sampler: For the noise.
            thins: As in `window_of`.
        """
        query, bins = self.query, Bins(grid)
        law, exact = query.law(parts[0]), bins.counts(*group, centre)
        near = [int(k) for k in noised(exact, law.draw(sampler, len(exact)))]
        cost = math.sqrt(2) * query.law(parts[1]).spread
        return window_of(bins, centre, near, count, law.spread, self.power, cost, thins)

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """In the answer's unit; the value is always inside."""
        rows = rows_in(released)
        ends = self._around(rows, confidence)
        return [(min(low, row["value"]), max(high, row["value"])) for (low, high), row in zip(ends, rows, strict=True)]

    @abstractmethod
    def _around(self, rows: Sequence[Row], confidence: float) -> Sequence[tuple[float, float]]:
        """The interval of each group."""

    @property
    def expected_error(self) -> float:
        """Between a located group's and one's with few rows, as likely as it is that a group is located."""
        located, few = self._errors()
        if self.query.worth == 0:
            return few
        return math.exp(self.query.worth * math.log(located) + (1 - self.query.worth) * math.log(few))

    def foreseen(self, rows: int) -> float:
        """The half width that is expected of a group of so many rows, in the answer's unit."""
        located, few = self._errors(rows)
        return few if self.located(rows) is None else located

    @abstractmethod
    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        """Expected half widths, > 0, of a located group and of one that is not; the first is never the larger.

        Args:
            rows: Of the group; ``rows_about`` by default.
        """

    @property
    def _clipped(self) -> float:
        """By what clipping at a clamp is thought to move a sum, over the clamp, in rows."""
        search = self._search
        return 0.0 if search is None else float(search.units / search.epsilon)

    def interval_foreseen(self, rows: int) -> float:
        """The half width of the interval that is expected of a group of so many rows, in the answer's unit.

        It is `foreseen`, with what the interval counts of rows outside the window. Where a group is just located it may
        be wider than at a lower price, though the answer errs less: of few rows less is thought to lie outside.
        """
        return min(self.foreseen(rows) + self._added(rows, self.located(rows)) / 2, self.most)

    @abstractmethod
    def _added(self, rows: int, shares: Shares | None) -> float:
        """How far rows outside the window are expected to widen the interval, in the answer's unit.

        Args:
            rows: Of the group.
            shares: Of a located group; None for one with few rows.
        """

    def outside(
        self,
        rows: int,
        shares: Shares | None,
        clamped: tuple[Clamps, ClampSearch | None],
        reach: float,
        part: Fraction = Fraction(1),
        thins: float = THINS[1],
    ) -> Side:
        """What an interval is expected to count of what lies outside of the window.

        Args:
            rows: Of the group.
            shares: As in `_added`.
            clamped: Clamps of the numbers that are summed, and how one is chosen where the rows are too few.
            reach: Guess of how far their window reaches, in steps of the clamps' grid.
            part: Of the share that finds a window, what finds this one.
            thins: As in `window_of`.
        """
        clamps, search = clamped
        if shares is not None:
            return side_foreseen(Bins(clamps.grid), reach, self.query.law(shares.tails * part).spread, thins)
        if search is None:
            return Side(0.0, 0.0)
        below, above, squared = clamps.outside(search, clamps.hope, rows)
        return Side((below + above) * rows, squared * rows)

    @property
    @abstractmethod
    def most(self) -> float:
        """Half the length of the interval in which any answer lies, in its unit."""

    def located_shares(self, rows: int) -> Shares:
        """Of a group of so many rows, or of the fewest that are located."""
        shares = self.located(rows) or self.located(2 * FEWEST / self.query.each)
        if shares is None:
            raise InvariantBroken("some number of rows is enough")
        return shares


def rows_in(released: ReleasedTable) -> list[Row]:
    """The released numbers, group by group."""
    return [dict(zip(released.columns, row, strict=True)) for row in zip(*released.columns.values(), strict=True)]
