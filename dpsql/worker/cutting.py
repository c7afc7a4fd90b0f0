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
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker.lying import HALF, Adds, Piece, heads, split

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["Clamps", "cut"]

SAFE = 1 << 62  # Sums of whole numbers below this are exact in 64 bits.
NARROW = 4  # Bytes of numbers of which 64 bits add up exactly as many as a piece has rows.
SMALL = 1 << 31  # Numbers below it need 32 bits.
EXACT_DIGITS = 53  # Binary digits of whole numbers that 64-bit floats add up exactly.
MOST_GROUPS = 63  # Groups of which each unit's first ones are told. It is a choice: of each a unit's first row is held.
EARLY = 3
"""Rows of each unit that are looked at first, for each of the first groups that are wanted. It is a choice: of seven
groups that are alike often, two are among six rows of all units but one in 15,000."""
Clamps = Sequence[tuple[int, int] | None]
"""For each of what is added up where a unit's total in a group is clamped to; the ends have 0 between them."""


def cut(
    pieces: Iterable[Piece],
    names: Sequence[str],
    places: Sequence[int],
    firsts: tuple[int, int],
    adds: Adds,
    clamps: Clamps,
) -> Any:
    """Rows of units, unit by unit, as what they add up to in each group.

    Args:
        pieces: See `lying.pieces`, with ranks where rows or groups are cut, and `lying.alone`.
        names: Of the keys and of what is added up.
        places: How many places each key has.
        firsts: How many rows of each unit count, and how many groups of these; 0 for all.
        adds: What is added up; ``units``, too. No unit has more than 2^53 in all, as magnitudes of its rows.
        clamps: Of each of them; then 128 bits come, as of sums.

    Returns:
        An Arrow array of each group where a row counts, and of the one group where there are no keys: the keys' places,
        and what is added up.

    Raises:
        ValueError: As `lying.pieces`, or if there are too many groups to cut.
    """
    rows, groups = firsts
    if groups and math.prod(places) > MOST_GROUPS:
        raise ValueError("too many groups")
    found = _Groups(places, groups, list(zip(adds, clamps, strict=True)))
    for piece in pieces:
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
        self.rows, *self.sums = np.zeros((1 + len(kinds), 2, self._many), dtype=np.int64)

    def take(self, piece: Piece) -> None:
        """Adds up some units."""
        if piece.groups is None:
            self._take_alone(piece)
        else:
            self._take_table(piece, piece.groups)

    def _take_alone(self, piece: Piece) -> None:
        """Where there are no groups."""
        import numpy as np

        for own, ((function, at), clamp) in zip(self.sums, self.kinds, strict=True):
            weights = piece.weights(function, at)
            totals: Whole = piece.spans if weights is None else weights
            if function == "units":
                totals = np.ones_like(piece.begins)
            elif weights is not None and clamp is not None:
                totals = np.add.reduceat(weights, piece.begins, dtype=np.int64)
            self._put(own, totals if clamp is None else np.clip(totals, *clamp), _most(piece, (function, at), clamp))

    def _take_table(self, piece: Piece, groups: Whole) -> None:
        """By a table with a place for each group and unit."""
        import numpy as np

        numbers, many = piece.numbered(self._many)
        codes, shape = _codes(groups, self._many, numbers, many), (self._many, many)
        kept = _first(piece, codes, numbers, shape, self._most).astype(np.int64) if self._most else None
        rows, totals = _tabled(piece, codes, self._many * many, [add for add, _ in self.kinds])
        for sums, own, most in [
            (self.rows, rows, len(codes)),
            *(
                (sums, totals[add] if clamp is None else np.clip(totals[add], *clamp), _most(piece, add, clamp))
                for sums, (add, clamp) in zip(self.sums, self.kinds, strict=True)
            ),
        ]:
            cells = own.reshape(shape)
            self._put(sums, cells if kept is None else cells * kept, most)

    @staticmethod
    def _put(sums: Whole, totals: Whole, most: int | None) -> None:
        """Adds up (units,) or (groups, units) of totals; as a magnitude no such sum exceeds ``most``."""
        if most is None:
            most = max(-int(totals.min()), int(totals.max())) * totals.shape[-1]
        if most < SAFE:
            upper, lower = split(totals.sum(axis=-1, dtype="i8"))
        else:
            upper, lower = (part.sum(axis=-1) for part in split(totals))
        more, sums[1] = split(sums[1] + lower)
        sums[0] += upper + more


