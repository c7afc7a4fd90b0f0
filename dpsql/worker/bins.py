"""What units have, added up by group, and within it by the bin of each unit's size.

Tests: tests/unit/worker/test_sizing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpsql.worker.lying import HALF, Piece, split
from dpsql.worker.ordered import starts

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["Binned", "Plain"]

TABLED = 1 << 12
"""Sizes below this have their bins in a table. It is a choice: numbers of rows do, and 32 KiB stay close."""
EXACT = 1 << 53  # Whole numbers up to this are exact in 64-bit floats, and no total is larger.
ROOM = 1 << 62  # A lower half that is no larger, and what it has left from before, are exact in 64 bits.
HEAD = 48
"""Binary digits that are cut from a 64-bit float: what is left are its exponent and 4 digits, which rise with it. It is
a choice: between two such heads lies a sixteenth of a number at most, and edges lie farther apart."""


class Plain:
    """Totals of one kind, added up by group as they are: neither clamped nor in bins."""

    def __init__(self, groups: int, bins: int = 1) -> None:
        import numpy as np

        self.bins = bins
        self.units, self.signs, self._upper, self._lower = np.zeros((4, groups * bins), dtype=np.int64)
        self._reach = 0  # No lower half has a magnitude above it.

    def add(self, units: Whole, groups: Whole, totals: Whole, first: Whole, spans: Whole) -> None:
        """Takes in all totals of some units, unit by unit: where each begins, and how many it has."""
        self._put(groups, totals, EXACT)

    def add_alone(self, totals: Whole) -> None:
        """Takes in the totals of some units that have one each, where there are no groups."""
        upper, lower = split(totals)
        self._carry()
        self._upper += upper.sum()
        self._lower += lower.sum()
        self._carry()

    def takes(self, weights: Whole | None, sizes: Whole) -> bool:
        """Whether rows may be added up that add so much, 1 each for None, to the sizes of some units."""
        return True

    def add_rows(self, groups: Whole, weights: Whole | None, sizes: Whole, piece: Piece) -> None:
        """Takes in the rows of a piece that it takes."""
        self._put_rows(groups, weights)

    def _put_rows(self, cells: Whole, weights: Whole | None) -> None:
        if weights is None:
            self._lowered(cells, 1, len(cells))
        else:
            self._put(cells, weights, max(-int(weights.min()), int(weights.max())))

    def _put(self, cells: Whole, totals: Whole, most: int) -> None:
        """Adds up totals by cell; none exceeds ``most`` as a magnitude."""
        import numpy as np

        whole = totals.astype(np.int64, copy=False)
        if most * len(totals) <= ROOM:
            self._lowered(cells, whole, most * len(totals))
        else:
            upper, lower = split(whole)
            np.add.at(self._upper, cells, upper)
            self._lowered(cells, lower, len(totals) << HALF)

    def _lowered(self, cells: Whole, totals: Whole | int, reach: int) -> None:
        """Adds to the lower halves; all that is added has this magnitude at most, and that is no more than `ROOM`."""
        import numpy as np

        if self._reach + reach > ROOM:
            self._carry()
        np.add.at(self._lower, cells, totals)
        self._reach += reach

    def _carry(self) -> None:
        more, self._lower = split(self._lower)
        self._upper += more
        self._reach = 1 << HALF

    def cells(self) -> Whole:
        """The cells where anything is, in order."""
        import numpy as np

        self._carry()
        return np.flatnonzero(self.units | self.signs | self._upper | self._lower)

    def wide(self, cells: Whole) -> Whole:
        """(2 * cells,) the sums of the totals of some cells: the lower 64 bits of each, then its upper ones."""
        import numpy as np

        self._carry()
        upper, lower = self._upper[cells], self._lower[cells]
        return np.stack([upper << HALF | lower, upper >> HALF], axis=1).reshape(-1)


class Binned(Plain):
    """Totals of one kind, added up by cell: a group, and within it a bin."""

    def __init__(self, low: int, high: int, edges: Sequence[int], groups: int) -> None:
        import numpy as np

        super().__init__(groups, len(edges) + 1)
        self._low, self._high, self._edges = low, high, np.array(edges, dtype=np.int64)
        self._table: Whole | None = None
        self._heads: tuple[int, Whole, Whole] | None = None

    def add(self, units: Whole, groups: Whole, totals: Whole, first: Whole, spans: Whole) -> None:
        """Takes in all totals of some units, unit by unit: where each begins, and how many it has."""
        import numpy as np

        totals = np.clip(totals, self._low, self._high)
        if not totals.all():
            kept = np.flatnonzero(totals)
            if not len(kept):
                return
            units, groups, totals = units[kept], groups[kept], totals[kept]
            first = starts(units)
            spans = np.diff(first, append=len(units))
        sizes = np.add.reduceat(self._sizes(totals), first, dtype=np.int64)
        cells = groups * self.bins + np.repeat(self._binned(sizes), spans)
        self._add(cells, cells[first], totals, totals[first])

    def add_alone(self, totals: Whole) -> None:
        """Takes in the totals of some units that have one each, where there are no groups."""
        import numpy as np

        totals = np.clip(totals, self._low, self._high)
        if not totals.all():
            totals = totals[np.flatnonzero(totals)]
        if len(totals):
            cells = self._binned(self._sizes(totals))
            self._add(cells, cells, totals, totals)

    def takes(self, weights: Whole | None, sizes: Whole) -> bool:
        """As above, of totals from 0 on: where no row adds less than 0, and nothing is clamped."""
        falls = weights is not None and int(weights.min()) < 0
        return not falls and int(sizes.max()) <= self._high

    def add_rows(self, groups: Whole, weights: Whole | None, sizes: Whole, piece: Piece) -> None:
        """As above; a unit is counted in the group of its first row, and nowhere where it has nothing."""
        import numpy as np

        cells = groups * self.bins + np.repeat(self._binned(np.maximum(sizes, 1)), piece.spans)
        own = cells[piece.begins[np.flatnonzero(sizes)]]
        np.add.at(self.units, own, 1)
        np.add.at(self.signs, own, 1)
        self._put_rows(cells, weights)

    def _sizes(self, totals: Whole) -> Whole:
        import numpy as np

        return totals if self._low >= 0 else np.abs(totals)

    def _binned(self, sizes: Whole) -> Whole:
        """The bin of each size, none below 1: read from tables, which takes a quarter of a search's time.

        Proof, of large ones. A float holds each size up to `EXACT`, and heads rise with sizes: those of one head are
        from its least number on, and below the next head's. All edges below its least number are below the size; where
        no head has two edges, one edge at most is left to be compared.  QED
        """
        import numpy as np

        most = int(sizes.max())
        if most < TABLED:
            if self._table is None:
                self._table = np.searchsorted(self._edges, np.arange(TABLED))
            return self._table[sizes]
        if self._heads is None:
            self._heads = _heads(self._edges)
        least, below, following = self._heads
        if not len(below) or most > EXACT:
            return np.searchsorted(self._edges, sizes)
        heads = (sizes.astype(np.float64).view(np.int64) >> HEAD) - least
        bins: Whole = below.take(heads, mode="clip")
        bins += sizes > following.take(heads, mode="clip")
        return bins

    def _add(self, cells: Whole, own: Whole, totals: Whole, firsts: Whole) -> None:
        """Adds up totals by cell, and units by the cell and the sign of their first total."""
        import numpy as np

        np.add.at(self.units, own, 1)
        np.add.at(self.signs, own, 1 if self._low >= 0 else np.sign(firsts))
        self._put(cells, totals, max(-self._low, self._high))


def _heads(edges: Whole) -> tuple[int, Whole, Whole]:
    """The least head of a size, and for each from there on, up to one behind all edges: how many edges are below all
    sizes of this head, and the next one. Nothing where some head has two edges."""
    import numpy as np

    heads = np.append(edges, 1).astype(np.float64).view(np.int64) >> HEAD
    first, last = int(heads[-1]), int(heads.max())
    begins = np.ceil((np.arange(first, last + 2) << HEAD).view(np.float64)).astype(np.int64)
    below = np.searchsorted(edges, begins)
    if bool((np.diff(below) > 1).any()):
        return first, below[:0], edges[:0]
    return first, below, np.append(edges, np.iinfo(np.int64).max)[below]
