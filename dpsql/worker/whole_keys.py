"""Rows and distinct units of the groups of one whole number, a day say, from rows that lie unit by unit, in one pass.

Where keys lie close together a table has a place for each. So nothing is hashed, and the database groups nothing. Each
unit may be cut to its first rows, and to its first groups, as `worker.cutting` cuts it. Two threads count, each into a
table of its own: the database has sent all rows long before they are counted (measured: 14 ms in the place of 20 for
1.5 million rows, of which it takes 6).

Theorem. Each group has the rows and the units that the database finds by grouping.

Proof. The place of a key is how far it is above the least one: other keys have other places. A row's number is its unit
and this place, so a unit has in a group as many rows as there are equal numbers, of which all but one repeat it. All
rows of a unit are in one piece. NULL is a group of its own, which SQL has, too. Where groups are cut, a unit's first
group is that of its first row, and the next one that of the first row of all that are in none before. So they are found
one after the other, with all their rows; and where a unit's first k rows are of k groups, these are its first k.  QED

Tests: tests/unit/worker/test_whole_keys.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker.ahead import shared
from dpsql.worker.lying import Piece, heads, pieces
from dpsql.worker.ordered import WHOLE, array_of, starts

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["KeyCounts", "by_key", "in_rounds"]

MOST = 18
"""Binary digits of places of keys, 2 MiB of each table of counts. It is a choice: a table is passed once for each piece
of rows, and seven hundred years have so many days."""
SHORT = 32  # Binary digits of numbers that are sorted in half of the time.
RUN = 256
"""Numbers that are sorted together where no unit has more than half as many rows. It is a choice: numpy sorts so few
in a quarter of the time that it takes over 2^16 of them (measured: 1.1 and 3.7 ns a number)."""
FEW = 16
"""Groups up to which units' first rows are looked at together. It is a choice: each group takes another look at all
rows, in 1 ns a row; and those of more rows are seldom all different."""


def by_key(
    rows: Any,
    columns: Sequence[Sequence[str]],
    units: Sequence[int],
    firsts: tuple[int, int] = (0, 0),
    rank_digits: int = 0,
) -> Any:
    """The groups, keys rising and NULL last; None where the keys lie too far apart.

    Args:
        rows: Anything with ``__arrow_c_stream__``: the number of each row's unit, with its rank where something is cut,
            and its key; see `lying.pieces`.
        columns: (name, wire type) of what comes: the key, which is one of `WHOLE`, and numbers, BIGINT.
        units: Places of the numbers of units among them; all others are of rows.
        firsts: How many rows of each unit count, its first ones, and of how many groups; 0 for all.
        rank_digits: Binary digits of a rank below the number of its unit; 0 where there are none.

    Returns:
        An Arrow array.

    Raises:
        ValueError: As `lying.pieces`.
    """
    found, beside = (KeyCounts(WHOLE[columns[0][1]], *firsts) for _ in range(2))
    parts = (part for piece in pieces(rows, [], rank_digits) for part in piece.parts())
    if not shared(parts, found.take, beside.take) or not found.add(beside):
        return None
    return found.table(columns, units)


class KeyCounts:
    """How many rows each key has, and how many of these repeat one of their unit.

    Args:
        step: What all keys are multiples of.
        first_rows: How many rows of each unit count, its first ones; 0 for all.
        most_groups: Of how many groups; 0 for all.
    """

    def __init__(self, step: int = 1, first_rows: int = 0, most_groups: int = 0) -> None:
        import numpy as np

        self._step, self._low = step, 0
        self._first_rows, self._most_groups = first_rows, most_groups
        self._most = 1  # rows that no unit seen so far exceeds, or more than are sorted in runs
        self._rows = self._again = np.zeros(0, dtype=np.int64)
        self._missing = np.zeros(2, dtype=np.int64)  # rows and units whose key is NULL

    def take(self, piece: Piece) -> bool:
        """Counts some units; False where their keys lie too far from each other, or from those before."""
        import numpy as np

        if self._first_rows:
            piece = piece.first(self._first_rows)
        units, (keys, present) = piece.units, piece.values[0]
        if present is not None:
            keys = keys[present]
        if self._step > 1:
            whole = keys // self._step
            if not np.array_equal(whole * self._step, keys):
                return False
            keys = whole
        low, high = (int(keys.min()), int(keys.max())) if len(keys) else (self._low, self._low - 1)
        if len(keys) and not self._reaches(low, high):
            return False
        places, many = (keys - low).astype(np.int32, copy=False), high - low + 1
        own = slice(low - self._low, high - self._low + 1)
        if self._most_groups:
            self._take_first(piece, places, many, own)
            return True
        if present is not None:
            missing = units[~present]
            self._missing += len(missing), len(starts(missing)) if len(missing) else 0
            units = units[present]
        if not len(units):
            return True
        self._rows[own] += np.bincount(places, minlength=many)
        while 2 * self._most <= RUN and bool((units[self._most :] == units[: -self._most]).any()):
            self._most *= 2
        if self._most > 1:
            self._again[own] += np.bincount(_again(units, places, many, self._most), minlength=many)
        return True

    def _take_first(self, piece: Piece, places: Whole, many: int, own: slice) -> None:
        """Counts the first groups of some units."""
        import numpy as np

        present = piece.values[0][1]
        if present is not None:  # NULL has the last place
            known, places = places, np.full(len(piece.units), many, dtype=np.int32)
            places[present] = known
        first, more = map(np.concatenate, zip(*_first_groups(piece, places, self._most_groups), strict=True))
        units, again = (np.bincount(own, minlength=many + 1) for own in (first, more))
        self._rows[own] += units[:many] + again[:many]
        self._again[own] += again[:many]
        self._missing += units[many] + again[many], units[many]

    def add(self, other: KeyCounts) -> bool:
        """Adds what another one counted of other units; False where its keys lie too far from these."""
        if len(other._rows):
            if not self._reaches(other._low, other._low + len(other._rows) - 1):
                return False
            own = slice(other._low - self._low, other._low - self._low + len(other._rows))
            self._rows[own] += other._rows
            self._again[own] += other._again
        self._missing += other._missing
        return True

    def _reaches(self, low: int, high: int) -> bool:
        """Makes room for keys from one to another; False where it would be too much."""
        import numpy as np

        if not len(self._rows):
            self._low = low
        least, most = min(low, self._low), max(high, self._low + len(self._rows) - 1)
        if (most - least) >> MOST:
            return False
        front, back = self._low - least, most + 1 - self._low - len(self._rows)
        if front or back:
            self._rows, self._again = (np.pad(own, (front, back)) for own in (self._rows, self._again))
            self._low = least
        return True

    def found(self) -> tuple[Whole, Whole, Whole]:
        """(n,) keys but NULL, rising, with how many units and rows each has."""
        import numpy as np

        places = np.flatnonzero(self._rows)
        rows = self._rows[places]
        return (places + self._low) * self._step, rows - self._again[places], rows

    def table(self, columns: Sequence[Sequence[str]], units: Sequence[int]) -> Any:
        """See `by_key`."""
        import numpy as np

        known, of_units, of_rows = self.found()
        many, missing = len(known), int(self._missing[0] > 0)
        keys = np.zeros(many + missing, dtype=np.int32 if columns[0][1] == "DATE" else np.int64)
        keys[:many] = known
        shown = [np.concatenate([own, self._missing[at : at + missing]]) for at, own in enumerate((of_rows, of_units))]
        kinds = {"BIGINT": nanoarrow.int64(), "DATE": nanoarrow.date32(), "TIMESTAMP": nanoarrow.timestamp("us")}
        numbers = [shown[at in units] for at in range(1, len(columns))]
        return array_of(
            [name for name, _ in columns], [kinds[kind] for _, kind in columns], [keys, *numbers], len(keys), missing
        )


def _again(units: Whole, places: Whole, many: int, most: int) -> Whole:
    """The places of all rows that repeat one of their unit.

    Args:
        units: (n,) numbers of units, rising; n is not 0.
        places: (n,) int32, below ``many``.
        many: How many places there are.
        most: Rows that no unit exceeds, or more than are sorted in runs.
    """
    import numpy as np

    digits = (many - 1).bit_length()
    short = (int(units[-1]) - int(units[0])).bit_length() + digits <= SHORT
    codes = (
        (units - units[0]).astype(np.int32 if short else np.int64, copy=False).view(np.uint32 if short else np.uint64)
    )
    codes <<= codes.dtype.type(digits)
    codes |= places.view(np.uint32)
    _sort(codes, most)
    again: Whole = codes[1:][codes[1:] == codes[:-1]]
    again &= codes.dtype.type((1 << digits) - 1)
    return again.astype(np.int64)


def _first_groups(piece: Piece, places: Whole, most: int) -> Iterator[tuple[Whole, Whole]]:
    """The first groups of each unit: the place of each, and the places of all further rows of these groups.

    Units whose first rows are of as many groups have these; all others' groups are found one after the other.

    Args:
        piece: The units.
        places: (n,) of its rows.
        most: How many groups of each unit count.
    """
    import numpy as np

    begins, spans = piece.begins, piece.spans
    if most > FEW:
        yield from _one_by_one(places, begins, spans, most)
        return
    first = [places[np.minimum(begins + at, len(places) - 1)] for at in range(most)]
    apart = spans >= most
    for at, own in enumerate(first):
        for other in first[:at]:
            apart &= own != other
    others = np.flatnonzero(~apart)
    known = begins[apart]
    for at, own in enumerate(first):
        same = places == np.repeat(np.where(apart, own, -1), spans)
        same[known + at] = False
        yield own[apart], places[same]
    if len(others):
        rows, few = places[heads(begins[others], spans[others])], spans[others]
        yield from _one_by_one(rows, np.cumsum(few) - few, few, most)


def _one_by_one(places: Whole, begins: Whole, spans: Whole, most: int) -> Iterator[tuple[Whole, Whole]]:
    """The same, of all units: the first group of each, then the second of those that have one, and so on."""
    import numpy as np

    for first, rows, left, _ in in_rounds(places, begins, spans, most):
        yield first, np.repeat(first, rows - left - 1)


def in_rounds(keys: Whole, begins: Whole, spans: Whole, most: int) -> Iterator[tuple[Whole, Whole, Whole, Whole]]:
    """The first key of each unit, then the second of those that have one, and so on, as many as there are at most.

    Args:
        keys: (n,) of rows, unit by unit.
        begins: (units,) where those of each begin.
        spans: (units,) how many each has.
        most: How many keys of a unit are found.

    Yields:
        (units,) the key, of those units that are left; (units,) how many rows each has that are in no earlier key, and
        how many of these have another key; and (rows,) which these are.
    """
    import numpy as np

    for _ in range(most):
        first = keys[begins]
        other = keys != np.repeat(first, spans)
        left = np.add.reduceat(other, begins, dtype=np.int64)
        yield first, spans, left, other
        if not left.any():
            return
        keys, spans = keys[other], left[left > 0]
        begins = np.cumsum(spans) - spans


def _sort(codes: Whole, most: int) -> None:
    """Sorts numbers in their place, which rise from unit to unit; each unit has ``most`` of them at most.

    Theorem. Where runs of 2 k numbers or more are sorted, and then the k before with the k behind each border of two,
    all are, if no unit has more than k.

    Proof. Sorting a part leaves each unit where it is, for units rise. A unit within a run is sorted at first, and what
    is sorted stays so. Any other lies around one border, within k of it.  QED
    """
    import numpy as np

    if 2 * most > RUN or len(codes) <= RUN:
        return codes.sort()
    end = len(codes) // RUN * RUN
    codes[:end].reshape(-1, RUN).sort(axis=1)
    codes[end:].sort()
    borders = np.lib.stride_tricks.sliding_window_view(codes, 2 * most, writeable=True)[RUN - most :: RUN]
    borders.sort(axis=1)
    return codes[(len(borders) + 1) * RUN - most :].sort()  # the last border may have fewer behind it
