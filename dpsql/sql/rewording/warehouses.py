"""Functions as BigQuery, Snowflake and PostgreSQL write them, read as those that are here: where they mean the same.

A bare word is a unit of time where no column can stand: beside a value that is no constant. What means something else
there, such as weeks that begin on Sunday, is refused with what to write.

Tests: tests/unit/sql/rewording/test_warehouses.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import NoReturn

from dpsql.errors import UnsupportedQuery
from dpsql.sql.literals import LARGEST_COUNT, UNITS
from dpsql.sql.syntax import Call, CaseExpression, Cast, Expr, InList, IntervalLiteral, Literal, Name, Parameter

__all__ = ["as_here"]

ISO_WEEK = "isoweek"  # BigQuery's week from Monday on, which is the week here.
TRUNC = "Write date_trunc('month', x): the unit in quotes, first."
DIFF = "Write date_diff('day', start, end): the unit in quotes, first, and the later moment last."
WEEKS = "Write date_diff('week', start, end), which counts whole weeks."
WHOLE = (
    "Write date_sub('day', start, end), which counts whole units, or date_diff, which counts boundaries between them."
)
FORMAT = "Write strftime(x, '%Y-%m'), or CAST(x AS VARCHAR)."
_CHARACTERS = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S"}
"""The parts of templates of dates that are read, as formats."""
_PART = re.compile("|".join(_CHARACTERS), re.IGNORECASE)
_NUMBER = re.compile(r"(FM)?[$SL]?[90][90.,DG]*(MI|PL|PR|S|%)?", re.IGNORECASE)
"""A template of numbers."""
_OTHERWISE = {"nvl": "coalesce", "iff": "if", "every": "bool_and"}
"""Functions that have other names alone."""
_BETWEEN = re.compile("[-/.:,_ ]*")


def as_here(call: Call) -> Expr:
    """A call as the function that means the same here; any other call as it is.

    Raises:
        UnsupportedQuery: It means something else where it is written so.

    >>> as_here(Call("safe_divide", (Name(("a",)), Name(("b",))))).name
    '/'
    """
    read = _READ.get(call.name)
    plain = not ((call.named and read is not _different) or call.distinct or call.star or call.order)
    return call if read is None or not plain else read(call)


def _truncated(call: Call) -> Expr:
    """DATE_TRUNC(x, MONTH), TIMESTAMP_TRUNC(x, MONTH), DATE_TRUNC(month, x)."""
    first, second = (_unit(own) for own in call.arguments) if len(call.arguments) == 2 else (None, None)
    if second and not first and not _constant(call.arguments[0]):
        if second == "week":
            _refuse(call, "BigQuery's weeks begin on Sunday, those here on Monday.", "Write date_trunc('week', x).")
        return _trunc(call, second, 1)
    if first and not second and call.name == "date_trunc":
        return _trunc(call, first, 0)
    if call.name not in ("date_trunc", "datetrunc"):
        _refuse(call, "it takes a value and a unit here, and no time zone.", TRUNC)
    return call


def _trunc(call: Call, unit: str, at: int) -> Call:
    named = Literal("week" if unit == ISO_WEEK else unit, position=call.arguments[at].position)
    return replace(call, name="date_trunc", arguments=(named, call.arguments[1 - at]))


def _difference(call: Call) -> Expr:
    """DATE_DIFF(end, start, DAY), DATEDIFF(day, start, end), and the days of DATEDIFF(end, start)."""
    match call.arguments:
        case (end, start) if call.name == "datediff" and not _unit(end):
            return _diff(call, Literal("day", position=call.position), start, end)
        case (unit, start, end) if _unit(unit) and not _unit(end):
            return _diff(call, unit, start, end)
        case (end, start, unit) if _unit(unit) and not _unit(end) and not _constant_text(end):
            return _diff(call, unit, start, end)
    if call.name not in ("date_diff", "datediff"):
        _refuse(call, "it takes two values and a unit.", DIFF)
    return call


def _diff(call: Call, unit: Expr, start: Expr, end: Expr) -> Call:
    named = unit if isinstance(unit, Literal) else Literal(_unit(unit), position=unit.position)
    if named.value in ("week", ISO_WEEK):
        _refuse(call, "weeks are counted by the day on which they begin there.", WEEKS)
    return replace(call, name="date_diff", arguments=(named, start, end))


def _whole(call: Call) -> NoReturn:
    _refuse(call, "databases differ in which moment comes first, and in whether whole units count.", WHOLE)


def _moved(call: Call) -> Expr:
    """DATE_ADD(x, INTERVAL 3 DAY), DATE_SUB(x, INTERVAL 3 DAY), DATEADD(day, 3, x)."""
    sign = "-" if "sub" in call.name else "+"
    match call.arguments:
        case (_, IntervalLiteral()):
            return replace(call, name=sign)
        case (unit, number, value) if call.name == "dateadd" and (word := _unit(unit)) and word in UNITS:
            count = _count(number)
            if count is None:
                _refuse(call, "how many are added is a whole number that is written.", "Write x + INTERVAL 3 DAY.")
            return replace(call, name="+", arguments=(value, IntervalLiteral(count, word, position=unit.position)))
    if call.name == "date_sub":  # the function of three arguments
        return call
    return _refuse(call, "it takes a value and an interval.", "Write x + INTERVAL 3 DAY.")


def _count(number: Expr) -> int | None:
    match number:
        case Literal(value=int(count)) if not isinstance(count, bool) and count <= LARGEST_COUNT:
            return count
        case Call("negate", (inner,)):
            found = _count(inner)
            return None if found is None else -found
    return None


def _quotient(call: Call) -> Expr:
    """SAFE_DIVIDE(x, y), which is NULL where y is 0, as x / y is here."""
    if len(call.arguments) != 2:
        _refuse(call, "it takes two numbers.", "Write x / y, which is NULL where y is 0.")
    return replace(call, name="/")


def _quotient_or_zero(call: Call) -> Expr:
    """DIV0(x, y), which is 0 where y is 0."""
    if len(call.arguments) != 2:
        _refuse(call, "it takes two numbers.", "Write CASE WHEN y = 0 THEN 0 ELSE x / y END.")
    zero = Literal(0, position=call.position)
    nothing = Call("=", (call.arguments[1], zero), position=call.position)
    return CaseExpression(None, ((nothing, zero),), replace(call, name="/"), position=call.position)


def _written(call: Call) -> Expr:
    """TO_CHAR(x, 'YYYY-MM')."""
    match call.arguments:
        case (_, Literal(value=str(template))) if _NUMBER.fullmatch(template):
            _refuse(
                call, "templates of numbers are not read.", "Write CAST(round(x, 2) AS VARCHAR), or format the answer."
            )
        case (value, Literal(value=str(template)) as written):
            names = [name.upper() for name in _PART.findall(template)]
            # Twice the same may be another part: SSSS are the seconds of a day.
            if names and len({*names}) == len(names) and _BETWEEN.fullmatch("".join(_PART.split(template))):
                shown = _PART.sub(lambda part: _CHARACTERS[part[0].upper()], template)
                return replace(call, name="strftime", arguments=(value, replace(written, value=shown)))
    return _refuse(call, f"its template has once each at most {', '.join(_CHARACTERS)}.", FORMAT)


def _matched(call: Call) -> Expr:
    """REGEXP_CONTAINS(x, 'pattern'), which searches."""
    return replace(call, name="regexp_matches")


def _different(call: Call) -> Expr:
    """APPROX_COUNT_DISTINCT(x), and with how exact it would be there: no count is exact once it is noised."""
    exact = len(call.arguments) == 2 and isinstance(call.arguments[1], Literal) and _is_number(call.arguments[1])
    return replace(call, name="count", distinct=True, arguments=call.arguments[:1] if exact else call.arguments)


def _is_number(constant: Literal) -> bool:
    return isinstance(constant.value, int | Decimal) and not isinstance(constant.value, bool)


def _quantile(call: Call) -> Expr:
    """APPROX_PERCENTILE(x, 0.5, 100), where the last one says how exact it would be; not Trino's (x, weight, 0.5)."""
    call = replace(call, name="approx_percentile" if call.name == "percentile_approx" else call.name)
    match call.arguments:
        case (_, Literal(Decimal()), Literal(int() | Decimal())):
            fraction = True
        case (_, Literal() | Parameter(), Literal(int(accuracy))):
            fraction = accuracy > 1
        case _:
            fraction = False
    return replace(call, arguments=call.arguments[:2]) if fraction else call


