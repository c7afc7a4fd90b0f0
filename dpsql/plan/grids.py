"""The public grid on which sums are exact integers, and the bins in which units' totals are counted by size."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.limits import FARTHEST_STEP, UNBOUNDED_STEP, default_step
from dpsql.plan.types import Facts, Grid, Type

__all__ = ["FIRST", "Bins", "bins_of_totals", "edges_of_totals", "grid_of", "grid_of_totals", "saturating_grid"]

Bins = tuple[int, int, tuple[int, ...]]
"""The least and the largest that a total may be, in grid steps, and the edges of the bins of its magnitude, rising."""

FIRST = 256
"""Edges begin at this part of the largest value of one row, or at one step of its grid. It is a choice: further down
they would cost more to climb than such small values are worth."""


def grid_of(facts: Facts) -> Grid | None:
    """The grid of a number: its bounds in steps, rounded outward; None without bounds.

    >>> grid_of(Facts(Type.REAL, Fraction(0), Fraction(20000), step=Fraction(1, 100))).high
    2000000
    """
    if not facts.type.numeric or not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        return None
    step = facts.step or (Fraction(1) if facts.type is Type.INTEGER else default_step(facts.low, facts.high))
    low, high = math.floor(facts.low / step), math.ceil(facts.high / step)
    return Grid(step, low, high) if max(abs(low), abs(high)) <= FARTHEST_STEP else None


def saturating_grid(facts: Facts) -> Grid:
    """The grid of a number that may have no bounds: it then saturates at 2^53 steps."""
    step = facts.step or (Fraction(1) if facts.type is Type.INTEGER else UNBOUNDED_STEP)
    return grid_of(facts) or Grid(step, -FARTHEST_STEP, FARTHEST_STEP)


def grid_of_totals(one_row: Grid, rows: int) -> Grid:
    """The grid of a total of so many rows: that of one row, or a coarser one where whole numbers would not reach."""
    low, high, step = min(one_row.low, 0) * rows, max(one_row.high, 0) * rows, one_row.step
    while max(-low, high) > FARTHEST_STEP:
        low, high, step = low // 10, -(-high // 10), step * 10
    return Grid(step, low, high)


def edges_of_totals(one_row: Grid, grid: Grid, rows: int) -> tuple[int, ...]:
    """Rising edges of what a unit with so many rows may have in all: doublings, halfway between, and the most there is.

    Args:
        one_row: The grid of one row.
        grid: That of a total, in whose steps the edges are.
        rows: All rows of a unit, those outside the listed groups too.
    """
    largest = max(abs(one_row.low), abs(one_row.high)) * one_row.step
    most = largest / grid.step
    top = min(math.ceil(most * rows), FARTHEST_STEP)
    edge, edges = max(1, math.floor(most / FIRST)), set[int]()
    while edge < top:
        edges |= {edge, edge * 3 // 2}
        edge *= 2
    return (*sorted(edge for edge in edges if edge < top), top)


def bins_of_totals(one_row: Grid, rows: int) -> Bins:
    """The bins of totals of units that may have so many rows, in whatever groups.

    >>> bins_of_totals(Grid(Fraction(1), 0, 1), 5)
    (0, 5, (1, 2, 3, 4, 5))
    """
    grid = grid_of_totals(one_row, rows)
    return grid.low, grid.high, edges_of_totals(one_row, grid, rows)
