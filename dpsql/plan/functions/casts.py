"""Casts that cannot fail. The name is ``cast:`` and what it gives; ``try:`` for TRY_CAST, which may also read text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import datetime
from fractions import Fraction
from functools import cache

import numpy as np

from dpsql.plan.functions.days import truncated
from dpsql.plan.functions.rules import constantly, limited, same, unknown
from dpsql.plan.functions.table import (
    BOOLEAN,
    DATE,
    INTEGER,
    INTEGER_LIMIT,
    REAL,
    TEXT,
    TIMESTAMP,
    Function,
    Nulls,
    Span,
)
from dpsql.plan.intervals import Interval
from dpsql.plan.types import INTEGERS, Type

__all__ = ["CASTS", "cast_name", "cast_type", "decimal_cast", "decimal_text"]

NAMES = {
    **{name: name for name in INTEGERS},
    **dict.fromkeys(("int1",), "tinyint"),
    **dict.fromkeys(("int2", "short"), "smallint"),
    **dict.fromkeys(("int", "int4", "signed"), "integer"),
    **dict.fromkeys(("int8", "int64", "long", "hugeint", "ubigint", "uhugeint"), "bigint"),
    **dict.fromkeys(("double", "double precision", "float8", "float64"), "real"),
    **dict.fromkeys(("real", "float", "float4"), "float"),
    **dict.fromkeys(("varchar", "text", "string", "char", "bpchar", "character varying"), "text"),
    **dict.fromkeys(("boolean", "bool", "logical"), "boolean"),
    "date": "date",
    **dict.fromkeys(("timestamp", "datetime"), "timestamp"),
    **dict.fromkeys(("decimal", "numeric", "dec"), "decimal"),
}
DIGITS, DECIMALS = 18, 3  # Of a DECIMAL that says no more: digits in all and after the point, as in DuckDB.

OUT_OF_RANGE = "NULL where the type cannot hold the number"


def cast_name(type_name: str) -> str | None:
    """Our word for a type as written, or None for a type that nothing here can be cast to.

    >>> cast_name("int8"), cast_name("DECIMAL(18,3)"), cast_name("blob")
    ('bigint', 'decimal', None)
    """
    return NAMES.get(type_name.lower().partition("(")[0].strip())


def cast_type(type_name: str) -> Type | None:
    """The type of what is cast to a type as written, or None where nothing can be cast to it.

    >>> cast_type("int8"), cast_type("DECIMAL(18,3)"), cast_type("blob")
    (<Type.INTEGER: 'integer'>, <Type.REAL: 'real'>, None)
    """
    name = cast_name(type_name)
    if name in INTEGERS:
        return INTEGER
    return None if name is None else {"float": REAL, "decimal": REAL}.get(name) or Type(name)


def _whole(kind: Type, limits: tuple[int, int]) -> Callable[[Interval], Interval]:
    """Within the type; reals are rounded to the even neighbour, as the engine does."""
    low, high = map(Fraction, limits)
    return lambda a: (a if kind is INTEGER else a.rounded(round)).clipped(low, high)


def _integers() -> Iterator[Function]:
    for name, limits in INTEGERS.items():
        spelled = f"CAST({{0}} AS {name.upper()})"
        fits = lambda a, limits=limits: (  # noqa: E731 - the same for two rows
            a.within(INTEGER_LIMIT) and limits[0] <= a.low - 1 and a.high + 1 <= limits[1]
        )
        for kind in (INTEGER, REAL):
            plain = "{0}" if kind is INTEGER else "nearest({0})"
            yield Function(
                f"cast:{name}", (kind,), INTEGER, plain, written=spelled, needs=fits, interval=_whole(kind, limits)
            )  # fmt: skip
            tried = "{0}" if (kind, name) == (INTEGER, "bigint") else f"try_{name}_from_{kind.value}({{0}})"
            yield Function(
                f"cast:{name}", (kind,), INTEGER, tried, written=spelled, interval=_whole(kind, limits),
                nulls=Nulls.STRICT if tried == "{0}" else Nulls.MAY, departs="" if tried == "{0}" else OUT_OF_RANGE,
                has_value=fits,
            )  # fmt: skip
        yield Function(
            f"cast:{name}", (BOOLEAN,), INTEGER, "bigint_from_boolean({0})", written=spelled, interval=constantly(0, 1)
        )  # fmt: skip
        yield Function(
            f"try:{name}", (TEXT,), INTEGER, f"try_{name}_from_text({{0}})",
            written=f"TRY_CAST({{0}} AS {name.upper()})", nulls=Nulls.MAY,
            interval=unknown if name == "bigint" else constantly(*limits),
        )  # fmt: skip


def _reals() -> Iterator[Function]:
    double, single = "CAST({0} AS DOUBLE)", "CAST({0} AS FLOAT)"
    yield Function("cast:real", (INTEGER,), REAL, "double_from_integer({0})", written=double, interval=same)
    yield Function("cast:real", (REAL,), REAL, "{0}", written=double, interval=same)
    yield Function("cast:real", (BOOLEAN,), REAL, "double_from_boolean({0})", written=double, interval=constantly(0, 1))
    sql = "try_float_from_real({0})"  # in both rows: a released real lies within 10^30 by assumption alone
    yield Function(
        "cast:float", (REAL,), REAL, sql, written=single, needs=lambda a: a.within(10**38), interval=_single
    )  # fmt: skip
    yield Function(
        "cast:float", (REAL,), REAL, sql, written=single, interval=_single,
        saturated=limited(_single), nulls=Nulls.MAY, has_value=lambda a: a.within(10**38), departs=OUT_OF_RANGE,
    )  # fmt: skip
    yield Function(
        "cast:float", (BOOLEAN,), REAL, "double_from_boolean({0})", written=single, interval=constantly(0, 1)
    )
    for name, text in (("real", "DOUBLE"), ("float", "FLOAT")):
        tried = f"try_{text.lower()}_from_text({{0}})"
        yield Function(
            f"try:{name}", (TEXT,), REAL, f"CASE WHEN abs({tried}) <= 1e60 THEN {tried} END",
            written=f"TRY_CAST({{0}} AS {text})", interval=unknown, saturated=limited(unknown), nulls=Nulls.MAY,
            departs="NULL for nan, infinity and numbers beyond 10^60",
        )  # fmt: skip


def _single(a: Interval) -> Interval:
    """To the 32-bit number next to it."""
    return a.rising(lambda value: float(np.float32(float(value))) if abs(value) < 3e38 else math.inf, exactly=True)


@cache
def decimal_cast(digits: int, decimals: int) -> tuple[Function, ...]:
    """The rows of a cast to DECIMAL(digits, decimals); its values are reals on the grid 10^-decimals.

    Raises:
        ValueError: There is no such type.
    """
    if not 1 <= digits <= 38 or not 0 <= decimals <= digits:
        raise ValueError(f"DECIMAL({digits},{decimals})")
    limit = Fraction(10) ** (digits - decimals)
    sql = f"decimal_from_{{kind}}({{{{0}}}}, {digits}, {decimals})"
    step = Fraction(1, 10**decimals)
    fits = lambda a: a.within(int(limit)) and max(-a.low, a.high) < limit - 1  # noqa: E731 - the same for all rows
    inside = limited(lambda a: _decimal(a, decimals), Interval(-limit, limit))
    rows = [
        Function(
            "cast:decimal", (kind,), REAL, ("" if plain and kind is INTEGER else "try_") + sql.format(kind=kind.value),
            written=f"CAST({{0}} AS DECIMAL({digits},{decimals}))", interval=inside,
            needs=fits if plain else None, has_value=fits,
            nulls=Nulls.STRICT if plain else Nulls.MAY, departs="" if plain else OUT_OF_RANGE, step=step,
        )
        for kind in (INTEGER, REAL)
        for plain in (True, False)
    ]  # fmt: skip
    tried = Function(
        "try:decimal", (TEXT,), REAL, "try_" + sql.format(kind="text"),
        written=f"TRY_CAST({{0}} AS DECIMAL({digits},{decimals}))",
        interval=constantly(-int(limit), int(limit)), nulls=Nulls.MAY, step=step,
    )  # fmt: skip
    return (*rows, tried)


@cache
def decimal_text(decimals: int) -> Function:
    """The text of a real that was rounded to so many decimals, all of which it shows."""
    return Function(
        "cast:text", (REAL,), TEXT, f"text_from_decimal({{0}}, {decimals})", written="CAST({0} AS VARCHAR)",
        nulls=Nulls.MAY, departs=OUT_OF_RANGE, length=lambda *_: (0, 40),
    )  # fmt: skip


def _decimal(a: Interval, decimals: int) -> Interval:
    """The nearest multiple of 10^-decimals; the engine adds a hair before it rounds halves."""
    unit = 10**decimals
    low = None if a.low is None else Fraction(math.ceil(_hair(a.low, -1) * unit - Fraction(1, 2)), unit)
    high = None if a.high is None else Fraction(math.floor(_hair(a.high, 1) * unit + Fraction(1, 2)), unit)
    return Interval(low, high)


def _hair(end: Fraction, direction: int) -> Fraction:
    return end + direction * (abs(end) / 2**48 + Fraction(1, 10**48))


def _others() -> Iterator[Function]:
    for kind in (INTEGER, REAL):
        yield Function("cast:boolean", (kind,), BOOLEAN, "({0} <> 0)", written="CAST({0} AS BOOLEAN)")
    yield Function("cast:boolean", (BOOLEAN,), BOOLEAN, "{0}", written="CAST({0} AS BOOLEAN)")
    yield Function(
        "try:boolean", (TEXT,), BOOLEAN, "try_boolean_from_text({0})", written="TRY_CAST({0} AS BOOLEAN)",
        nulls=Nulls.MAY,
    )  # fmt: skip
    yield Function("cast:text", (TEXT,), TEXT, "{0}", written="CAST({0} AS VARCHAR)")
    for kind in (INTEGER, DATE, TIMESTAMP, BOOLEAN):
        sql = f"text_from_{kind.value}({{0}})"
        yield Function("cast:text", (kind,), TEXT, sql, written="CAST({0} AS VARCHAR)", length=lambda *_: (0, 30))
    yield Function("cast:date", (DATE,), DATE, "{0}", written="CAST({0} AS DATE)", interval=same)
    yield Function(
        "cast:date",
        (TIMESTAMP,),
        DATE,
        "date_from_timestamp({0})",
        written="CAST({0} AS DATE)",
        interval=_days,
        rises=True,
    )
    yield Function("cast:timestamp", (TIMESTAMP,), TIMESTAMP, "{0}", written="CAST({0} AS TIMESTAMP)", interval=same)
    written = "CAST({0} AS TIMESTAMP)"
    yield Function(
        "cast:timestamp", (DATE,), TIMESTAMP, "timestamp_from_date({0})", written=written, interval=_moments, rises=True
    )
    for name, kind, known in (("date", DATE, "day_in_calendar"), ("timestamp", TIMESTAMP, "in_calendar")):
        tried = f"try_{name}_from_text({{0}})"
        yield Function(
            f"try:{name}", (TEXT,), kind, f"CASE WHEN {known}({tried}) THEN {tried} END",
            written=f"TRY_CAST({{0}} AS {name.upper()})",
            nulls=Nulls.MAY, departs="NULL for infinity, and outside year 1 to 9999",
        )  # fmt: skip


def _days(moments: Span) -> Span:
    low, high = (end.date() if isinstance(end, datetime) else end for end in moments)
    return low, high


def _moments(days: Span) -> Span:
    return truncated("day", days)


CASTS: tuple[Function, ...] = (*_integers(), *_reals(), *_others(), *decimal_cast(DIGITS, DECIMALS))
