"""Value counts: how often each value occurs, on an integer grid. All that a symmetric statistic depends on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.preprocessing.exact import Exact, exact_all

__all__ = ["MOST_DIFFERENT", "Counts", "Data", "RankedSums", "Whole", "exactly", "weighted"]

Whole: TypeAlias = npt.NDArray[Any]
"""(n,) whole numbers: int64, or Python ints (dtype object) where 64 bits might not do. Either kind is exact."""

MOST_DIFFERENT = 10**6
"""Values that are listed one by one: looked up ten times as fast as by their ranks, for 8 MB and more. It is a
choice."""
LIMIT = 2**62  # As a whole number: sums and differences of two below it are 64-bit integers.


def exactly(numbers: Whole, largest: int) -> Whole:
    """The same numbers, ready for arithmetic whose results stay within the given magnitude.

    >>> (exactly(np.array([2**40]), 2**80) * 2**40).tolist()
    [1208925819614629174706176]
    """
    return numbers if largest < LIMIT else numbers.astype(object)


def weighted(values: Whole, counts: Whole) -> int:
    """The sum of values times counts, exact.

    Two halves of 32 bits are added up one by one: with fewer than 2^31 rows neither sum needs more than 63 bits.

    >>> weighted(np.array([2**62, -3]), np.array([4, 1])) == 2**64 - 3
    True
    """
    if values.dtype == np.int64 and counts.dtype == np.int64 and float(counts.sum(dtype=np.float64)) < 2**30:
        upper, lower = values >> 32, values & (2**32 - 1)
        return (int(upper @ counts) << 32) + int(lower @ counts)
    return sum(map(mul, values.tolist(), counts.tolist()))


@dataclass(frozen=True, slots=True)
class Counts:
    """A multiset of numbers: value ``values[i] * grid`` occurs ``counts[i]`` times.

    Attributes:
        values: Whole steps of the grid, ascending, each once: Python ints, or an int64 array.
        counts: How often each occurs, at least once: the same.
        grid: One step, in the column's unit, > 0.

    Raises:
        ValueError: If values do not ascend, or counts or grid are not positive.

    >>> Counts((1, 5), (2, 1))
    Counts(values=(1, 5), counts=(2, 1), grid=Fraction(1, 1))
    """

    values: Sequence[int] | Whole
    counts: Sequence[int] | Whole
    grid: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse what would be counted wrong."""
        if len(self.values) != len(self.counts):
            raise ValueError(
                f"{len(self.values)} values have {len(self.counts)} counts; give one count for each value."
            )
        values, counts = self.arrays()
        if not (values[1:] > values[:-1]).all():
            raise ValueError("the values of the counts do not ascend; sort them, and add up the counts of equal ones.")
        if len(counts) and counts.min() < 1:
            raise ValueError("a count is below 1; leave out values that do not occur.")
        if self.grid <= 0:
            raise ValueError(f"the grid is {self.grid}; write a step above 0.")

    @classmethod
    def of(cls, data: Data) -> Counts:
        """Counts of a list of exact numbers or an integer array; counts themselves are returned as they are.

        Raises:
            ValueError: If a value is a float, NULL or no number.

        >>> Counts.of([Fraction(1, 2), 3, Fraction(1, 2)])
        Counts(values=(1, 6), counts=(2, 1), grid=Fraction(1, 2))
        """
        if isinstance(data, Counts):
            return data
        if isinstance(data, np.ndarray) and data.dtype.kind in "iu":
            values, counts = np.unique(data, return_counts=True)
            return cls(values.astype(np.int64) if len(values) == 0 or values[-1] < LIMIT else values.tolist(), counts)
        tally = Counter(data)
        numbers = exact_all(tally, "a value")
        steps = math.lcm(*(number.denominator for number in numbers))
        whole = (number.numerator * (steps // number.denominator) for number in numbers)
        pairs = sorted(zip(whole, tally.values(), strict=True))
        return cls(tuple(value for value, _ in pairs), tuple(count for _, count in pairs), Fraction(1, steps))

    def arrays(self) -> tuple[Whole, Whole]:
        """Values and counts as arrays, of int64 where they fit."""
        return _whole(self.values), _whole(self.counts)

    @property
    def count(self) -> int:
        """Number of values, n."""
        _, counts = self.arrays()
        return weighted(counts, np.ones(len(counts), dtype=np.int64))

    @property
    def total(self) -> int:
        """Sum of all values, in grid steps."""
        return weighted(*self.arrays())

    @property
    def squares(self) -> int:
        """Sum of the squares of all values, in squared grid steps.

        >>> Counts((1, 5), (2, 3)).squares
        77
        """
        values, counts = self.arrays()
        if values.dtype == np.int64 and len(values) and max(-int(values[0]), int(values[-1])) < 2**57:
            upper, lower = values >> 27, values & (2**27 - 1)  # of a product neither has more than 60 bits
            parts = ((upper * upper, 54), (2 * upper * lower, 27), (lower * lower, 0))
            return sum(weighted(part, counts) << bits for part, bits in parts)
        return sum(v * v * k for v, k in zip(values.tolist(), counts.tolist(), strict=True))

    def negated(self) -> Counts:
        """The counts of the values times -1.

        >>> [column.tolist() for column in Counts((1, 5), (2, 3)).negated().arrays()]
        [[-5, -1], [3, 2]]
        """
        values, counts = self.arrays()
        least = int(values[0]) if len(values) else 0
        return Counts(-exactly(values, abs(least))[::-1], counts[::-1], self.grid)


Data: TypeAlias = Counts | Sequence[Exact] | npt.NDArray[Any]
"""Value counts, a list of exact numbers, or an array of integers; in any order, NULLs left out."""


def _whole(numbers: Sequence[int] | Whole) -> Whole:
    """The numbers as an array, of int64 where they fit."""
    if isinstance(numbers, np.ndarray):
        return numbers
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError:
        return np.array(numbers, dtype=object)


class RankedSums:
    """Sums of the smallest values, of any number of them.

    >>> sums = RankedSums(Counts((1, 5), (2, 3)))
    >>> [sums.upto(rank) for rank in range(6)]
    [0, 1, 2, 7, 12, 17]
    """

    __slots__ = ("_listed", "_ranks", "_sums", "_values")

    def __init__(self, counts: Counts) -> None:
        """Add up once."""
        self._values, occur = counts.arrays()
        ends = self._values[:1].tolist() + self._values[-1:].tolist()
        values = exactly(self._values, max(map(abs, ends), default=0) * counts.count)
        self._ranks = np.concatenate(([0], np.cumsum(occur)))
        self._sums = np.concatenate((values[:0], [0], np.cumsum(values * occur)))
        few = int(self._ranks[-1]) <= MOST_DIFFERENT
        listed: list[int] = np.repeat(values, occur).tolist() if few else []
        self._listed = list(accumulate(listed, initial=0)) if few else None

    def upto(self, rank: int) -> int:
        """Sum of so many smallest values, in grid steps."""
        if self._listed is not None:
            return self._listed[rank]
        i = int(self._ranks.searchsorted(rank, side="right")) - 1
        over = rank - int(self._ranks[i])
        return int(self._sums[i]) + (over * int(self._values[i]) if over else 0)

    def value(self, rank: int) -> int:
        """The value of a rank, 0 for the smallest, in grid steps."""
        return int(self._values[int(self._ranks.searchsorted(rank, side="right")) - 1])
