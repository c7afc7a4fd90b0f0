"""What travels between a process and its workers: JSON headers, and tables as Arrow streams. No pickles."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import nanoarrow
import nanoarrow.ipc

from dpsql.errors import InvariantBroken

__all__ = ["TIMES", "WIRE_TYPES", "decode", "encode", "pack", "read", "shortened", "table", "unpack", "write"]

WIRE_TYPES = ("BIGINT", "HUGEINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN")
"""The types that a result may have, in the engine's words."""

TIMES = "how often each row stands there"
"""A column of a table that comes with a request: the worker writes each row so often, and leaves the column out."""

SHORT = 31  # Binary digits of a number in 32 bits, but its sign.
ABOVE = 12
"""Binary digits above these, of which it is told where each number of them begins. It is a choice: 32 KiB at most."""

Columns = Mapping[str, tuple[str, Sequence[Any]]]
"""Name to (wire type, values)."""


def encode(message: Any) -> bytes:
    """The message as JSON; exact numbers and dates keep their type.

    Raises:
        InvariantBroken: If a value has a type that does not travel, or is not finite.

    >>> decode(encode({"parameters": [1, 0.5, Decimal("0.1"), date(2024, 1, 31)]}))
    {'parameters': [1, 0.5, Decimal('0.1'), datetime.date(2024, 1, 31)]}
    """
    try:
        return json.dumps(message, default=_tag, allow_nan=False).encode()
    except ValueError as error:
        raise InvariantBroken("a number that is not finite was sent to a worker") from error


def decode(data: bytes) -> Any:
    """The message that `encode` packed."""
    return json.loads(data, object_hook=_untag)


def _tag(value: object) -> dict[str, str]:
    match value:
        case datetime():
            return {"$timestamp": value.isoformat()}
        case date():
            return {"$date": value.isoformat()}
        case Decimal():
            return {"$decimal": str(value)}
        case Fraction():
            return {"$fraction": str(value)}
    raise InvariantBroken(f"a {type(value).__name__} does not travel to a worker")


_READERS: dict[str, Callable[[str], Any]] = {
    "$timestamp": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$decimal": Decimal,
    "$fraction": Fraction,
}


def _untag(message: dict[str, Any]) -> Any:
    if len(message) == 1:
        ((tag, text),) = message.items()
        if tag in _READERS:
            return _READERS[tag](text)
    return message


def pack(stream: Any) -> bytes:
    """An Arrow stream (anything with ``__arrow_c_stream__``) as bytes."""
    buffer = io.BytesIO()
    with nanoarrow.ipc.StreamWriter.from_writable(buffer) as writer:
        writer.write_stream(nanoarrow.c_array_stream(stream))
    return buffer.getvalue()  # without a copy; a view of it could outlive it, of which Python 3.13 complains


def unpack(data: bytes | memoryview) -> Any:
    """The nanoarrow.ArrayStream that `pack` packed."""
    with nanoarrow.ipc.InputStream.from_readable(io.BytesIO(data)) as source:
        return nanoarrow.ArrayStream(source)


def write(connection: int, data: Any) -> None:
    """Sends all bytes, as they are: `read` gets them, and nobody else says how many."""
    whole = memoryview(data)
    left = whole.cast("B") if whole.nbytes else whole  # an empty one cannot be cast
    while left.nbytes:
        left = left[os.write(connection, left) :]


def read(connection: int, size: int) -> memoryview:
    """So many bytes that `write` sent. A table of millions of rows is read to where it stays.

    Raises:
        EOFError: If the other end is closed.
    """
    import numpy as np  # here, for memory that nobody fills before it is read to

    data = np.empty(size, dtype=np.uint8).data
    left = data
    while len(left):
        many = os.readv(connection, [left])
        if not many:
            raise EOFError
        left = left[many:]
    return data


def shortened(words: Sequence[Sequence[tuple[int, int]]]) -> tuple[int, int] | None:
    """How rising numbers of several columns travel in 32 bits each, by public facts alone.

    Args:
        words: As `EngineStatement.words`: the least value and the binary digits of each column.

    Returns:
        The digits of the last columns, which travel so, and those of the first ones, of which it is told where each
        number begins; None where 64 bits travel.

    >>> shortened([[(0, 6), (0, 26), (0, 4)]]), shortened([[(0, 40), (0, 26)]]), shortened([[(0, 9)], [(0, 9)]])
    ((30, 6), None, None)
    """
    below, every = 0, [digits for word in words for _, digits in word]
    while every and below + every[-1] <= SHORT:
        below += every.pop()
    return (below, sum(every)) if len(words) == 1 and below and sum(every) <= ABOVE else None


def table(columns: Columns) -> bytes:
    """The columns as one Arrow table in bytes, for `unpack`.

    Types that Arrow would hold in a form of its own (wide integers, dates, timestamps) travel as text; the worker
    casts them to their wire type.
    """
    children = [_array(wire_type, values) for wire_type, values in columns.values()]
    schema = nanoarrow.struct({name: child.schema for name, child in zip(columns, children, strict=True)})
    length = len(next(iter(columns.values()))[1])
    return pack(nanoarrow.c_array_from_buffers(schema, length=length, buffers=[None], children=children))


_ARROW = {"BIGINT": nanoarrow.int64, "DOUBLE": nanoarrow.float64, "BOOLEAN": nanoarrow.bool_}


def _array(wire_type: str, values: Iterable[Any]) -> Any:
    if wire_type not in WIRE_TYPES:
        raise InvariantBroken(f"{wire_type} is not a wire type")
    if wire_type in _ARROW:
        return nanoarrow.c_array(list(values), _ARROW[wire_type]())
    return nanoarrow.c_array([None if value is None else str(value) for value in values], nanoarrow.string())
