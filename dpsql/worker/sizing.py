"""Units' totals added up by how much each unit has, from rows that come unit by unit: `plan.needs.Sized`, in one pass.

Grouping millions of rows by unit costs a database many times what reading them does; where the rows lie in the order of
their units it is enough to see where the unit changes. Units must rise, or there is no answer.

Tests: tests/unit/worker/test_sizing.py.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from itertools import chain, pairwise
from operator import ne
from typing import TYPE_CHECKING, Any

import nanoarrow

from dpsql.worker.counting import MOST_DIGITS, starts, values_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

__all__ = ["OF", "SIZED", "UNIT", "sized"]

UNIT = "u"  # The column of the unit in rows that are added up.
OF = "of"  # The column that says which kind of total a row is of, where there are several.
SIZED = ("bin", "units", "signs", "total")  # The columns of a result behind its keys, as `Sized` describes them.
PIECE = 1 << 16
"""Rows, or units, that are added up together at least. It is a choice: what a processor keeps close; DuckDB's blocks
have twice as many."""
ROOMY = 4
"""Slots for each row in a table with one for each unit and group of a piece. It is a choice: up to there such a table
is faster than sorting."""
HALF = 32
"""Binary digits of the lower half of a total. A total has 53 at most, so 64-bit floats add up exactly as many halves as
a piece has rows, up to 2^21."""
TABLED = 1 << 12
"""Sizes below this have their bins in a table. It is a choice: numbers of rows do, and 32 KiB stay close."""
EXACT = 1 << 53  # Sums of whole numbers up to this are exact in 64-bit floats.
DISORDER = "the rows do not lie in order"


def sized(stream: Any, places: Sequence[int], bins: Sequence[tuple[int, int, Sequence[int]]]) -> Any:
    """Rows of units, unit by unit, as the totals of their units by size.

    Args:
        stream: Anything with ``__arrow_c_stream__``: for each key the place of a row's value (BIGINT), the unit (BIGINT
            or VARCHAR, rising), and one number (BIGINT) for each kind of total. No NULL anywhere.
        places: How many places each key has.
        bins: Of each kind of total the least and the largest that one may be, to which it is clamped, and the edges of
            its bins. No unit has more than 2^53 in all, as magnitudes of its rows.

    Returns:
        An Arrow array: the keys' places, ``of`` (which kind of total) where there are several, and `SIZED`.

    Raises:
        ValueError: If a type is another, a NULL is there, or units do not rise.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread of it would take address space, and none is used
    import numpy as np  # here, for a worker that sizes nothing starts without it

    source = nanoarrow.ArrayStream(stream)
    names = [field.name for field in source.schema.fields][: len(places)]
    units, totals = _Units(), [_Total(low, high, edges, math.prod(places)) for low, high, edges in bins]
    held: list[list[Whole]] = []
    waiting = 0
    for chunk in source:
        columns = list(chunk.iter_children())
        groups = _groups([values_of(column) for column in columns[: len(places)]], places)
        values = [values_of(column) for column in columns[len(places) + 1 :]]
        held.append(_alone(units.numbers(columns[len(places)]), groups, values))
        waiting += len(held[-1][0])
        if waiting >= PIECE:
            rows = [np.concatenate(parts) for parts in zip(*held, strict=True)]
            last = int(np.searchsorted(rows[0], rows[0][-1]))  # its unit may go on in what comes
            _add([column[:last] for column in rows], places, totals)
            held, waiting = [[column[last:] for column in rows]], len(rows[0]) - last
    if waiting:
        _add([np.concatenate(parts) for parts in zip(*held, strict=True)], places, totals)
    return _table(names, places, totals)


