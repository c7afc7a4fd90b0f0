"""Variances, deviations and means of a group from the same located sums: what they release, and their intervals.

Neighbours and loss: stated by `located.mechanism`, with the theorem; everything here follows from its offer.

Every statistic of the same argument is a function of the noised number of rows, sum and sum of squares, clipped to one
window: several of them are one release.

Interval. The clipped statistic's own, by likely noises (`noise.moments`), and on top of it what rows outside the window
may add (`place`, and `clamp` for groups with few rows): to a mean on the side that they lie on, to a variance above, as
clipping never makes a variance larger.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.base import derive
from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.located.parts import COUNT, Shares
from dpsql.mechanisms.located.place import Clip, squares, totals
from dpsql.mechanisms.located.release import ASIDE, LocatedRelease, mean_of, rows_of
from dpsql.mechanisms.located.search import Row, rows_in
from dpsql.mechanisms.noise.central import STATISTICS, Deviation, Guess, Many, Moments, Range, Statistic
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.mechanisms.noise.mean import USUAL_MISS
from dpsql.mechanisms.noise.plausible import ranges
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["LocatedMoments"]

SQUARES = Fraction(7, 10)
"""The share of a variance's answer for the sum of squares; the sum has the rest. It is least to first order for a
middle an eighth of the half width away from the mean."""
THIRD = 3  # Standard deviations of the rows in their reach. A guess.
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
        functions: Of each place.
        at: Which of them this is.
    """

    functions: tuple[str, ...]
    at: int = 0

    power: ClassVar[int] = 2
    sums: ClassVar[tuple[str, ...]] = ("x", "xx")
    heaviest: ClassVar[Fraction] = SQUARES

    def __post_init__(self) -> None:
        derive(self, need=self.query.need, half_width=self.interval_foreseen(self.query.rows_about), notes=self.notes)

    def _added(self, rows: int, shares: Shares | None) -> float:
        outside = self._outside_each(rows, shares)
        if isinstance(self._statistic, Distance):
            return outside.hidden * self._unit
        if not isinstance(self._statistic, Deviation):
            return outside.squared * self._unit
        standard = self.query.reach / THIRD
        return (math.sqrt(standard**2 + outside.squared) - standard) * self._unit

    def placed(self, place: int) -> LocatedMoments:
        """The same release, as what answers another place."""
        return replace(self, at=place, notes=self.notes)

    @property
    def _statistic(self) -> Statistic:
        return _statistic_of(self.functions[self.at])

    @property
    def _unit(self) -> float:
        step = self.query.grid.step
        return self._statistic.step(step, step)

    def _errors(self, rows: int | None = None) -> tuple[float, float]:
        query, rows = self.query, self.query.rows_about if rows is None else rows
        sums, of_squares = (law.spread * REACH / rows for law in self.laws(self.located_shares(rows), 1))
        width = sums * query.reach if isinstance(self._statistic, Distance) else of_squares * query.reach**2
        located, few = self._width(width, query.reach), self._few(rows)
        return min(located, few), few

    def _few(self, rows: int) -> float:
        """The expected half width of a group with few rows."""
        query, clamps, few = self.query, self.query.clamps, self.few_at(self.query.clamps.hope)
        half, edge = clamps.window(clamps.hope).half, clamps.edges[clamps.hope]
        sums, of_squares = (law.spread * REACH / rows for law in self.laws(few, 1))
        clipped = self._clipped * edge / rows
        if isinstance(self._statistic, Distance):
            again = query.law(few.again).spread * REACH / rows
            return self._width(math.hypot(sums * half, again * half * ASIDE) + clipped, half)
        squares = math.hypot(of_squares * half**2, 2 * ASIDE * half * sums * half)
        return self._width(squares + clipped * edge, half)

    def _width(self, width: float, reach: float) -> float:
        """In the answer's unit, of one in (squares of) grid steps, where the rows reach so far."""
        if isinstance(self._statistic, Deviation):
            width /= max(reach * 2 / THIRD, 1e-300)  # the error of the variance over twice of it
        return max(min(width * self._unit, self.most), 1e-300)

    @property
    def most(self) -> float:
        low, high = self._statistic.bounds({"x": self.query.grid.high - self.query.grid.low})
        return (high - low) / 2 * self._unit

    def typical(self, standard: float) -> float:
        grid, statistic = self.query.grid, self._statistic
        if isinstance(statistic, Distance):
            return (grid.low + grid.high) / 2 * self._unit
        return (standard if isinstance(statistic, Deviation) else standard**2) * self._unit

    def exchanged(self, ends: tuple[float, float], standard: float, share: float) -> tuple[float, float]:
        """A mean as `LocatedMean`'s, a variance by twice the share of itself: the standard deviation of squares."""
        (low, high), grid, statistic = ends, self.query.grid, self._statistic
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
        rows, (_, *others) = rows_in(released), self.functions
        more = {f"value_{place}": [self._value(own, row) for row in rows] for place, own in enumerate(others, 1)}
        return ReleasedTable({**released.columns, **more})

    def value(self, row: Row) -> float:
        return self._value(self.functions[0], row)

    def _value(self, function: str, row: Row) -> float:
        """One statistic of a group's released numbers, in its unit."""
        statistic, step = _statistic_of(function), self.query.grid.step
        if isinstance(statistic, Distance):
            return mean_of(self.query, row, row["x"])
        grid, known = self.query.grid, rows_of(row) >= statistic.least
        wide = self._wide(row) if known else grid.high - grid.low
        return statistic.value(self._moments(row), {"x": wide}) * statistic.step(step, step)

    def _moments(self, row: Row) -> dict[str, int]:
        return {"n": rows_of(row), "x": row["x"], "xx": row["xx"]}

    def _wide(self, row: Row) -> int:
        return max(1, int(row["high"]) - int(row["low"]))

    def exact(self, groups: Iterable[tuple[Whole, Whole]], window: Clip) -> Iterator[tuple[int, ...]]:
        held = list(groups)
        return zip(totals(held, window), squares(held, window), strict=True)

    def laws(self, shares: Shares, half: int) -> tuple[LaplaceLaw, LaplaceLaw]:
        """Of the sum and of the sum of squares."""
        whole = shares.answer
        return self.query.law(whole * (1 - SQUARES), half), self.query.law(whole * SQUARES, half**2)

    def _around(self, rows: Sequence[Row], confidence: float) -> list[tuple[float, float]]:
        return [self._outward(row, *self._plausible(row, confidence)) for row in rows]

    def _plausible(self, row: Row, confidence: float) -> tuple[float, float]:
        """`_within`; of a mean inside the window, and all of it where none is plausible at 95%, as in `fieller`."""
        low, high = self._within(row, confidence)
        if not isinstance(self._statistic, Distance):
            return low, high
        least, most = row["low"] - row["middle"], row["high"] - row["middle"]
        usual = (low, high) if confidence == 1 - USUAL_MISS else self._within(row, 1 - USUAL_MISS)
        if usual[1] < least or usual[0] > most:
            return least, most
        return min(max(low, least), most), min(max(high, least), most)

    def _within(self, row: Row, confidence: float) -> tuple[float, float]:
        """The interval of the statistic of clipped values, in grid steps."""
        shares = self.shares(row)
        laws: tuple[Law, ...] = (self.query.law(shares.again or COUNT), *self.laws(shares, row["half"]))
        moments, widths = self._moments(row), {"x": self._wide(row)}
        ((low, high),) = ranges(self._statistic, laws, widths, [moments], confidence)
        return low, high

    def _outward(self, row: Row, low: float, high: float) -> tuple[float, float]:
        """The same in the answer's unit, with what rows outside the window may add."""
        grid, count, statistic = self.query.grid, rows_of(row), self._statistic
        below, above, squared = self._outside(row)
        if isinstance(statistic, Distance):
            under = row["middle"] + low - below if count >= 1 else grid.low
            over = row["middle"] + high + above if count >= 1 else grid.high
            return max(under, grid.low) * self._unit, min(over, grid.high) * self._unit
        # The mean is at most ``aside`` away from the middle; rows outside may bring it back there.
        aside = min(abs(row["x"]) / max(1, count), row["half"])
        outside = squared + 2 * aside * (below + above)
        most = statistic.bounds({"x": grid.high - grid.low})[1]
        if count < statistic.least:
            return 0.0, most * self._unit
        grown = math.sqrt(high**2 + outside) if isinstance(statistic, Deviation) else high + outside
        return low * self._unit, min(grown, most) * self._unit


def _statistic_of(function: str) -> Statistic:
    return Distance() if function == "avg" else STATISTICS[function]
