"""What a located group releases, and what its interval counts.

Neighbours and loss: stated by `located.mechanism`, with the theorem; everything here follows from its offer.

Interval. The clipped mean's own, by Fieller's argument (`noise.mean`), and on top of it what rows outside the window
may add, on the side that they lie on (`place`). A group that is not located has the bounded mechanism's interval,
which holds whatever the data are.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.choice.groups import Whole, grouped
from dpsql.mechanisms.choice.quantile import Rank, landscape
from dpsql.mechanisms.located.parts import COUNT, FEWEST, Shares, shares_for
from dpsql.mechanisms.located.place import Bins, Clip, total, window_of
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.mean import MeanRelease, fieller
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["STANDARD", "LocatedMean", "LocatedQuery", "LocatedRelease", "Row"]

HALF = Fraction(1, 2)  # The rank of the centre, as a share of the rows: the definition of a median.
UNSEEN = 60  # In binary digits: points that are less likely than 2^-60 together are treated alike. It is a choice.
FINE = 2**20
"""Into so many steps a window's half width is divided where intervals of many windows are worked out at once. It is a
choice: rounding by 2^-20 of it is far below any noise."""
STANDARD = 4
"""Standard deviations of the rows in a window's half width, where other rows may stand in their place. A guess:
windows reach to where rows thin out."""
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
    """

    need: Values
    grid: Grid
    moved: int
    epsilon: Fraction
    rows_about: int
    reach: float
    worth: float

    @property
    def each(self) -> float:
        """What the release may lose to one row."""
        return float(self.epsilon / self.moved)

    def law(self, share: Fraction, reach: int = 1) -> LaplaceLaw:
        """The noise of a number that one row moves by at most ``reach``, for a share of the price."""
        return LaplaceLaw(self.moved * reach / (share * self.epsilon))


@dataclass(frozen=True, slots=True)
class LocatedRelease(Offer):
    """An offer to release a statistic of each group's rows, clipped to a window around where they are.

    Attributes:
        loss: Of all parts and groups together.
        need: The values, counted.
        query: What is asked and publicly known.
    """

    need: Values = field(init=False)
    query: LocatedQuery

    power: ClassVar[int] = 1

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, and the released numbers behind it: ``count`` and, of a located group, its window."""
        groups = list(grouped(raw))
        exact = [int(rows.sum()) for _, rows in groups]
        counts = [int(n) for n in noised(exact, self.query.law(COUNT).draw(sampler, len(groups)))]
        found = [self._row(*group, n, sampler) for group, n in zip(groups, counts, strict=True)]
        names = ("value", "count", *self.columns)
        return ReleasedTable({name: [row.get(name) for row in found] for name in names})

    columns: ClassVar[tuple[str, ...]] = (
        "rows", "sum", "middle", "half", "low", "high", "under", "over", "squared",
    )  # fmt: skip

    def _row(self, values: Whole, rows: Whole, count: int, sampler: Sampler) -> Row:
        shares = shares_for(count, self.query.each)
        if shares is None:
            return {"count": count, **self._everywhere(values, rows, sampler)}
        window = self.window(values, rows, count, shares, sampler)
        clipped = {
            name: getattr(window, name) for name in ("middle", "half", "low", "high", "under", "over", "squared")
        }
        return {"count": count, **clipped, **self._inside(values, rows, count, window, shares, sampler)}

    def window(self, values: Whole, rows: Whole, count: int, shares: Shares, sampler: Sampler) -> Clip:
        """Where the group is: a centre by its rank, then noised numbers of rows by their distance from it."""
        query, bins = self.query, Bins(self.query.grid)
        exponent = shares.centre * query.epsilon / query.moved / 2  # a row changes two scores by 2 against each other
        points = query.grid.high - query.grid.low + 1
        deepest = math.ceil(Fraction(math.log(points) + UNSEEN * math.log(2)) / exponent)
        widths, scores = landscape(values, rows, query.grid, Rank(HALF), deepest)
        index, offset = sampler.intervals(widths.tolist(), scores.tolist(), exponent)
        centre = query.grid.low + int(widths[:index].sum()) + offset
        law, exact = query.law(shares.tails), bins.counts(values, rows, centre)
        near = [int(k) for k in noised(exact, law.draw(sampler, len(exact)))]
        cost = math.sqrt(2) * query.law(shares.answer).spread
        return window_of(bins, centre, near, count, law.spread, self.power, cost)

    @abstractmethod
    def _everywhere(self, values: Whole, rows: Whole, sampler: Sampler) -> Row:
        """The bounded mechanism's numbers, for what is left of the price."""

    @abstractmethod
    def _inside(self, values: Whole, rows: Whole, count: int, window: Clip, shares: Shares, sampler: Sampler) -> Row:
        """The answer from the rows clipped to the window."""

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """The located groups' and the others' intervals, in the answer's unit; the value is always inside."""
        rows = [dict(zip(released.columns, row, strict=True)) for row in zip(*released.columns.values(), strict=True)]
        placed = [row for row in rows if row["middle"] is not None]
        located = iter(self._around(placed, confidence))
        bounded = iter(self._bounded([row for row in rows if row["middle"] is None], confidence))
        ends = [next(bounded if row["middle"] is None else located) for row in rows]
        return [(min(low, row["value"]), max(high, row["value"])) for (low, high), row in zip(ends, rows, strict=True)]

    @abstractmethod
    def _around(self, rows: Sequence[Row], confidence: float) -> Sequence[tuple[float, float]]:
        """Of located groups."""

    @abstractmethod
    def _bounded(self, rows: Sequence[Row], confidence: float) -> Sequence[Interval]:
        """Of the others."""

    @property
    def expected_error(self) -> float:
        """Between a located group's and the bounded mechanism's, as likely as it is that a group is located."""
        located, bounded = self._errors()
        if self.query.worth == 0:
            return bounded
        return math.exp(self.query.worth * math.log(located) + (1 - self.query.worth) * math.log(bounded))

    def foreseen(self, rows: int) -> float:
        """The half width that is expected of a group of so many rows, in the answer's unit."""
        located, bounded = self._errors(rows)
        return bounded if shares_for(rows, self.query.each) is None else located

    @abstractmethod
    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        """Expected half widths, > 0, of a located group and of one that is not; the first is never the larger.

        Args:
            rows: Of the group; ``rows_about`` by default.
        """

    @abstractmethod
    def exchanged(self, ends: tuple[float, float], half: float, share: float) -> tuple[float, float]:
        """An interval, widened so far as other rows in the place of a share of them are thought to move the statistic.

        Args:
            ends: Of the interval, in the answer's unit.
            half: Half the width of the window in which all of them lie, in grid steps.
            share: Of the rows.
        """

    def _over(self, width: float, rows: int) -> float:
        """The bounded mechanism's half width for ``rows_about`` rows, as that for so many: within what can be."""
        return max(min(width * self.query.rows_about / rows, self._most), 1e-300)

    @property
    @abstractmethod
    def _most(self) -> float:
        """Half the length of the interval in which any answer lies, in its unit."""

    def located_shares(self, rows: int) -> Shares:
        """Of a group of so many rows, or of the fewest that are located."""
        least = shares_for(2 * FEWEST / self.query.each, self.query.each)
        shares = shares_for(rows, self.query.each) or least
        if shares is None:
            raise InvariantBroken("some number of rows is enough")
        return shares


