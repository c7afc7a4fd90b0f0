"""Protocol Buffers' wire format, as much of it as Flight's messages use.

Numbers are varints, everything else is bytes with their length in front; see protobuf.dev, "Encoding".
"""

from __future__ import annotations

from dpsql.errors import ProgrammingError

__all__ = ["BrokenMessage", "Fields", "field", "packed", "read"]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # Kinds of field, by their numbers.
LONGEST_VARINT = 10  # Bytes of a number of 64 bits, 7 bits in each.
WHOLE = 2**64  # Negative numbers are written modulo this.
SHORT = [bytes([value]) for value in range(128)]
"""The numbers of one byte, as most are: these are written and read without a loop."""


class BrokenMessage(ProgrammingError):  # noqa: N818
    """Bytes that are no message of Flight SQL's."""

    def __init__(self) -> None:
        super().__init__("The message is none of Flight SQL's. Nothing was charged. Use a Flight SQL client.")


class Fields:
    """The fields of one message, by number: the last one counts where one may stand, as the format says."""

    def __init__(self, found: dict[int, list[int | bytes]]) -> None:
        self._found = found

    def blob(self, number: int) -> bytes:
        """Bytes; none where the field is absent."""
        values = self.blobs(number)
        return values[-1] if values else b""

    def blobs(self, number: int) -> list[bytes]:
        """All of a field that may stand several times."""
        values = self._found.get(number, [])
        own = [value for value in values if isinstance(value, bytes)]
        if len(own) < len(values):
            raise BrokenMessage
        return own

    def text(self, number: int) -> str:
        """Text, which must be UTF-8; empty where the field is absent."""
        return _text(self.blob(number))

    def texts(self, number: int) -> list[str]:
        """Several texts."""
        return [_text(value) for value in self.blobs(number)]

    def optional(self, number: int) -> str | None:
        """Text, or None where the field is absent."""
        return self.text(number) if number in self._found else None

    def number(self, number: int) -> int:
        """A number; 0 where the field is absent."""
        value = next(iter(self._found.get(number, [])[-1:]), 0)
        if isinstance(value, bytes):
            raise BrokenMessage
        return value

    def numbers(self, number: int) -> list[int]:
        """Several numbers, each by itself or many in one field (packed)."""
        found = list[int]()
        for value in self._found.get(number, []):
            if isinstance(value, int):
                found.append(value)
                continue
            at = 0
            while at < len(value):
                one, at = _varint(value, at)
                found.append(one)
        return found


def read(message: bytes) -> Fields:
    """The fields of a message.

    Raises:
        ProgrammingError: It is none.
    """
    found, at = dict[int, list[int | bytes]](), 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        value: int | bytes
        if kind == VARINT:
            value, at = _varint(message, at)
        else:
            if kind == LENGTH:
                size, at = _varint(message, at)
            elif kind in (FIXED64, FIXED32):
                size = 8 if kind == FIXED64 else 4
            else:
                raise BrokenMessage
            value, at = bytes(message[at : at + size]), at + size
            if at > len(message):
                raise BrokenMessage
        if number == 0:
            raise BrokenMessage
        found.setdefault(number, []).append(value)
    return Fields(found)


def field(number: int, value: str | bytes | int | None) -> bytes:
    """One field as it travels; nothing for None.

    >>> field(1, "n"), field(4, -1) == bytes([32]) + b"\\xff" * 9 + b"\\x01", field(2, None)
    (b'\\n\\x01n', True, b'')
    """
    if value is None:
        return b""
    if isinstance(value, int):
        return _written(number << 3 | VARINT) + _written(value % WHOLE)
    own = value.encode() if isinstance(value, str) else value
    return _written(number << 3 | LENGTH) + _written(len(own)) + own


def packed(number: int, values: list[int]) -> bytes:
    """Several numbers in one field."""
    return field(number, b"".join(map(_written, values)))


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise BrokenMessage from None


def _written(value: int) -> bytes:
    if value < len(SHORT):
        return SHORT[value]
    own = bytearray()
    while value > 127:
        own.append(value & 127 | 128)
        value >>= 7
    own.append(value)
    return bytes(own)


def _varint(message: bytes, at: int) -> tuple[int, int]:
    if at < len(message) and message[at] < len(SHORT):
        return message[at], at + 1
    value = 0
    for place in range(LONGEST_VARINT):
        if at + place >= len(message):
            raise BrokenMessage
        byte = message[at + place]
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value % WHOLE, at + place + 1
    raise BrokenMessage
