"""Distances from a table, or along the shortest paths of a graph: for up to `MOST` values.

Tests: tests/unit/mechanisms/metric/distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric.distances.base import Lines, MetricError, Pairs
from dpsql.mechanisms.metric.distances.exact import in_common_unit
from dpsql.mechanisms.metric.distances.slopes import slope_of_pairs

__all__ = ["Edge", "Table"]

Edge = tuple[int, int, Fraction]
"""Two values, and how far apart they are at most."""

MOST = 1000  # Values of one attribute. It is a choice: the checks take a time that grows with their cube.
NO_PATH = np.int64(2**61)  # A length above all others, in the common unit: twice it is still within int64.


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Any metric on a few values, by its table.

    Theorem. Pairs without a value in between are enough for every slope: where d(u, w) + d(w, v) = d(u, v) the pairs
    (u, w) and (w, v) imply (u, v), and both are shorter.

    Attributes:
        steps: (size, size) integers: distances in units; symmetric, 0 on the diagonal only, the triangle inequality.
        unit: > 0.
    """

    steps: npt.NDArray[np.int64]
    unit: Fraction

    @classmethod
    def of(cls, rows: Sequence[Sequence[Fraction]]) -> Self:
        """From the whole table.

        Raises:
            MetricError: If it is no metric; names values that show it.

        >>> Table.of([[0, 1, 3], [1, 0, 1], [3, 1, 0]])  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
            ...
        MetricError: value 0 and value 2 are 3 apart, but only 2 by way of value 1; ...
        """
        size = len(rows)
        _few(size)
        if any(len(row) != size for row in rows):
            raise MetricError(f"the table has {size} rows, and not {size} distances in each.")
        steps, unit = in_common_unit([Fraction(cell) for row in rows for cell in row])
        found = cls(steps.reshape(size, size), unit)
        found._check()
        return found

    @classmethod
    def of_graph(cls, size: int, edges: Iterable[Edge]) -> Self:
        """From shortest paths: every pair is as far apart as its cheapest way along edges.

        Raises:
            MetricError: If an edge is not above 0, or there is no way between two values.

        >>> Table.of_graph(3, [(0, 1, Fraction(1)), (1, 2, Fraction(1)), (0, 2, Fraction(3))]).distance(0, 2)
        Fraction(2, 1)
        """
        _few(size)
        edges = list(edges)
        for one, other, length in edges:
            if length <= 0:
                raise MetricError(f"the edge between {{0}} and {{1}} is {length}; write one above 0.", one, other)
        lengths, unit = in_common_unit([length for _, _, length in edges])
        direct = np.full((size, size), NO_PATH, dtype=np.int64)
        np.fill_diagonal(direct, 0)
        for (one, other, _), length in zip(edges, lengths, strict=True):
            direct[one, other] = direct[other, one] = min(direct[one, other], length)
        steps = _closed(direct)
        if np.any(steps >= NO_PATH):
            one, other = np.argwhere(steps >= NO_PATH)[0]
            text = "there is no way from {0} to {1}: nothing would protect them from each other. Join them by an edge."
            raise MetricError(text, int(one), int(other))
        return cls(steps, unit)

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.steps)

    def distance(self, one: int, other: int) -> Fraction:
        """The table's."""
        return int(self.steps[one, other]) * self.unit

    def diameter(self) -> Fraction:
        """The largest of the table."""
        return int(self.steps.max()) * self.unit

    def slope(self, lines: Lines) -> Fraction:
        """The steepest over `pairs`, exactly, with groups too."""
        return slope_of_pairs(lines, self.pairs())

    def pairs(self) -> Pairs:
        """The pairs without a value in between: the edges of a graph, unless there is a way around."""
        return _essential(self)

    def branches(self) -> None:
        """It is no tree."""

    def among(self, values: Sequence[int]) -> Table:
        """The same distances between some of the values only: those of a tree's leaves, say."""
        chosen = np.asarray(values, dtype=np.int64)
        return Table(self.steps[np.ix_(chosen, chosen)], self.unit)

    def _check(self) -> None:
        """Refuse what is no metric."""
        steps = self.steps
        for one, other in np.argwhere(steps != steps.T)[:1].tolist():
            there, back = self.distance(one, other), self.distance(other, one)
            raise MetricError(f"{{0}} is {there} from {{1}}, but {back} the other way; write one distance.", one, other)
        for one in np.flatnonzero(steps.diagonal())[:1].tolist():
            raise MetricError(f"{{0}} is {self.distance(one, one)} from itself; write 0.", one)
        for one, other in np.argwhere((steps <= 0) & ~np.eye(self.size, dtype=bool))[:1].tolist():
            text = f"{{0}} and {{1}} are {self.distance(one, other)} apart; write a distance above 0, or make them one."
            raise MetricError(text, one, other)
        for by in range(self.size):
            shorter = steps[:, by, None] + steps[None, by, :]
            for one, other in np.argwhere(shorter < steps)[:1].tolist():
                raise MetricError(
                    f"{{0}} and {{1}} are {self.distance(one, other)} apart, but only "
                    f"{int(shorter[one, other]) * self.unit} by way of {{2}}; write that, or longer ways.",
                    one,
                    other,
                    by,
                )


@lru_cache(maxsize=64)  # a table is compared by identity: it is the same for a policy's life
def _essential(table: Table) -> Pairs:
    """The pairs without a value in between."""
    steps = table.steps
    enough = np.triu(np.ones(steps.shape, dtype=bool), 1)
    for between in range(table.size):
        around = steps[:, between, None] + steps[None, between, :] == steps
        around[between, :] = around[:, between] = False
        enough &= ~around
    one, other = (ends.astype(np.int64) for ends in np.nonzero(enough))
    return Pairs(one, other, steps[one, other], table.unit)


def _few(size: int) -> None:
    """Refuse what would take minutes to check."""
    if size > MOST:
        raise MetricError(f"{size} values are too many for a table or graph; {MOST} are the most.")


def _closed(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """All shortest paths (Floyd, Warshall)."""
    closed = steps.copy()
    for by in range(len(closed)):
        np.minimum(closed, closed[:, by, None] + closed[None, by, :], out=closed)
    return closed