class _Units:
    """Units of chunks as whole numbers that rise; a text is the number of texts that were before it."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._text: str | None = None

    def numbers(self, column: Any) -> Whole:
        """(n,) of one chunk, not empty.

        Raises:
            ValueError: If they do not rise, or are neither BIGINT nor VARCHAR.
        """
        import numpy as np

        if column.schema.type is nanoarrow.Type.STRING:
            texts = nanoarrow.Array(column).to_pylist()
            before = texts[0] if self._text is None else self._text
            changes = np.fromiter(map(ne, texts, chain([before], texts)), np.bool_, len(texts))
            starts = [before, *(texts[row] for row in np.flatnonzero(changes).tolist())]
            if not all(one.encode() < other.encode() for one, other in pairwise(starts)):
                raise ValueError(DISORDER)
            self._text = texts[-1]
            numbers: Whole = np.cumsum(changes) + (self._number or 0)
        else:
            numbers = values_of(column)
            falls = self._number is not None and numbers[0] < self._number
            if falls or bool((numbers[1:] < numbers[:-1]).any()):
                raise ValueError(DISORDER)
        self._number = int(numbers[-1])
        return numbers


class _Total:
    """Totals of one kind, added up by cell: a group, and within it a bin."""

    def __init__(self, low: int, high: int, edges: Sequence[int], groups: int) -> None:
        import numpy as np

        self._low, self._high, self._edges = low, high, np.array(edges, dtype=np.int64)
        self._table: Whole | None = None
        self.bins = len(edges) + 1
        self.units, self.signs, self._upper, self._lower = np.zeros((4, groups * self.bins), dtype=np.int64)

    def add(self, units: Whole, groups: Whole, totals: Whole) -> None:
        """Takes in all totals of some units, unit by unit."""
        import numpy as np

        totals = np.clip(totals, self._low, self._high)
        if not totals.all():
            kept = np.flatnonzero(totals)
            units, groups, totals = units[kept], groups[kept], totals[kept]
        if not len(totals):
            return
        first = starts(units)
        sizes = np.add.reduceat(self._sizes(totals), first)
        cells = groups * self.bins + np.repeat(self._binned(sizes), np.diff(first, append=len(totals)))
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

    def _sizes(self, totals: Whole) -> Whole:
        import numpy as np

        return totals if self._low >= 0 else np.abs(totals)

    def _binned(self, sizes: Whole) -> Whole:
        """The bin of each size: read from a table where sizes are small, which takes a third of a search's time."""
        import numpy as np

        if int(sizes.max()) >= TABLED:
            return np.searchsorted(self._edges, sizes)
        if self._table is None:
            self._table = np.searchsorted(self._edges, np.arange(TABLED))
        return self._table[sizes]

    def _add(self, cells: Whole, own: Whole, totals: Whole, firsts: Whole) -> None:
        """Adds up totals by cell, and units by the cell and the sign of their first total."""
        import numpy as np

        found = self._summed(own)
        self.units += found
        self.signs += found if self._low >= 0 else self._summed(own, np.sign(firsts))
        if max(-self._low, self._high) * len(totals) <= EXACT:
            self._lower += self._summed(cells, totals)
        else:
            self._upper += self._summed(cells, totals >> HALF)
            self._lower += self._summed(cells, totals & ((1 << HALF) - 1))
        self._upper += self._lower >> HALF
        self._lower &= (1 << HALF) - 1

    def _summed(self, cells: Whole, values: Whole | None = None) -> Whole:
        """How many, or the sum of how much, is in each cell: by floats, exactly."""
        import numpy as np

        found = np.bincount(cells, values, len(self.units))
        return found if values is None else found.astype(np.int64)

    @property
    def wide(self) -> Whole:
        """(cells, 2) the sums of the totals: their lower and upper 64 bits."""
        import numpy as np

        return np.stack([self._upper << HALF | self._lower, self._upper >> HALF], axis=1)


def _groups(keys: Sequence[Whole], places: Sequence[int]) -> Whole | None:
    """One number for the places of all keys; None where there is none."""
    groups: Whole | None = None
    for column, many in zip(keys, places, strict=True):
        groups = column if groups is None else groups * many + column
    return groups


