"""Windows of sorted values: which of them leaves out little and deviates little, for a given exchange of the two.

Tests: tests/unit/mechanisms/preprocessing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Corner", "Moments", "Windows"]

ROUNDING = 2.0**-48  # As a share of a cost: its relative error after 32 roundings, of which it suffers fewer.
Indices: TypeAlias = npt.NDArray[np.int64]
FITS = 2**59  # As a whole number: differences and sums of a few below it are 64-bit integers.


@dataclass(frozen=True, slots=True)
class Moments:
    """How many values there are, their sum and the sum of their squares, in whole steps.

    >>> Moments(3, 6, 14).deviations
    Fraction(2, 1)
    """

    count: int
    total: int
    squares: int

    @property
    def deviations(self) -> Fraction:
        """Squared deviations from the mean, added up; there must be a value."""
        return self.squares - Fraction(self.total**2, self.count)

    def moved(self, by: int) -> Moments:
        """The moments of the same values, each less so many steps.

        >>> Moments(3, 6, 14).moved(2)
        Moments(count=3, total=0, squares=2)
        """
        return Moments(
            self.count, self.total - by * self.count, self.squares - 2 * by * self.total + by**2 * self.count
        )


@dataclass(frozen=True, slots=True)
class Corner:
    """A window that is best for one exchange: its values left out, its squared deviations, the price of leaving out."""

    left_out: int
    deviations: Fraction
    price: Fraction


class Windows:
    """All windows that leave out none but the given smallest and largest values, equal ones together.

    >>> windows = Windows(Moments(4, 1009, 1000035), {1: 1, 3: 1, 5: 1}, {1000: 1}, least=1)
    >>> windows.best(Fraction(100))
    Corner(left_out=1, deviations=Fraction(8, 1), price=Fraction(100, 1))
    """

    __slots__ = ("_farthest", "_highs", "_least", "_lows", "_span", "_whole")

    def __init__(self, whole: Moments, lows: Mapping[int, int], highs: Mapping[int, int], least: int) -> None:
        """Add up both ends.

        Args:
            whole: Of all values, at least one.
            lows: Values that may be left out from below, and how often each occurs: all up to some point, ascending.
            highs: Values that may be left out from above: all from some point on, ascending.
            least: Number of values that every window has to keep, 1 or 2.
        """
        shift = whole.total // whole.count  # near the mean sums are small, and so is what floats lose of them
        self._whole, self._least = whole.moved(shift), least
        low_values, high_values = [v - shift for v in lows], [v - shift for v in highs]
        self._span = math.isqrt(self._whole.squares) + 1
        self._farthest = max(map(abs, (*low_values, *high_values)), default=0)
        kind = np.dtype(np.int64 if self._farthest < FITS else object)
        self._lows = _End.of(low_values, list(lows.values()), self._span, kind)
        self._highs = _End.of(high_values[::-1], list(highs.values())[::-1], self._span, kind).reversed()

    def best(self, price: Fraction) -> Corner:
        """The window with the least squared deviations + price * values left out.

        Args:
            price: >= 0, in the square of a step.

        Every window whose values are those within sqrt(price) of some point is looked at, and for two values to be
        kept all pairs of neighbours: no other can be best, as it would gain by a value more or less. Floats with a
        proven error sort out the hopeless; the rest are compared exactly.
        """
        i, j = self._candidates(math.isqrt(math.floor(4 * price)))
        lows, highs, whole = self._lows, self._highs, self._whole
        kept = whole.count - lows.left[i] - highs.left[j]
        i, j, kept = (each[kept >= self._least] for each in (i, j, kept))
        total = whole.total / self._span - lows.totals[i] - highs.totals[j]
        squares = whole.squares / self._span**2
        tolls = float(price / self._span**2) * (whole.count - kept)
        costs = squares - lows.squares[i] - highs.squares[j] - total**2 / kept + tolls
        most_total = abs(whole.total / self._span) + abs(lows.totals).max() + abs(highs.totals).max()
        errors = ROUNDING * (squares + tolls + abs(total) * (most_total + abs(total)) / kept)
        near = np.flatnonzero(costs - errors <= (costs + errors).min())
        least = self._exactly(i[near].tolist(), j[near].tolist(), kept[near].tolist())
        corners = (Corner(whole.count - size, Fraction(spread, size), price) for size, spread in least.items())
        return min(corners, key=lambda corner: (corner.deviations + price * corner.left_out, corner.left_out))

    def _exactly(self, i: list[int], j: list[int], kept: list[int]) -> dict[int, int]:
        """The least squared deviations times size, by size, of these windows: whole numbers."""
        (_, low_totals, low_squares), (_, high_totals, high_squares) = self._lows.sums, self._highs.sums
        least: dict[int, int] = {}
        for below, above, size in zip(i, j, kept, strict=True):
            total = self._whole.total - low_totals[below] - high_totals[above]
            squares = self._whole.squares - low_squares[below] - high_squares[above]
            spread = squares * size - total**2
            if spread < least.get(size, spread + 1):
                least[size] = spread
        return least

    def _candidates(self, width: int) -> tuple[Indices, Indices]:
        """Distinct values left out below and kept above, for every window that a frame so wide can show.

        As the frame moves up, values enter above and leave below: the i-th leaves when `entered[i]` have entered.
        """
        lows, highs = self._lows.values, self._highs.values
        entered = np.searchsorted(highs, lows + min(width, 2 * self._farthest), side="right")
        first, last = np.concatenate(([0], entered)), np.concatenate((entered, [len(highs)]))
        i = np.repeat(np.arange(len(first)), last - first + 1)
        j = np.arange(len(i)) - np.repeat(np.cumsum(last - first + 1) - last - 1, last - first + 1)
        if self._least > 1:
            after = np.minimum(np.searchsorted(highs, lows, side="right") + 1, len(highs))
            i, j = np.concatenate((i, np.arange(len(lows)))), np.concatenate((j, after))
        return i, j


@dataclass(frozen=True, slots=True)
class _End:
    """Values at one end, and by an index of windows what these leave out: counts, sums, and sums of squares."""

    values: npt.NDArray[Any]
    left: npt.NDArray[np.int64]
    totals: npt.NDArray[np.float64]  # in spans, so none overflows
    squares: npt.NDArray[np.float64]
    sums: tuple[list[int], list[int], list[int]]

    @classmethod
    def of(cls, values: list[int], counts: list[int], span: int, kind: np.dtype[Any]) -> _End:
        """Left out one after the other, from the front; span is at least each value's distance from 0."""
        sums = (
            list(accumulate(counts, initial=0)),
            list(accumulate(map(mul, values, counts), initial=0)),
            list(accumulate((v * v * k for v, k in zip(values, counts, strict=True)), initial=0)),
        )
        return cls(
            np.array(values, dtype=kind),
            np.array(sums[0], dtype=np.int64),
            np.array([total / span for total in sums[1]]),
            np.array([square / span**2 for square in sums[2]]),
            sums,
        )

    def reversed(self) -> _End:
        """The same, by the number of values kept."""
        n, p, q = self.sums
        return _End(
            self.values[::-1], self.left[::-1], self.totals[::-1], self.squares[::-1], (n[::-1], p[::-1], q[::-1])
        )
