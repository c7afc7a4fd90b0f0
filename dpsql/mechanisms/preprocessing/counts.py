"""Value counts: how often each value occurs, on an integer grid. All that a symmetric statistic depends on."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise, repeat
from operator import mul
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.preprocessing.exact import Exact, exact_all

__all__ = ["Counts", "Data", "RankedSums"]


@dataclass(frozen=True, slots=True)
class Counts:
    """A multiset of numbers: value ``values[i] * grid`` occurs ``counts[i]`` times.

    Attributes:
        values: Whole steps of the grid, ascending, each once.
        counts: How often each occurs, at least once.
        grid: One step, in the column's unit, > 0.

    Raises:
        ValueError: If values do not ascend, or counts or grid are not positive.

    >>> Counts((1, 5), (2, 1))
    Counts(values=(1, 5), counts=(2, 1), grid=Fraction(1, 1))
    """

    values: Sequence[int]
    counts: Sequence[int]
    grid: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse what would be counted wrong."""
        if len(self.values) != len(self.counts):
            raise ValueError(
                f"{len(self.values)} values have {len(self.counts)} counts; give one count for each value."
            )
        if any(before >= after for before, after in pairwise(self.values)):
            raise ValueError("the values of the counts do not ascend; sort them, and add up the counts of equal ones.")
        if self.counts and min(self.counts) < 1:
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
            return cls(tuple(values.tolist()), tuple(counts.tolist()))
        tally = Counter(data)
        numbers = exact_all(tally, "a value")
        steps = math.lcm(*(number.denominator for number in numbers))
        whole = (number.numerator * (steps // number.denominator) for number in numbers)
        pairs = sorted(zip(whole, tally.values(), strict=True))
        return cls(tuple(value for value, _ in pairs), tuple(count for _, count in pairs), Fraction(1, steps))

    @property
    def count(self) -> int:
        """Number of values, n."""
        return sum(self.counts)

    @property
    def total(self) -> int:
        """Sum of all values, in grid steps."""
        return sum(map(mul, self.values, self.counts))

    def smallest(self, size: int) -> list[int]:
        """The smallest values, as many as asked for if there are so many, ascending, in grid steps.

        >>> Counts((1, 5), (2, 3)).smallest(3)
        [1, 1, 5]
        """
        return _first(self.values, self.counts, size)

    def largest(self, size: int) -> list[int]:
        """The largest values, as many as asked for if there are so many, descending, in grid steps."""
        return _first(self.values[::-1], self.counts[::-1], size)

    def negated(self) -> Counts:
        """The counts of the values times -1.

        >>> Counts((1, 5), (2, 3)).negated().largest(3)
        [-1, -1, -5]
        """
        return Counts(tuple(-value for value in reversed(self.values)), tuple(reversed(self.counts)), self.grid)


Data: TypeAlias = Counts | Sequence[Exact] | npt.NDArray[Any]
"""Value counts, a list of exact numbers, or an array of integers; in any order, NULLs left out."""


def _first(values: Sequence[int], counts: Sequence[int], size: int) -> list[int]:
    """So many values from the front, each as often as it counts."""
    found: list[int] = []
    for value, count in zip(values, counts, strict=True):
        if len(found) >= size:
            break
        found.extend(repeat(value, min(count, size - len(found))))
    return found


class RankedSums:
    """Sums of the smallest values, of any number of them.

    >>> sums = RankedSums(Counts((1, 5), (2, 3)))
    >>> [sums.upto(rank) for rank in range(6)]
    [0, 1, 2, 7, 12, 17]
    """

    __slots__ = ("_ranks", "_sums", "_values")

    def __init__(self, counts: Counts) -> None:
        """Add up once."""
        self._values = counts.values
        self._ranks = list(accumulate(counts.counts, initial=0))
        self._sums: list[int] = list(accumulate(map(mul, counts.values, counts.counts), initial=0))

    def upto(self, rank: int) -> int:
        """Sum of so many smallest values, in grid steps."""
        i = bisect_right(self._ranks, rank) - 1
        over = rank - self._ranks[i]
        return self._sums[i] + (over * self._values[i] if over else 0)
