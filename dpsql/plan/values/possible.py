"""What a value can be in one row of an answer: its range, and whether it may be NULL; and what comparisons leave of it.

Tests: tests/unit/plan/over_answers/test_ranged.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsql.plan.intervals import End, Interval
from dpsql.plan.values.steps import EXACT

__all__ = ["NULL", "Possible", "compared"]

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Possible:
    """What a value can be.

    Attributes:
        range: That of its values that are not NULL, as of `ranges.range_of`: an `Interval` of numbers, a pair of dates,
            a text that is known. None: it has no value but NULL.
        null: Whether it may be NULL.
    """

    range: Any
    null: bool


NULL = Possible(None, null=True)


def compared(
    sign: str, one: Possible, other: Possible, whole: tuple[bool, bool], *, or_null: bool
) -> tuple[Possible, Possible] | None:
    """What two values can be where a comparison of them is true; None where it cannot be.

    Args:
        sign: ``<``, ``<=``, ``>``, ``>=``, ``=`` or ``<>``.
        one: On its left.
        other: On its right.
        whole: Which of them are whole numbers.
        or_null: Whether the comparison may be NULL instead.

    >>> two, few = Possible(Interval.point(2), null=False), Possible(Interval(Fraction(-3), Fraction(9)), null=False)
    >>> compared("<", few, two, (True, True), or_null=False)[0].range
    Interval(low=Fraction(-3, 1), high=Fraction(1, 1))
    """
    known = one.range is not None and other.range is not None
    met = _met(sign, one.range, other.range, whole) if known else None
    if not (or_null and (one.null or other.null)):
        return None if met is None else (Possible(met[0], null=False), Possible(met[1], null=False))
    first, second = met or (None, None)  # where one of them is NULL, the other can be anything that it could be
    return one if other.null else Possible(first, one.null), other if one.null else Possible(second, other.null)


def _met(sign: str, a: Any, b: Any, whole: tuple[bool, bool]) -> Pair | None:
    if isinstance(a, str) and isinstance(b, str):
        return None if (sign == "=" and a != b) or (sign == "<>" and a == b) else (a, b)
    if not isinstance(a, Interval) or not isinstance(b, Interval):
        return a, b
    if any(own and not of.within(EXACT - 1) for own, of in zip(whole, (a, b), strict=True)):
        return a, b  # beside a double it is read as one, which is not exact there
    if sign in (">", ">="):
        turned = _met("<" if sign == ">" else "<=", b, a, (whole[1], whole[0]))
        return None if turned is None else (turned[1], turned[0])
    one, other = (_whole(of) if own else of for own, of in zip(whole, (a, b), strict=True))
    if whole[0] is not whole[1]:
        one, other = (of if own else _doubles(of) for own, of in zip(whole, (one, other), strict=True))
    match sign:
        case "=":
            return _both(_cut(one, other.low, other.high, whole[0]), _cut(other, one.low, one.high, whole[1]))
        case "<>":
            return _both(_without(one, other, whole[0]), _without(other, one, whole[1]))
    strict = sign == "<"
    if strict and one.low is not None and other.high is not None and _double(one.low) >= _double(other.high):
        return None
    top, bottom = other.high, one.low
    return _both(
        _cut(one, None, math.ceil(top) - 1 if strict and whole[0] and top is not None else top, whole[0]),
        _cut(other, math.floor(bottom) + 1 if strict and whole[1] and bottom is not None else bottom, None, whole[1]),
    )


def _both(one: Interval | None, other: Interval | None) -> Pair | None:
    return None if one is None or other is None else (one, other)


def _whole(of: Interval) -> Interval:
    """The whole numbers of an interval, as their least and greatest."""
    return Interval(
        None if of.low is None else Fraction(math.ceil(of.low)),
        None if of.high is None else Fraction(math.floor(of.high)),
    )


def _cut(of: Interval, low: End | int, high: End | int, whole: bool) -> Interval | None:
    """The part between two ends, None being no limit; None where there is none, which doubles decide."""
    lows, highs = [e for e in (of.low, low) if e is not None], [e for e in (of.high, high) if e is not None]
    part = Interval(Fraction(max(lows)) if lows else None, Fraction(min(highs)) if highs else None)
    part = _whole(part) if whole else part
    if part.low is None or part.high is None or part.low <= part.high:
        return part
    return None if whole or _double(part.low) > _double(part.high) else Interval(part.high, part.low)


def _without(of: Interval, other: Interval, whole: bool) -> Interval | None:
    """What is left without a number, if the other interval is one."""
    if other.low is None or other.low != other.high:
        return of
    if not whole:
        return None if of.low == of.high == other.low else of
    low, high = (end if end is None or end != other.low else end + by for end, by in ((of.low, 1), (of.high, -1)))
    return None if low is not None and high is not None and low > high else Interval(low, high)


def _doubles(of: Interval) -> Interval:
    """The interval with the doubles for which its ends stand."""
    ends = [None if end is None or math.isinf(_double(end)) else Fraction(_double(end)) for end in (of.low, of.high)]
    return Interval(*ends)


def _double(end: Fraction) -> float:
    try:
        return float(end)
    except OverflowError:
        return math.copysign(math.inf, end)
