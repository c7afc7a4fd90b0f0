"""Interval rules: what follows for a value from the ranges of the arguments. Every rule encloses."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpsql.plan.intervals import EVERYTHING, Interval, quotient

__all__ = [
    "FAR",
    "NEAR",
    "constantly",
    "first_of",
    "floor_power",
    "greatest",
    "half_away",
    "hull",
    "integer_quotient",
    "least",
    "limited",
    "power",
    "remainder",
    "rounded_to",
    "safe_quotient",
    "same",
    "truncated_to",
    "unknown",
]

NEAR = Fraction(10) ** -60
"""A divisor nearer to 0 than this counts as 0. It is a choice: far below what people measure, far above the smallest
double."""
FAR = Interval(Fraction(-(10**60)), Fraction(10**60))
"""What functions without bounds of their own stay within. It is a choice: far beyond what people measure."""

Rule = Callable[..., Any]


def same(a: Any, *_: Any) -> Any:
    """The first argument's own range."""
    return a


def unknown(*_: Any) -> Interval:
    """Nothing is known."""
    return EVERYTHING


def constantly(low: int, high: int) -> Rule:
    """Always the same bounds."""
    bounds = Interval(Fraction(low), Fraction(high))
    return lambda *_: bounds


def limited(rule: Rule, limit: Interval = FAR) -> Rule:
    """A rule whose form of SQL gives NULL outside a limit."""

    def inside(*ranges: Any) -> Interval:
        bounds: Interval = rule(*ranges)
        return bounds.clipped(limit.low, limit.high)

    return inside


def half_away(value: Fraction) -> int:
    """Nearest whole number, halves away from zero.

    >>> half_away(Fraction(5, 2)), half_away(Fraction(-5, 2))
    (3, -3)
    """
    return math.floor(value + Fraction(1, 2)) if value >= 0 else -math.floor(-value + Fraction(1, 2))


def safe_quotient(a: Interval, b: Interval) -> Interval:
    """Quotients where the divisor is at least `NEAR` from 0."""
    known = quotient(a, b)
    if known.finite or not a.finite:
        return known
    reach = max(abs(end) for end in (a.low, a.high) if end is not None) / NEAR
    return Interval(-reach, reach)


def integer_quotient(a: Interval, b: Interval) -> Interval:
    """a // b, towards zero."""
    if 0 in b:
        return a.absolute().hull(-a.absolute())
    known = a / b
    return Interval(*(None if end is None else Fraction(math.trunc(end)) for end in (known.low, known.high)))


def remainder(a: Interval, b: Interval) -> Interval:
    """a % b has the sign of a, and is no larger than either."""
    reach = b.absolute().high
    known = a if reach is None else Interval(-reach, reach) if not a.finite else a.clipped(-reach, reach)
    if a.low is not None and a.low >= 0:
        return Interval(Fraction(0), known.high)
    if a.high is not None and a.high <= 0:
        return Interval(known.low, Fraction(0))
    return known


def rounded_to(x: Interval, digits: Interval) -> Interval:
    """round(x, digits), as the engine computes it: the nearest multiple of a power of ten, scaled there and back."""
    return _scaled(x, digits, half_away)


def truncated_to(x: Interval, digits: Interval) -> Interval:
    """trunc(x, digits)."""
    return _scaled(x, digits, math.trunc)


def _scaled(x: Interval, digits: Interval, rounding: Callable[[Fraction], int]) -> Interval:
    if digits.low is None or digits.low != digits.high or abs(digits.low) > 100:
        return EVERYTHING
    factor = 10.0 ** abs(int(digits.low))

    def engine(value: Fraction) -> float:
        if digits.low is not None and digits.low < 0:
            return rounding(Fraction(float(value) / factor)) * factor
        return rounding(Fraction(float(value) * factor)) / factor

    return x.rising(engine, exactly=True)


def power(x: Interval, exponent: Interval) -> Interval:
    """x to a constant whole power >= 0."""
    if exponent.low is None or exponent.low != exponent.high or exponent.low < 0:
        return EVERYTHING
    times = int(exponent.low)
    if times == 0:
        return Interval.point(1)
    base = x.absolute() if times % 2 == 0 else x
    return base.rising(lambda value: math.pow(value, times), exactly=all(map(_small, (base.low, base.high))))


def _small(end: Fraction | None) -> bool:
    """Whether every power that stays below 2^53 is exact."""
    return end is not None and end.denominator == 1


def floor_power(x: Interval, exponent: Interval) -> Interval:
    """x to any power, for x >= 0 and exponents that never meet x = 0 below 0: extreme at the ends of both."""
    ends = [
        Interval.point(e).rising(lambda value, b=b: math.pow(b, value))  # type: ignore[misc]  # b is bound now
        for e in (exponent.low, exponent.high)
        for b in (x.low, x.high)
        if e is not None and b is not None
    ]
    if len(ends) < 4:
        return Interval(Fraction(0), None)
    known: Interval = hull(tuple(ends))
    return known.clipped(Fraction(0), None)


def hull(parts: tuple[Any, ...]) -> Any:
    """The smallest range that holds all: an `Interval` of numbers, or a `Span` of dates."""
    if isinstance(parts[0], tuple):
        lows, highs = zip(*parts, strict=True)
        return (None if None in lows else min(lows), None if None in highs else max(highs))
    result = parts[0]
    for part in parts[1:]:
        result = result.hull(part)
    return result


def first_of(parts: tuple[Any, ...], certain: tuple[bool, ...]) -> Any:
    """coalesce: any argument up to the first that is never NULL."""
    reached = certain.index(True) + 1 if True in certain else len(parts)
    return hull(parts[:reached])


def greatest(parts: tuple[Any, ...], certain: tuple[bool, ...]) -> Any:
    """The largest of all certain arguments and any of the others."""
    result = hull(parts)
    if not isinstance(result, Interval):
        return result
    for part, sure in zip(parts, certain, strict=True):
        if sure:
            result = result.greatest(Interval(part.low, result.high))
    return result


def least(parts: tuple[Any, ...], certain: tuple[bool, ...]) -> Any:
    """The smallest of all certain arguments and any of the others."""
    if not isinstance(parts[0], Interval):
        return hull(parts)
    return -greatest(tuple(-part for part in parts), certain)
