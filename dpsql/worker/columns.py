"""Arrow tables to Python columns, checked against what was asked for.

Tests: tests/unit/worker/test_wire.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import Any, overload

import numpy as np
from nanoarrow import Type

from dpsql.privacy.packed import PackedTexts, PackedValues
from dpsql.privacy.tables import Digits
from dpsql.worker import wire
from dpsql.worker.ordered import present_of

__all__ = ["counted", "dated", "joined", "packed", "read"]

ANY = 64  # Binary digits that travel with all others of their number.
WIDTHS = (1, 2, 4, 8)  # Bytes of a whole number.
_EPOCH_DAY = date(1970, 1, 1).toordinal()  # The day from which DuckDB counts days, in Python's count of days.
_FIRST, _LAST = (day.toordinal() - _EPOCH_DAY for day in (date.min, date.max))  # The calendar's, as DuckDB counts them.
_DAY = 24 * 3600 * 10**6  # Microseconds, in which DuckDB counts moments.


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A part of a column, with the buffers that Arrow holds it in: to find them takes longer than to read few rows."""

    buffers: tuple[Any, ...]
    rows: int

    def __len__(self) -> int:
        return self.rows


@overload
def read(data: bytes | memoryview, expected: Sequence[tuple[str, str]]) -> dict[str, Sequence[Any]]: ...
@overload
def read(
    data: bytes | memoryview, expected: Sequence[tuple[str, str]], most: int | None
) -> dict[str, Sequence[Any]] | None: ...
def read(
    data: bytes | memoryview, expected: Sequence[tuple[str, str]], most: int | None = None
) -> dict[str, Sequence[Any]] | None:
    """The columns of a packed Arrow table, as plain Python or numpy values.

    Args:
        data: What `wire.pack` made.
        expected: (name, wire type) of every column, in order.
        most: How many rows there may be; None for any number.

    Returns:
        None where there are more rows than that.
        Per name: BIGINT an int64 array and DOUBLE a float64 array where there is no NULL; everything else, and
        columns with NULLs, a list of Python values and None. HUGEINT is a list of ints.

    Raises:
        ValueError: If names or types differ from those expected.
    """
    chunks = _chunks(data, expected, most)
    return chunks if chunks is None else {name: _column(*own) for name, own in chunks.items()}


def packed(
    data: bytes | memoryview, expected: Sequence[tuple[str, str]], most: int | None
) -> dict[str, Sequence[Any]] | None:
    """As `read`, for millions of rows: only BIGINT and HUGEINT without NULL are arrays or lists, the rest is packed."""
    chunks = _chunks(data, expected, most)
    return chunks if chunks is None else {name: _packed(*own) for name, own in chunks.items()}


def dated(
    data: bytes | memoryview, expected: Sequence[tuple[str, str]], most: int | None
) -> dict[str, Sequence[Any]] | None:
    """As `read`, for exact results, whose days and moments are keys that many rows share: these are packed."""
    chunks = _chunks(data, expected, most)
    if chunks is None:
        return None
    return {name: _packed(*own) if own[0] in _A_DAY else _column(*own) for name, own in chunks.items()}


def joined(tables: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Sequence[Any]]:
    """One table of several that `packed` gave, one or more, below each other."""
    return {name: _joined([table[name] for table in tables]) for name in tables[0]}


def _chunks(
    data: bytes | memoryview, expected: Sequence[tuple[str, str]], most: int | None
) -> dict[str, tuple[str, list[Any]]] | None:
    """The wire type and the chunks of each column; None where these are more rows than they may be."""
    stream = wire.unpack(data)
    found = [(field.name, _wire_type(field)) for field in stream.schema.fields]
    if found != list(expected):
        raise ValueError(f"the worker sent columns {found}, not {list(expected)}")
    whole = list(stream)
    if most is not None and sum(map(len, whole)) > most:
        return None
    chunks = [[_Chunk(own.buffers, len(own)) for own in chunk.iter_children()] for chunk in whole]
    return {
        name: (wire_type, [children[place] for children in chunks]) for place, (name, wire_type) in enumerate(expected)
    }


