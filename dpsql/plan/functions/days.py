"""The calendar as the engine counts it, for the interval rules of dates: exact, on single days and moments."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from dpsql.plan.functions.table import Span
from dpsql.plan.intervals import EVERYTHING, Interval

__all__ = ["FIRST", "LAST", "between", "clock", "complete", "counted", "moved", "moved_months", "truncated"]

FIRST, LAST = datetime(1, 1, 1), datetime.combine(date.max, time.max)
"""The first and the last moment that a column can hold."""

_SECONDS = {"hour": 3600, "minute": 60, "second": 1}  # In seconds: how long each unit is.
_FRACTIONS = {"millisecond": 1_000, "microsecond": 1_000_000}  # How many of each unit make a second.


def clock(moment: date) -> int:
    """Microseconds since the first moment."""
    at = moment if isinstance(moment, datetime) else datetime.combine(moment, time.min)
    return (at - FIRST) // timedelta(microseconds=1)


def _index(unit: str, moment: date) -> int:
    """Which year, month, ... a moment lies in: they are numbered through."""
    match unit:
        case "year":
            return moment.year
        case "quarter":
            return moment.year * 4 + (moment.month - 1) // 3
        case "month":
            return moment.year * 12 + moment.month
        case "day":
            return moment.toordinal()
    if unit in _SECONDS:
        return clock(moment) // (_SECONDS[unit] * 1_000_000)
    return clock(moment) * _FRACTIONS[unit] // 1_000_000


def _count(unit: str, start: date, end: date) -> int:
    if unit == "week":  # the engine counts whole weeks, wherever Mondays fall
        days = end.toordinal() - start.toordinal()
        return days // 7 if days >= 0 else -(-days // 7)
    return _index(unit, end) - _index(unit, start)


def between(unit: Any, start: Span, end: Span) -> Interval:
    """date_diff(unit, start, end): how many boundaries lie between; it rises with the end and falls with the start."""
    if not isinstance(unit, str) or None in start or None in end:
        return EVERYTHING
    return Interval(
        Fraction(_count(unit.lower(), start[1], end[0])),  # type: ignore[arg-type]  # no None
        Fraction(_count(unit.lower(), start[0], end[1])),  # type: ignore[arg-type]  # no None
    )


def complete(unit: Any, start: Span, end: Span) -> Interval:
    """date_sub(unit, start, end): complete units, so at most one less than boundaries, towards zero."""
    known = between(unit, start, end)
    if known.low is None or known.high is None:
        return known
    return Interval(known.low - (known.low > 0), known.high + (known.high < 0))


def truncated(unit: Any, moments: Span) -> Span:
    """date_trunc(unit, moment): where its year, month, ... begins."""
    if not isinstance(unit, str):
        return (None, None)
    low, high = (None if end is None else _begin(unit.lower(), end) for end in moments)
    return low, high


def _begin(unit: str, moment: date) -> datetime:
    at = moment if isinstance(moment, datetime) else datetime.combine(moment, time.min)
    midnight = datetime.combine(at.date(), time.min)
    match unit:
        case "year":
            return midnight.replace(month=1, day=1)
        case "quarter":
            return midnight.replace(month=at.month - (at.month - 1) % 3, day=1)
        case "month":
            return midnight.replace(day=1)
        case "week":
            return midnight - timedelta(days=at.weekday())
        case "day":
            return midnight
    seconds = (at - midnight) // timedelta(seconds=1)
    return midnight + timedelta(seconds=seconds - seconds % _SECONDS[unit])


def moved(days: Callable[[Any], timedelta]) -> Callable[[Span, Interval], Span]:
    """Rule of a moment plus a length of time; an end is None where there is no such day."""

    def rule(moments: Span, count: Interval) -> Span:
        return _shifted(moments, count, lambda moment, n: moment + days(n))

    return rule


def moved_months(moments: Span, count: Interval) -> Span:
    """A moment plus months: the same day of the month, or the last one there is."""
    return _shifted(moments, count, _month_later)


def _month_later(moment: date, months: int) -> date:
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


def _shifted(moments: Span, count: Interval, by: Callable[[Any, int], Any]) -> Span:
    ends = []
    for moment, n in ((moments[0], count.low), (moments[1], count.high)):
        try:
            ends.append(None if moment is None or n is None else by(moment, int(n)))
        except (OverflowError, ValueError):
            ends.append(None)
    return ends[0], ends[1]


def counted(by: Callable[[Any], int]) -> Callable[[Span], Interval]:
    """Rule of a number that never falls as time passes, such as the year."""
    return lambda moments: Interval(*(None if end is None else Fraction(by(end)) for end in moments))