@dataclass(frozen=True, slots=True)
class LocatedMean(LocatedRelease):
    """A mean.

    Attributes:
        bounded: The bounded mechanism's release for what the number of rows leaves of the price.
    """

    bounded: MeanRelease

    def __post_init__(self) -> None:
        derive(self, need=self.query.need, half_width=self.foreseen(self.query.rows_about), notes=self.notes)

    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        query, rows = self.query, self.query.rows_about if rows is None else rows
        bounded = self._over(self.bounded.half_width, rows)
        reach = query.law(self.located_shares(rows).answer).spread * query.reach
        reach *= 3.0  # 95% of a Laplace noise are within 3 scales
        return min(max(reach / rows * float(query.grid.step), 1e-300), bounded), bounded

    @property
    def _most(self) -> float:
        grid = self.query.grid
        return float((grid.high - grid.low) * grid.step) / 2

    def exchanged(self, ends: tuple[float, float], half: float, share: float) -> tuple[float, float]:
        """By as many standard deviations as the share is, each a quarter of the window's half width."""
        step, grid = float(self.query.grid.step), self.query.grid
        moved = share * half / STANDARD * step
        return max(ends[0] - moved, grid.low * step), min(ends[1] + moved, grid.high * step)

    def _everywhere(self, values: Whole, rows: Whole, sampler: Sampler) -> Row:
        query = self.bounded.query
        window = Clip(query.centre, 0, query.grid.low, query.grid.high, 0.0, 0.0, 0.0)
        numbers = {"m0": [total(values, rows, window)], "m1": [int(rows.sum())]}
        released = self.bounded.release(RawTable(numbers), sampler)
        return {"value": released.values[0], "sum": released.columns["sum"][0], "rows": released.columns["count"][0]}

    def _inside(self, values: Whole, rows: Whole, count: int, window: Clip, shares: Shares, sampler: Sampler) -> Row:
        law = self.query.law(shares.answer, window.half)
        (steps,) = noised([total(values, rows, window)], law.draw(sampler, 1))
        mean = window.middle + Fraction(int(steps), max(1, count))
        inside = min(max(mean, Fraction(window.low)), Fraction(window.high))
        return {"sum": int(steps), "value": float(inside * self.query.grid.step)}

    def _around(self, rows: Sequence[Row], confidence: float) -> list[tuple[float, float]]:
        """Fieller's interval of the clipped mean, in 2^-20 of each half width, then what lies outside."""
        grid, found = self.query.grid, [(0.0, 0.0)] * len(rows)
        by_shares: dict[Shares, list[int]] = {}
        for index, row in enumerate(rows):
            shares = shares_for(row["count"], self.query.each)
            if shares is None:
                raise InvariantBroken("a group without a place has no window")
            by_shares.setdefault(shares, []).append(index)
        for shares, members in by_shares.items():
            own = [rows[index] for index in members]
            sums = np.array([float(Fraction(row["sum"] * FINE, row["half"])) for row in own])
            counts = np.array([float(row["count"]) for row in own])
            laws = self.query.law(shares.answer, FINE), self.query.law(COUNT)
            least, most = fieller(sums, counts, *laws, -FINE, FINE, 1 - confidence)
            for index, row, low, high in zip(members, own, least, most, strict=True):
                unit, step = row["half"] / FINE, float(grid.step)
                under = max(row["middle"] + low * unit, row["low"]) - row["under"] / row["count"]
                over = min(row["middle"] + high * unit, row["high"]) + row["over"] / row["count"]
                found[index] = max(under, grid.low) * step, min(over, grid.high) * step
        return found

    def _bounded(self, rows: Sequence[Row], confidence: float) -> Sequence[Interval]:
        columns = {"value": "value", "sum": "sum", "count": "rows"}
        table = ReleasedTable({name: [row[own] for row in rows] for name, own in columns.items()})
        return self.bounded.intervals(table, confidence)
