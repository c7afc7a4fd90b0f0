"""How much of a table the questions of a workload sum: what expected and largest errors are foretold from.

All of it follows from names and public lists of values.

Tests: tests/unit/mechanisms/releases/test_foretold.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.mechanisms.releases.ranges import evenly_spread
from dpsql.mechanisms.releases.workload import Wanted

__all__ = ["boxes_asked", "cell_shares", "codes_asked", "extent", "one_column"]

WIDE = 1000
"""Tables of columns of a workload that an expected error is averaged over at most, the first ones. It is a choice."""
TURN = 7  # By how many places the list of ranges is turned for each further axis of a rectangle. It is a choice.


def one_column(asked: Wanted) -> list[tuple[int, int]]:
    """Questions of a single column as ranges of its cells, first and one past the last."""
    cells = asked.cells
    found = []
    for part in asked.workload:
        places = [i * cells // 24 for i in range(min(24, cells))]
        found += evenly_spread(cells) if part.kind == "ranges" else [(at, at + 1) for at in places]
    return found


def cell_shares(asked: Wanted) -> list[float]:
    """Which share of all cells the workload's questions sum."""
    found: list[float] = []
    for part in asked.workload:
        if part.kind == "halfspaces":
            found.append(0.5)
        elif part.kind == "rectangles":
            sizes = [asked.sizes[c] for c in part.columns]
            found += [m / math.prod(sizes) for m in boxes_asked(sizes)]
        elif part.kind == "ranges":
            found += [m / asked.sizes[c] for c in part.columns for m in codes_asked(asked.sizes[c], "ranges")]
        else:
            tables = [own for own, _ in zip(part.tables(), range(WIDE), strict=False)]
            found += [1 / math.prod(asked.sizes[c] for c in own) for own in tables]
    return found


def codes_asked(size: int, kind: str) -> Sequence[int]:
    """How many codes of a column of that size its questions sum."""
    return [1] if kind == "marginals" else [stop - start for start, stop in evenly_spread(size)]


def boxes_asked(sizes: Sequence[int]) -> list[int]:
    """How many cells of a grid of those sides a fixed list of rectangles sums, of many places and lengths."""
    sides = [[stop - start for start, stop in evenly_spread(size)] for size in sizes]
    turned = [own[TURN * axis :] + own[: TURN * axis] for axis, own in enumerate(sides)]
    return [math.prod(own) for own in zip(*turned, strict=True)]


def extent(asked: Wanted) -> tuple[int, int]:
    """How many questions there are, all ranges counted, and the most cells that one of them sums."""
    number, most = 0, 1
    for part in asked.workload:
        if part.kind == "ranges":
            number += sum(asked.sizes[c] * (asked.sizes[c] + 1) // 2 for c in part.columns)
            most = asked.cells
        elif part.kind == "rectangles":
            number += math.prod(asked.sizes[c] * (asked.sizes[c] + 1) // 2 for c in part.columns)
            most = asked.cells
        elif part.kind == "halfspaces":
            # Half spaces through the origin have the VC dimension d: so many sets of points, or fewer (Sauer 1972).
            sets = sum(math.comb(asked.cells, i) for i in range(len(part.columns) + 1))
            number, most = number + sets, asked.cells
        else:
            for own in part.tables():
                table = math.prod(asked.sizes[c] for c in own)
                number, most = number + table, max(most, asked.cells // table)
    return number, most
