"""Constants, and values at another type where nothing can be lost or fail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import REAL_LIMIT, Function, overloads
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Apply, Constant, Expression
from dpsql.plan.types import INTEGERS, Facts, Type, Value
from dpsql.plan.values.ranges import known_range, with_bounds
from dpsql.sql.literals import read_date, read_timestamp

__all__ = ["MOVED", "as_constant", "as_null", "as_text", "computed", "converted", "met", "recast"]

LONG = 2**63  # One above the largest signed 64-bit integer.
EXACT = Context(prec=1_000, traps=[])
"""In decimal digits: 1,000 are more than doubles can tell apart, whatever their exponents."""
LONGEST_JOINED = 1_000
"""Characters of constants that are put together. It is a choice: patterns are no longer."""
SINGLE = 1e38  # As a real number: all below it are within 32-bit numbers.
MOVED = frozenset({"add:months", "add:days", "add:seconds"})
"""What adds a constant interval to a day or a moment."""
DECIMALS = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}


def _row(name: str, kind: Type) -> Function:
    return next(function for function in overloads(name) if function.parameters == (kind,))


WIDER = {(Type.INTEGER, Type.REAL): _row("cast:real", Type.INTEGER)} | {
    (Type.DATE, Type.TIMESTAMP): _row("cast:timestamp", Type.DATE)
}
SPELLED = {kind: _row("cast:text", kind) for kind in (Type.INTEGER, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)}


def as_null(kind: Type) -> Constant:
    """NULL of a type."""
    return Constant(None, Facts(kind))


def as_constant(value: Value) -> Constant:
    """A constant with its type and bounds.

    >>> as_constant(3).facts.type
    <Type.INTEGER: 'integer'>
    """
    match value:
        case None:
            return Constant(None, Facts(Type.NULL))
        case bool():
            return Constant(value, Facts(Type.BOOLEAN, nullable=False))
        case int() if -LONG <= value < LONG:
            return Constant(value, Facts(Type.INTEGER, Fraction(value), Fraction(value), False, Fraction(1)))
        case int() | float() | Decimal():
            number = Fraction(value)
            return Constant(value, Facts(Type.REAL, number, number, False))
        case str():
            return Constant(value, Facts(Type.TEXT, nullable=False))
        case datetime():
            return Constant(value, Facts(Type.TIMESTAMP, value, value, False))
        case date():
            return Constant(value, Facts(Type.DATE, value, value, False))


def computed(name: str, arguments: tuple[Expression, ...]) -> Constant | None:
    """A sign before a constant, exact arithmetic of written decimals, a day or a moment moved by so much, and plain
    texts put together; None for all else.

    >>> computed("+", (as_constant(Decimal("0.06")), as_constant(Decimal("0.01")))).value
    Decimal('0.07')
    """
    values = [argument.value for argument in arguments if isinstance(argument, Constant)]
    if len(values) != len(arguments) or any(isinstance(value, bool) for value in values):
        return None
    match name, values:
        case "negate", [Decimal() as value]:
            return as_constant(value.copy_negate())
        case "negate", [int() | float() as value]:
            return as_constant(-value)
        case "+" | "-" | "*", [Decimal() | int() as a, Decimal() | int() as b] if not type(a) is type(b) is int:
            result = DECIMALS[name](Decimal(a), Decimal(b))
            return as_constant(result) if result.is_finite() and abs(result) <= REAL_LIMIT else None
        case "||", [str() as one, str() as other] if len(one) + len(other) <= LONGEST_JOINED:
            return as_constant(one + other)
        case "lower" | "upper", [str() as text] if text.isascii():
            return as_constant(text.lower() if name == "lower" else text.upper())
        case _, [date() as moment, int() as count] if name in ("+", "-", *MOVED):
            return _moved(name, moment, count)
    return None


def _moved(name: str, moment: date, count: int) -> Constant | None:
    """A day or a moment and so many days, seconds or months more; None where there is no such day.

    >>> _moved("add:months", date(2024, 1, 31), 1).value, _moved("-", date(1, 1, 1), 1)
    (datetime.datetime(2024, 2, 29, 0, 0), None)
    """
    kind = Type.TIMESTAMP if isinstance(moment, datetime) else Type.DATE
    function = next((own for own in overloads(name) if own.parameters == (kind, Type.INTEGER)), None)
    if function is None:
        return None
    low, high = function.bounds(((moment, moment), Interval.point(count)), (True, True))
    return as_constant(low) if low is not None and low == high else None


def recast(constant: Constant, name: str) -> Constant | None:
    """A constant in a cast that changes nothing of its value; None for all else.

    Args:
        constant: What is cast.
        name: Our word for the type (`functions.casts.cast_name`).

    >>> recast(as_constant(Decimal("0.5")), "float").value, recast(as_constant(Decimal("0.1")), "float")
    (Decimal('0.5'), None)
    """
    value = constant.value
    number = value if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
    if name in INTEGERS:
        low, high = INTEGERS[name]
        return constant if isinstance(number, int) and low <= number <= high else None
    if name == "float" and number is not None and not (abs(float(number)) < SINGLE and _single(number) == number):
        return None
    match name, value:
        case ("text", str()) | ("boolean", bool()):
            return constant
        case "real" | "float", int() | Decimal() if number is not None:
            found = converted(constant, Type.REAL)
        case "date", date() if not isinstance(value, datetime):
            found = constant
        case "timestamp", date():
            found = converted(constant, Type.TIMESTAMP)
        case _:
            return None
    return found if isinstance(found, Constant) else None


def _single(number: int | Decimal) -> Decimal:
    """The 32-bit number next to it."""
    return Decimal(float(np.float32(float(number))))


def converted(expression: Expression, target: Type) -> Expression | None:
    """The expression at another type where nothing can be lost or fail, else None.

    >>> converted(as_constant("2024-05-31"), Type.DATE).value
    datetime.date(2024, 5, 31)
    """
    source = expression.facts.type
    if source is target:
        return expression
    if isinstance(expression, Constant):
        return _constant_at(expression.value, target)
    function = WIDER.get((source, target))
    return None if function is None else _cast(function, expression)


def met(expressions: Sequence[Expression]) -> list[Expression] | None:
    """The expressions at the first of their types that all of them can have; None where there is none.

    >>> [own.facts.type.value for own in met([as_constant(1), as_constant(0.5), as_constant(None)])]
    ['real', 'real', 'real']
    """
    types = list(dict.fromkeys(e.facts.type for e in expressions if e.facts.type is not Type.NULL))
    for target in types or [Type.INTEGER]:
        found = [at for expression in expressions if (at := converted(expression, target)) is not None]
        if len(found) == len(expressions):
            return found
    return None


def as_text(expression: Expression) -> Expression | None:
    """The text that spells a value as the engine does, else None."""
    if expression.facts.type is Type.TEXT:
        return expression
    function = SPELLED.get(expression.facts.type)
    return converted(expression, Type.TEXT) if function is None else _cast(function, expression)


def _cast(function: Function, expression: Expression) -> Expression:
    facts = Facts(function.result, nullable=expression.facts.nullable)
    bounds = function.bounds((known_range(expression),), (True,))
    step = expression.facts.step or Fraction(1) if expression.facts.type is Type.INTEGER else None
    return Apply(function, (expression,), with_bounds(facts, bounds, step))


def _constant_at(value: Value, target: Type) -> Expression | None:
    if value is None:
        return Constant(None, Facts(target))
    if isinstance(value, str) and target in (Type.DATE, Type.TIMESTAMP):
        return _moment(value, target)
    if isinstance(value, int) and target is Type.REAL and not isinstance(value, bool):
        number = Fraction(value)
        return Constant(value, Facts(Type.REAL, number, number, False, Fraction(1)))
    if isinstance(value, date) and not isinstance(value, datetime) and target is Type.TIMESTAMP:
        return as_constant(datetime.combine(value, time()))
    return None


def _moment(text: str, target: Type) -> Expression | None:
    """A text beside a date or timestamp, where it spells one."""
    for read in (read_date, read_timestamp) if target is Type.TIMESTAMP else (read_date,):
        try:
            return converted(as_constant(read(text).value), target)
        except UnsupportedQuery:
            continue
    return None
