"""Rows and distinct units of each key, by whether it is a unit's first key, its second, and so on.

A unit's first key is that of its first row, the next one that of its first row of another key: the order in which caps
of groups keep them (`whole_keys`). So what any such cap leaves is a sum of these numbers.

Theorem. The numbers of the ranks up to k are those of `whole_keys.by_key` over each unit's first k groups.

Proof. Each of a unit's keys has one rank, which all of its rows of the key have; the keys of the ranks up to k are its
first k. As a key and its rank are counted as one number, a unit counts once in each that it has.  QED

Tests: tests/unit/worker/test_group_ranks.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker.ahead import shared
from dpsql.worker.lying import Piece, pieces
from dpsql.worker.ordered import array_of, starts
from dpsql.worker.whole_keys import KeyCounts, in_rounds

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["by_group_rank"]


def by_group_rank(rows: Any, names: Sequence[str], most: int) -> Any:
    """The keys with their ranks, both rising, NULL last; None where the keys lie too far apart.

    Args:
        rows: Anything with ``__arrow_c_stream__``: the number of each row's unit, and its key, a day; see
            `lying.pieces`. A unit's rows come in the order by which caps keep them.
        names: What to call the key, its rank, and the numbers of units and of rows.
        most: Ranks that are told apart; all beyond have the one behind.

    Returns:
        An Arrow array.

    Raises:
        ValueError: As `lying.pieces`.
    """
    found, beside = _Ranked(most), _Ranked(most)
    parts = (part for piece in pieces(rows, []) for part in piece.parts())
    if not shared(parts, found.take, beside.take) or not found.add(beside):
        return None
    return found.table(names)


class _Ranked:
    """Counts keys and their ranks, as one number."""

    def __init__(self, most: int) -> None:
        import numpy as np

        self._most, self._counts = most, KeyCounts()
        self._missing = np.zeros((2, most + 1), dtype=np.int64)  # units and rows whose key is NULL, by rank

    def take(self, piece: Piece) -> bool:
        """Counts some units; False where their keys lie too far from each other, or from those before."""
        import numpy as np

        codes, present = piece.values[0]
        if present is not None:
            codes = np.where(present, codes, np.iinfo(np.int64).max)
        ranks = _ranks(codes, piece, self._most)
        units = piece.units
        if present is not None:
            missing = ~present
            own, of = ranks[missing], units[missing]
            first = starts(of) if len(of) else of
            for at, numbers in enumerate((own[first], own)):
                self._missing[at] += np.bincount(numbers, minlength=self._most + 1)
            codes, ranks, units = codes[present], ranks[present], units[present]
        if not len(units):
            return True
        codes = codes.astype(np.int64)
        codes *= self._most + 1
        codes += ranks
        return self._counts.take(Piece(units, None, None, [(codes, None)]))

    def add(self, other: _Ranked) -> bool:
        """Adds what another one counted of other units; False where its keys lie too far from these."""
        self._missing += other._missing
        return self._counts.add(other._counts)

    def table(self, names: Sequence[str]) -> Any:
        """See `by_group_rank`."""
        import numpy as np

        codes, units, rows = self._counts.found()
        days, ranks = np.divmod(codes, self._most + 1)
        missing = np.flatnonzero(self._missing[0])
        days = np.concatenate([days, np.zeros(len(missing), dtype=np.int64)]).astype(np.int32)
        numbers = zip((ranks + 1, units, rows), (missing + 1, *self._missing[:, missing]), strict=True)
        types = [nanoarrow.date32(), *[nanoarrow.int64()] * 3]
        return array_of(names, types, [days, *map(np.concatenate, numbers)], len(days), len(missing))


def _ranks(keys: Whole, piece: Piece, most: int) -> Whole:
    """(n,) the rank of each row's key among those of its unit, from 0; all from ``most`` on are that."""
    import numpy as np

    ranks = np.full(len(keys), most, dtype=np.int32)
    left = np.arange(len(keys))
    for rank, (*_, other) in enumerate(in_rounds(keys, piece.begins, piece.spans, most)):
        ranks[left[~other]] = rank
        left = left[other]
    return ranks
