"""Functions of numbers. Integers come first: the resolver moves on to reals where an integer could overflow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from dpsql.plan.functions.rules import (
    NEAR,
    constantly,
    floor_power,
    half_away,
    integer_quotient,
    limited,
    power,
    remainder,
    rounded_to,
    safe_quotient,
    same,
    truncated_to,
    unknown,
)
from dpsql.plan.functions.table import INTEGER, INTEGER_LIMIT, REAL, Function, Nulls, within
from dpsql.plan.intervals import EVERYTHING, Interval, difference, product, quotient, total

__all__ = ["NUMBERS"]

ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)  # Ends of intervals, exact.
FEW_DIGITS = {1: within(-15, 15)}
"""The digits that a number is rounded to, its second argument. It is a choice: a double has some 15."""
NO_ZERO = "NULL where the divisor is 0, or nearer to 0 than 10^-60"
NO_END = f"{NO_ZERO}, or beyond 10^150"
LARGEST_DIVISOR = 10**150
"""Beyond it a divisor counts as none. It is a choice: PostgreSQL fails where a quotient vanishes, and numbers are 0 or
2^-500, 10^-150, there; see `dpsql.engine.postgres.words`."""


def _is_positive(a: Interval, *_: Interval) -> bool:
    return a.positive


def _is_not_negative(a: Interval, *_: Interval) -> bool:
    return a.low is not None and a.low >= 0


def _no_zero(_: Interval, b: Interval) -> bool:
    return b.positive or (-b).positive


def _divides(_: Interval, b: Interval) -> bool:
    """Whether a divisor surely counts."""
    return 0 not in b


def _in_range(*ranges: Interval) -> bool:
    return all(each.within(INTEGER_LIMIT) for each in ranges)


def _arithmetic() -> Iterator[Function]:
    exact: dict[str, Callable[[Any, Any], Any]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
    }
    rounded = {"+": total, "-": difference, "*": product}
    for kind, rules in ((INTEGER, exact), (REAL, rounded)):
        for sign, rule in rules.items():
            written = f"({{0}} {sign} {{1}})"
            sql = "real_product({0}, {1})" if (kind, sign) == (REAL, "*") else written
            yield Function(
                sign, (kind, kind), kind, sql, written=written, interval=rule, grows=True, rises=kind is INTEGER
            )
        yield Function("negate", (kind,), kind, "(-{0})", written="(-{0})", interval=lambda a: -a, grows=True)
        yield Function("abs", (kind,), kind, "abs({0})", interval=Interval.absolute, grows=True)
    yield from _quotients()
    yield Function(
        "//", (INTEGER, INTEGER), INTEGER, "whole_quotient({0}, {1})", written="({0} // {1})",
        interval=integer_quotient, needs=lambda a, b: _in_range(a) and 0 not in b,
    )  # fmt: skip
    yield Function(
        "//", (INTEGER, INTEGER), INTEGER, "CASE WHEN {1} <> 0 THEN whole_quotient({0}, {1}) END",
        written="({0} // {1})", interval=integer_quotient, needs=_in_range, nulls=Nulls.MAY,
        has_value=_divides, departs="NULL where the divisor is 0",
    )  # fmt: skip
    for name, written in (("%", "({0} % {1})"), ("mod", "mod({0}, {1})")):
        for kind in (INTEGER, REAL):
            needs = _in_range if kind is INTEGER else None
            sql = f"{'whole' if kind is INTEGER else 'real'}_remainder({{0}}, {{1}})"
            yield Function(
                name, (kind, kind), kind, sql, written=written, interval=remainder,
                needs=lambda a, b, needs=needs: _no_zero(a, b) and (needs is None or needs(a, b)),
            )  # fmt: skip
            yield Function(
                name, (kind, kind), kind, f"CASE WHEN {{1}} <> 0 THEN {sql} END", written=written,
                interval=remainder, needs=needs, nulls=Nulls.MAY, has_value=_no_zero,
                departs="NULL where the divisor is 0",
            )  # fmt: skip
    for name in ("gcd", "greatest_common_divisor"):
        yield Function(
            name, (INTEGER, INTEGER), INTEGER, "gcd({0}, {1})", needs=_in_range,
            interval=lambda a, b: a.absolute().hull(b.absolute()).hull(Interval.point(0)),
        )  # fmt: skip


def _quotients() -> Iterator[Function]:
    """Of reals: with as many guards as the divisor needs."""
    written = "({0} / {1})"
    yield Function(
        "/", (REAL, REAL), REAL, "real_quotient({0}, {1})", written=written, interval=quotient, grows=True,
        needs=lambda a, b: _no_zero(a, b) and b.within(LARGEST_DIVISOR),
    )  # fmt: skip
    for guard, departs, needs in (
        (">= 1e-60", NO_ZERO, lambda a, b: b.within(LARGEST_DIVISOR)),
        ("BETWEEN 1e-60 AND 1e150", NO_END, None),
    ):
        yield Function(
            "/", (REAL, REAL), REAL, f"CASE WHEN abs({{1}}) {guard} THEN real_quotient({{0}}, {{1}}) END",
            written=written, interval=quotient, saturated=safe_quotient, grows=True, nulls=Nulls.MAY, departs=departs,
            needs=needs, has_value=lambda a, b: b.within(LARGEST_DIVISOR // 2) and _is_far(b.absolute()),
        )  # fmt: skip


def _is_far(size: Interval) -> bool:
    """Whether a divisor of this size surely counts."""
    return size.low is not None and size.low >= 2 * NEAR


def _rounding() -> Iterator[Function]:
    floors = {"floor": math.floor, "ceil": math.ceil, "ceiling": math.ceil}
    for name, by in floors.items():
        sql = f"{name.removesuffix('ing')}({{0}})"
        yield Function(name, (REAL,), REAL, sql, interval=lambda a, by=by: a.rounded(by), step=ONE)
    for name, whole, digits in (("round", half_away, rounded_to), ("trunc", math.trunc, truncated_to)):
        yield Function(name, (INTEGER,), INTEGER, "{0}", interval=same)
        yield Function(
            name, (REAL,), REAL, f"{name}({{0}})", interval=lambda a, by=whole: a.rounded(by), step=ONE
        )  # fmt: skip
        yield Function(
            name, (REAL, INTEGER), REAL, f"{name}({{0}}, {{1}})",
            constants=FEW_DIGITS, interval=digits, grows=True,
        )  # fmt: skip
    for kind in (INTEGER, REAL):
        yield Function("sign", (kind,), INTEGER, "sign({0})", interval=lambda a: a.rounded(_sign), step=ONE)
    sql = (
        "CASE WHEN {0} < {1} THEN 0 WHEN {0} >= {2} THEN {3} + 1 "
        "WHEN {0} >= {1} THEN least({3}, "
        "bigint(floor(real_product(real_quotient(({0} - {1}), ({2} - {1})), {3}))) + 1) END"
    )
    yield Function(
        "width_bucket", (REAL, REAL, REAL, INTEGER), INTEGER, f"bigint({sql})",
        constants={1: _moderate, 2: _moderate, 3: within(1, 100_000)},
        needs=lambda x, low, high, n: x.within(10**300) and low.high < high.low and (high - low).positive,
        interval=lambda x, low, high, n: Interval(ZERO, n.high + 1),
        departs="not in DuckDB: as in PostgreSQL, 0 below the low end, n + 1 from the high end on",
    )  # fmt: skip


def _moderate(value: Any) -> str | None:
    return None if abs(value) <= 10**30 else "must lie within 10^30 of 0"


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _powers() -> Iterator[Function]:
    yield Function(
        "sqrt", (REAL,), REAL, "sqrt({0})", needs=_is_not_negative, interval=lambda a: a.rising(math.sqrt, exactly=True)
    )
    yield Function(
        "sqrt", (REAL,), REAL, "CASE WHEN {0} >= 0 THEN sqrt({0}) END", nulls=Nulls.MAY, has_value=_is_not_negative,
        interval=lambda a: a.clipped(ZERO, None).rising(math.sqrt, exactly=True), departs="NULL below 0",
    )  # fmt: skip
    yield Function("cbrt", (REAL,), REAL, "cbrt({0})", interval=lambda a: a.rising(_cube_root))
    for name, log in {"ln": math.log, "log10": math.log10, "log": math.log10, "log2": math.log2}.items():
        yield Function(
            name, (REAL,), REAL, f"{name}({{0}})", needs=_is_positive, interval=lambda a, log=log: a.rising(log)
        )
        yield Function(
            name, (REAL,), REAL, f"CASE WHEN {{0}} > 0 THEN {name}({{0}}) END", nulls=Nulls.MAY,
            interval=lambda a, log=log: a.rising(log) if a.positive else Interval(None, a.rising(log).high),
            has_value=_is_positive,
            saturated=lambda a, log=log: Interval(Fraction(-2000), a.clipped(ZERO, None).rising(log).high),
            departs="NULL for 0 and below",
        )  # fmt: skip
    yield Function(
        "log", (REAL, REAL), REAL, "CASE WHEN {0} > 0 AND {0} <> 1 AND {1} > 0 THEN log({0}, {1}) END",
        interval=_logarithm, saturated=limited(unknown), nulls=Nulls.MAY,
        has_value=lambda b, x: b.positive and x.positive and 1 not in b,
        departs="NULL where the base is 1, or one of them is not above 0",
    )  # fmt: skip
    yield Function(
        "exp", (REAL,), REAL, "exp({0})", grows=True, interval=lambda a: a.rising(math.exp).clipped(ZERO, None)
    )
    for name in ("pow", "power"):
        parameters = (REAL, INTEGER)
        yield Function(
            name, parameters, REAL, "pow({0}, {1})", constants={1: within(0, 300)}, interval=power, grows=True,
            needs=lambda x, n: n.low is not None and n.low == n.high and n.low >= 0,
        )  # fmt: skip
        yield Function(
            name, (REAL, REAL), REAL, "pow({0}, {1})", interval=floor_power, grows=True,
            needs=lambda x, y: _is_positive(x) or (_is_not_negative(x) and _is_not_negative(y)),
        )  # fmt: skip
        yield Function(
            name, (REAL, REAL), REAL, "CASE WHEN {0} >= 0 THEN pow({0}, {1}) END",
            interval=lambda x, y: floor_power(x.clipped(ZERO, None), y), grows=True,
            needs=lambda x, y: _is_not_negative(y), nulls=Nulls.MAY, has_value=lambda x, y: _is_not_negative(x),
            departs="NULL for a base below 0",
        )  # fmt: skip


def _logarithm(base: Interval, x: Interval) -> Interval:
    return quotient(x.rising(math.log), base.rising(math.log)) if base.positive and x.positive else EVERYTHING


def _cube_root(value: Fraction) -> float:
    return math.copysign(abs(float(value)) ** (1 / 3), value)


def _angles() -> Iterator[Function]:
    yield Function("pi", (), REAL, "pi()", interval=lambda: Interval.point(Fraction(math.pi)))
    for name, turn in (("degrees", math.degrees), ("radians", math.radians)):
        yield Function(
            name, (REAL,), REAL, f"{name}({{0}})", interval=lambda a, turn=turn: a.rising(turn), grows=True
        )  # fmt: skip
    for name in ("sin", "cos"):
        yield Function(name, (REAL,), REAL, f"{name}({{0}})", interval=constantly(-1, 1))
    # no double is so near to an odd multiple of pi/2 that its tangent reaches 10^60
    yield Function("tan", (REAL,), REAL, "tan({0})", interval=unknown, saturated=limited(unknown))
    yield Function("atan", (REAL,), REAL, "atan({0})", interval=lambda a: a.rising(math.atan).clipped(-TWO, TWO))
    # DISTINCT keeps 0.0 or -0.0, whichever comes first: nothing may tell the two apart
    yield Function(
        "atan2", (REAL, REAL), REAL, "atan2(({0} + 0.0), ({1} + 0.0))", written="atan2({0}, {1})",
        interval=constantly(-4, 4), departs="zero has no sign",
    )  # fmt: skip
    yield Function("tanh", (REAL,), REAL, "tanh({0})", interval=lambda a: a.rising(math.tanh).clipped(-ONE, ONE))
    for name, rising, sign in (("asin", math.asin, 1), ("acos", lambda value: -math.acos(value), -1)):
        yield Function(
            name, (REAL,), REAL, f"CASE WHEN abs({{0}}) <= 1 THEN {name}({{0}}) END",
            interval=lambda a, rising=rising, sign=sign: _turned(a.clipped(-ONE, ONE).rising(rising), sign),
            nulls=Nulls.MAY, has_value=lambda a: a.within(1), departs="NULL outside [-1, 1]",
        )  # fmt: skip


def _turned(a: Interval, sign: int) -> Interval:
    return a if sign > 0 else -a


NUMBERS: tuple[Function, ...] = (*_arithmetic(), *_rounding(), *_powers(), *_angles())
