"""In which box of values the rows lie for which a condition is true, by what it compares with what.

`narrowing` says what is done with it, and why it holds; `stability` counts by it the numbers that conditions leave.

Tests: tests/attacks/test_narrowed_bounds.py, tests/unit/plan/rows/test_unit_windows.py.
"""

from __future__ import annotations

import operator as op

from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Apply, Column, Constant, Expression, UnitValue
from dpsql.plan.types import Type
from dpsql.plan.values.boxes import Box, Range, all_of, any_of, key_of, meet
from dpsql.plan.values.differences import by_comparison, with_differences
from dpsql.plan.values.inverse import with_arguments
from dpsql.plan.values.ranges import known_range
from dpsql.plan.values.steps import moments_at, numbers_at

__all__ = ["OPPOSITE", "SWAPPED", "implied", "is_ranged", "stated"]

SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
WIDENED = {"cast:real": Type.INTEGER, "cast:timestamp": Type.DATE}
"""Casts that keep the order of what they take, by the type for which they do."""
COMPARED = {"<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge, "=": op.eq, "<>": op.ne}


def is_ranged(of: Expression | UnitValue) -> bool:
    """Whether its values are numbers, days or moments, which lie in ranges."""
    return of.facts.type.numeric or of.facts.type in (Type.DATE, Type.TIMESTAMP)


def implied(condition: Expression, *, truth: bool, or_null: bool) -> Box | None:
    """The box of the rows for which a condition is TRUE (or FALSE), or NULL where that counts as well.

    Returns:
        None where there can be no such row.
    """
    found = stated(condition, truth=truth, or_null=or_null)
    return None if found is None else with_differences(with_arguments(found))


def stated(condition: Expression, *, truth: bool, or_null: bool) -> Box | None:
    """The same, of what the condition itself compares."""
    match condition:
        case Constant(value=value):
            return {} if value is truth or (value is None and or_null) else None
        case Apply(function=function, arguments=arguments) if function.name in ("and", "or"):
            parts = [stated(part, truth=truth, or_null=or_null) for part in arguments]
            return all_of(parts) if (function.name == "and") is truth else any_of(parts)
        case Apply(function=function, arguments=(argument,)) if function.name == "not":
            return stated(argument, truth=not truth, or_null=or_null)
        case Apply(function=function, arguments=(first, *rest)) if function.name == "in" and truth:
            if or_null and any(isinstance(part, Constant) and part.value is None for part in rest):
                return {}  # x IN (1, NULL) is NULL for every x but 1
            return any_of([_compared("=", first, part) for part in rest])
        case Apply(function=function, arguments=(first, second)) if function.name in OPPOSITE:
            if or_null and any(isinstance(part, Constant) and part.value is None for part in (first, second)):
                return {}
            return _compared(function.name if truth else OPPOSITE[function.name], first, second)
        case _:
            return {}


def _compared(sign: str, first: Expression, second: Expression) -> Box | None:
    """The box where a comparison is true; None where it never is, since a side is NULL."""
    if isinstance(first, Constant):
        first, second, sign = second, first, SWAPPED[sign]
    compared = _bare(first)
    if not isinstance(second, Constant):
        return by_comparison(sign, first, second)
    if second.value is None:
        return None
    if isinstance(first, Constant):
        return None if _differ(sign, first, second) else {}
    if compared is None or sign == "<>" or not is_ranged(compared):
        return {}
    found: Range = known_range(second)
    ends: Range
    if not isinstance(found, Interval):
        ends = moments_at(sign, found[0], compared.facts.type)
    elif found.low is None:
        return {}
    elif compared.facts.type is Type.INTEGER:
        ends = numbers_at(sign, found)
    else:
        ends = Interval(None if "<" in sign else found.low, None if ">" in sign else found.high)
    return {key_of(compared): ends if isinstance(compared, Apply) else meet(known_range(compared), ends)}


def _differ(sign: str, first: Constant, second: Constant) -> bool:
    """Whether a comparison of two constants is surely not true: whole numbers alone are surely compared as here."""
    one, other = first.value, second.value
    if not isinstance(one, int) or not isinstance(other, int):
        return False
    return not COMPARED[sign](one, other)


def _bare(expression: Expression) -> Column | Apply | None:
    """The column or the function that is compared, also as an integer read as a real number, or a day as a moment."""
    if isinstance(expression, Apply) and expression.function.name in WIDENED:
        (argument,) = expression.arguments
        if argument.facts.type is WIDENED[expression.function.name]:
            return _bare(argument)
        return None if expression.function.name == "cast:real" else expression
    return expression if isinstance(expression, Column | Apply) else None