def _packed(wire_type: str, chunks: list[Any]) -> Sequence[Any]:
    present = _present([present_of(chunk) for chunk in chunks], chunks)
    if wire_type == "VARCHAR":
        return _packed_texts(chunks, present)
    if wire_type == "HUGEINT":
        return _packed_wide(chunks, present)
    parts = [_bits(chunk) if wire_type == "BOOLEAN" else _filled(chunk, _STORED[wire_type]) for chunk in chunks]
    values = np.concatenate(parts) if parts else np.empty(0, _STORED.get(wire_type, np.bool_))
    if wire_type in _A_DAY:
        _require_calendar(values, _A_DAY[wire_type])  # now, and not when somebody looks
    if wire_type == "BIGINT" and present is None:
        return values  # type: ignore[return-value]  # an array
    return PackedValues(values, _MADE.get(wire_type, np.ndarray.tolist), present)


def _present(masks: Sequence[Any], parts: Sequence[Any]) -> Any:
    """(n,) which rows of some parts have a value; None where each has one, as a part without a mask has."""
    if all(mask is None for mask in masks):
        return None
    own = zip(masks, parts, strict=True)
    return np.concatenate([np.ones(len(part), np.bool_) if mask is None else mask for mask, part in own])


def _packed_wide(chunks: list[Any], present: Any) -> Sequence[Any]:
    halves = np.concatenate([np.empty((0, 2), np.int64), *map(_halves, chunks)])
    if present is None and _fit(halves):
        return halves[:, 0].copy()  # type: ignore[return-value]  # an array
    found = _whole(halves)
    return found if present is None else [n if there else None for n, there in zip(found, present, strict=True)]


def _packed_texts(chunks: list[Any], present: Any) -> PackedTexts:
    data, lengths = list[Any](), list[Any]()
    for chunk in chunks:
        if len(chunk):
            ends = np.frombuffer(chunk.buffers[1], np.int32, count=len(chunk) + 1)
            data.append(np.frombuffer(chunk.buffers[2], np.uint8)[ends[0] : ends[-1]])
            lengths.append(np.diff(ends))
    own = np.concatenate([np.empty(0, np.int32), *lengths])
    return PackedTexts(_starts(own), own, np.concatenate([np.empty(0, np.uint8), *data]), present)


def _starts(lengths: Any) -> Any:
    return np.cumsum(lengths, dtype=np.int64) - lengths


def _joined(parts: list[Any]) -> Sequence[Any]:
    if any(isinstance(part, list) for part in parts):
        return [value for part in parts for value in part]
    present = _present([getattr(part, "present", None) for part in parts], parts)  # arrays have none
    if isinstance(parts[0], PackedTexts):
        lengths = np.concatenate([part.lengths for part in parts])
        return PackedTexts(_starts(lengths), lengths, np.concatenate([part.data for part in parts]), present)
    values = np.concatenate([part.values if isinstance(part, PackedValues) else part for part in parts])
    makes = [part.make for part in parts if isinstance(part, PackedValues)]
    if not makes:
        return values  # type: ignore[return-value]  # an array
    return PackedValues(values, makes[0], present)


