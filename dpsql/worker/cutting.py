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

from dpsql.worker.lying import HALF, SMALL, Adds, Piece, heads, split
from dpsql.worker.ordered import array_of, places_in, starts

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["Clamps", "cut"]

SAFE = 1 << 62  # Sums of whole numbers below this are exact in 64 bits.
NARROW = 4  # Bytes of numbers of which 64 bits add up exactly as many as a piece has rows.
EXACT_DIGITS = 53  # Binary digits of whole numbers that 64-bit floats add up exactly.
MOST_GROUPS = 63  # Groups of which each unit's first ones are told: a digit each of 64.
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
    found = _Groups(places, list(zip(adds, clamps, strict=True)))
    for piece in pieces:
        if rows and piece.groups is None and found.alike:
            found.take_first(piece, rows)
            continue
        for part in (piece.first(rows) if rows else piece).parts():
            found.take(found.cut(part, groups) if groups else part)
    return _table(names, places, found)


class _Groups:
    """What is added up, by group.

    Attributes:
        kinds: What it is.
        alike: Whether it is no matter which unit a row is of.
    """

    def __init__(self, places: Sequence[int], kinds: Sequence[tuple[tuple[str, int], tuple[int, int] | None]]) -> None:
        import numpy as np

        self._many, self.kinds = math.prod(places), kinds
        self.alike = all(clamp is None and function != "units" for (function, _), clamp in kinds)
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

    def cut(self, piece: Piece, most: int) -> Piece:
        """The rows of each unit's first groups, as if each were of a unit of its own where that is no matter."""
        import numpy as np

        if piece.groups is None:  # all rows are of one group
            return piece
        found = np.repeat(_first_groups(piece, piece.groups, self._many, most), piece.spans)
        found &= np.left_shift(found.dtype.type(1), piece.groups.astype(found.dtype))
        rows = np.flatnonzero(found != 0)
        return piece.only(rows, rows if self._whosever(piece) else piece.units.take(rows))

    def take_first(self, piece: Piece, most: int) -> None:
        """Adds up the first rows of each unit, where there are no groups, and all are alike."""
        import numpy as np

        kept = piece.among_first(most)
        for own, (add, clamp) in zip(self.sums, self.kinds, strict=True):
            weights = piece.weights(*add)
            totals: Whole = np.array([np.count_nonzero(kept)]) if weights is None else weights * kept
            self._put(own, totals, _most(piece, add, clamp))

    def _take_table(self, piece: Piece, groups: Whole) -> None:
        """By a table with a place for each group and unit; or for each group alone, where that finds the same."""
        import numpy as np

        adds = [add for add, _ in self.kinds]
        numbers, many = (None, 1) if self._whosever(piece) else piece.numbered(self._many)
        codes = groups.astype(np.int64, copy=False) if numbers is None else _codes(groups, self._many, numbers, many)
        rows, totals = _tabled(piece, codes, (self._many, many), adds)
        for sums, own, most in [
            (self.rows, rows, len(codes)),
            *(
                (sums, totals[add] if clamp is None else np.clip(totals[add], *clamp), _most(piece, add, clamp))
                for sums, (add, clamp) in zip(self.sums, self.kinds, strict=True)
            ),
        ]:
            self._put(sums, own.reshape(self._many, many), most)

    def _whosever(self, piece: Piece) -> bool:
        """Whether 64-bit floats add up all rows of a piece exactly, and it is no matter which unit each is of."""
        widths = [piece.values[at][0].dtype.itemsize for (function, at), _ in self.kinds if function == "sum"]
        return self.alike and 8 * max(widths, default=1) + len(piece.units).bit_length() <= EXACT_DIGITS

    @staticmethod
    def _put(sums: Whole, totals: Whole, most: int | None) -> None:
        """Adds up (units,) or (groups, units) of totals; as a magnitude no such sum exceeds ``most``."""
        import numpy as np

        if most is None:
            most = max(-int(totals.min()), int(totals.max())) * totals.shape[-1]
        if most < SAFE:
            upper, lower = split(totals.astype(np.int64, copy=False).sum(axis=-1))
        else:
            upper, lower = (part.sum(axis=-1) for part in split(totals))
        more, sums[1] = split(sums[1] + lower)
        sums[0] += upper + more


def _codes(groups: Whole, many: int, numbers: Whole, units: int) -> Whole:
    """(n,) one number for group and unit, by which a table has a row for each group."""
    import numpy as np

    narrow = many * units < SMALL  # half of the memory is passed in half of the time
    codes: Any = groups.astype(np.int32 if narrow else np.int64)
    codes *= codes.dtype.type(units)
    codes += numbers
    found: Whole = codes.astype(np.int64, copy=False)
    return found