def _of_zero(call: Call) -> Expr:
    """Snowflake's ZEROIFNULL(x) and NULLIFZERO(x)."""
    name = "coalesce" if call.name == "zeroifnull" else "nullif"
    return replace(call, name=name, arguments=(*call.arguments, Literal(0, position=call.position)))


def _among(call: Call) -> Expr:
    """LIST_CONTAINS([1, 2], x), whose list finds NULL nowhere: one with NULL is not read."""
    match call.arguments:
        case (Call("list_value", values), operand) if values and all(map(_value, values)):
            return InList(operand, values, False, position=call.position)
    return _refuse(call, "it takes a list of constants, none of them NULL, and a value.", "Write x IN (1, 2).")


def _value(node: Expr) -> bool:
    return isinstance(node, Literal) and node.value is not None


def _apart(call: Call) -> NoReturn:
    _refuse(call, "it is of bits in DuckDB, and of conditions elsewhere.", "Of two conditions write (a) <> (b).")


def _called(call: Call) -> Expr:
    """What has another name here: NVL(a, b), IFF(c, a, b), EVERY(c)."""
    return replace(call, name=_OTHERWISE[call.name])


def _day(call: Call) -> Expr:
    """MySQL's and BigQuery's ``DATE(x)``: the day of a moment."""
    if len(call.arguments) != 1:
        _refuse(call, "it takes one moment or day.", "Write CAST(x AS DATE), or make_date(2024, 3, 5).")
    return Cast(call.arguments[0], "date", safe=False, spelling="DATE", position=call.position)