def counted(
    packed: Sequence[bytes | memoryview], names: Sequence[str], words: Sequence[Sequence[tuple[int, int]]], marked: bool
) -> dict[str, Sequence[Any]]:
    """The columns of rows that the worker counted: each is digits of a number, which are taken out where one looks.

    Args:
        packed: (n,) int64 of each word, or what `wire.shortened` says of it, and of the numbers of rows, without a sign
            and as wide as they come.
        names: Of the columns, that of the numbers of rows last.
        words: What the worker put together (`EngineStatement.words`).
        marked: Whether the last column before the numbers is 1 or 0: it comes as the number of rows where it is 1.

    >>> own = ([4, 5, 14], np.int32), ([0, 3], np.int64), ([2, 3, 1], np.int64)
    >>> packed = [np.array(numbers, dtype=kind).tobytes() for numbers, kind in own]
    >>> found = counted(packed, ["k", "x", "units", "rows"], [[(0, 1), (10, 2), (0, 1)]], marked=True)
    >>> [list(own) for own in found.values()]
    [[0, 0, 1], [12, 12, 13], [0, 3, 0], [2, 3, 1]]
    """
    short = wire.shortened(words)
    width, many = (np.int64, -1) if short is None else (np.int32, 1)
    numbers = [np.frombuffer(own, width) for own in packed[:many]]
    split, upper = (ANY, numbers[0]) if short is None else (short[0], _runs(packed[1], short[1], len(numbers[0])))
    wide, more = divmod(len(packed[-1]), max(1, len(numbers[0])))
    if more or len({len(own) for own in numbers}) > 1 or (len(numbers[0]) and wide not in WIDTHS):
        raise ValueError("the worker sent columns of unequal length")
    rows = np.frombuffer(packed[-1], f"u{wide}" if len(numbers[0]) else np.uint8)
    found: list[Digits] = []
    for word, number in zip(words, numbers, strict=True):
        below = sum(digits for _, digits in word)
        for low, digits in word:
            below -= digits
            own, at = (number, below) if below < split else (upper, below - split)
            found.append(Digits(own, at, digits if len(word) > 1 else None, low))
    if marked:
        found[-1] = Digits(rows * (numbers[-1].view(np.uint8)[:: numbers[-1].itemsize] & 1))  # the lowest byte
    return dict(zip(names, [*found, Digits(rows)], strict=True))


def _runs(starts: bytes | memoryview, digits: int, rows: int) -> Any:
    """(n,) each number of so many digits, as often as its rows, which begin there."""
    begins = np.frombuffer(starts, np.int64)
    times = np.diff(begins)
    if len(times) != 1 << digits or begins[0] or begins[-1] != rows or times.min() < 0:
        raise ValueError("the worker sent columns of unequal length")
    return np.repeat(np.arange(1 << digits, dtype=np.min_scalar_type((1 << digits) - 1)), times)


def _wire_type(field: Any) -> str:
    """The wire type of an Arrow field, or ``"?"``."""
    match field.type:
        case Type.DECIMAL128 if (field.precision, field.scale) == (38, 0):
            return "HUGEINT"
        case Type.TIMESTAMP if field.unit.name == "MICRO" and not field.timezone:
            return "TIMESTAMP"
    return _SIMPLE.get(field.type, "?")


_SIMPLE = {
    Type.INT64: "BIGINT",
    Type.DOUBLE: "DOUBLE",
    Type.STRING: "VARCHAR",
    Type.DATE32: "DATE",
    Type.BOOL: "BOOLEAN",
}


def _column(wire_type: str, chunks: list[Any]) -> Sequence[Any]:
    parts = [_READERS[wire_type](chunk) for chunk in chunks]
    masks = [present_of(chunk) for chunk in chunks]
    if all(mask is None for mask in masks):
        if wire_type in _NUMPY:
            arrays: list[Any] = parts or [np.empty(0, _NUMPY[wire_type])]
            return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)  # type: ignore[return-value]  # an array
        return [value for part in parts for value in _listed(part)]
    return [
        value if mask is None or mask[row] else None
        for part, mask in zip(parts, masks, strict=True)
        for row, value in enumerate(_listed(part))
    ]


_NUMPY = {"BIGINT": np.int64, "DOUBLE": np.float64}


def _listed(part: Any) -> list[Any]:
    return part if isinstance(part, list) else part.tolist()


