"""The grammar of constants: what a number, a date or an interval may look like.

It is narrower than any SQL parser's, so that a constant means one thing only: exact numbers, ISO dates without
zones, intervals of a whole number of one unit. Everything else is refused with the form to write.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal

from dpsql.errors import UnsupportedQuery
from dpsql.sql.syntax import IntervalLiteral, Literal, Position

__all__ = [
    "UNITS",
    "read_date",
    "read_interval",
    "read_moment",
    "read_number",
    "read_string",
    "read_template",
    "read_timestamp",
]

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")

MOST_DIGITS = 38  # In decimal digits: those of DuckDB's widest DECIMAL, and of HUGEINT.
LARGEST_EXPONENT = 300  # Of ten: it is within a double's range, and Fractions made of it stay small. It is a choice.
LARGEST_COUNT = 2**31 - 1  # Months or days of an interval, which DuckDB holds in 32 bits.

_NUMBER = re.compile(r"(?P<whole>[0-9]*)(?P<point>\.[0-9]*)?(?:[eE](?P<exponent>[+-]?[0-9]+))?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?Z?)?")
_WITH_OFFSET = re.compile(
    r"(?P<local>.*:[0-9.]+)(?P<sign>[+-])(?P<hours>0[0-9]|1[0-4])(?::?(?P<minutes>[0-5][0-9]))?"
)  # No place on earth is more than 14 hours from UTC.
_TEMPLATE = {
    "YYYY": r"(?P<year>[0-9]{4})",
    "MM": r"(?P<month>[0-9]{1,2})",
    "DD": r"(?P<day>[0-9]{1,2})",
    "HH24": r"(?P<hour>[0-9]{1,2})",
    "MI": r"(?P<minute>[0-9]{1,2})",
    "SS": r"(?P<second>[0-9]{1,2})",
    "MS": r"(?P<microsecond>[0-9]{1,3})",
    "US": r"(?P<microsecond>[0-9]{1,6})",
}
"""The parts of PostgreSQL's templates of dates that are read, each at most once."""
_PART = re.compile("|".join(_TEMPLATE), re.IGNORECASE)
_COUNT = re.compile(r"-?[0-9]+")
_COUNT_AND_UNIT = re.compile(r"(-?[0-9]+) ?([A-Za-z]+)")


def read_number(text: str, position: Position = None) -> Literal:
    """The exact number that ``text`` spells: an int, or a Decimal where it has a point or an exponent.

    Raises:
        UnsupportedQuery: If it is no plain decimal number, has more than 38 digits or an exponent beyond 300.

    >>> read_number("0.50").value, read_number("007").value, read_number("1e-3").value
    (Decimal('0.50'), 7, Decimal('0.001'))
    """
    match = _NUMBER.fullmatch(text)
    digits = (match["whole"] + (match["point"] or "").removeprefix(".")) if match else ""
    if match is None or not digits:
        raise _refusal("number", "this is not a plain decimal number.", position, "Write it like 1000, 0.5 or 1e-3.")
    if len(digits) > MOST_DIGITS:
        raise _refusal("number", "it has more than 38 digits.", position, "Write it with fewer digits.")
    exponent = match["exponent"]
    if exponent and (len(exponent) > 5 or abs(int(exponent)) > LARGEST_EXPONENT):
        raise _refusal("number", "its exponent is beyond 300.", position, "Write a number nearer to 1.")
    if match["point"] is None and exponent is None:
        return Literal(int(text), position=position)
    number = Decimal(text)
    if number and abs(number.adjusted()) > LARGEST_EXPONENT:
        reason = "it is beyond 10^300, or nearer to 0 than 10^-300."
        raise _refusal("number", reason, position, "Write a number nearer to 1.")
    return Literal(number, position=position)


def read_string(text: str, position: Position = None) -> Literal:
    """The string between the single quotes of ``text``; a doubled quote stands for one, a backslash for itself.

    >>> read_string("'it''s'").value
    "it's"
    """
    return Literal(text[1:-1].replace("''", "'"), position=position)


def read_date(text: str, position: Position = None) -> Literal:
    """The day of ``DATE 'text'``.

    Raises:
        UnsupportedQuery: If it is no real day written as year-month-day.

    >>> read_date("2024-02-29").value
    datetime.date(2024, 2, 29)
    """
    hint = "Write it like DATE '2024-05-31'."
    if not _DATE.fullmatch(text):
        raise _refusal("DATE", "the text is not a date in the form year-month-day.", position, hint)
    try:
        return Literal(date.fromisoformat(text), position=position)
    except ValueError:
        raise _refusal("DATE", "there is no such day.", position, hint) from None


