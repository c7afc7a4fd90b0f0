"""How many friends every row has: exact, from the two rows of a pair alone.

Two rows are friends if they lie within a radius. Nothing else enters the comparison: no mean of the data, no rounding
that depends on other rows. A far row, or one row more, therefore changes nobody else's friendship, which is what every
filter's proof rests on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FARTHEST", "Ball", "friends_in_line"]

Points = npt.NDArray[Any]
"""(n, d) int64, one row per privacy unit, in grid steps within +- FARTHEST."""
Whole = npt.NDArray[np.int64]

FARTHEST = 2**61  # Grid steps of a coordinate: differences of two stay within int64.
LEVELS = 2**10
"""Cells of a radius, in more than one dimension. It is a choice: squared distances of friends are then small."""
EXACT = 2**53  # As a whole number: float64 holds all up to it, so that sums below it are exact in any order.
BLOCK = 2**21
"""Pairs compared at a time: 16 MiB, and few enough products that threads need not meet often. It is a choice."""


def friends_in_line(values: Whole, rows: Whole, radius: int) -> Whole:
    """How many rows lie within ``radius`` of each value, the value's own rows among them.

    Args:
        values: (u,) int64, distinct and rising, in grid steps within +- FARTHEST.
        rows: (u,) int64, how many rows hold each.
        radius: >= 0, in grid steps, at most FARTHEST.

    Returns:
        (u,) int64, in time O(u log u).

    >>> friends_in_line(np.array([0, 3, 4, 9]), np.array([1, 2, 1, 1]), 4).tolist()
    [4, 4, 4, 1]
    """
    before = np.concatenate([[0], np.cumsum(rows)])
    upto = before[np.searchsorted(values, values + radius, side="right")]
    return np.asarray(upto - before[np.searchsorted(values, values - radius, side="left")], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Ball:
    """Two points are friends if the cells that hold them are within a Euclidean distance.

    In one dimension, and for small radii, a cell is one grid step. Otherwise it is about 1/1024 of the radius, so that
    squared distances of friends are small integers.

    Attributes:
        radius: >= 0, in grid steps, at most FARTHEST.
        dimensions: d, 1 to 2^20.
    """

    radius: int
    dimensions: int

    @property
    def cell(self) -> int:
        """Side of a cell, in grid steps."""
        return 1 if self.dimensions == 1 else max(1, -(-self.radius // LEVELS))

    @property
    def diameter(self) -> int:
        """No two friends are farther apart, in grid steps; inside its cell a point lies anywhere."""
        if self.cell == 1:
            return self.radius
        return self.radius // self.cell * self.cell + (self.cell - 1) * (math.isqrt(self.dimensions - 1) + 1)

    def friends(self, points: Points) -> Whole:
        """(n,) how many points are friends of each, itself among them; in time O(n^2 d) for d > 1."""
        if self.dimensions == 1:
            values, place, rows = np.unique(points[:, 0], return_inverse=True, return_counts=True)
            return friends_in_line(values, rows, self.radius)[place]
        reach = self.radius // self.cell
        near = np.column_stack([_closed_up(column // self.cell, reach) for column in points.T])
        if 4 * sum(int(np.abs(column).max(initial=0)) ** 2 for column in near.T) < EXACT:
            return _by_products(near.astype(np.float64), reach)
        return _by_differences(near, reach)


def _closed_up(column: Whole, reach: int) -> Whole:
    """The column with gaps wider than ``reach`` + 1 made so wide: differences up to ``reach`` stay, others stay above.

    So far rows come near enough for exact floats, and every comparison with ``reach`` has the same outcome.
    """
    values, place = np.unique(column, return_inverse=True)
    gaps = np.minimum(np.diff(values), reach + 1)
    near = np.concatenate([[0], np.cumsum(gaps)])
    return np.asarray((near - near[-1] // 2)[place], dtype=np.int64)


def _by_products(points: npt.NDArray[np.float64], reach: int) -> Whole:
    """|a - b|^2 = -2 a b + |a|^2 + |b|^2 as one product. Every partial sum is an integer below 2^53: all is exact."""
    norms, ones = (points**2).sum(axis=1), np.ones(len(points))
    left = np.column_stack([-2 * points, norms, ones])
    right = np.ascontiguousarray(np.column_stack([points, ones, norms]).T)
    counts = [np.count_nonzero(left[at] @ right <= reach**2, axis=1) for at in _blocks(len(points))]
    return np.concatenate([np.zeros(0, dtype=np.int64), *counts])


def _by_differences(points: Points, reach: int) -> Whole:
    """The same for points too wide apart for floats: differences are cut at reach + 1, which no friend reaches."""
    counts = []
    for at in _blocks(len(points)):
        squares = np.zeros((len(points[at]), len(points)), dtype=np.int64)
        for column in points.T:
            squares += np.minimum(np.abs(column[at, None] - column), reach + 1) ** 2
        counts.append(np.count_nonzero(squares <= reach**2, axis=1))
    return np.concatenate([np.zeros(0, dtype=np.int64), *counts])


def _blocks(n: int) -> list[slice]:
    """Rows compared with all rows at a time."""
    size = max(1, BLOCK // max(1, n))
    return [slice(start, start + size) for start in range(0, n, size)]
