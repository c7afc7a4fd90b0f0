"""Rows added up by group, of each unit's first rows or groups or with its totals clamped, as they come unit by unit.

A unit's first rows are those of the least ranks, and its first groups those of its first rows, as `engine.ranked` has
them in SQL.

Theorem. Which rows and groups of a unit stay follows from its own rows alone.

Proof. A piece has all rows of its units, and they rise by (unit, rank) or there is no answer. So the row that stands k
places before a row is of the same unit if and only if k rows of the unit have lesser ranks. Of a unit's rows in a group
the one that stands first has the least rank; the places of two groups' first rows in the piece are in the order of
these ranks; and the ``most`` least of a unit's places belong to its ``most`` groups of least ranks.  QED

Tests: tests/unit/worker/test_cutting.py, tests/unit/engine/test_streamed.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker.lying import HALF, Adds, Piece, pieces, split

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["Clamps", "cut"]

SAFE = 1 << 62  # Sums of whole numbers below this are exact in 64 bits.
Clamps = Sequence[tuple[int, int] | None]
"""For each of what is added up where a unit's total in a group is clamped to; the ends have 0 between them."""


def cut(
    stream: Any, names: Sequence[str], places: Sequence[int], firsts: tuple[int, int], adds: Adds, clamps: Clamps
) -> Any:
    """Rows of units, unit by unit, as what they add up to in each group.

    Args:
        stream: See `lying.pieces`, with ranks where rows or groups are cut.
        names: Of the keys and of what is added up.
        places: How many places each key has.
        firsts: How many rows of each unit count, and how many groups of these; 0 for all.
        adds: What is added up; ``units``, too. No unit has more than 2^53 in all, as magnitudes of its rows.
        clamps: Of each of them; then 128 bits come, as of sums.

    Returns:
        An Arrow array of each group where a row counts, and of the one group where there are no keys: the keys' places,
        and what is added up.

    Raises:
        ValueError: As `lying.pieces`.
    """
    rows, groups = firsts
    found = _Groups(places, groups, list(zip(adds, clamps, strict=True)))
    for piece in pieces(stream, places, ranked=any(firsts)):
        for part in (piece.first(rows) if rows else piece).parts():
            found.take(part)
    return _table(names, places, found)


class _Groups:
    """What is added up, by group."""

    def __init__(
        self, places: Sequence[int], most: int, kinds: Sequence[tuple[tuple[str, int], tuple[int, int] | None]]
    ) -> None:
        import numpy as np

        self._many, self._most, self.kinds = math.prod(places), most, kinds
        self._digits = (self._many - 1).bit_length()
        self.rows, *self.sums = np.zeros((1 + len(kinds), 2, self._many), dtype=np.int64)

    def take(self, piece: Piece) -> None:
        """Adds up some units."""
        import numpy as np

        codes, units = piece.coded(self._digits)
        shape = units, 1 << self._digits
        rows = np.bincount(codes, minlength=math.prod(shape)).reshape(shape)
        counts = self._first(codes, shape) if self._most else None
        self._put(self.rows, rows, counts)
        for own, ((function, at), clamp) in zip(self.sums, self.kinds, strict=True):
            weights = piece.weights(function, at)
            totals: Whole
            if function == "units":
                totals = rows > 0
            elif weights is None:
                totals = rows
            else:  # a float adds up a unit's rows exactly
                totals = np.bincount(codes, weights, rows.size).reshape(shape).astype(np.int64)
            self._put(own, totals if clamp is None else np.clip(totals, *clamp), counts)

    @staticmethod
    def _put(sums: Whole, totals: Whole, counts: Whole | None) -> None:
        """Adds (units, groups) of totals to the sums of groups, where they count."""
        import numpy as np

        kept = (totals if counts is None else np.where(counts, totals, 0)).astype(np.int64, copy=False)
        if max(-int(kept.min()), int(kept.max())) * len(kept) < SAFE:
            upper, lower = split(kept.sum(axis=0))
        else:
            upper, lower = (part.sum(axis=0) for part in split(kept))
        many = sums.shape[1]
        more, below = split(sums[1] + lower[:many])
        sums[0] += upper[:many] + more
        sums[1] = below

    def _first(self, codes: Whole, shape: tuple[int, int]) -> Whole:
        """(units, groups) whether a group is among the first of a unit."""
        import numpy as np

        rows = len(codes)
        first = np.full(shape, rows, dtype=np.int32)
        first.reshape(-1)[codes[::-1]] = np.arange(rows - 1, -1, -1, dtype=np.int32)  # the last one to be written stays
        if self._most >= shape[1]:
            return first < rows
        last = np.partition(first, self._most - 1, axis=1)[:, self._most - 1 : self._most]
        return (first <= last) & (first < rows)


def _table(names: Sequence[str], places: Sequence[int], found: _Groups) -> Any:
    import numpy as np

    groups = np.flatnonzero(found.rows.any(axis=0)) if places else np.zeros(1, dtype=np.int64)
    left, keys = groups, list[Any]()
    for many in reversed(places):
        left, place = np.divmod(left, many)
        keys.insert(0, place)
    columns, types = [*keys], [nanoarrow.int64()] * len(keys)
    for (upper, lower), ((function, _), clamp) in zip(found.sums, found.kinds, strict=True):
        whole = (upper << HALF | lower)[groups]
        wide = function == "sum" or clamp is not None
        columns.append(np.stack([whole, upper[groups] >> HALF], axis=1).reshape(-1) if wide else whole)
        types.append(nanoarrow.decimal128(38, 0) if wide else nanoarrow.int64())
    children = [
        nanoarrow.c_array_from_buffers(kind, length=len(groups), buffers=[None, np.ascontiguousarray(column)])
        for kind, column in zip(types, columns, strict=True)
    ]
    schema = nanoarrow.struct(dict(zip(names, types, strict=True)))
    return nanoarrow.c_array_from_buffers(schema, length=len(groups), buffers=[None], children=children)