def read_timestamp(text: str, position: Position = None) -> Literal:
    """The moment of ``TIMESTAMP 'text'``, without a zone but Z, which moves nothing; midnight where no time is given.

    Raises:
        UnsupportedQuery: If it is no real moment, or carries a zone.

    >>> read_timestamp("2024-02-29 13:00").value
    datetime.datetime(2024, 2, 29, 13, 0)
    """
    hint = "Write it like TIMESTAMP '2024-05-31 13:45:00', or TIMESTAMPTZ '2024-05-31 13:45:00+02:00'."
    if not _TIMESTAMP.fullmatch(text):
        raise _refusal("TIMESTAMP", "the text is not a timestamp that dpsql reads.", position, hint)
    try:
        return Literal(datetime.fromisoformat(_six_decimals(text.removesuffix("Z"))), position=position)
    except ValueError:
        raise _refusal("TIMESTAMP", "there is no such moment.", position, hint) from None


def read_moment(text: str, position: Position = None) -> Literal:
    """The moment of ``TIMESTAMPTZ 'text'`` in UTC, as all moments here are; without an offset it is one of UTC.

    Raises:
        UnsupportedQuery: If it is no real moment, or names its zone otherwise.

    >>> read_moment("2024-02-29 22:00-05:30").value
    datetime.datetime(2024, 3, 1, 3, 30)
    """
    local, offset = _WITH_OFFSET.fullmatch(text), timedelta()
    if local is not None:
        hours, minutes = int(local["hours"]), int(local["minutes"] or 0)
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if local["sign"] == "-" else 1)
    moment = read_timestamp(text if local is None else local["local"], position)
    try:
        return Literal(datetime.fromisoformat(str(moment.value)) - offset, position=position)
    except OverflowError:
        raise _refusal(
            "TIMESTAMPTZ", "there is no such moment.", position, "Write a later or an earlier one."
        ) from None


def read_template(text: str, template: str, position: Position = None) -> Literal:
    """The day or moment of ``to_date(text, template)`` and ``to_timestamp(text, template)``, PostgreSQL's functions.

    Raises:
        UnsupportedQuery: If the template has other parts, or the text is no real moment of its form.

    >>> read_template("31.05.2024 7:05", "DD.MM.YYYY HH24:MI").value
    datetime.datetime(2024, 5, 31, 7, 5)
    """
    hint = "Write it like to_date('2024-05-31', 'YYYY-MM-DD'), or DATE '2024-05-31'."
    names, between = [part.upper() for part in _PART.findall(template)], _PART.split(template)
    once = len({name.replace("US", "MS") for name in names}) == len(names)
    if "YYYY" not in names or not once or re.search("[A-SU-Za-z]", "".join(between)):
        known = ", ".join(_TEMPLATE)
        raise _refusal("to_date", f"its template has a year, and once each at most {known}.", position, hint)
    parts = zip(between, [*names, ""], strict=True)
    match = re.fullmatch("".join(re.escape(fixed) + _TEMPLATE.get(name, "") for fixed, name in parts), text)
    if match is None:
        raise _refusal("to_date", "its text has not the form of its template.", position, hint)
    found = {"month": "1", "day": "1"} | match.groupdict()
    numbers = {name: int(f"{digits:0<6}" if name == "microsecond" else digits) for name, digits in found.items()}
    try:
        return Literal(datetime(**numbers), position=position)  # type: ignore[arg-type]  # a date needs no time
    except ValueError:
        raise _refusal("to_date", "there is no such moment.", position, hint) from None


def read_interval(text: str, unit: str | None, position: Position = None) -> IntervalLiteral:
    """The length of ``INTERVAL 'text' unit``, or of ``INTERVAL '3 days'`` where no unit follows.

    Raises:
        UnsupportedQuery: If it is not a whole number of one known unit.

    >>> read_interval("3", "DAYS"), read_interval("-2 months", None)
    (IntervalLiteral(position=None, count=3, unit='day'), IntervalLiteral(position=None, count=-2, unit='month'))
    """
    hint = "Write a whole number of one unit, like INTERVAL '3' DAY."
    match = _COUNT.fullmatch(text) if unit else _COUNT_AND_UNIT.fullmatch(text)
    if not match:
        raise _refusal("INTERVAL", "this is not a whole number of one unit.", position, hint)
    count, word = (text, unit) if unit else (match[1], match[2])
    singular = (word or "").lower().removesuffix("s")
    if singular not in UNITS:
        raise _refusal("INTERVAL", f"the unit is none of {', '.join(UNITS)}.", position, hint)
    if len(count) > 11 or abs(int(count)) > LARGEST_COUNT:
        raise _refusal("INTERVAL", "the number is too large.", position, hint)
    return IntervalLiteral(int(count), singular, position=position)


def _six_decimals(text: str) -> str:
    """The same timestamp with three or six decimals, the only forms Python 3.11's ``fromisoformat`` shares."""
    head, point, decimals = text.partition(".")
    return f"{head}.{decimals:0<6}" if point else text


def _refusal(construct: str, message: str, position: Position, hint: str) -> UnsupportedQuery:
    return UnsupportedQuery(message, construct=construct, position=position, hint=hint)
