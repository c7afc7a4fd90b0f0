"""Variances, deviations and means of a group from the same located sums: what they release, and their intervals.

Neighbours and loss: stated by `located.mechanism`, with the theorem; everything here follows from its offer.

Every statistic of the same argument is a function of the noised number of rows, sum and sum of squares, clipped to one
window: several of them are one release.

Interval. The clipped statistic's own, by likely noises (`noise.moments`), and on top of it what rows outside the window
may add (`place`): to a mean on the side that they lie on, to a variance above, as clipping never makes a variance
larger. A group that is not located has the bounded mechanism's numbers, and no more than their noise.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import derive
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.located.parts import COUNT, Shares, shares_for
from dpsql.mechanisms.located.place import Clip, squares, total
from dpsql.mechanisms.located.release import STANDARD, LocatedRelease, Row
from dpsql.mechanisms.noise.central import STATISTICS, Deviation, Guess, Many, Moments, MomentStatistic, Range
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.mechanisms.noise.moments import MomentsRelease, ranges
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["LocatedMoments"]

SQUARES = Fraction(7, 10)
"""The share of a variance's answer for the sum of squares; the sum has the rest. It is least to first order for a
middle an eighth of the half width away from the mean."""
REACH = 3.5  # Scales of Laplace noise within which it lies 97 times of 100, in expected errors. It is a choice.

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Distance:
    """The mean's distance from what the sums are centred at, where their squares are noised, too."""

    moments: tuple[str, ...] = ("n", "x", "xx")
    least: int = 1

    def bounds(self, widths: Mapping[str, int]) -> Range:
        return -float(widths["x"]), float(widths["x"])

    def value(self, m: Moments, widths: Mapping[str, int]) -> float:
        return 0.0 if m["n"] < 1 else min(max(m["x"] / m["n"], -float(widths["x"])), float(widths["x"]))

    def likely(self, m: Many, widths: Mapping[str, int]) -> tuple[Floats, Floats]:
        low, high = self.bounds(widths)
        mean = np.clip(m["x"] / np.maximum(m["n"], 1), low, high)
        return np.where(m["n"] >= 1, mean, low), np.where(m["n"] >= 1, mean, high)

    def weights(self, guess: Guess) -> dict[str, float]:
        return {"n": guess.x, "x": 1.0, "xx": 0.0}

    def step(self, x: Fraction, y: Fraction) -> float:
        return float(x)


