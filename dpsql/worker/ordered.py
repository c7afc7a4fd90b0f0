"""Rows of whole numbers that come unit by unit: what they are, and which place each has within its unit.

Tests: tests/unit/worker/test_counting.py, tests/unit/worker/test_sizing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nanoarrow

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width
    Mask = npt.NDArray[np.bool_]

__all__ = ["PLACE", "UNIT", "Ranks", "numbers_of", "present_of", "values_of"]

UNIT = "u"  # The column of the number of the unit in rows that come unit by unit.
PLACE = "r0"  # The column that rises within a unit.
DISORDER = "the rows do not lie in order"


def present_of(child: Any) -> Mask | None:
    """(n,) where a column of a chunk has a value; None where it has one everywhere."""
    import numpy as np

    bits = np.frombuffer(child.buffers[0], np.uint8)
    whole, more = divmod(len(child), 8)
    if not len(bits) or (bool((bits[:whole] == 255).all()) and all(bits[whole] >> at & 1 for at in range(more))):
        return None
    return np.unpackbits(bits, bitorder="little", count=len(child)).view(np.bool_)


def numbers_of(child: Any) -> Whole:
    """(n,) of a column of whole numbers of a chunk, as wide as they come; anything where it is NULL.

    Raises:
        ValueError: If it is another.
    """
    import numpy as np

    width = {
        nanoarrow.Type.INT8: np.int8,
        nanoarrow.Type.INT16: np.int16,
        nanoarrow.Type.INT32: np.int32,
        nanoarrow.Type.INT64: np.int64,
        nanoarrow.Type.UINT64: np.uint64,
    }.get(child.schema.type)
    if width is None:
        raise ValueError("only whole numbers are read")
    return np.frombuffer(child.buffers[1], width, count=len(child))


def values_of(child: Any) -> Whole:
    """The same of a column without NULLs.

    Raises:
        ValueError: If it is another, or holds a NULL.
    """
    if present_of(child) is not None:
        raise ValueError("a NULL is not counted")
    return numbers_of(child)


class Ranks:
    """Rows told their place within their unit: the class of it, and whether it is the unit's last.

    A row's place is 1 and how many rows of its unit came before. Units must rise, and ranks within a unit: then places
    follow the ranks.

    Args:
        edges: Of the classes, rising from 1: a row is in the first whose edge its place does not exceed, else behind
            all.
    """

    def __init__(self, edges: Sequence[int]) -> None:
        import numpy as np

        most = edges[-1] if edges else 0
        self._classes = np.searchsorted(np.array(edges, dtype=np.int64), np.arange(most + 2))
        self._unit, self._rank, self._place = -1, 0, 0
        self.held: list[Whole] = []

    def told(self, values: list[Whole], units: Whole, ranks: Whole) -> list[Whole]:
        """The rows that came before, but for the last of all: what comes next tells whether its unit goes on.

        Args:
            values: Further columns of some rows, of which there is one at least.
            units: (n,) the numbers of their units.
            ranks: (n,) what rises within a unit.

        Returns:
            The further columns, the class, and 1 for a unit's last row, else 0.

        Raises:
            ValueError: If the rows do not rise by unit and rank.
        """
        import numpy as np

        falls = bool((units[1:] < units[:-1]).any()) or bool(self.held and units[0] < self._unit)
        fresh = np.append(not self.held or units[0] != self._unit, units[1:] != units[:-1])
        if falls or bool((~fresh & (np.append(self._rank, ranks[:-1]) >= ranks)).any()):
            raise ValueError(DISORDER)
        at = np.arange(len(units))
        place = at + 1 - np.maximum.accumulate(np.where(fresh, at, -self._place))
        classes = self._classes[np.minimum(place, len(self._classes) - 1)]
        self._unit, self._rank, self._place = int(units[-1]), int(ranks[-1]), int(place[-1])
        columns, marks = [*values, classes], fresh[1:]
        if self.held:
            columns, marks = [np.append(*pair) for pair in zip(self.held, columns, strict=True)], fresh
        self.held = [column[-1:] for column in columns]
        return [*(column[:-1] for column in columns), marks.astype(np.int64)]

    def last(self) -> list[Whole]:
        """The last row of all, which is its unit's last."""
        import numpy as np

        return [*self.held, np.ones(1, dtype=np.int64)]
