"""Units' totals added up by how much each unit has, from rows that come unit by unit: `plan.needs.Sized`, in one pass.

Tests: tests/unit/worker/test_sizing.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker.bins import Binned, Plain
from dpsql.worker.lying import ROOMY, Adds, Piece
from dpsql.worker.ordered import OF, SIZED, array_of, places_in, starts

if TYPE_CHECKING:
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width

__all__ = ["of_groups", "of_units", "sized"]

MOST_DIGITS = 62  # Binary digits of a number that stands for a row: all of int64 but its sign, and one to spare.
FEW = 64  # Numbers that are looked at first. It is a choice.
TOGETHER = 1 << 15
"""Totals that are held before they are put into their bins, 256 KiB of each kind. It is a choice: numpy takes as long
over a few hundred numbers as over none, and a piece of rows may have no more units."""

Bins = tuple[int, int, Sequence[int]]


def sized(
    rows: Iterable[Piece],
    names: Sequence[str],
    places: Sequence[int],
    bins: Sequence[Bins | None],
    adds: Adds,
) -> Any:
    """Rows of units, unit by unit, as the totals of their units by size.

    Args:
        rows: See `lying.pieces`, and `lying.alone`.
        names: Of the keys.
        places: How many places each key has.
        bins: Of each kind of total the least and the largest that one may be, to which it is clamped, and the edges of
            its bins; None of one that is added up as it is. No unit has more than 2^53 in all, as magnitudes of its
            rows.
        adds: What each kind of total adds up.

    Returns:
        An Arrow array: the keys' places, ``of`` (which kind of total) where there are several, and `SIZED`.

    Raises:
        ValueError: As `lying.pieces`.
    """
    found = _Sizes(places, bins, adds)
    for piece in rows:
        found.take(piece)
    found.put()
    return _table(names, places, found.totals)


class _Sizes:
    """All kinds of totals."""

    def __init__(self, places: Sequence[int], bins: Sequence[Bins | None], adds: Adds) -> None:
        groups = math.prod(places)
        self._digits = (groups - 1).bit_length()
        self._adds = adds
        self.totals = [Plain(groups) if own is None else Binned(*own, groups) for own in bins]
        self._one_sign = all(own is None or own[0] == 0 for own in bins)
        self._codes: list[Whole] = []
        self._held: list[list[Whole]] = [[] for _ in bins]
        self._waiting = self._next = 0

    def take(self, piece: Piece) -> None:
        """Finds what some units have; it is added up when enough of it is there, and at last by `put`."""
        if piece.groups is None:
            self._hold(of_units(piece, self._adds))
        elif not self._at_once(piece, piece.groups):
            codes, many, totals = of_groups(piece, self._digits, self._adds)
            self._codes.append(codes + (self._next << self._digits))
            self._next += many
            self._hold(totals)
        if self._waiting >= TOGETHER:
            self.put()

    def _at_once(self, piece: Piece, groups: Whole) -> bool:
        """Adds up rows by their unit's bin, without what the unit has in each group; whether that can be done.

        Theorem. It is the same, but for the group in which a unit is counted, where no row adds less than 0 and no
        unit has more in all than a total may be: then none is clamped, and a unit's size is what it has in all.  QED
        """
        import numpy as np

        if not self._one_sign:
            return False
        sizes: list[Whole] = []
        weights = [piece.weights(*add) for add in self._adds]
        for total, own in zip(self.totals, weights, strict=True):
            size = piece.spans if own is None else np.add.reduceat(own, piece.begins, dtype=np.int64)
            if not total.takes(own, size):
                return False
            sizes.append(size)
        wide = groups.astype(np.int64)
        for total, own, size in zip(self.totals, weights, sizes, strict=True):
            total.add_rows(wide, own, size, piece)
        return True

    def _hold(self, totals: Sequence[Whole]) -> None:
        for held, own in zip(self._held, totals, strict=True):
            held.append(own)
        self._waiting += len(totals[0])

    def put(self) -> None:
        """Adds up the totals that are held."""
        import numpy as np

        if not self._waiting:
            return
        totals = [np.concatenate(own) for own in self._held]
        if self._codes:
            self._add(np.concatenate(self._codes), totals)
        else:
            for total, own in zip(self.totals, totals, strict=True):
                total.add_alone(own)
        self._codes, self._held, self._waiting, self._next = [], [[] for _ in totals], 0, 0

    def _add(self, codes: Whole, totals: Sequence[Whole]) -> None:
        """Adds up the totals of each kind, by one number for their unit and group; these rise."""
        import numpy as np

        units, groups = codes >> self._digits, codes & ((1 << self._digits) - 1)
        first = starts(units)
        spans = np.diff(first, append=len(units))
        for total, own in zip(self.totals, totals, strict=True):
            total.add(units, groups, own, first, spans)


def of_units(piece: Piece, adds: Adds) -> list[Whole]:
    """(units,) what the rows of each unit of a piece add up to, for each of some totals."""
    import numpy as np

    if len(piece.begins) == len(piece.units):
        return _rows(piece, adds)
    weights = [piece.weights(*add) for add in adds]
    rows = piece.spans
    return [rows if own is None else np.add.reduceat(own, piece.begins, dtype=np.int64) for own in weights]


def of_groups(piece: Piece, digits: int, adds: Adds) -> tuple[Whole, int, list[Whole]]:
    """The same of each unit in each of its groups.

    Args:
        piece: The rows, with groups.
        digits: Binary digits of a group's number.
        adds: What is added up.

    Returns:
        (n,) one number for unit and group, rising; how many units these tell apart; and (n,) of each total.
    """
    codes, many = piece.coded(digits)
    if _rise(codes):  # as stored totals do: each row is a total
        return codes, many, _rows(piece, adds)
    if many << digits > ROOMY * len(codes):
        codes, totals = _by_sorting(piece, codes, adds)
    else:
        codes, totals = _by_table(piece, codes, many << digits, adds)
    return codes, many, totals


def _by_table(piece: Piece, codes: Whole, slots: int, adds: Adds) -> tuple[Whole, list[Whole]]:
    """By a table with a place for each unit and group; floats add up a unit's rows exactly."""
    import numpy as np

    rows = np.bincount(codes, minlength=slots)
    kept = np.flatnonzero(rows)
    found: dict[tuple[str, int], Whole] = {}
    for add in adds:
        weights = piece.weights(*add)
        found[add] = rows[kept] if weights is None else np.bincount(codes, weights, slots)[kept].astype(np.int64)
    return kept, [found[add] for add in adds]