def _bits(chunk: Any) -> Any:
    packed = np.frombuffer(chunk.buffers[1], np.uint8)
    return np.unpackbits(packed, bitorder="little", count=len(chunk)).astype(bool)


def _fixed(dtype: Any) -> Callable[[Any], Any]:
    """Reads a buffer of fixed width; (n,) of the given dtype, without a copy."""

    def read_buffer(chunk: Any) -> Any:
        return np.frombuffer(chunk.buffers[1], dtype, count=len(chunk))

    return read_buffer


def _wide(chunk: Any) -> list[int]:
    """128-bit integers, stored as their lower and upper 64 bits."""
    return _whole(_halves(chunk))


def _halves(chunk: Any) -> Any:
    return np.frombuffer(chunk.buffers[1], np.int64, count=2 * len(chunk)).reshape(-1, 2)


def _fit(halves: Any) -> bool:
    """Whether all fit 64 bits: the upper half only repeats the sign."""
    return bool((halves[:, 1] == halves[:, 0] >> 63).all())


def _whole(halves: Any) -> list[int]:
    if _fit(halves):
        return halves[:, 0].tolist()  # type: ignore[no-any-return]  # numpy's list of int64 is a list of ints
    return [(up << 64) | (down & (2**64 - 1)) for down, up in halves.tolist()]


def _texts(chunk: Any) -> list[str]:
    ends = np.frombuffer(chunk.buffers[1], np.int32, count=len(chunk) + 1).tolist() if len(chunk) else [0]
    data = bytes(chunk.buffers[2])
    whole = data.decode()
    if len(whole) == len(data):  # ASCII: bytes and characters are the same positions
        return [whole[start:end] for start, end in pairwise(ends)]
    return [data[start:end].decode() for start, end in pairwise(ends)]


def _dates(chunk: Any) -> list[date]:
    return _in_calendar(_filled(chunk, np.int32), 1, "M8[D]")


def _timestamps(chunk: Any) -> list[datetime]:
    return _in_calendar(_filled(chunk, np.int64), _DAY, "M8[us]")


def _in_calendar(values: Any, many: int, unit: str) -> list[Any]:
    """Counts of days or moments, so many a day, as Python has them: numpy makes them several times as fast."""
    _require_calendar(values, many)
    return values.astype(unit).tolist()  # type: ignore[no-any-return]  # numpy's list of dates


def _require_calendar(values: Any, many: int) -> None:
    if len(values) and not (_FIRST * many <= values.min() and values.max() < (_LAST + 1) * many):
        raise ValueError("a date lies outside of the calendar")


def _filled(chunk: Any, dtype: Any) -> Any:
    """(n,) the stored integers, 0 where the value is NULL: what lies under a NULL is arbitrary."""
    values, present = _fixed(dtype)(chunk), present_of(chunk)
    return values if present is None else np.where(present, values, 0)


def _reals(values: Any) -> list[Any]:
    return (values + 0.0).tolist()  # type: ignore[no-any-return]  # numpy's list; 0.0 for -0.0, which it equals


_STORED = {"BIGINT": np.int64, "DOUBLE": np.float64, "DATE": np.int32, "TIMESTAMP": np.int64}
_A_DAY = {"DATE": 1, "TIMESTAMP": _DAY}  # How many of its numbers a day has.
_MADE: dict[str, Callable[[Any], list[Any]]] = {
    "DOUBLE": _reals,
    "DATE": lambda values: _in_calendar(values, 1, "M8[D]"),
    "TIMESTAMP": lambda values: _in_calendar(values, _DAY, "M8[us]"),
}

_READERS: dict[str, Callable[[Any], Any]] = {
    "BIGINT": _fixed(np.int64),
    "HUGEINT": _wide,
    "DOUBLE": _fixed(np.float64),
    "VARCHAR": _texts,
    "DATE": _dates,
    "TIMESTAMP": _timestamps,
    "BOOLEAN": _bits,
}
