"""What a metric on the values of one attribute offers, and how a query looks to it.

An attribute's values are numbered 0 ... size - 1. A metric d says how well two of them are protected from each other:
whoever sees the answer tells u from v with odds of at most exp(d(u, v)). All distances are finite and above 0.

A query gives each cell of the domain (one value for each attribute) a whole number q: what a row there adds to the
answer. Replacing a row in cell i by one in cell j moves the answer by |q_i - q_j|. With GROUP BY a row adds its number
to one of several answers; a move between two groups moves the vector of answers by |q_i| + |q_j| in L1.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["MANY_PAIRS", "Branches", "Integers", "Lines", "Metric", "MetricError", "Pairs", "check_whole"]

Integers = npt.NDArray[Any]
"""Exact integers: int64, or objects (Python ints) where they are larger."""

LARGEST_INT64 = 2**61  # As a whole number of a query in int64: sums and differences of two are exact.
MANY_PAIRS = 1 << 20
"""How many pairs of values of one attribute are looked at one by one. A guess."""


class MetricError(ValueError):
    """A metric that cannot be: says which values are to blame, and what to write instead.

    Args:
        text: With {0}, {1}, {2} where the values go.
        values: Their numbers.

    >>> MetricError("{0} and {1} are too close.", 4, 7).named("ABCDEFGH")
    'E and H are too close.'
    """

    def __init__(self, text: str, *values: int) -> None:
        self.text, self.values = text, values
        super().__init__(text.format(*(f"value {value}" for value in values)))

    def named(self, names: Sequence[object]) -> str:
        """The message with the values' own names."""
        return self.text.format(*(names[value] for value in self.values))


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of values that are enough: a bound on all of them is a bound on every pair.

    Attributes:
        one: (n,) number of one value of each pair.
        other: (n,) number of the other.
        distance: (n,) integers > 0: their distance in units. Roots are rounded down.
        unit: > 0.
    """

    one: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    distance: npt.NDArray[np.int64]
    unit: Fraction

    @classmethod
    def all_of(cls, size: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The two ends of all size (size - 1) / 2 pairs."""
        one, other = np.triu_indices(size, 1)
        return one.astype(np.int64), other.astype(np.int64)

    def joined(self, more: Pairs) -> Pairs:
        """These and more, in a common unit; rounded down where that would be too fine for int64."""
        units = self.unit, more.unit
        below = math.lcm(*(unit.denominator for unit in units))
        exact = Fraction(math.gcd(*(unit.numerator * (below // unit.denominator) for unit in units)), below)
        longest = max(int(part.distance.max()) * part.unit for part in (self, more))
        unit = max(exact, longest / 2**60)
        return Pairs(
            np.concatenate([self.one, more.one]),
            np.concatenate([self.other, more.other]),
            np.concatenate([part.distance.astype(object) * part.unit // unit for part in (self, more)]).astype(
                np.int64
            ),
            unit,
        )

    def __len__(self) -> int:
        return len(self.one)


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """Values as nodes of a tree whose branches' lengths make the distances. Those nearer the root come first.

    Attributes:
        root: The value at the root; None where the root is no value.
        parents: (n,) the value that each branch hangs from, -1 for a root that is no value.
        children: (n,) the value at its end.
        lengths: (n,) integers > 0, in units.
        unit: > 0.
    """

    root: int | None
    parents: npt.NDArray[np.int64]
    children: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    unit: Fraction

    def rises(self, queries: Integers) -> Integers:
        """(K, n): by how much each of (K, size) queries rises along each branch; a root that is no value has 0."""
        starts = np.where(self.parents >= 0, queries[:, self.parents], 0)
        return np.asarray(queries[:, self.children] - starts)

    def at_root(self, queries: Integers) -> Integers:
        """(K,): what a row at the root adds to each query."""
        return queries[:, self.root] if self.root is not None else np.zeros(len(queries), dtype=np.int64)

    @property
    def in_line(self) -> bool:
        """Whether the values lie on one line, as those of a chain do: no more than two branches meet anywhere."""
        return max(Counter([*self.parents.tolist(), *self.children.tolist()]).values(), default=0) <= 2

    def reach(self) -> Fraction:
        """The longest way from the root."""
        ways: dict[int, int] = {}
        for parent, child, length in zip(
            self.parents.tolist(), self.children.tolist(), self.lengths.tolist(), strict=True
        ):
            ways[child] = ways.get(parent, 0) + length
        return max(ways.values(), default=0) * self.unit


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A query along one attribute: a line for each choice of the others' values.

    Attributes:
        values: (n, m) integers: what a row adds to its answer.
        groups: (n, m) integers: which answer that is; None where there is one.
    """

    values: Integers
    groups: Integers | None = None

    def __post_init__(self) -> None:
        check_whole(self.values)

    def cost(self, one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> Integers:
        """(n, len(one)) integers: how far replacing a row at one value by one at the other moves the answers, in L1."""
        a, b = self.values[:, one], self.values[:, other]
        apart = np.abs(a - b)
        if self.groups is None:
            return np.asarray(apart)
        together = self.groups[:, one] == self.groups[:, other]
        return np.where(together, apart, np.abs(a) + np.abs(b))

    def split(self) -> tuple[Lines | None, Lines | None]:
        """The lines that stay within one group (as lines without groups), and those that do not."""
        if self.groups is None:
            return self, None
        within = np.all(self.groups == self.groups[:, :1], axis=1)
        inside, across = self.values[within], self.values[~within]
        return (Lines(inside) if len(inside) else None, Lines(across, self.groups[~within]) if len(across) else None)


def check_whole(values: Integers) -> None:
    """Refuse numbers whose differences may not be exact: floats, short integers, and int64 near its ends.

    Raises:
        ValueError: If they are so.
    """
    if values.dtype != np.int64 and values.dtype != object:
        raise ValueError(f"a query's numbers are {values.dtype}; write int64, or Python integers (object).")
    if values.dtype == np.int64 and values.size and max(-int(values.min()), int(values.max())) > LARGEST_INT64:
        raise ValueError(f"a query's numbers are beyond {LARGEST_INT64}; write Python integers (object).")


class Metric(Protocol):
    """Distances between the values of one attribute."""

    @property
    def size(self) -> int:
        """How many values there are, >= 1."""

    def distance(self, one: int, other: int) -> Fraction:
        """d(one, other): exact where it is rational, roots rounded down by less than 2^-59 of themselves."""

    def diameter(self) -> Fraction:
        """The largest distance, roots rounded up: any two values are protected at least so well in plain epsilon."""

    def slope(self, lines: Lines) -> Fraction:
        """The least L with cost(u, v) <= L d(u, v) for all values u, v on all lines, or a number above it.

        Exact for queries without groups and rational distances.
        """

    def pairs(self) -> Pairs | None:
        """Pairs that are enough to find every slope, of several queries together too; None if they are too many."""

    def branches(self) -> Branches | None:
        """The tree whose ways the distances are; None if there is none."""
