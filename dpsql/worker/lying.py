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

from dpsql.worker.ahead import fetched
from dpsql.worker.ordered import DISORDER, dtype_of, present_in, starts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[Any]  # whole numbers of any width
    Mask = npt.NDArray[np.bool_]
    Column = tuple[Whole, Mask | None]

__all__ = ["HALF", "PIECE", "ROOMY", "SMALL", "Adds", "Piece", "alone", "heads", "pieces", "split"]

PIECE = 1 << 16
"""Rows that are added up together at least. It is a choice: DuckDB's blocks have twice as many, and are not cut; with
half of it all takes a tenth longer, where memory is used again (measured; see `process`)."""
PART = 2 * PIECE  # Rows of a piece that are looked at together at most: DuckDB's blocks are not cut.
ROOMY = 4
"""Slots for each row in a table with one for each unit and group of a piece. It is a choice: up to there such a table
is faster than sorting."""
SMALL = 1 << 31  # Numbers below it need 32 bits.
HALF = 32
"""Binary digits of the lower half of a total. A total has 53 at most, so 64-bit floats add up exactly as many halves as
a piece has rows, up to 2^21."""

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
    _begins: Whole | None
    groups: Whole | None
    values: Sequence[Column]
    _spans: Whole | None = None

    @property
    def begins(self) -> Whole:
        """(units,) where the rows of each unit begin, 0 among it."""
        if self._begins is None:
            self._begins = starts(self.units)
        return self._begins

    @property
    def spans(self) -> Whole:
        """(units,) how many rows each unit has."""
        import numpy as np

        if self._spans is None:  # numpy's own `diff` takes ten times as long over so few
            self._spans = np.empty(len(self.begins), dtype=np.int64)
            np.subtract(self.begins[1:], self.begins[:-1], out=self._spans[:-1])
            self._spans[-1] = len(self.units) - self.begins[-1]
        return self._spans

    def numbered(self, groups: int) -> tuple[Whole, int]:
        """(n,) the numbers of units from 0 on, below the second of both.

        Units that are not there have a number, too, where a table of so many groups and units has room for it.
        """
        import numpy as np

        least, many = int(self.units[0]), int(self.units[-1]) - int(self.units[0]) + 1
        if many * groups > ROOMY * len(self.units):
            many = len(self.begins)
            return np.repeat(np.arange(many, dtype=np.int32), self.spans), many
        return self.units - least, many

    def coded(self, digits: int) -> tuple[Whole, int]:
        """(n,) one number for unit and group, which has so many digits; and how many units these numbers tell apart."""
        import numpy as np

        codes, many = self.numbered(1 << digits)
        codes = codes.astype(np.int32 if many << digits < SMALL else np.int64, copy=False)
        codes <<= digits  # half of the memory is passed in half of the time
        if self.groups is not None:
            codes |= self.groups
        return codes.astype(np.int64, copy=False), many

    def first(self, most: int) -> Piece:
        """The first ``most`` rows of each unit."""
        import numpy as np

        few = np.minimum(self.spans, most)
        if int(few.sum()) == len(self.units):
            return self
        rows = heads(self.begins, few)
        groups = None if self.groups is None else self.groups[rows]
        values = [(own[rows], None if mask is None else mask[rows]) for own, mask in self.values]
        units = np.repeat(self.units[self.begins], few)  # those of these rows, without looking each one up
        return Piece(units, np.cumsum(few) - few, groups, values)

    def among_first(self, most: int) -> Mask:
        """(n,) whether a row is one of the first ``most`` of its unit: the row so many places before is of another."""
        import numpy as np

        found = np.ones(len(self.units), dtype=np.bool_)
        np.not_equal(self.units[most:], self.units[:-most], out=found[most:])
        return found

    def only(self, rows: Whole, units: Whole) -> Piece:
        """Some of its rows, by their places, and whose they are."""
        groups = None if self.groups is None else self.groups.take(rows)
        values = [(own.take(rows), None if mask is None else mask.take(rows)) for own, mask in self.values]
        return Piece(units, None, groups, values)

    def parts(self) -> Iterator[Piece]:
        """It in order, as pieces of not many more rows than `PART`, or than one unit has."""
        import numpy as np

        at = 0
        if len(self.units) <= PART:
            yield self
            return
        while at < len(self.begins):
            start = int(self.begins[at])
            after = max(at + 1, int(np.searchsorted(self.begins, start + PART)))
            end = int(self.begins[after]) if after < len(self.begins) else len(self.units)
            rows, own, at = slice(start, end), slice(at, after), after
            groups = None if self.groups is None else self.groups[rows]
            masks = ((values[rows], None if mask is None else mask[rows]) for values, mask in self.values)
            yield Piece(self.units[rows], self.begins[own] - start, groups, list(masks))

    def weights(self, function: str, at: int) -> Whole | Mask | None:
        """(n,) what each row adds; None where it is 1."""
        if function == "sum":
            return self.values[at][0]
        return self.values[at][1] if function == "count" else None