def _unit(node: Expr) -> str | None:
    """The unit of time that a bare word names, or None."""
    word = node.parts[0] if isinstance(node, Name) and len(node.parts) == 1 else ""
    return word if word in (*UNITS, ISO_WEEK) else None


def _constant(node: Expr) -> bool:
    return isinstance(node, Literal | Parameter) or (isinstance(node, Cast) and _constant(node.operand))


def _constant_text(node: Expr) -> bool:
    """Whether it may be a unit that is written as a constant."""
    if isinstance(node, Cast) and node.type_name.lower() in ("date", "datetime", "timestamp"):
        return False
    return _constant(node) and not (isinstance(node, Literal) and not isinstance(node.value, str))


def _refuse(call: Call, message: str, hint: str) -> NoReturn:
    raise UnsupportedQuery(message, construct=call.name.upper(), position=call.position, hint=hint)


_READ: Mapping[str, Callable[[Call], Expr]] = {
    **dict.fromkeys(("date_trunc", "datetrunc", "timestamp_trunc", "datetime_trunc"), _truncated),
    **dict.fromkeys(("date_diff", "datediff", "datetime_diff"), _difference),
    **dict.fromkeys(("timestamp_diff", "timestampdiff"), _whole),
    **dict.fromkeys(("dateadd", "timestamp_add", "datetime_add"), _moved),
    **dict.fromkeys(("date_sub", "timestamp_sub", "datetime_sub"), _moved),
    "date": _day,
    **dict.fromkeys(("approx_count_distinct", "approx_distinct"), _different),
    **dict.fromkeys(("approx_percentile", "percentile_approx"), _quantile),
    "safe_divide": _quotient,
    "div0": _quotient_or_zero,
    **dict.fromkeys(("to_char", "to_varchar"), _written),
    **dict.fromkeys(("zeroifnull", "nullifzero"), _of_zero),
    "regexp_contains": _matched,
    **dict.fromkeys(("list_contains", "array_contains", "list_has", "array_has"), _among),
    **dict.fromkeys(("xor", "boolxor"), _apart),
    **dict.fromkeys(_OTHERWISE, _called),
}
