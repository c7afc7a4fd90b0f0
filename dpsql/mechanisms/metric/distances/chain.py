"""Values in a row with gaps between them: ages, dates, grades. The distance is the sum of the gaps in between.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import Branches, Lines, MetricError, Pairs
from dpsql.mechanisms.metric.distances.exact import in_whole_numbers, positive, with_unit
from dpsql.mechanisms.metric.distances.slopes import slope_of_pairs

__all__ = ["Chain"]

LONGEST = 2**61  # Of all gaps together, in their common unit, so that they stay within int64.


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """d(u, v) = sum of the gaps between u and v.

    Theorem. Neighbouring values are enough for every slope: on the way from u to v each step costs at most L times its
    gap, the gaps add up to d(u, v), and the costs of the steps to at least that of the whole move.

    Attributes:
        steps: (size - 1,) integers > 0: gaps between neighbours, in units.
        unit: > 0.

    >>> Chain.even(4, Fraction(1, 10)).distance(0, 3), Chain.of([Fraction(1), Fraction(2)]).distance(2, 0)
    (Fraction(3, 10), Fraction(3, 1))
    """

    steps: npt.NDArray[np.int64]
    unit: Fraction

    @classmethod
    def of(cls, gaps: Sequence[Fraction]) -> Self:
        """From the gaps between neighbours.

        Raises:
            MetricError: If one is not above 0.
        """
        return cls._of(*in_whole_numbers(gaps))

    @classmethod
    def even(cls, size: int, epsilon: Fraction) -> Self:
        """Of so many values, each epsilon from the next."""
        return cls(np.ones(size - 1, dtype=np.int64), positive(epsilon, "epsilon"))

    @classmethod
    def at(cls, positions: Sequence[Fraction], epsilon: Fraction) -> Self:
        """Of values at these ascending positions: epsilon |position - position|."""
        places, unit = in_whole_numbers(positions)
        return cls._of([after - before for before, after in pairwise(places)], unit * positive(epsilon, "epsilon"))

    @classmethod
    def _of(cls, gaps: Sequence[int], unit: Fraction) -> Self:
        """From the gaps in a unit."""
        for place, gap in enumerate(gaps):
            if gap <= 0:
                wrong = f"the gap between {{0}} and {{1}} is {gap * unit}; write one above 0."
                raise MetricError(wrong, place, place + 1)
        steps, shared = with_unit(gaps, unit)
        if sum(steps.tolist()) > LONGEST:
            raise MetricError("the gaps have too many digits between them; round them to fewer.")
        return cls(steps, shared)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.steps) + 1

    def distance(self, one: int, other: int) -> Fraction:
        """The gaps in between, added up."""
        return int(self.steps[min(one, other) : max(one, other)].sum()) * self.unit

    def diameter(self) -> Fraction:
        """All gaps, added up."""
        return self.distance(0, self.size - 1)

    def slope(self, lines: Lines) -> Fraction:
        """The largest difference of neighbours / their gap, exactly, with groups too."""
        return slope_of_pairs(lines, self.pairs())

    def pairs(self) -> Pairs:
        """Each value and the next."""
        here = np.arange(self.size - 1, dtype=np.int64)
        return Pairs(here, here + 1, self.steps, self.unit)

    def branches(self) -> Branches:
        """Two ways out from the value in the middle: no end is far from it."""
        places = np.concatenate([[0], np.cumsum(self.steps)])
        middle = int(np.maximum(places, places[-1] - places).argmin())
        up, down = np.arange(middle, self.size - 1), np.arange(middle, 0, -1)
        lengths = np.concatenate([self.steps[middle:], self.steps[:middle][::-1]])
        return Branches(middle, np.concatenate([up, down]), np.concatenate([up + 1, down - 1]), lengths, self.unit)

    def among(self, values: Sequence[int]) -> Chain:
        """The same distances between some of the values only, given ascending.

        A query that is constant between two of them needs no others: on 10^6 ages, `age >= 18` needs 17 and 18.
        """
        gaps = [int(self.steps[before:after].sum()) for before, after in pairwise(values)]
        return Chain(np.array(gaps, dtype=np.int64), self.unit)
