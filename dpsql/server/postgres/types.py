"""Values as PostgreSQL's clients read and write them: types by their OIDs, as text and in binary.

Source: PostgreSQL's pg_type.dat for the OIDs, and the send and receive functions of its types for the binary forms.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from dpsql.answers.computed.far import MORE_THAN_64_BITS
from dpsql.errors import DataError
from dpsql.plan.types import ListOf, Passed, Shown, Type, Value
from dpsql.server.postgres.messages import ResultColumn
from dpsql.sql.rewording.any_of import elements

__all__ = [
    "ARRAYS",
    "INT4",
    "NUMERIC",
    "OIDS",
    "TEXT",
    "TYPICAL",
    "UNTOLD",
    "column_of",
    "encoded",
    "oid_of",
    "parameter",
    "wire_row",
]

BOOL, INT8, INT2, INT4, TEXT, OID, FLOAT4, FLOAT8 = 16, 20, 21, 23, 25, 26, 700, 701  # Of pg_type.dat.
UNKNOWN, BPCHAR, VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC = 705, 1042, 1043, 1082, 1114, 1184, 1700
"""Further OIDs, of pg_type.dat."""
CHAR, NAME, JSON, INT4_ARRAY, TEXT_ARRAY = 18, 19, 114, 1007, 1009  # Of pg_type.dat.

OIDS: Mapping[Type, int] = {
    Type.INTEGER: INT8,
    Type.REAL: FLOAT8,
    Type.BOOLEAN: BOOL,
    Type.TEXT: TEXT,
    Type.DATE: DATE,
    Type.TIMESTAMP: TIMESTAMP,
    Type.NULL: TEXT,
}
"""The types of answers in PostgreSQL."""
SIZES: Mapping[int, int] = {
    BOOL: 1,
    INT2: 2,
    INT4: 4,
    INT8: 8,
    OID: 4,
    FLOAT4: 4,
    FLOAT8: 8,
    DATE: 4,
    TIMESTAMP: 8,
    TIMESTAMPTZ: 8,
}
"""Bytes of a value in binary; all others vary."""
EPOCH = date(2000, 1, 1)
"""The day 0 of dates and timestamps in binary."""
LARGEST = 2**63
"""The first number beyond 64 bits with a sign."""
ELEMENTS: Mapping[int, int] = {
    1000: BOOL, 1005: INT2, INT4_ARRAY: INT4, 1016: INT8, TEXT_ARRAY: TEXT, 1014: BPCHAR, 1015: VARCHAR, 1003: NAME,
    1021: FLOAT4, 1022: FLOAT8, 1028: OID, 1115: TIMESTAMP, 1182: DATE, 1185: TIMESTAMPTZ, 1231: NUMERIC,
}  # fmt: skip
"""The types of arrays, each with its element's; of pg_type.dat."""
ARRAYS: Mapping[int, int] = {element: array for array, element in ELEMENTS.items()}
"""The other way round."""
WORDS = (UNKNOWN, 0, TEXT, VARCHAR, BPCHAR, CHAR, NAME, JSON)
"""Types of parameters that say no more than that a text came."""
ZONE = re.compile(r"(?:(?<= )|(?<=:\d\d)|(?<=\.\d{1})|(?<=\.\d{3})|(?<=\.\d{6}))[+-]\d\d(?::?\d\d)?$")
"""The zone behind a date or a time."""
UNTOLD = (0, UNKNOWN)
"""What stands in the place of a type where the client named none."""
TRUE, FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")


def oid_of(kind: Shown) -> int:
    """The type of an answer's column in PostgreSQL; a list is an array."""
    return ARRAYS[OIDS[kind.element]] if isinstance(kind, ListOf) else OIDS[kind]


def column_of(name: str, oid: int) -> ResultColumn:
    """A column of a type."""
    return ResultColumn(name, oid, SIZES.get(oid, -1))


# ------------------------------------------------------------------------------------------------------------- results


def wire_row(row: Sequence[Any], columns: Sequence[ResultColumn], formats: Sequence[int]) -> list[bytes | None]:
    """A row's values, each in its format: 0 text, 1 binary.

    Raises:
        DataError: A number is beyond its type.
    """
    return [
        None if value is None else encoded(value, column.oid, binary=code == 1)
        for value, column, code in zip(row, columns, formats, strict=True)
    ]


