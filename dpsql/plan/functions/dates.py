"""Functions of dates and timestamps. Units and formats are constants; a day beyond year 1 to 9999 is NULL."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from dpsql.plan.functions.days import FIRST, LAST, between, clock, complete, counted, moved, moved_months, truncated
from dpsql.plan.functions.rules import constantly
from dpsql.plan.functions.table import (
    DATE,
    INTEGER,
    REAL,
    TEXT,
    TIMESTAMP,
    Function,
    Nulls,
    Span,
)
from dpsql.plan.intervals import Interval
from dpsql.plan.types import Type

__all__ = ["DATES", "DAY_PARTS", "PARTS"]

CALENDAR = (date.max - date.min).days  # The most days between two dates.
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
FINE_UNITS = (*UNITS, "millisecond", "microsecond")

_ISO_YEAR = counted(lambda moment: moment.isocalendar().year)
_YEAR_WEEK = counted(lambda moment: moment.isocalendar().year * 100 + moment.isocalendar().week)
"""Year and ISO week in one number, such as 202401: DuckDB's yearweek."""
DAY_PARTS: dict[str, Callable[[Span], Interval]] = {
    "year": counted(lambda moment: moment.year),
    "quarter": constantly(1, 4),
    "month": constantly(1, 12),
    "week": constantly(1, 53),
    "weekofyear": constantly(1, 53),
    "day": constantly(1, 31),
    "dayofmonth": constantly(1, 31),
    "dayofweek": constantly(0, 6),
    "weekday": constantly(0, 6),
    "isodow": constantly(1, 7),
    "dayofyear": constantly(1, 366),
    "isoyear": _ISO_YEAR,
    "yearweek": _YEAR_WEEK,
    "decade": counted(lambda moment: moment.year // 10),
    "century": counted(lambda moment: (moment.year - 1) // 100 + 1),
}
"""The parts of a day in the calendar, and what each of them can be over a span of days; numbered as in DuckDB."""
COUNTED = ("year", "isoyear", "yearweek", "decade", "century")  # The parts that never fall as time passes.
_CLOCK_PARTS = {
    "hour": constantly(0, 23),
    "minute": constantly(0, 59),
    "second": constantly(0, 59),
    "millisecond": constantly(0, 59_999),
    "microsecond": constantly(0, 59_999_999),
}
"""The parts of a time of day, and what each can be. Milliseconds and microseconds include the seconds, as in DuckDB."""
PARTS = {part: part for part in (*DAY_PARTS, *_CLOCK_PARTS, "epoch")} | {
    "dow": "dayofweek",
    "doy": "dayofyear",
    "milliseconds": "millisecond",
    "microseconds": "microsecond",
    **{f"{unit}s": unit for unit in UNITS},
}
"""What EXTRACT takes, with the function that gives it."""

_1970 = date(1970, 1, 1)
NO_SUCH_DAY = "NULL before year 1 and after year 9999"

_FORMAT = re.compile(r"(?:[^%\x00]|%-?[dmyHIMSj]|%[aAbBpYfUWwuGVxXc%])*")


def _format(value: Any) -> str | None:
    if 1 <= len(value) <= 100 and _FORMAT.fullmatch(value):
        return None
    known = "%Y %m %d %H %M %S %f %y %j %a %A %b %B %I %p %U %W %V %G %u %w %x %X %c"
    return f"must be a format of 1 to 100 characters, of {known}"


def _parts() -> Iterator[Function]:
    for kind in (DATE, TIMESTAMP):
        for part, interval in DAY_PARTS.items():
            rises = part in COUNTED
            yield Function(part, (kind,), INTEGER, f"{part}({{0}})", interval=interval, rises=rises)
        yield Function("epoch", (kind,), REAL, "epoch({0})", interval=_epoch)
        for name in ("dayname", "monthname"):
            yield Function(name, (kind,), TEXT, f"{name}({{0}})", length=lambda *_: (0, 10))
        yield Function("last_day", (kind,), DATE, "last_day({0})", interval=_last_day, rises=True)
        yield Function(
            "strftime", (kind, TEXT), TEXT, "strftime({0}, {1})", constants={1: _format},
            length=lambda _, values: (0, 30 * len(str(values[1]))),
        )  # fmt: skip
    for part, interval in _CLOCK_PARTS.items():
        yield Function(part, (TIMESTAMP,), INTEGER, f"{part}({{0}})", interval=interval)


def _epoch(moments: Span) -> Interval:
    """Seconds since 1970, fractions included."""
    ends = (None if end is None else Fraction(clock(end) - clock(_1970), 10**6) for end in moments)
    return Interval(*ends)


def _last_day(moments: Span) -> Span:
    low, high = moments
    return None if low is None else _end_of_month(low), None if high is None else _end_of_month(high)


def _end_of_month(moment: date) -> date:
    return date(moment.year, moment.month, calendar.monthrange(moment.year, moment.month)[1])


def _units() -> Iterator[Function]:
    for kind in (DATE, TIMESTAMP):
        for name in ("date_trunc", "datetrunc"):
            yield Function(
                name, (TEXT, kind), TIMESTAMP, "date_trunc({0}, {1})", written=f"{name}({{0}}, {{1}})",
                constants={0: UNITS}, interval=truncated, rises=True,
            )  # fmt: skip
        counts = {"date_diff": between, "datediff": between, "date_sub": complete, "datesub": complete}
        for name, rule in counts.items():
            yield Function(
                name, (TEXT, kind, kind), INTEGER, f"{name}({{0}}, {{1}}, {{2}})",
                constants={0: FINE_UNITS}, interval=rule,
            )  # fmt: skip


def _moves() -> Iterator[Function]:
    """Days and intervals added: as it is where the result surely exists, else through a guard."""
    days = moved(lambda n: timedelta(days=n))
    yield Function(
        "-",
        (DATE, DATE),
        INTEGER,
        "days_between({0}, {1})",
        written="({0} - {1})",
        interval=lambda a, b: between("day", b, a),
    )
    for sign, name in (("+", "add_days"), ("-", "subtract_days")):
        rule = days if sign == "+" else (lambda moments, count: days(moments, -count))
        yield from _guarded(sign, f"{name}({{0}}, {{1}})", f"({{0}} {sign} {{1}})", DATE, DATE, rule)
    lengths: dict[str, tuple[str, Callable[[Span, Interval], Span]]] = {
        "months": ("MONTH", moved_months),
        "days": ("DAY", days),
        "seconds": ("SECOND", moved(lambda n: timedelta(seconds=n))),
    }
    for name, (word, rule) in lengths.items():
        for kind in (DATE, TIMESTAMP):
            written = f"({{0}} + INTERVAL ({{1}}) {word})"
            at_midnight = rule if kind is TIMESTAMP else _from_midnight(rule)
            yield from _guarded(f"add:{name}", f"moved_by_{name}({{0}}, {{1}})", written, kind, TIMESTAMP, at_midnight)


def _from_midnight(rule: Callable[[Span, Interval], Span]) -> Callable[[Span, Interval], Span]:
    return lambda days, count: rule(truncated("day", days), count)


def _guarded(
    name: str, sql: str, written: str, kind: Type, result: Type, rule: Callable[[Span, Interval], Span]
) -> Iterator[Function]:
    most = 10**9 if name == "add:seconds" else 10**6
    few = lambda _, n: n.within(most)  # noqa: E731 - one fact for two rows
    all_days = lambda _, n: n.within(max(most, CALENDAR))  # noqa: E731 - where the result surely exists
    yield Function(
        name, (kind, INTEGER), result, sql, written=written, interval=rule, grows=True, needs=all_days, rises=True
    )
    yield Function(
        name, (kind, INTEGER), result, f"CASE WHEN in_calendar({sql}) THEN {sql} END", written=written,
        interval=rule, needs=few, nulls=Nulls.MAY, departs=NO_SUCH_DAY,
    )  # fmt: skip


def _made() -> Iterator[Function]:
    possible = "{0} BETWEEN 1 AND 9999 AND {1} BETWEEN 1 AND 12 AND {2} BETWEEN 1 AND 31"
    yield Function(
        "make_date", (INTEGER, INTEGER, INTEGER), DATE,
        f"CASE WHEN {possible} THEN try_date({{0}}, {{1}}, {{2}}) END",
        interval=_years, nulls=Nulls.MAY, departs="NULL where there is no such day",
    )  # fmt: skip


def _since_1970() -> Iterator[Function]:
    """Moments of UTC from whole numbers, as clocks count them."""
    for name, length in (("make_timestamp", 1), ("epoch_ms", 1000)):
        least, most = -clock(_1970) // length, (clock(LAST) - clock(_1970)) // length
        sql = "moment_of_microseconds({0})" if length == 1 else f"moment_of_microseconds(({{0}} * {length}))"
        written = f"{name}({{0}})"
        rule = _counted_since(length, least, most)
        fits = lambda a, least=least, most=most: (  # noqa: E731 - one fact for two rows
            a.finite and least <= a.low and a.high <= most
        )
        yield Function(name, (INTEGER,), TIMESTAMP, sql, written=written, interval=rule, needs=fits, rises=True)
        yield Function(
            name, (INTEGER,), TIMESTAMP, f"CASE WHEN {{0}} BETWEEN {least} AND {most} THEN {sql} END", written=written,
            interval=rule, nulls=Nulls.MAY, has_value=fits, departs=NO_SUCH_DAY,
        )  # fmt: skip


def _counted_since(length: int, least: int, most: int) -> Callable[[Interval], Span]:
    """The moment so many times so many microseconds after the first one of 1970, within the calendar."""

    def at(end: Any) -> datetime | None:
        return None if end is None else FIRST + timedelta(microseconds=int(end) * length + clock(_1970))

    def rule(count: Interval) -> Span:
        known = count.clipped(Fraction(least), Fraction(most))
        return at(known.low), at(known.high)

    return rule


def _years(year: Interval, *_: Interval) -> Span:
    known = year.clipped(Interval.point(1).low, Interval.point(9999).high)
    return (
        None if known.low is None else date(int(known.low), 1, 1),
        None if known.high is None else date(int(known.high), 12, 31),
    )


DATES: tuple[Function, ...] = (*_parts(), *_units(), *_moves(), *_made(), *_since_1970())