def _by_sorting(piece: Piece, codes: Whole, adds: Adds) -> tuple[Whole, list[Whole]]:
    import numpy as np

    weights = {add: own for add in adds if (own := piece.weights(*add)) is not None}
    lows = {add: int(own.min()) for add, own in weights.items()}
    above = [own.astype(np.int64) - lows[add] for add, own in weights.items()]
    codes, above = _sorted(codes, above, [int(own.max()).bit_length() for own in above])
    first = starts(codes)
    rows, known = np.diff(first, append=len(codes)), codes[first]
    sums = {add: np.add.reduceat(own, first) + lows[add] * rows for add, own in zip(weights, above, strict=True)}
    return known, [sums.get(add, rows) for add in adds]


def _rows(piece: Piece, adds: Adds) -> list[Whole]:
    """What each row adds, one after the other."""
    import numpy as np

    weights = [piece.weights(*add) for add in adds]
    return [np.ones(len(piece.units), np.int64) if own is None else own.astype(np.int64) for own in weights]


def _rise(numbers: Whole) -> bool:
    """Whether no two are alike, in order; mostly seen at the first few."""
    few = numbers[:FEW]
    return bool((few[1:] > few[:-1]).all()) and bool((numbers[1:] > numbers[:-1]).all())


def _sorted(numbers: Whole, values: list[Whole], widths: list[int]) -> tuple[Whole, list[Whole]]:
    """The numbers, rising, and values with them, none below 0: in one number where both fit, which sorts fast."""
    import numpy as np

    if sum(widths) + int(numbers.max()).bit_length() > MOST_DIGITS:
        order = np.argsort(numbers, kind="stable")
        return numbers[order], [column[order] for column in values]
    for column, width in zip(values, widths, strict=True):
        numbers = numbers << width | column
    numbers.sort()
    parted: list[Whole] = []
    for width in reversed(widths):
        parted.insert(0, numbers & ((1 << width) - 1))
        numbers = numbers >> width
    return numbers, parted


def _table(names: Sequence[str], places: Sequence[int], totals: Sequence[Plain]) -> Any:
    """What was added up, as an Arrow array: cells in order, of those where anything is."""
    import numpy as np

    parts: list[list[Whole]] = []
    for of, total in enumerate(totals):
        cells = total.cells()
        groups, bins = np.divmod(cells, total.bins)
        keys = places_in(groups, places)
        kinds = [np.full(len(cells), of)] if len(totals) > 1 else []
        parts.append([*keys, *kinds, bins, total.units[cells], total.signs[cells], total.wide(cells)])
    columns = [np.concatenate(own) for own in zip(*parts, strict=True)]
    shown = [*names, *([OF] if len(totals) > 1 else []), *SIZED]
    types = [nanoarrow.int64()] * (len(shown) - 1) + [nanoarrow.decimal128(38, 0)]
    return array_of(shown, types, columns, len(columns[0]))