def encoded(value: Any, oid: int, *, binary: bool) -> bytes:
    """A value that is not NULL, of a type.

    >>> encoded(True, BOOL, binary=False), encoded(7, INT8, binary=True), encoded(["a", None], TEXT_ARRAY, binary=False)
    (b't', b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07', b'{"a",NULL}')
    """
    if oid in (INT2, INT4, INT8, OID):
        number = int(value)
        if not -LARGEST <= number < LARGEST:
            raise DataError(MORE_THAN_64_BITS)
        return number.to_bytes(SIZES[oid], "big", signed=oid != OID) if binary else str(number).encode()
    if oid in (FLOAT4, FLOAT8):
        return struct.pack(">f" if oid == FLOAT4 else ">d", float(value)) if binary else _real(float(value))
    if oid == NUMERIC:
        return _wire_numeric(Decimal(value)) if binary else format(Decimal(value), "f").encode()
    if oid == BOOL:
        return (b"\1" if value else b"\0") if binary else (b"t" if value else b"f")
    if oid == DATE and isinstance(value, date):
        return struct.pack(">i", (value - EPOCH).days) if binary else value.isoformat().encode()
    if oid in (TIMESTAMP, TIMESTAMPTZ) and isinstance(value, datetime):
        zone = "+00" if oid == TIMESTAMPTZ else ""
        return struct.pack(">q", _microseconds(value)) if binary else f"{value.isoformat(' ')}{zone}".encode()
    if oid in ELEMENTS:
        return _binary_array(value, ELEMENTS[oid]) if binary else _text_array(value, ELEMENTS[oid]).encode()
    return str(value).replace("\0", "").encode(errors="replace")


def _real(value: float) -> bytes:
    if value - value != 0:
        return b"NaN" if value != value else b"Infinity" if value > 0 else b"-Infinity"
    text = repr(value)
    return (text[:-2] if text.endswith(".0") else text).encode()