def heads(begins: Whole, many: Whole) -> Whole:
    """The places of so many rows from where each unit begins on."""
    import numpy as np

    ends = np.cumsum(many)
    rows: Whole = np.arange(int(ends[-1]))
    rows += np.repeat(begins - ends + many, many)
    return rows


def alone(stream: Any) -> Iterator[Piece]:
    """The rows of a stream of values alone, each of a unit of its own: whoever that is."""
    return fetched(_alone(stream))


def _alone(stream: Any) -> Iterator[Piece]:
    import numpy as np

    for block in _blocks(stream):
        every = np.arange(len(block[0][0]))
        yield Piece(every, every, None, block)


def pieces(stream: Any, places: Sequence[int], rank_digits: int = 0) -> Iterator[Piece]:
    """The rows of a stream. Units rise within a piece; pieces come as they are whole, see `ahead.fetched`.

    Args:
        stream: Anything with ``__arrow_c_stream__``: for each key the place of a row's value, the number of its unit,
            and columns of values: whole numbers all, no NULL before the values.
        places: How many places each key has.
        rank_digits: Where ranks must rise within a unit: binary digits of a rank, which stands below the unit's number.

    Raises:
        ValueError: If a type is another, a NULL is where none may be, or the rows do not lie in order.
    """
    return fetched(_pieces(stream, places, rank_digits))


def _pieces(stream: Any, places: Sequence[int], rank_digits: int) -> Iterator[Piece]:
    import numpy as np

    keys = len(places)
    last: list[list[Column]] = []  # rows of one unit, which may go on in what comes
    whole: list[list[Column]] = []  # units that came in several blocks: together they are a piece
    waiting, before = 0, -1
    for block in _blocks(stream):
        before = _require_order(block[: keys + 1], before, ranked=rank_digits > 0)
        units = block[keys][0]
        if rank_digits:
            units = (units >> rank_digits).astype(np.int32, copy=False)
            block[keys] = (units, None)
        start, end, many = 0, int(np.searchsorted(units, units[-1])), len(units)
        if last and last[-1][keys][0][-1] == units[0]:
            start = int(np.searchsorted(units, units[0], side="right"))
            last.append(_copied(_cut(block, 0, start)))
            if start == many:
                continue
        if last:
            whole.append(_joined(last))
            waiting += len(whole[-1][keys][0])
        if waiting >= PIECE:
            yield _piece(_joined(whole), places)
            whole, waiting = [], 0
        if start < end:
            yield _piece(_cut(block, start, end), places)
        last = [_copied(_cut(block, end, many))]
    if last:
        yield _piece(_joined([*whole, _joined(last)]), places)


def _require_order(columns: Sequence[Column], before: int, *, ranked: bool) -> int:
    """The last of some numbers, which stand behind the keys, if they rise; where they are not ranked some are alike.

    Args:
        columns: The keys and the numbers, of one row at least.
        before: The number of the row before them.
        ranked: Whether no two are alike.

    Raises:
        ValueError: If they fall, or there is a NULL.
    """
    if any(mask is not None for _, mask in columns):
        raise ValueError("a NULL is not added up")
    numbers, least = columns[-1][0], before + ranked
    falls = numbers[1:] <= numbers[:-1] if ranked else numbers[1:] < numbers[:-1]
    if int(numbers[0]) < least or bool(falls.any()):
        raise ValueError(DISORDER)
    return int(numbers[-1])


def _blocks(stream: Any) -> Iterator[list[Column]]:
    """The columns of a stream, so many rows together that it is worth it."""
    source = nanoarrow.c_array_stream(stream)
    types = [dtype_of(field.type) for field in nanoarrow.Schema(source.get_schema()).fields]
    held: list[list[Column]] = []
    waiting = 0
    for table in source:
        if not table.length:
            continue
        held.append([_column(table.child(at).view(), dtype, table.length) for at, dtype in enumerate(types)])
        waiting += table.length
        if waiting >= PIECE:
            yield _joined(held)
            held, waiting = [], 0
    if held:
        yield _joined(held)


def _column(view: Any, dtype: Any, rows: int) -> Column:
    """The values of a column of a table, 0 where NULL, and where there is one; None where there are no NULLs."""
    import numpy as np

    values = np.frombuffer(view.buffer(1), dtype, count=rows)
    present = present_in(view.buffer(0), rows)
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


def _copied(columns: Sequence[Column]) -> list[Column]:
    """The same, which hold nothing else: the block that they are from can go."""
    return [(own.copy(), None if mask is None else mask.copy()) for own, mask in columns]


def _piece(columns: Sequence[Column], places: Sequence[int]) -> Piece:
    import numpy as np

    groups: Whole | None = None
    for (column, _), many in zip(columns, places, strict=False):
        groups = column if groups is None else groups.astype(np.int64) * many + column
    return Piece(columns[len(places)][0], None, groups, columns[len(places) + 1 :])


def split(totals: Whole) -> tuple[Whole, Whole]:
    """The upper part of each, and its `HALF` lower digits."""
    return totals >> HALF, totals & ((1 << HALF) - 1)
