"""What a located group releases, and what its interval counts.

Neighbours and loss: stated by `located.mechanism`, with the theorem; everything here follows from its offer.

Interval. The clipped mean's own, by Fieller's argument (`noise.mean`), and on top of it what rows outside the window
may add, on the side that they lie on (`place`, and `clamp` for groups with few rows). A group that shows no row has all
of the bounds.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from dpsql.mechanisms.base import derive
from dpsql.mechanisms.choice.clamp import ALLOWED, MISS, ClampSearch
from dpsql.mechanisms.choice.groups import Whole, at_once, totals_of
from dpsql.mechanisms.located.parts import COUNT, Shares, few_shares
from dpsql.mechanisms.located.place import Clip, Side, totals
from dpsql.mechanisms.located.search import LocatedQuery, PlaceSearch, Row
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.mean import fieller
from dpsql.mechanisms.noise.noised import each_noised, in_unit
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ASIDE", "LAPLACE", "LocatedMean", "LocatedRelease", "WholeMean", "mean_of", "rows_of"]

FINE = 2**20
"""Into so many steps a window's half width is divided where intervals of many windows are worked out at once. It is a
choice: rounding by 2^-20 of it is far below any noise."""
ASIDE = 0.4  # How far a mean is thought to be from the middle of a clamp, as a share of its half width. A guess.
LAPLACE = 3.0  # Scales of Laplace noise within which it lies 95 times of 100: ln 20.


WINDOW = ("middle", "half", "low", "high", "under", "over", "squared", "standard")  # The columns of a group's window.


@dataclass(frozen=True, slots=True)
class LocatedRelease(PlaceSearch):
    """An offer to release a statistic of each group's rows, clipped to a window around where they are."""

    sums: ClassVar[tuple[str, ...]]
    """The columns of the sums that are released of rows within the window."""
    heaviest: ClassVar[Fraction] = Fraction(1)
    """Of the answer's share, what the sum of the highest power has: its noise is what a window is weighed by."""
    others: ClassVar[str] = "a standard deviation off"
    """Where rows are thought to lie that `exchanged` allows for, and unless what that holds (``unless``)."""
    unless: ClassVar[str] = ": it holds unless those left out lie farther off"
    everywhere: ClassVar[bool] = False
    """Whether `exchanged` allows for rows anywhere within the bounds."""

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, and the released numbers behind it: ``count``, the window, and the ``clamp`` where it has one."""
        starts, (values, rows_each) = at_once(raw, "value", "rows")
        groups = [(values[begin:end], rows_each[begin:end]) for begin, end in pairwise(starts.tolist())]
        counts, few = self.counted(totals_of(starts, rows_each), sampler)
        small = [at for at, is_small in enumerate(few) if is_small]
        clamp = self.clamp([groups[at] for at in small], sampler)
        clip, shares = self.query.clamps.window(clamp), self.few_at(clamp)
        found: list[Row] = [
            {"count": n, "clamp": clamp if is_small else None, "rows": None, "beyond": None}
            for n, is_small in zip(counts, few, strict=True)
        ]
        windows = [
            clip if is_small else self.window(*group, row["count"], self.shares(row), sampler)
            for group, row, is_small in zip(groups, found, few, strict=True)
        ]
        for name, share in (("rows", shares.again), ("beyond", shares.beyond)):
            if share and small:
                exact_rows = [_rows_in(*groups[at], clip if name == "beyond" else None) for at in small]
                drawn = self.query.law(share).draw(sampler, len(small))
                for at, rows in zip(small, noised(exact_rows, drawn).tolist(), strict=True):
                    found[at][name] = rows
        of_few = self.laws(shares, clip.half)
        laws = [
            of_few if is_small else self.laws(self.shares(row), window.half)
            for row, window, is_small in zip(found, windows, few, strict=True)
        ]
        of_few_groups = self.exact([groups[at] for at in small], clip)
        exact = [
            next(of_few_groups if is_small else self.exact([group], window))
            for group, window, is_small in zip(groups, windows, few, strict=True)
        ]
        for place, name in enumerate(self.sums):
            steps = each_noised([own[place] for own in exact], [own[place] for own in laws], sampler)
            for row, k in zip(found, steps, strict=True):
                row[name] = k
        for row, window in zip(found, windows, strict=True):
            row |= {name: getattr(window, name) for name in WINDOW}
            row["value"] = self.value(row)
        return ReleasedTable({name: [row[name] for row in found] for name in self.columns()})

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """What is released of each group."""
        return ("value", "count", "clamp", "rows", "beyond", *cls.sums, *WINDOW)

    def _outside(self, row: Row) -> tuple[float, float, float]:
        """What rows outside the window may take from a mean, add to it, and add to a mean square; in grid steps."""
        if row["clamp"] is None:
            return row["under"] / row["count"], row["over"] / row["count"], row["squared"] / row["count"]
        return self._beyond(row["clamp"], rows_of(row), row["beyond"])

    def _beyond(self, place: int, rows: int, beyond: int | None) -> tuple[float, float, float]:
        """The same of rows beyond a clamp, by the released number of them; None where it was not asked."""
        search, shares = self._search, self.few_at(place)
        if search is None:
            return 0.0, 0.0, 0.0
        sway = self.query.law(shares.again or COUNT).quantile(1 - MISS)
        seen = None if beyond is None else beyond + self.query.law(shares.beyond).quantile(1 - MISS)
        return self.query.clamps.outside(search, place, rows, sway, seen)

    def few_at(self, place: int) -> Shares:
        """The shares of a group with few rows where the clamp is known."""
        clamps = self.query.clamps
        return few_shares(self.power, len(clamps.edges), clamps.counted(place))

    def _outside_each(self, rows: int, shares: Shares | None) -> Side:
        """What the interval is expected to count of rows outside, for each row of the group, in grid steps."""
        if shares is None:
            hope = self.query.clamps.hope
            below, above, squared = self._beyond(hope, rows, 0 if self.few_at(hope).beyond else None)
            return Side(below + above, squared)
        clamps = self.query.clamps
        found = self.outside(rows, shares, (clamps, self._search), self.query.reach, thins=clamps.thins)
        return Side(found.hidden / rows, found.squared / rows)

    def window(self, values: Whole, rows: Whole, count: int, shares: Shares, sampler: Sampler) -> Clip:
        """Where the group is: a centre by its rank, then noised numbers of rows by their distance from it."""
        centre = self.centre(values, rows, self.query.grid, shares, sampler)
        parts = shares.tails, shares.answer * self.heaviest
        return self.around(centre, (values, rows), count, parts, self.query.grid, sampler, self.query.clamps.thins)

    @abstractmethod
    def exact(self, groups: Iterable[tuple[Whole, Whole]], window: Clip) -> Iterator[tuple[int, ...]]:
        """Of each group the sums of its rows clipped to the window, without noise."""

    @abstractmethod
    def laws(self, shares: Shares, half: int) -> tuple[LaplaceLaw, ...]:
        """Of the noise of each, for a window of this half width."""

    @abstractmethod
    def value(self, row: Row) -> float:
        """The answer, from what was released of the group."""

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """The clamp of the groups with few rows, and how many rows it clips at most."""
        search, query = self._search, self.query
        place = next((place for place in released.columns["clamp"] if place is not None), None)
        if search is None or place is None:
            return ()
        window, step = query.clamps.window(place), query.grid.step
        ends = f"{in_unit(window.low, step):,.6g} to {in_unit(window.high, step):,.6g}"
        if place == len(query.clamps.edges) - 1:
            return (f"rows of groups that have few are clipped to {ends}, which is all of the bounds.",)
        return (
            f"rows of groups that have few are clipped to {ends}, chosen privately: at most "
            f"{search.most_above(place):,} rows lie outside (95%). {self._allowed(search, place)}; where a group has "
            "fewer rows than can be seen, it reaches to the bounds.",
        )

    def _allowed(self, search: ClampSearch, place: int) -> str:
        """What an interval allows for beyond a clamp, for people to read."""
        if self.query.clamps.counted(place):
            return "An interval allows for as many as a noised number of them shows, as far out as the bounds"
        allowed = ALLOWED * float(search.units / search.epsilon)
        return f"An interval allows for {allowed:,.0f} of them, the fewer the farther out"

    @abstractmethod
    def typical(self, standard: float) -> float:
        """A statistic in its unit, in the middle of what the bounds allow, of rows of a standard deviation in steps."""

    @abstractmethod
    def exchanged(self, ends: tuple[float, float], standard: float, share: float) -> tuple[float, float]:
        """An interval, widened so far as other rows in the place of a share of them are thought to move the statistic.

        Args:
            ends: Of the interval, in the answer's unit.
            standard: Of the rows, in grid steps: as far off the others are thought to be.
            share: Of the rows.
        """


@dataclass(frozen=True, slots=True)
class LocatedMean(LocatedRelease):
    """A mean."""

    sums: ClassVar[tuple[str, ...]] = ("sum",)

    def __post_init__(self) -> None:
        width = self.interval_foreseen(self.query.rows_about)
        derive(self, need=self.query.need, half_width=width, notes=self.notes)

    def _added(self, rows: int, shares: Shares | None) -> float:
        return self._outside_each(rows, shares).hidden * float(self.query.grid.step)

    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        query, rows = self.query, self.query.rows_about if rows is None else rows
        reach = query.law(self.located_shares(rows).answer).spread * query.reach
        located, clamped = LAPLACE * reach / rows * float(query.grid.step), self._clamped_error(rows)
        return min(max(located, 1e-300), clamped), clamped

    def _clamped_error(self, rows: int) -> float:
        """The expected half width of a group that is not located."""
        query, clamps, few = self.query, self.query.clamps, self.few_at(self.query.clamps.hope)
        half = clamps.window(clamps.hope).half
        noise = math.hypot(query.law(few.answer).spread * half, query.law(few.again).spread * half * ASIDE)
        clamped = (LAPLACE * noise + self._clipped * clamps.edges[clamps.hope]) / rows * float(query.grid.step)
        return max(min(clamped, self.most), 1e-300)

    @property
    def most(self) -> float:
        grid = self.query.grid
        return float((grid.high - grid.low) * grid.step) / 2

    def typical(self, standard: float) -> float:
        grid = self.query.grid
        return (grid.low + grid.high) / 2 * float(grid.step)

    def exchanged(self, ends: tuple[float, float], standard: float, share: float) -> tuple[float, float]:
        """By as many standard deviations as the share is."""
        step, grid = float(self.query.grid.step), self.query.grid
        moved = share * standard * step
        return max(ends[0] - moved, grid.low * step), min(ends[1] + moved, grid.high * step)

    def exact(self, groups: Iterable[tuple[Whole, Whole]], window: Clip) -> Iterator[tuple[int, ...]]:
        return zip(totals(groups, window))

    def laws(self, shares: Shares, half: int) -> tuple[LaplaceLaw, ...]:
        return (self.query.law(shares.answer, half),)

    def value(self, row: Row) -> float:
        return mean_of(self.query, row, row["sum"])

    def _around(self, rows: Sequence[Row], confidence: float) -> list[tuple[float, float]]:
        """Fieller's interval of the clipped mean in its window, in 2^-20 of each half width, then what lies outside."""
        grid, found = self.query.grid, [(0.0, 0.0)] * len(rows)
        by_shares: dict[Shares, list[int]] = {}
        for index, row in enumerate(rows):
            by_shares.setdefault(self.shares(row), []).append(index)
        for shares, members in by_shares.items():
            own = [rows[index] for index in members]
            sums = np.array([float(Fraction(row["sum"] * FINE, row["half"])) for row in own])
            counts = np.array([float(max(1, rows_of(row))) for row in own])
            laws = self.query.law(shares.answer, FINE), self.query.law(shares.again or COUNT)
            low, high = (np.array([row[end] - row["middle"] for row in own]) for end in ("low", "high"))
            wide = np.array([float(row["half"]) for row in own]) / FINE
            least, most = fieller(sums, counts, *laws, low / wide, high / wide, 1 - confidence)
            for index, row, first, last in zip(members, own, least.tolist(), most.tolist(), strict=True):
                unit, step = row["half"] / FINE, float(grid.step)
                outside, nothing = self._outside(row), rows_of(row) < 1
                under = grid.low if nothing else max(row["middle"] + first * unit, row["low"]) - outside[0]
                over = grid.high if nothing else min(row["middle"] + last * unit, row["high"]) + outside[1]
                found[index] = max(under, grid.low) * step, min(over, grid.high) * step
        return found


