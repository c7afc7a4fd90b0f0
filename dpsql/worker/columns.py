"""Arrow tables to Python columns, checked against what was asked for.

Tests: tests/unit/worker/test_wire.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Any

import numpy as np
from nanoarrow import Type

from dpsql.privacy.tables import Digits
from dpsql.worker import wire
from dpsql.worker.ordered import present_of

__all__ = ["counted", "read"]

WIDTHS = (1, 2, 4, 8)  # Bytes of a whole number.
_EPOCH_DAY = date(1970, 1, 1).toordinal()  # The day from which DuckDB counts days, in Python's count of days.
_FIRST, _LAST = (day.toordinal() - _EPOCH_DAY for day in (date.min, date.max))  # The calendar's, as DuckDB counts them.
_DAY = 24 * 3600 * 10**6  # Microseconds, in which DuckDB counts moments.


def read(data: bytes | memoryview, expected: Sequence[tuple[str, str]]) -> dict[str, Sequence[Any]]:
    """The columns of a packed Arrow table, as plain Python or numpy values.

    Args:
        data: What `wire.pack` made.
        expected: (name, wire type) of every column, in order.

    Returns:
        Per name: BIGINT an int64 array and DOUBLE a float64 array where there is no NULL; everything else, and
        columns with NULLs, a list of Python values and None. HUGEINT is a list of ints.

    Raises:
        ValueError: If names or types differ from those expected.
    """
    stream = wire.unpack(data)
    found = [(field.name, _wire_type(field)) for field in stream.schema.fields]
    if found != list(expected):
        raise ValueError(f"the worker sent columns {found}, not {list(expected)}")
    chunks = [list(chunk.iter_children()) for chunk in stream]
    return {
        name: _column(wire_type, [children[place] for children in chunks])
        for place, (name, wire_type) in enumerate(expected)
    }


def counted(
    packed: Sequence[bytes | memoryview], names: Sequence[str], words: Sequence[Sequence[tuple[int, int]]], marked: bool
) -> dict[str, Sequence[Any]]:
    """The columns of rows that the worker counted: each is digits of a number, which are taken out where one looks.

    Args:
        packed: (n,) int64 of each word, and of the numbers of rows, without a sign and as wide as they come.
        names: Of the columns, that of the numbers of rows last.
        words: What the worker put together (`EngineStatement.words`).
        marked: Whether the last column before the numbers is 1 or 0: it comes as the number of rows where it is 1.

    >>> packed = [np.array(own, dtype=np.int64).tobytes() for own in ([4, 5, 14], [2, 3, 1])]
    >>> found = counted(packed, ["k", "x", "units", "rows"], [[(0, 1), (10, 2), (0, 1)]], marked=True)
    >>> [list(own) for own in found.values()]
    [[0, 0, 1], [12, 12, 13], [0, 3, 0], [2, 3, 1]]
    """
    numbers = [np.frombuffer(own, np.int64) for own in packed[:-1]]
    width, more = divmod(len(packed[-1]), max(1, len(numbers[0])))
    if more or len({len(own) for own in numbers}) > 1 or (len(numbers[0]) and width not in WIDTHS):
        raise ValueError("the worker sent columns of unequal length")
    rows = np.frombuffer(packed[-1], f"u{width}" if len(numbers[0]) else np.uint8)
    found: list[Digits] = []
    for word, number in zip(words, numbers, strict=True):
        below = sum(digits for _, digits in word)
        for low, digits in word:
            below -= digits
            found.append(Digits(number, below, digits if len(word) > 1 else None, low))
    if marked:
        found[-1] = Digits(rows * (numbers[-1].view(np.uint8)[:: numbers[-1].itemsize] & 1))  # the lowest byte
    return dict(zip(names, [*found, Digits(rows)], strict=True))


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


def _bits(chunk: Any, buffer: int) -> Any:
    packed = np.frombuffer(chunk.buffers[buffer], np.uint8)
    return np.unpackbits(packed, bitorder="little", count=len(chunk)).astype(bool)


def _fixed(dtype: Any) -> Callable[[Any], Any]:
    """Reads a buffer of fixed width; (n,) of the given dtype, without a copy."""

    def read_buffer(chunk: Any) -> Any:
        return np.frombuffer(chunk.buffers[1], dtype, count=len(chunk))

    return read_buffer


def _wide(chunk: Any) -> list[int]:
    """128-bit integers, stored as their lower and upper 64 bits."""
    halves = np.frombuffer(chunk.buffers[1], np.int64, count=2 * len(chunk)).reshape(-1, 2)
    low, high = halves[:, 0], halves[:, 1]
    if bool((high == low >> 63).all()):  # all fit 64 bits: the upper half only repeats the sign
        return low.tolist()  # type: ignore[no-any-return]  # numpy's list of int64 is a list of ints
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
    if len(values) and not (_FIRST * many <= values.min() and values.max() < (_LAST + 1) * many):
        raise ValueError("a date lies outside of the calendar")
    return values.astype(unit).tolist()  # type: ignore[no-any-return]  # numpy's list of dates


def _filled(chunk: Any, dtype: Any) -> Any:
    """(n,) the stored integers, 0 where the value is NULL: what lies under a NULL is arbitrary."""
    values, present = _fixed(dtype)(chunk), present_of(chunk)
    return values if present is None else np.where(present, values, 0)


_READERS: dict[str, Callable[[Any], Any]] = {
    "BIGINT": _fixed(np.int64),
    "HUGEINT": _wide,
    "DOUBLE": _fixed(np.float64),
    "VARCHAR": _texts,
    "DATE": _dates,
    "TIMESTAMP": _timestamps,
    "BOOLEAN": lambda chunk: _bits(chunk, 1),
}