def _wire_numeric(value: Decimal) -> bytes:
    """The binary form of numeric: digits to the base 10,000, the weight of the first, sign, scale.

    >>> _wire_numeric(Decimal("-12345.6")).hex(" ", 2)
    '0003 0001 4000 0001 0001 0929 1770'
    """
    sign, _, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    text = format(abs(value), "f").partition(".")[0].lstrip("0")
    whole = text.zfill(-(-len(text) // 4) * 4)
    part = format(abs(value), "f").partition(".")[2]
    digits = [int(own) for own in re.findall("....", whole + part.ljust(-(-len(part) // 4) * 4, "0"))]
    weight = len(whole) // 4 - 1 if value else 0
    while digits and not digits[0]:
        digits.pop(0)
        weight -= 1
    return struct.pack(f">HhHH{len(digits)}H", len(digits), weight, 0x4000 if sign else 0, scale, *digits)


def _microseconds(value: datetime) -> int:
    return (value - datetime(EPOCH.year, EPOCH.month, EPOCH.day)) // timedelta(microseconds=1)


def _text_array(values: Sequence[Any], element: int) -> str:
    shown = []
    for value in values:
        if value is None or element in SIZES:  # numbers, booleans and dates hold nothing to quote but a blank
            own = "NULL" if value is None else encoded(value, element, binary=False).decode()
            shown.append(f'"{own}"' if " " in own else own)
            continue
        text = str(value).replace("\\", "\\\\").replace('"', '\\"')
        shown.append(f'"{text}"')
    return f"{{{','.join(shown)}}}"


def _binary_array(values: Sequence[Any], element: int) -> bytes:
    head = struct.pack(">iii", 1 if values else 0, int(None in values), element)
    body = struct.pack(">ii", len(values), 1) if values else b""
    for value in values:
        data = b"" if value is None else encoded(value, element, binary=True)
        body += struct.pack(">i", -1 if value is None else len(data)) + data
    return head + body


# ---------------------------------------------------------------------------------------------------------- parameters


def parameter(data: bytes | None, oid: int, wanted: Type | None, *, binary: bool) -> Passed:
    """The value of a parameter, or the values of an array.

    Args:
        data: What came; None is NULL.
        oid: The type that the client gave it; 0 for none.
        wanted: The type that the statement takes in its place, where that is known.
        binary: Whether it came in binary.

    Raises:
        DataError: It is no value of that type, or of a type that no statement takes.
    """
    if data is None:
        return None
    if oid in ELEMENTS:
        return _array(data, ELEMENTS[oid], wanted, binary=binary)
    if oid in UNTOLD and binary and wanted is not None:
        return _read(data, OF_SIZE.get((wanted, len(data)), OIDS[wanted]), binary=True)
    if oid in WORDS:
        return _read(data, OIDS[wanted] if wanted is not None else TEXT, binary=binary and oid in UNTOLD)
    return _read(data, oid, binary=binary)


def _read(data: bytes, oid: int, *, binary: bool) -> Value:
    reader = (BINARY if binary else SHOWN).get(oid)
    if reader is None:
        raise DataError(
            f"A parameter has PostgreSQL's type {oid}, which no statement takes. Pass numbers, text, booleans, dates "
            "or timestamps, or arrays of one of them for = ANY ($1)."
        )
    try:
        return reader(data)
    except (ValueError, InvalidOperation, struct.error, OverflowError):
        raise DataError("A parameter is no value of its type. Pass one of the column's own type.") from None


def _array(data: bytes, element: int, wanted: Type | None, *, binary: bool) -> tuple[Value, ...]:
    """The values of an array of one dimension, of elements of a type; in binary it says itself of which."""
    element = int.from_bytes(data[8:12], "big") if binary else element
    own = OIDS[wanted] if element in WORDS and wanted is not None else element
    try:
        parts = list(_parts(data)) if binary else elements(data.decode())
    except (ValueError, struct.error):
        parts = None
    if parts is None:
        raise DataError("A parameter is no array of one dimension. Pass a list of values.")
    values = [part.encode() if isinstance(part, str) else part for part in parts]
    return tuple(None if part is None else _read(part, own, binary=binary and element not in WORDS) for part in values)


def _parts(data: bytes) -> Iterator[bytes | None]:
    """The elements in the binary form of an array: dimensions, a flag, the type, size and first index; then each."""
    dimensions, _, _ = struct.unpack_from(">iii", data)
    if dimensions == 0:
        return
    count, _ = struct.unpack_from(">ii", data, 12)
    at = 20
    for _ in range(count):
        (size,) = struct.unpack_from(">i", data, at)
        at += 4
        if dimensions != 1 or at + max(0, size) > len(data):
            raise ValueError
        yield None if size < 0 else data[at : at + size]
        at += max(0, size)


def _decimal(data: bytes) -> Decimal:
    value = Decimal(data.decode().strip())
    if not value.is_finite():
        raise ValueError
    return value


def _bool(data: bytes) -> bool:
    text = data.decode().strip().lower()
    if text not in TRUE + FALSE:
        raise ValueError
    return text in TRUE


def _timestamp(data: bytes) -> datetime:
    return datetime.fromisoformat(_without_zone(data)).replace(tzinfo=None)  # a zone to the second, too


def _moment(data: bytes) -> datetime:
    """A time with its zone, in UTC where it names none: `dpsql.plan.parameters` reads the moment."""
    return datetime.fromisoformat(data.decode().strip())


def _date(data: bytes) -> date:
    text = _without_zone(data).removesuffix("00:00:00").strip()
    return date.fromisoformat(text)


def _without_zone(data: bytes) -> str:
    """A date or time without its zone, which PostgreSQL does not look at where the type has none."""
    return ZONE.sub("", data.decode().strip()).strip()


def _numeric(data: bytes) -> Decimal:
    """The binary form of numeric: digits to the base 10,000, the weight of the first, sign, scale."""
    count, weight, sign, _ = struct.unpack(">HhHH", data[:8])
    if sign not in (0, 0x4000) or len(data) != 8 + 2 * count:
        raise ValueError
    digits = struct.unpack(f">{count}H", data[8:])
    value = sum((Decimal(digit).scaleb(4 * (weight - place)) for place, digit in enumerate(digits)), Decimal(0))
    return -value if sign else value


def _integer(size: int) -> Callable[[bytes], int]:
    def read(data: bytes) -> int:
        if len(data) != size:
            raise ValueError
        return int.from_bytes(data, "big", signed=True)

    return read


def _float(form: str) -> Callable[[bytes], Value]:
    def read(data: bytes) -> Value:
        value: float = struct.unpack(form, data)[0]
        if value - value != 0:
            raise ValueError
        return value

    return read


def _text(data: bytes) -> str:
    return data.decode()


SHOWN: Mapping[int, Callable[[bytes], Value]] = {
    INT2: lambda data: int(data.decode()), INT4: lambda data: int(data.decode()), INT8: lambda data: int(data.decode()),
    OID: lambda data: int(data.decode()), FLOAT4: _decimal, FLOAT8: _decimal, NUMERIC: _decimal, BOOL: _bool,
    TEXT: _text, DATE: _date, TIMESTAMP: _timestamp, TIMESTAMPTZ: _moment,
}  # fmt: skip
"""How a parameter in text is read."""
BINARY: Mapping[int, Callable[[bytes], Value]] = {
    INT2: _integer(2), INT4: _integer(4), INT8: _integer(8), OID: _integer(4), FLOAT4: _float(">f"),
    FLOAT8: _float(">d"), NUMERIC: _numeric, BOOL: lambda data: data != b"\0", TEXT: _text,
    DATE: lambda data: EPOCH + timedelta(days=_integer(4)(data)),
    **dict.fromkeys(
        (TIMESTAMP, TIMESTAMPTZ), lambda data: datetime(EPOCH.year, 1, 1) + timedelta(microseconds=_integer(8)(data))
    ),
}  # fmt: skip
"""How one in binary is read."""
OF_SIZE: Mapping[tuple[Type, int], int] = {
    (Type.INTEGER, 2): INT2, (Type.INTEGER, 4): INT4, (Type.REAL, 4): FLOAT4,
    **{(Type.REAL, size): NUMERIC for size in range(10, 500, 2)},
}  # fmt: skip
"""What a parameter in binary is whose type nobody told: a number of its place's type, of any size."""
TYPICAL: Mapping[int, Value] = {
    **dict.fromkeys((INT2, INT4, INT8, OID), 1), **dict.fromkeys((FLOAT4, FLOAT8, NUMERIC), Decimal("0.5")),
    **dict.fromkeys((TEXT, VARCHAR, BPCHAR, NAME), "day"), BOOL: True, DATE: EPOCH,
    TIMESTAMP: datetime(EPOCH.year, 1, 1), TIMESTAMPTZ: datetime(EPOCH.year, 1, 1),
}  # fmt: skip
"""A value of each type, for what is to be described before values are known."""