@dataclass(frozen=True, slots=True)
class LocatedMoments(LocatedRelease):
    """One variance or deviation, or several statistics of the same rows.

    Attributes:
        bounded: The bounded mechanism's release of the three numbers for what the number of rows leaves of the price.
        functions: Of each place.
        widths: Expected half width of each place by the bounded mechanism, in the answer's unit.
        at: Which of them this is.
    """

    bounded: MomentsRelease
    functions: tuple[str, ...]
    widths: tuple[float, ...]
    at: int = 0

    power: ClassVar[int] = 2
    columns: ClassVar[tuple[str, ...]] = (*LocatedRelease.columns, "x", "xx")

    def __post_init__(self) -> None:
        derive(self, need=self.query.need, half_width=self.foreseen(self.query.rows_about), notes=self.notes)

    def placed(self, place: int) -> LocatedMoments:
        """The same release, as what answers another place."""
        return replace(self, at=place, notes=self.notes)

    @property
    def _statistic(self) -> MomentStatistic:
        return _statistic_of(self.functions[self.at])

    @property
    def _unit(self) -> float:
        step = self.query.grid.step
        return self._statistic.step(step, step)

    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        query, statistic, rows = self.query, self._statistic, self.query.rows_about if rows is None else rows
        bounded = self._over(self.widths[self.at], rows)
        sums, of_squares = (law.spread * REACH / rows for law in self._laws(self.located_shares(rows), 1))
        width = of_squares * query.reach**2
        if isinstance(statistic, Distance):
            width = sums * query.reach
        elif isinstance(statistic, Deviation):
            # It is about a third of the reach: its error is that of the variance over twice of it.
            width /= max(query.reach * 2 / 3, 1e-300)
        return min(max(width * self._unit, 1e-300), bounded), bounded

    @property
    def _most(self) -> float:
        low, high = self._statistic.bounds({"x": self.query.grid.high - self.query.grid.low})
        return (high - low) / 2 * self._unit

    def exchanged(self, ends: tuple[float, float], half: float, share: float) -> tuple[float, float]:
        """A mean as `LocatedMean`'s, a variance by twice the share of itself: the standard deviation of squares."""
        (low, high), grid, statistic = ends, self.query.grid, self._statistic
        standard = half / STANDARD
        if isinstance(statistic, Distance):
            moved = share * standard * self._unit
            return max(low - moved, grid.low * self._unit), min(high + moved, grid.high * self._unit)
        most, moved = statistic.bounds({"x": grid.high - grid.low})[1] * self._unit, 2 * share * standard**2
        if isinstance(statistic, Deviation):
            moved *= self._unit**2
            return math.sqrt(max(low**2 - moved, 0.0)), min(math.sqrt(high**2 + moved), most)
        return max(low - moved * self._unit, 0.0), min(high + moved * self._unit, most)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """As `LocatedRelease`; the places after the first are ``value_1`` and so on."""
        released = LocatedRelease.release(self, raw, sampler)
        rows = _rows(released)
        values = {
            ("value" if place == 0 else f"value_{place}"): [self._value(function, row) for row in rows]
            for place, function in enumerate(self.functions)
        }
        return ReleasedTable({**released.columns, **values})

    def _value(self, function: str, row: Row) -> float:
        """One statistic of a group's released numbers, in its unit."""
        statistic, step = _statistic_of(function), self.query.grid.step
        value = statistic.value(self._moments(row), {"x": self._wide(row)}) * statistic.step(step, step)
        if not isinstance(statistic, Distance):
            return value
        low, high = self._ends(row)
        return min(max(value + self._origin(row) * float(step), low * float(step)), high * float(step))

    def _moments(self, row: Row) -> dict[str, int]:
        return {"n": row["count" if row["rows"] is None else "rows"], "x": row["x"], "xx": row["xx"]}

    def _ends(self, row: Row) -> tuple[int, int]:
        """Between which grid points the clipped values lie."""
        grid = self.query.grid
        return (grid.low, grid.high) if row["middle"] is None else (row["low"], row["high"])

    def _wide(self, row: Row) -> int:
        low, high = self._ends(row)
        return max(1, high - low)

    def _origin(self, row: Row) -> int:
        """What the sums are centred at."""
        if row["middle"] is not None:
            return int(row["middle"])
        (sums,) = (m for m in self.bounded.query.need.measures if m.by is None and m.grid is not None)
        return sums.shift

    def _everywhere(self, values: Whole, rows: Whole, sampler: Sampler) -> Row:
        grid = self.query.grid
        window = Clip(self._origin({"middle": None}), 0, grid.low, grid.high, 0.0, 0.0, 0.0)
        numbers = (int(rows.sum()), total(values, rows, window), squares(values, rows, window))
        released = self.bounded.release(RawTable({f"m{i}": [k] for i, k in enumerate(numbers)}), sampler)
        return {name: released.columns[own][0] for name, own in {"rows": "n", "x": "x", "xx": "xx"}.items()}

    def _inside(self, values: Whole, rows: Whole, count: int, window: Clip, shares: Shares, sampler: Sampler) -> Row:
        numbers = total(values, rows, window), squares(values, rows, window)
        laws = self._laws(shares, window.half)
        x, xx = (int(noised([k], law.draw(sampler, 1))[0]) for k, law in zip(numbers, laws, strict=True))
        return {"x": x, "xx": xx}

    def _laws(self, shares: Shares, half: int) -> tuple[LaplaceLaw, LaplaceLaw]:
        """Of the sum and of the sum of squares."""
        whole = shares.answer
        return self.query.law(whole * (1 - SQUARES), half), self.query.law(whole * SQUARES, half**2)

    def _around(self, rows: Sequence[Row], confidence: float) -> list[tuple[float, float]]:
        return [self._outward(row, *self._clipped(row, confidence)) for row in rows]

    def _clipped(self, row: Row, confidence: float) -> tuple[float, float]:
        """The interval of the statistic of clipped values, in grid steps."""
        laws: tuple[Law | None, ...] = self.bounded.laws
        if row["middle"] is not None:
            shares = shares_for(row["count"], self.query.each)
            if shares is None:
                raise InvariantBroken("a group without a place has no window")
            laws = (self.query.law(COUNT), *self._laws(shares, row["half"]))
        moments, widths = self._moments(row), {"x": self._wide(row)}
        ((low, high),) = ranges(self._statistic, laws, widths, [moments], confidence)
        return low, high

    def _outward(self, row: Row, low: float, high: float) -> tuple[float, float]:
        """The same in the answer's unit, with what rows outside the window may add."""
        grid, count, statistic = self.query.grid, row["count"], self._statistic
        if isinstance(statistic, Distance):
            under = max(row["middle"] + low, row["low"]) - row["under"] / count
            over = min(row["middle"] + high, row["high"]) + row["over"] / count
            return max(under, grid.low) * self._unit, min(over, grid.high) * self._unit
        # The mean is at most ``aside`` away from the middle; rows outside may bring it back there.
        aside = min(abs(row["x"]) / count, row["half"])
        outside = (row["squared"] + 2 * aside * (row["under"] + row["over"])) / count
        most = statistic.bounds({"x": grid.high - grid.low})[1]
        grown = math.sqrt(high**2 + outside) if isinstance(statistic, Deviation) else high + outside
        return low * self._unit, min(grown, most) * self._unit

    def _bounded(self, rows: Sequence[Row], confidence: float) -> list[tuple[float, float]]:
        found = []
        for row in rows:
            low, high = self._clipped(row, confidence)
            if isinstance(self._statistic, Distance):
                (least, most), origin = self._ends(row), self._origin(row)
                low, high = max(low + origin, least), min(high + origin, most)
            found.append((low * self._unit, high * self._unit))
        return found


def _statistic_of(function: str) -> MomentStatistic:
    return Distance() if function == "avg" else STATISTICS[function]


def _rows(released: ReleasedTable) -> list[Row]:
    """The released numbers, group by group."""
    return [dict(zip(released.columns, row, strict=True)) for row in zip(*released.columns.values(), strict=True)]