def _first_groups(piece: Piece, groups: Whole, many: int, most: int) -> Whole:
    """(units,) the first groups of each unit: a binary digit each.

    Args:
        piece: The units.
        groups: (n,) of its rows.
        many: How many groups there are.
        most: How many of each unit count.
    """
    import numpy as np

    begins = piece.begins
    digits = np.left_shift(1, np.arange(many)).astype(np.min_scalar_type((1 << many) - 1))
    found = digits[groups[begins]]
    few = np.arange(len(begins))
    for at in range(1, EARLY * most):
        few = few[(np.bitwise_count(found[few]) < most) & (piece.spans[few] > at)]
        found[few] |= digits[groups[begins[few] + at]]
    few = few[(np.bitwise_count(found[few]) < most) & (piece.spans[few] > EARLY * most)]
    if len(few):
        rows, each = heads(begins[few], piece.spans[few]), np.repeat(np.arange(len(few)), piece.spans[few])
        first = np.sort(np.unique(each * many + groups[rows], return_index=True)[1])  # the first row of each group
        units = starts(each[first])
        among = np.arange(len(first)) - np.repeat(units, np.diff(units, append=len(first)))
        first = first[among < most]
        np.bitwise_or.at(found, few[each[first]], digits[groups[rows[first]]])
    return found


def _most(piece: Piece, add: tuple[str, int], clamp: tuple[int, int] | None) -> int | None:
    """What no sum of some units' totals exceeds, as a magnitude; None where a look at them must tell."""
    weights = None if add[0] == "units" else piece.weights(*add)
    if clamp is not None:
        return max(-clamp[0], clamp[1]) * len(piece.units)
    if weights is None:
        return len(piece.units)
    return len(piece.units) << 8 * NARROW - 1 if weights.dtype.itemsize <= NARROW else None


def _tabled(
    piece: Piece, codes: Whole, shape: tuple[int, int], adds: Adds
) -> tuple[Whole, dict[tuple[str, int], Whole]]:
    """How many rows each code has, and of each of what is added up the total.

    Args:
        piece: The rows.
        codes: (n,) of group and unit.
        shape: How many groups and how many units they tell apart.
        adds: What is added up.
    """
    import numpy as np

    slots = math.prod(shape)

    def added(weights: Any) -> Whole:  # a float adds up a code's rows exactly
        return np.bincount(codes, weights, slots).astype(np.int64, copy=False)

    found: dict[tuple[str, int], Whole] = {}
    packed = next((add for add in adds if add[0] == "sum" and piece.values[add[1]][0].dtype.itemsize <= NARROW), None)
    digits = _digits(piece, piece.values[packed[1]][0], shape[1]) if packed else 0
    if packed and digits:  # rows and a sum as one number
        weights = piece.values[packed[1]][0].astype(np.float64)
        weights += 1 << digits
        both = added(weights)
        rows = (both + (1 << digits - 1)) >> digits
        found[packed] = both - (rows << digits)
    else:
        rows = added(None)
    for add in adds:
        own = piece.weights(*add)
        if add[0] == "units":
            found[add] = (rows > 0).astype(np.int64)
        elif own is None:
            found[add] = rows
        elif add not in found:
            found[add] = added(own)
    return rows, found


def _digits(piece: Piece, values: Whole, units: int) -> int:
    """How far up the number of some rows stands beside their sum, in a float that holds both; 0 where none does.

    They are all rows of the piece, or where these are too many those of one unit, which takes a look at each unit.
    """
    width = 8 * values.dtype.itemsize
    rows = len(piece.units).bit_length()
    if width + 2 * rows > EXACT_DIGITS and units > 1:
        rows = int(piece.spans.max()).bit_length()
    return width + rows if width + 2 * rows <= EXACT_DIGITS else 0  # the sum is below 2^(digits - 1), as a magnitude


def _table(names: Sequence[str], places: Sequence[int], found: _Groups) -> Any:
    import numpy as np

    groups = np.flatnonzero(found.rows.any(axis=0)) if places else np.zeros(1, dtype=np.int64)
    keys = places_in(groups, places)
    columns, types = [*keys], [nanoarrow.int64()] * len(keys)
    for (upper, lower), ((function, _), clamp) in zip(found.sums, found.kinds, strict=True):
        whole = (upper << HALF | lower)[groups]
        wide = function == "sum" or clamp is not None
        columns.append(np.stack([whole, upper[groups] >> HALF], axis=1).reshape(-1) if wide else whole)
        types.append(nanoarrow.decimal128(38, 0) if wide else nanoarrow.int64())
    return array_of(names, types, columns, len(groups))