@dataclass(frozen=True, slots=True)
class WholeMean(LocatedMean):
    """A mean that is clipped nowhere, as one of few rows in tight bounds: of a share, a place might miss the few."""

    others: ClassVar[str] = "anywhere within the bounds"
    unless: ClassVar[str] = ""
    everywhere: ClassVar[bool] = True

    def located(self, rows: float) -> Shares | None:
        return None

    def exchanged(self, ends: tuple[float, float], standard: float, share: float) -> tuple[float, float]:
        """By the whole width of the bounds: units of many rows may have all of them at one end."""
        grid = self.query.grid
        return LocatedMean.exchanged(self, ends, float(grid.high - grid.low), share)

    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        error = self._clamped_error(self.query.rows_about if rows is None else rows)
        return error, error


def _rows_in(values: Whole, rows: Whole, clip: Clip | None) -> int:
    """How many rows a group has; those that a window clips, if one is given."""
    return int(rows.sum() if clip is None else rows[(values < clip.low) | (values > clip.high)].sum())


def rows_of(row: Row) -> int:
    """The released number of rows that a group's statistics are over."""
    return int(row["count"] if row["rows"] is None else row["rows"])


def mean_of(query: LocatedQuery, row: Row, total: int) -> float:
    """The mean within a group's window, in the column's unit, rounded once; from its sum about the middle.

    Of no rows it is the declared centre, or the middle of the window.
    """
    rows, nothing, step = rows_of(row), query.clamps.empty, query.grid.step
    found = row["middle"] * rows + total
    if rows < 1:
        rows, found = 1, row["middle"] if nothing is None else nothing
    found = min(max(found, row["low"] * rows), row["high"] * rows)
    return float(found * step.numerator / (rows * step.denominator))
