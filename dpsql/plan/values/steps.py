"""Between which values a column lies that compares so with a constant, where its values are steps apart.

Whole numbers are 1 apart, days a day, and moments a microsecond: that is what the bounded tables hold of them on every
engine. So what lies below a constant lies at or below the last step before it, and what lies above at or above the
first one after it.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.types import Type

__all__ = ["EXACT", "NOTHING", "moments_at", "numbers_at"]

NOTHING = "no value but NULL"
EXACT = 2**53  # As a whole number: all below it are doubles, so that comparing them with a double is exact.


def numbers_at(sign: str, found: Interval) -> Any:
    """The whole numbers that compare so with a constant: an `Interval`, or `NOTHING`.

    >>> numbers_at("<", Interval.point(3)).high, numbers_at("=", Interval(Fraction(5, 2), Fraction(5, 2)))
    (Fraction(2, 1), 'no value but NULL')
    """
    if found.low is None or not found.within(EXACT - 1):
        return EVERYTHING
    constant = Fraction(float(found.low))  # what a real one is compared as; whole ones stay as they are
    low = math.floor(constant) + 1 if sign == ">" else math.ceil(constant)
    high = math.ceil(constant) - 1 if sign == "<" else math.floor(constant)
    if sign == "=" and low > high:
        return NOTHING
    return Interval(None if "<" in sign else Fraction(low), None if ">" in sign else Fraction(high))


def moments_at(sign: str, constant: date, kind: Type) -> Any:
    """The days or the moments that compare so with a constant: first and last, None where unknown, or `NOTHING`.

    A day is compared with a moment by its midnight. Before the first day and after the last one an end is not narrowed.

    Args:
        sign: ``<``, ``<=``, ``>``, ``>=`` or ``=``.
        constant: A day, or a moment.
        kind: DATE or TIMESTAMP: of what is compared.

    >>> moments_at("<", date(2024, 3, 8), Type.DATE)
    (None, datetime.date(2024, 3, 7))
    >>> moments_at(">=", datetime(2024, 3, 8, 12), Type.DATE)
    (datetime.date(2024, 3, 9), None)
    """
    at = constant if isinstance(constant, datetime) else datetime.combine(constant, time())
    step = timedelta(days=1) if kind is Type.DATE else timedelta(microseconds=1)
    before = datetime.combine(at.date(), time()) if kind is Type.DATE else at  # the last step that is not after it
    if sign == "=" and before != at:
        return NOTHING
    try:
        after = before if before == at else before + step
        low = before + step if sign == ">" else after
        high = after - step if sign == "<" else before
    except OverflowError:
        return None, None
    low, high = (low.date(), high.date()) if kind is Type.DATE else (low, high)  # type: ignore[assignment]  # a day each
    return (None if "<" in sign else low), (None if ">" in sign else high)
