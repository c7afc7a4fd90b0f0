"""Tables that may not leave, and tables that may.

`RawTable` holds exact numbers from the engine. Only a mechanism turns one into a `ReleasedTable`.

Tests: tests/unit/mechanisms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from operator import eq, ne
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.privacy.packed import CLOSE, Packed, PackedValues

__all__ = ["CLOSE", "OUTSIDE", "Digits", "Group", "GroupColumns", "Listed", "RawTable", "ReleasedTable", "listed"]

Group = tuple[Any, ...]
"""The key values of one group, in the order of the statement's keys; ``()`` for a statement without keys."""

OUTSIDE = object()
"""What stands where a value is none of those listed: equal to nothing else."""


class Digits(Sequence[int]):
    """Whole numbers that are some binary digits of others: taken out, as int64, of what somebody looks at.

    Args:
        words: (n,) whole numbers.
        below: How many digits are below those taken.
        digits: How many are taken; None for all above.
        low: What is added.

    >>> found = Digits(np.array([0b1011, 0b0100]), 1, 2, 10)
    >>> found.tolist(), np.asarray(found[1:])
    ([11, 12], array([12]))
    """

    __slots__ = ("below", "digits", "low", "words")

    def __init__(self, words: npt.NDArray[Any], below: int = 0, digits: int | None = None, low: int = 0) -> None:
        self.words, self.below, self.digits, self.low = words, below, digits, low

    @property
    def mask(self) -> int:
        """All digits that are taken."""
        return (-1 if self.digits is None else (1 << self.digits) - 1) << self.below

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice | np.ndarray):
            return Digits(self.words[rows], self.below, self.digits, self.low)
        return ((int(self.words[rows]) & self.mask) >> self.below) + self.low

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        found = self.words >> self.below if self.below else self.words
        if self.digits is not None:
            found = found & ((1 << self.digits) - 1)
        if not self.low:
            return found.astype(np.int64 if dtype is None else dtype, copy=found is self.words)
        found = found.astype(np.int64, copy=found is self.words)
        found += self.low
        return found if dtype is None else found.astype(dtype, copy=False)

    def tolist(self) -> list[int]:
        """The numbers, taken out one by one."""
        return self.__array__().tolist()  # type: ignore[no-any-return]  # numpy's list of int64 is a list of ints


class Listed(Sequence[Any]):
    """Values of a list, by their places in it; `OUTSIDE` behind its end. No value is made, only named.

    >>> list(Listed(np.array([1, 0, 1]), ["a", None]))
    [None, 'a', None]
    """

    __slots__ = ("_values", "places")

    def __init__(self, places: Sequence[int] | npt.NDArray[Any], values: Sequence[Any]) -> None:
        self.places: Any = places if isinstance(places, Digits) else np.asarray(places)
        self._values = [*values, OUTSIDE]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, row: Any) -> Any:
        return self._values[self.places[row]]

    def at(self, rows: npt.NDArray[np.int64]) -> Listed:
        """The values of some rows."""
        return Listed(self.places[rows], self._values[:-1])

    def tolist(self) -> list[Any]:
        """The values, named one by one."""
        return [self._values[place] for place in self.places.tolist()]


