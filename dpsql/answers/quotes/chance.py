"""Which columns say TRUE or FALSE of a noised number, and how near to the line chance decides.

Tests: tests/unit/answers/quotes/test_chance.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from dpsql.answers.shown.screen import number
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.nodes import Apply, Column, Constant, Expression
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.values.expressions import arguments_of
from dpsql.prepare import Measured, Prepared

__all__ = ["left_to_chance"]

COMPARISONS = frozenset({"<", "<=", "=", "<>", ">=", ">"})


def left_to_chance(prepared: Prepared) -> tuple[str, ...]:
    """For each column that compares a released number with a constant, as BOOL_OR does, where its noise decides."""
    measured = {own.aggregate.name: own for own in prepared.told if own.grouping == 0 and not own.rest}
    found = dict[str, None]()
    for output, expression in zip(prepared.plan.answer, answer_columns(prepared.plan), strict=True):
        for column, line in _compared(expression):
            own = measured.get(column.name)
            if own is not None and _has_noise(own):
                found[f"{output.label}: {_said(own, line)}"] = None
    return tuple(found)


def _has_noise(own: Measured) -> bool:
    """Whether half of an interval is foretold, in the unit of the released number."""
    release, kind = own.choice.release, FUNCTIONS[own.aggregate.function].kind
    return release.bracketed and release.half_width < math.inf and kind is not Kind.CHOICE


def _compared(expression: Expression) -> Iterator[tuple[Column, Fraction]]:
    """What is compared with which numbers."""
    if isinstance(expression, Apply) and expression.function.name in COMPARISONS:
        for column, constant in (expression.arguments, expression.arguments[::-1]):
            value = constant.value if isinstance(constant, Constant) else None
            if isinstance(column, Column) and isinstance(value, int | Fraction) and not isinstance(value, bool):
                yield column, Fraction(value)
    for argument in arguments_of(expression):
        yield from _compared(argument)


def _said(own: Measured, line: Fraction) -> str:
    reach, function = own.choice.release.half_width, FUNCTIONS[own.aggregate.function]
    what = {"count_units": "units", "count_distinct": "values"}.get(own.aggregate.function, "rows")
    if function.kind is Kind.COUNT and line - Fraction(reach) <= 0:
        return (
            f"while fewer than about {number(math.ceil(float(line) + reach))} {what} decide it, or none, it "
            f"is left to chance: it asks whether a count with noise of ±{number(reach)} reaches {number(float(line))}."
        )
    return (
        f"where {own.aggregate.text} is within ±{number(reach)} of {number(float(line))}, to which it is compared, it "
        "is left to chance."
    )