def _alone(units: Whole, groups: Whole | None, values: list[Whole]) -> list[Whole]:
    """Rows: those of one group as they are, those of one unit as one where there are no groups."""
    import numpy as np

    if groups is not None:
        return [units, groups, *values]
    first = starts(units)
    groups = np.zeros(len(first), dtype=np.int64)
    if len(first) == len(units):
        return [units, groups, *values]
    return [units[first], groups, *(np.add.reduceat(own, first) for own in values)]


def _add(rows: list[Whole], places: Sequence[int], totals: Sequence[_Total]) -> None:
    """Adds up whole units' rows: the unit, the group, and what counts."""
    import numpy as np

    units, groups, *values = rows
    if not len(units):
        return
    if places:
        first = starts(units)
        numbers = np.repeat(np.arange(len(first)), np.diff(first, append=len(units)))
        units, groups, *values = _together(numbers, groups, values, math.prod(places))
        for total, column in zip(totals, values, strict=True):
            total.add(units, groups, column)
        return
    _, _, *values = _alone(units, None, values)
    for total, column in zip(totals, values, strict=True):
        total.add_alone(column)


def _together(units: Whole, groups: Whole, values: list[Whole], many: int) -> list[Whole]:
    """Each unit and group once, in order, with the sums of its values."""
    import numpy as np

    digits = (many - 1).bit_length()
    numbers = units << digits | groups
    lows = [int(column.min()) for column in values]
    widths = [(int(column.max()) - low).bit_length() for column, low in zip(values, lows, strict=True)]
    told = [index for index, width in enumerate(widths) if width]  # the others are alike in all rows
    slots = int(units[-1]) + 1 << digits
    if slots <= ROOMY * len(numbers):
        rows = np.bincount(numbers, minlength=slots)
        known = np.flatnonzero(rows)
        rows = rows[known]
        sums = {index: np.bincount(numbers, values[index], slots)[known].astype(np.int64) for index in told}
    else:
        above = [values[index] - lows[index] for index in told]
        numbers, above = _sorted(numbers, above, [widths[index] for index in told])
        first = starts(numbers)
        rows, known = np.diff(first, append=len(numbers)), numbers[first]
        sums = {i: np.add.reduceat(own, first) + lows[i] * rows for i, own in zip(told, above, strict=True)}
    totals = [sums[index] if index in sums else low * rows for index, low in enumerate(lows)]
    return [known >> digits, known & ((1 << digits) - 1), *totals]


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


def _table(names: Sequence[str], places: Sequence[int], totals: Sequence[_Total]) -> Any:
    """What was added up, as an Arrow array: cells in order, of those where anything is."""
    import numpy as np

    parts: list[list[Whole]] = []
    for of, total in enumerate(totals):
        wide = total.wide
        cells = np.flatnonzero(total.units | total.signs | wide[:, 0] | wide[:, 1])
        left, bins = np.divmod(cells, total.bins)
        keys: list[Whole] = []
        for many in reversed(places):
            left, place = np.divmod(left, many)
            keys.insert(0, place)
        kinds = [np.full(len(cells), of)] if len(totals) > 1 else []
        parts.append([*keys, *kinds, bins, total.units[cells], total.signs[cells], wide[cells].reshape(-1)])
    columns = [np.concatenate(own) for own in zip(*parts, strict=True)]
    shown = [*names, *([OF] if len(totals) > 1 else []), *SIZED]
    types = [nanoarrow.int64()] * (len(shown) - 1) + [nanoarrow.decimal128(38, 0)]
    length = len(columns[0])
    children = [
        nanoarrow.c_array_from_buffers(kind, length=length, buffers=[None, np.ascontiguousarray(column)])
        for kind, column in zip(types, columns, strict=True)
    ]
    schema = nanoarrow.struct(dict(zip(shown, types, strict=True)))
    return nanoarrow.c_array_from_buffers(schema, length=length, buffers=[None], children=children)
