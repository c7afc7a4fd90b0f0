"""Rows that lie unit by unit, read piece by piece as they stream by: each piece has all rows of its units.

Grouping millions of rows by unit costs a database many times what reading them does; where the rows lie in the order of
their units it is enough to see where the unit changes. Units must rise, and with them ranks where they are asked for,
or there is no answer.

Tests: tests/unit/worker/test_sizing.py, tests/unit/worker/test_cutting.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker.counting import starts
from dpsql.worker.ordered import numbers_of, present_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width
    Mask = npt.NDArray[np.bool_]
    Column = tuple[Whole, Mask | None]

__all__ = ["HALF", "PIECE", "ROOMY", "Adds", "Piece", "pieces", "split"]

PIECE = 1 << 16
"""Rows that are added up together at least. It is a choice: DuckDB's blocks have twice as many, and are not cut; with
half of it all takes a tenth longer, where memory is used again (measured; see `process`)."""
ROOMY = 4
"""Slots for each row in a table with one for each unit and group of a piece. It is a choice: up to there such a table
is faster than sorting."""
HALF = 32
"""Binary digits of the lower half of a total. A total has 53 at most, so 64-bit floats add up exactly as many halves as
a piece has rows, up to 2^21."""
DISORDER = "the rows do not lie in order"

Adds = Sequence[tuple[str, int]]
"""What is added up: ``rows``, or ``count`` or ``sum`` of the column of values with this index."""


@dataclass(slots=True)
class Piece:
    """Some rows: all of each of their units.

    Attributes:
        units: (n,) numbers of units, rising; n is not 0.
        groups: (n,) one number for the places of all keys; None where there are none.
        values: Of each column (n,), 0 where it is NULL, and where it is not; None where it is nowhere.
    """

    units: Whole
    groups: Whole | None
    values: Sequence[Column]
    _coded: tuple[Whole, int] | None = None

    def coded(self, digits: int) -> tuple[Whole, int]:
        """(n,) one number for unit and group, which has so many digits; and how many units these numbers tell apart."""
        import numpy as np

        if self._coded is None:
            numbers, many = self.units, int(self.units[-1]) - int(self.units[0]) + 1
            if many << digits > ROOMY * len(numbers):
                first = starts(numbers)
                numbers, many = np.repeat(np.arange(len(first)), np.diff(first, append=len(numbers))), len(first)
            codes = (numbers - numbers[0]).astype(np.int64) << digits
            if self.groups is not None:
                codes |= self.groups
            self._coded = codes, many
        return self._coded

    def first(self, most: int) -> Piece:
        """The first ``most`` rows of each unit."""
        import numpy as np

        kept = np.ones(len(self.units), dtype=np.bool_)
        kept[most:] = self.units[most:] != self.units[:-most]
        if kept.all():
            return self
        groups = None if self.groups is None else self.groups[kept]
        values = [(own[kept], None if mask is None else mask[kept]) for own, mask in self.values]
        return Piece(self.units[kept], groups, values)

    def parts(self) -> Iterator[Piece]:
        """It in order, as pieces of not many more rows than `PIECE`, or than one unit has."""
        import numpy as np

        start = 0
        while start < len(self.units):
            far = min(start + PIECE, len(self.units)) - 1
            end = int(np.searchsorted(self.units, self.units[far], "right"))
            rows, start = slice(start, end), end
            groups = None if self.groups is None else self.groups[rows]
            masks = ((values[rows], None if mask is None else mask[rows]) for values, mask in self.values)
            yield Piece(self.units[rows], groups, list(masks))

    def weights(self, function: str, at: int) -> Whole | Mask | None:
        """(n,) what each row adds; None where it is 1."""
        if function == "sum":
            return self.values[at][0]
        return self.values[at][1] if function == "count" else None


def pieces(stream: Any, places: Sequence[int], *, ranked: bool = False) -> Iterator[Piece]:
    """The rows of a stream, in order.

    Args:
        stream: Anything with ``__arrow_c_stream__``: for each key the place of a row's value, the number of its unit,
            its rank where that is asked for, and columns of values: whole numbers all, no NULL before the values.
        places: How many places each key has.
        ranked: Whether ranks must rise within a unit.

    Raises:
        ValueError: If a type is another, a NULL is where none may be, or the rows do not lie in order.
    """
    import numpy as np  # here, for a worker that adds up nothing starts without it

    keys, values = len(places), len(places) + 1 + ranked
    held: list[list[Column]] = []
    waiting = 0
    for chunk in nanoarrow.ArrayStream(stream):
        if not len(chunk):
            continue
        held.append([_column(child) for child in chunk.iter_children()])
        waiting += len(chunk)
        if waiting < PIECE:
            continue
        if len(chunk) >= PIECE and len(held) > 1:  # no copy of it: what was held only takes the end of its unit
            units = _in_order(held[-1], keys, ranked=ranked)
            end = int(np.searchsorted(units, held[-2][keys][0][-1], "right"))
            if end < len(units):
                columns = _joined([*held[:-1], _cut(held[-1], 0, end)])
                _in_order(columns, keys, ranked=ranked)
                yield _piece(columns, places, values)
                held, waiting = [_cut(held[-1], end, len(units))], len(units) - end
        columns = _joined(held)
        units = _in_order(columns, keys, ranked=ranked)
        last = int(np.searchsorted(units, units[-1]))  # its unit may go on in what comes
        if last:
            yield _piece(_cut(columns, 0, last), places, values)
        held, waiting = [_cut(columns, last, waiting)], waiting - last
    if waiting:
        columns = _joined(held)
        _in_order(columns, keys, ranked=ranked)
        yield _piece(columns, places, values)


def _column(child: Any) -> Column:
    """The values of a column of a chunk, 0 where NULL, and where there is one; None where there are no NULLs."""
    import numpy as np

    values = numbers_of(child)
    present = present_of(child)
    return (values, None) if present is None else (np.where(present, values, values.dtype.type(0)), present)


def _joined(held: Sequence[Sequence[Column]]) -> list[Column]:
    import numpy as np

    if len(held) == 1:
        return list(held[0])
    found: list[Column] = []
    for parts in zip(*held, strict=True):
        values = np.concatenate([own for own, _ in parts])
        some = any(present is not None for _, present in parts)
        masks = [np.ones(len(own), np.bool_) if mask is None else mask for own, mask in parts] if some else []
        found.append((values, np.concatenate(masks) if masks else None))
    return found


def _cut(columns: Sequence[Column], start: int, end: int) -> list[Column]:
    return [(own[start:end], None if mask is None else mask[start:end]) for own, mask in columns]


def _in_order(columns: Sequence[Column], keys: int, *, ranked: bool) -> Whole:
    """The units, which rise, and the ranks with them."""
    if any(mask is not None for _, mask in columns[: keys + 1 + ranked]):
        raise ValueError("a NULL is not added up")
    units = columns[keys][0]
    falls = bool((units[1:] < units[:-1]).any())
    if ranked:
        ranks = columns[keys + 1][0]
        falls = falls or bool(((ranks[1:] <= ranks[:-1]) & (units[1:] == units[:-1])).any())
    if falls:
        raise ValueError(DISORDER)
    return units


def _piece(columns: Sequence[Column], places: Sequence[int], values: int) -> Piece:
    import numpy as np

    groups: Whole | None = None
    for (column, _), many in zip(columns, places, strict=False):
        groups = column if groups is None else groups.astype(np.int64) * many + column
    return Piece(columns[len(places)][0], groups, columns[values:])


def split(totals: Whole) -> tuple[Whole, Whole]:
    """The upper part of each, and its `HALF` lower digits."""
    return totals >> HALF, totals & ((1 << HALF) - 1)