class GroupColumns(Sequence[Group]):
    """Groups by column: a million of them are arrays and lists, and a tuple is made of one when somebody looks at it.

    Args:
        columns: For each key one value a group.
        size: How many groups they are.
        table: The raw table in which they were found, and ``rows``, where each stands there; None where that is not
            known.
    """

    __slots__ = ("_size", "columns", "rows", "table")

    def __init__(
        self,
        columns: Sequence[Sequence[Any]],
        size: int,
        table: RawTable | None = None,
        rows: npt.NDArray[np.int64] | None = None,
    ) -> None:
        if any(len(column) != size for column in columns) or (rows is not None and len(rows) != size):
            raise InvariantBroken("groups have columns of unequal length")
        self.columns = tuple(columns)
        self._size = size
        self.table, self.rows = table, rows

    @staticmethod
    def of(groups: Sequence[Group], width: int) -> GroupColumns:
        """The same groups by column; ``width`` keys each."""
        if isinstance(groups, GroupColumns):
            return groups
        return GroupColumns([[group[index] for group in groups] for index in range(width)], len(groups))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Group]:
        return zip(*map(listed, self.columns), strict=True) if self.columns else repeat((), self._size)

    @overload
    def __getitem__(self, at: int) -> Group: ...
    @overload
    def __getitem__(self, at: slice) -> GroupColumns: ...
    def __getitem__(self, at: int | slice) -> Group | GroupColumns:
        if isinstance(at, slice):
            return self.take(np.arange(self._size)[at])
        if not -self._size <= at < self._size:
            raise IndexError(at)
        return tuple(column[at].item() if isinstance(column, np.ndarray) else column[at] for column in self.columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as lists have none

    def alone(self) -> GroupColumns:
        """The same groups, which lead to no raw table any more: these may leave."""
        return GroupColumns([listed(own) if isinstance(own, Packed) else own for own in self.columns], self._size)

    def take(self, kept: Sequence[int] | npt.NDArray[np.int64]) -> GroupColumns:
        """Some of the groups, by their places."""
        rows = np.asarray(kept, dtype=np.int64)
        if _all(rows, self._size):
            return self
        columns = [_at(column, rows) for column in self.columns]
        return GroupColumns(columns, len(rows), self.table, None if self.rows is None else self.rows[rows])


class RawTable:
    """Exact numbers, column by column. Its text shows nothing, so that no log or traceback can.

    Args:
        columns: Name to values; every column has the same length. Integers are Python ints or int64 arrays.
        size: How many groups the rows belong to; by default each row is one.
    """

    __slots__ = ("_columns", "_length", "size")

    def __init__(self, columns: Mapping[str, Sequence[Any]], size: int | None = None) -> None:
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise InvariantBroken("a raw table has columns of unequal length")
        self._columns = dict(columns)
        self._length = lengths.pop() if lengths else 0
        self.size = self._length if size is None else size

    def __repr__(self) -> str:
        return "RawTable(<private>)"

    def __len__(self) -> int:
        return self._length

    def column(self, name: str) -> Sequence[Any]:
        """The exact values of one column."""
        try:
            return self._columns[name]
        except KeyError:
            raise InvariantBroken(f"a raw table has no column {name!r}") from None

    def groups(self, keys: Sequence[str]) -> list[Group]:
        """One tuple of key values per row; ``()`` for each row when there are no keys."""
        if not keys:
            return [()] * self._length
        return list(zip(*(listed(self.column(key)) for key in keys), strict=True))

    def aligned(self, keys: Sequence[str], groups: Sequence[Group], columns: Mapping[str, str]) -> RawTable:
        """One row per wanted group, 0 where the group is absent: ``columns`` maps new names to the names here."""
        if (
            isinstance(groups, GroupColumns) and groups.table is self and groups.rows is not None
        ):  # found here, by all keys
            if len(keys) != len(groups.columns):
                raise InvariantBroken("groups have other keys than they were found by")
            return RawTable({new: listed(_at(self.column(old), groups.rows)) for new, old in columns.items()})
        found: Iterator[tuple[int, Group]] = enumerate(self._walked(keys))
        if self._length > 2 * len(groups):  # most are not wanted, and need not be held
            wanted = frozenset(groups)
            found = ((row, group) for row, group in found if group in wanted)
        where = {group: row for row, group in found}
        rows = [where.get(group, -1) for group in groups]
        return RawTable(
            {
                new: [int(column[row]) if row >= 0 else 0 for row in rows]
                for new, old in columns.items()
                for column in (self.column(old),)
            }
        )

    def total(self, keys: Sequence[str], groups: Sequence[Group], columns: Mapping[str, str]) -> RawTable:
        """One row: the sums over the wanted groups; ``columns`` maps new names to the names here."""
        if isinstance(groups, GroupColumns) and groups.table is self and groups.rows is not None:
            rows = groups.rows
        else:
            wanted = frozenset(groups)
            rows = np.flatnonzero([group in wanted for group in self._walked(keys)])
        return RawTable({new: [sum(map(int, listed(_at(self.column(old), rows))))] for new, old in columns.items()})

    def by_group(
        self, keys: Sequence[str], groups: Sequence[Group], columns: Sequence[str], *, rest: bool = False
    ) -> RawTable:
        """The rows of wanted groups, with ``group`` (the index among them).

        Args:
            keys: The columns that tell groups apart.
            groups: The wanted ones.
            columns: What else the table has.
            rest: Whether the other groups' rows come, too, as one more group behind all, which ``size`` does not count.
        """
        index = {group: at for at, group in enumerate(groups)}
        starts = self._runs(keys)
        own = self._walked(keys, starts)
        found = np.array([index.get(group, -1) for group in own], dtype=np.min_scalar_type(-1 - len(groups)))
        every = bool((found >= 0).all())
        found = np.repeat(found, np.diff(starts, append=self._length))
        table: dict[str, Sequence[Any]] = {name: self.column(name) for name in columns}
        if not every and rest:
            found = np.where(found < 0, len(groups), found).astype(found.dtype)
        elif not every:
            kept = np.flatnonzero(found >= 0)
            found, table = found[kept], {name: _at(column, kept) for name, column in table.items()}
        return RawTable({"group": Digits(found), **table}, size=len(groups))

    def where(self, name: str, value: int) -> RawTable:
        """The rows with a value in a column of whole numbers."""
        kept = np.flatnonzero(np.asarray(self.column(name), dtype=np.int64) == value)
        return RawTable({name: _at(column, kept) for name, column in self._columns.items()})

    def _walked(self, keys: Sequence[str], rows: npt.NDArray[np.int64] | None = None) -> Iterator[Group]:
        """The groups of all rows, or of some: as `groups`, but that not all of them are there at once."""
        size = self._length if rows is None else len(rows)
        for start in range(0, size, CLOSE):
            own = np.arange(start, min(start + CLOSE, size)) if rows is None else rows[start : start + CLOSE]
            columns = [listed(_at(self.column(key), own)) for key in keys]
            yield from zip(*columns, strict=True) if keys else repeat((), len(own))

    def _runs(self, keys: Sequence[str]) -> npt.NDArray[np.int64]:
        """Where a group's rows begin: the first row, and each whose keys are not those of the row above."""
        starts = np.zeros(self._length, dtype=np.bool_)
        starts[:1] = True
        columns = [own.places if isinstance(own, Listed) else own for own in map(self.column, keys)]
        masks = dict[int, int]()
        for column in columns:
            if isinstance(column, Digits):
                masks[id(column.words)] = masks.get(id(column.words), 0) | column.mask
        for column in columns:
            if isinstance(column, Digits):
                if mask := masks.pop(id(column.words), 0):
                    _compared(column.words, mask, starts)
            elif isinstance(column, np.ndarray):
                starts[1:] |= column[1:] != column[:-1]
            elif isinstance(column, PackedValues):
                for own in (column.values, column.present):
                    starts[1:] |= False if own is None else own[1:] != own[:-1]
            elif isinstance(column, Packed):
                starts[1:] |= np.fromiter((a != b for a, b in pairwise(column)), np.bool_, max(self._length - 1, 0))
            else:
                starts[1:] |= np.fromiter(map(ne, column[1:], column[:-1]), np.bool_, max(self._length - 1, 0))
        return np.flatnonzero(starts)


def listed(column: Sequence[Any]) -> Sequence[Any]:
    """A column of Python's own values, as one goes through it."""
    return column.tolist() if isinstance(column, np.ndarray | Listed | Digits | Packed) else column


def _compared(words: npt.NDArray[Any], mask: int, starts: npt.NDArray[np.bool_]) -> None:
    """Adds to the starts where a number has other digits than the one before, of those in a mask."""
    for start in range(1, len(words), CLOSE):
        end = min(start + CLOSE, len(words))
        starts[start:end] |= ((words[start:end] ^ words[start - 1 : end - 1]) & mask) != 0


def _all(rows: npt.NDArray[np.int64], size: int) -> bool:
    """Whether some rows are all of so many, in order: most groups appear, and a column of texts is long to copy."""
    return len(rows) == size and bool((rows == np.arange(size)).all())


def _at(column: Sequence[Any] | npt.NDArray[Any], rows: npt.NDArray[np.int64]) -> Sequence[Any]:
    """Some rows of a column: whole numbers stay an array, other values become Python's own."""
    if isinstance(column, Listed | Packed):
        return column.at(rows)
    if isinstance(column, Digits):
        return column[rows]  # type: ignore[no-any-return]  # Digits again
    if not isinstance(column, np.ndarray):
        return [column[row] for row in rows.tolist()]
    taken: Any = column[rows]
    return taken if taken.dtype.kind in "iu" else taken.tolist()  # type: ignore[no-any-return]  # an array or a list


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """Noised numbers that may leave: each column has one entry per group.

    Attributes:
        columns: ``value`` is the answer in the column's own unit (None where there is none); further columns
            (``sum``, ``count``, ...) are what the error bars need. All are results of charged mechanisms.
        worked_out: What follows from them, by the function that works it out: notes ask several times.
    """

    columns: Mapping[str, Sequence[Any]]
    worked_out: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def values(self) -> Sequence[Any]:
        """The answers, one per group."""
        return self.columns["value"]

    def take(self, kept: npt.NDArray[np.int64]) -> ReleasedTable:
        """Some of the groups; columns that are one and the same stay so."""
        if _all(kept, len(self.values)):
            return self
        rows = kept.tolist()
        own = {id(values): [values[row] for row in rows] for values in self.columns.values()}
        return ReleasedTable({name: own[id(values)] for name, values in self.columns.items()})

    def place(self, place: int) -> ReleasedTable:
        """The same release with its ``value_1``, ``value_2``, ... as the answer; 0 for ``value`` itself."""
        return self if place == 0 else ReleasedTable({**self.columns, "value": self.columns[f"value_{place}"]})