def _codes(groups: Whole, many: int, numbers: Whole, units: int) -> Whole:
    """(n,) one number for group and unit, by which a table has a row for each group."""
    import numpy as np

    codes = groups.astype(np.int32 if many * units < SMALL else np.int64)  # half the memory is passed in half the time
    codes *= codes.dtype.type(units)
    codes += numbers
    return codes.astype(np.int64, copy=False)


def _first(piece: Piece, codes: Whole, numbers: Whole, shape: tuple[int, int], most: int) -> Whole:
    """(groups, units) which of them are the first groups of each unit.

    Args:
        piece: The units.
        codes: (n,) of its rows, see `_codes`.
        numbers: (n,) of its units there.
        shape: How many groups and units the codes tell apart.
        most: How many groups of each unit count.
    """
    import numpy as np

    rows, spans = len(piece.units), piece.spans
    first = np.full(shape, rows, dtype=np.int32)  # of each group and unit the first row

    def write(at: Whole) -> None:
        first.reshape(-1)[codes[at][::-1]] = at[::-1]  # the last one to be written stays

    early = np.minimum(spans, EARLY * most)
    write(heads(piece.begins, early))
    last = _last(first, rows, most)
    few = np.flatnonzero((last[numbers[piece.begins]] == rows) & (early < spans))
    if len(few):
        write(heads(piece.begins[few], spans[few]))
        last = _last(first, rows, most)
    return (first <= last) & (first < rows)


def _last(first: Whole, rows: int, most: int) -> Whole:
    """(units,) the first row of each unit's last group that counts; ``rows`` where it has fewer groups."""
    import numpy as np

    for _ in range(min(most, len(first)) - 1):
        first = np.where(first == first.min(axis=0), rows, first)
    last: Whole = first.min(axis=0)
    return last


def _most(piece: Piece, add: tuple[str, int], clamp: tuple[int, int] | None) -> int | None:
    """What no sum of some units' totals exceeds, as a magnitude; None where a look at them must tell."""
    weights = None if add[0] == "units" else piece.weights(*add)
    if clamp is not None:
        return max(-clamp[0], clamp[1]) * len(piece.units)
    if weights is None:
        return len(piece.units)
    return len(piece.units) << 8 * NARROW - 1 if weights.dtype.itemsize <= NARROW else None


def _tabled(piece: Piece, codes: Whole, slots: int, adds: Adds) -> tuple[Whole, dict[tuple[str, int], Whole]]:
    """(slots,) how many rows each code has, and of each of what is added up the total."""
    import numpy as np

    weights: Any
    found: dict[tuple[str, int], Whole] = {}
    packed = next((add for add in adds if add[0] == "sum" and piece.values[add[1]][0].dtype.itemsize <= NARROW), None)
    digits = _digits(piece, piece.values[packed[1]][0]) if packed else 0
    if packed and digits:  # rows and a sum as one number
        weights = piece.values[packed[1]][0].astype(np.float64)
        weights += 1 << digits
        both = np.bincount(codes, weights, slots).astype(np.int64)
        rows = (both + (1 << digits - 1)) >> digits
        found[packed] = both - (rows << digits)
    else:
        rows = np.bincount(codes, minlength=slots)
    for add in adds:
        weights = piece.weights(*add)
        if add[0] == "units":
            found[add] = (rows > 0).astype(np.int64)
        elif weights is None:
            found[add] = rows
        elif add not in found:  # a float adds up a unit's rows exactly
            found[add] = np.bincount(codes, weights, slots).astype(np.int64)
    return rows, found


def _digits(piece: Piece, values: Whole) -> int:
    """How far up the number of some rows stands beside their sum, in a float that holds both; 0 where none does.

    They are all rows of the piece, or where these are too many those of one unit, which takes a look at each unit.
    """
    width = 8 * values.dtype.itemsize
    rows = len(piece.units).bit_length()
    if width + 2 * rows > EXACT_DIGITS:
        rows = int(piece.spans.max()).bit_length()
    return width + rows if width + 2 * rows <= EXACT_DIGITS else 0  # the sum is below 2^(digits - 1), as a magnitude


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
