"""Noised numbers made whole, non-negative and of a given total, several rows of them at once.

Theorem. The nearest point to v in R^k, in L2, among x >= 0 with sum x = t is x_j = max(0, v_j - c), c being the one
number that makes the sum t. With v in falling order, c = (v_1 + ... + v_m - t) / m for the largest m with
v_m > (v_1 + ... + v_m - t) / m.

Proof. The Lagrange conditions of a strictly convex problem: x_j = v_j - c where that is positive, else 0.  QED

The fractions are then rounded so that the total stays: down, and one more for each of the largest remainders, the first
of ties. No number moves by 1 or more.

**From the root down** (`shared_down`). To project all cells at once takes as much from each of them: what noise adds to
many empty cells is then missing where the rows are, and whole ranges are off. So ordered cells are made whole along a
tree of their sums: each node's rows are shared out among its children. Ranges of many cells keep the sums that they
had before, nearly. All of this is post-processing of released numbers.

Source: Held, Wolfe, Crowder 1974; Duchi, Shalev-Shwartz, Singer, Chandra 2008, Figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["NOTHING", "Floats", "Whole", "nearest", "shared_down", "shared_out", "sums"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[Any]
"""Integers: int64 where every one lies strictly within +-2^62, otherwise objects (Python ints)."""

NOTHING = -1e15  # In rows: a cell that only fills up a tree is so unlikely that it gets none. It is a choice.


def sums(cells: Whole, branching: int) -> list[Whole]:
    """The sums of all nodes of a tree over the cells, level by level from the root; it is filled up with empty cells.

    >>> [level.tolist() for level in sums(np.array([1, 2, 3]), 2)]
    [[6], [3, 3], [1, 2, 3, 0]]
    """
    height = 1
    while branching**height < len(cells):
        height += 1
    levels = [np.concatenate([cells, np.zeros(branching**height - len(cells), dtype=cells.dtype)])]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, branching).sum(axis=1))
    return levels[::-1]


def shared_down(levels: Sequence[Floats], total: int, cells: int) -> npt.NDArray[np.int64]:
    """The whole, non-negative numbers of the cells, each node's shared out among its children from the root down.

    Args:
        levels: Numbers of all nodes, level by level from the root, as `sums` orders them.
        total: Of the rows, >= 0; the root's own number is not read.
        cells: How many leaves there are; those beyond them only fill up the tree.

    Returns:
        (cells,) int64 >= 0 with that total.
    """
    rows = np.array([total], dtype=np.int64)
    for level in levels[1:]:
        values = np.array(level, dtype=np.float64)
        values[-(-cells * len(level) // len(levels[-1])) :] = NOTHING
        rows = shared_out(values.reshape(len(rows), -1), rows).ravel()
    return rows[:cells]


def nearest(values: Floats, totals: Floats) -> Floats:
    """The non-negative numbers of those totals nearest to the values, row by row.

    Args:
        values: (rows, k) finite numbers, k >= 1; `NOTHING` beside others gets nothing.
        totals: (rows,) >= 0.
    """
    k, wanted = values.shape[1], totals[:, None]
    falling = -np.sort(-values, axis=1)
    over = (np.cumsum(falling, axis=1) - wanted) / np.arange(1, k + 1)
    last = np.maximum((falling > over).sum(axis=1), 1) - 1
    exact = np.maximum(values - np.take_along_axis(over, last[:, None], axis=1), 0)
    exact *= wanted / np.maximum(exact.sum(axis=1, keepdims=True), 1e-300)  # what float64 left of the total
    return exact


def shared_out(values: Floats, totals: Whole) -> npt.NDArray[np.int64]:
    """The whole, non-negative numbers of those totals nearest to the values, row by row.

    Args:
        values: (rows, k) finite numbers, k >= 1.
        totals: (rows,) integers >= 0, below 2^52.

    Returns:
        (rows, k) int64 >= 0, each row with its total.

    >>> shared_out(np.array([[5.0, -2.0, 3.0]]), np.array([10])).tolist()
    [[6, 0, 4]]
    """
    k = values.shape[1]
    if k == 1:
        return np.asarray(totals, dtype=np.int64)[:, None]
    exact = nearest(values, totals.astype(np.float64))
    low = np.floor(exact).astype(np.int64)
    missing = totals.astype(np.int64) - low.sum(axis=1)
    order = np.argsort(low - exact, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(k), order.shape), axis=1)
    low += rank < missing[:, None]
    # Rounding may have left a floor one too high: take it from the largest, so that every total is exact.
    low[np.arange(len(low)), low.argmax(axis=1)] += np.asarray(totals, dtype=np.int64) - low.sum(axis=1)
    return low
