"""PostgreSQL's frontend/backend protocol 3.0 as bytes: what clients send is read, what they get is written.

Source: PostgreSQL 17 documentation, chapter 53, "Message Formats".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

__all__ = [
    "CANCEL",
    "GSS",
    "SSL",
    "VERSION",
    "MessageFields",
    "ProtocolViolation",
    "ResultColumn",
    "authentication",
    "backend_key",
    "bind_complete",
    "close_complete",
    "command_complete",
    "copy_data",
    "copy_done",
    "copy_out",
    "data_row",
    "empty_query",
    "error",
    "negotiate",
    "no_data",
    "notice",
    "parameter_description",
    "parameter_status",
    "parse_complete",
    "portal_suspended",
    "ready",
    "row_description",
]  # fmt: skip

VERSION = 3 << 16  # The protocol's version 3.0, as a startup message has it.
CANCEL = 80877102  # What a startup message says in place of a version: cancel a statement. Of the protocol.
SSL = 80877103  # The same, and asks whether TLS may be spoken.
GSS = 80877104  # The same, and asks whether GSSAPI may be spoken.


class ProtocolViolation(Exception):  # noqa: N818 - named as PostgreSQL names its condition
    """A client sent what is no message of the protocol; the connection ends."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result.

    Attributes:
        name: What it is called.
        oid: Its type's number in PostgreSQL.
        size: Bytes of a value; -1 where they vary.
    """

    name: str
    oid: int
    size: int


@dataclass(slots=True)
class MessageFields:
    """Reads the parts of one message, in their order.

    Args:
        data: The message's body.
    """

    data: bytes
    at: int = 0

    def string(self) -> str:
        """Text that ends with a zero byte."""
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise ProtocolViolation("a text of the message does not end")
        text, self.at = self.data[self.at : end], end + 1
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise ProtocolViolation("a text of the message is not UTF-8") from None

    def take(self, count: int) -> bytes:
        """So many bytes."""
        if count < 0 or self.at + count > len(self.data):
            raise ProtocolViolation("the message is too short")
        self.at += count
        return self.data[self.at - count : self.at]

    def int16(self) -> int:
        """An unsigned number of 16 bits."""
        return int.from_bytes(self.take(2), "big")

    def int32(self) -> int:
        """A signed number of 32 bits."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def formats(self) -> list[int]:
        """Format codes: 0 text, 1 binary."""
        codes = [self.int16() for _ in range(self.int16())]
        if not set(codes) <= {0, 1}:
            raise ProtocolViolation("a format is neither text nor binary")
        return codes

    def values(self) -> list[bytes | None]:
        """Values of parameters; NULL is None."""
        return [None if (size := self.int32()) == -1 else self.take(size) for _ in range(self.int16())]

    def end(self) -> Self:
        """Itself, if nothing is left."""
        if self.at != len(self.data):
            raise ProtocolViolation("the message is too long")
        return self


def _message(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return kind + struct.pack(">i", len(body) + 4) + body


def _string(text: str) -> bytes:
    return text.replace("\0", "").encode(errors="replace") + b"\0"


def authentication(kind: int, data: bytes = b"") -> bytes:
    """What is asked for next: 0 nothing more, 10 SASL, 11 and 12 how it goes on and ends."""
    return _message(b"R", struct.pack(">i", kind), data)


def parameter_status(name: str, value: str) -> bytes:
    """A setting that clients follow."""
    return _message(b"S", _string(name), _string(value))


def backend_key(process: int, secret: bytes) -> bytes:
    """What a request to cancel has to name."""
    return _message(b"K", struct.pack(">i", process), secret)


def negotiate(unknown: Sequence[str]) -> bytes:
    """That version 3.0 is spoken, and which options are not known."""
    return _message(b"v", struct.pack(">ii", VERSION, len(unknown)), *map(_string, unknown))


def ready(status: str) -> bytes:
    """That the next statement may come; I outside of a transaction, T inside."""
    return _message(b"Z", status.encode())


def error(fields: Mapping[str, str]) -> bytes:
    """An error, by PostgreSQL's one-letter fields."""
    return _message(b"E", *_lettered(fields))


def notice(fields: Mapping[str, str]) -> bytes:
    """Something to know, which is no error."""
    return _message(b"N", *_lettered(fields))


def _lettered(fields: Mapping[str, str]) -> Iterable[bytes]:
    for letter, text in fields.items():
        yield letter.encode() + _string(text)
    yield b"\0"


def row_description(columns: Sequence[ResultColumn], formats: Sequence[int]) -> bytes:
    """The columns of what follows."""
    parts = [
        _string(column.name) + struct.pack(">ihihih", 0, 0, column.oid, column.size, -1, code)
        for column, code in zip(columns, formats, strict=True)
    ]
    return _message(b"T", struct.pack(">H", len(columns)), *parts)


def parameter_description(oids: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return _message(b"t", struct.pack(f">H{len(oids)}i", len(oids), *oids))


def data_row(values: Sequence[bytes | None]) -> bytes:
    """One row."""
    parts = [b"\xff\xff\xff\xff" if value is None else struct.pack(">i", len(value)) + value for value in values]
    return _message(b"D", struct.pack(">H", len(values)), *parts)


def copy_out(formats: Sequence[int], *, binary: bool) -> bytes:
    """That the rows of a COPY follow, and the format of each column."""
    return _message(b"H", struct.pack(f">BH{len(formats)}H", int(binary), len(formats), *formats))


def copy_data(data: bytes) -> bytes:
    """A piece of a COPY."""
    return _message(b"d", data)


def command_complete(tag: str) -> bytes:
    """That a statement is done."""
    return _message(b"C", _string(tag))


parse_complete = _message(b"1")
bind_complete = _message(b"2")
close_complete = _message(b"3")
copy_done = _message(b"c")
no_data = _message(b"n")
empty_query = _message(b"I")
portal_suspended = _message(b"s")
