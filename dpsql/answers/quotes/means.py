"""Which columns divide a sum by the count of what is added up: the mean, which AVG answers with less error.

AVG noises one sum, of how far the values are from the middle of their bounds, and takes the range of the mean from
that; a ratio allows for the noise of both sides at once. Measured on bounds that begin at 0, are even around it, or end
there: the interval is 0.1 to 0.6 times as wide, with and without AVG's sides as columns of the same answer.

Tests: tests/unit/answers/quotes/test_means.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsql.plan.nodes import Aggregate, Apply, Case, Column, Constant, Expression
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.plans import Plan
from dpsql.plan.values.expressions import arguments_of, columns_of

__all__ = ["means_written_out"]

SIZE = ("*", "cast:real", "coalesce", "nullif", "bigint", "saturated")
"""What may stand around the sum or the count: factors, conversions, what is shown instead of NULL."""


def means_written_out(plan: Plan) -> tuple[str, ...]:
    """For each column that divides SUM(x) by COUNT(x), or by COUNT(*), that AVG(x) errs less."""
    known = {own.name: own for own in plan.aggregates}
    found = dict[str, None]()
    for output, expression in zip(plan.answer, answer_columns(plan), strict=True):
        for total, count in _ratios(expression, known):
            mean = f"AVG{total.text[len('SUM') :]}"
            where = "" if count.argument is not None else " where no row lacks its value"
            ratio = f"{output.label}: {total.text} / {count.text}"
            found[f"{ratio} is a mean; {mean} says it with less error{where}."] = None
    return tuple(found)


def _ratios(expression: Expression, known: Mapping[str, Aggregate]) -> Iterator[tuple[Aggregate, Aggregate]]:
    if isinstance(expression, Apply) and expression.function.name == "/":
        total, count = (_alone(side, known) for side in expression.arguments)
        if total is not None and count is not None and _is_mean(total, count):
            yield total, count
    for argument in arguments_of(expression):
        yield from _ratios(argument, known)


def _alone(side: Expression, known: Mapping[str, Aggregate]) -> Aggregate | None:
    """The one aggregate of a side that is it, or so many times it."""
    while isinstance(side, Apply) and (side.function.name in SIZE or side.function.sql == "{0}"):
        parts = [own for own in side.arguments if columns_of(own)]
        if len(parts) != 1:
            return None
        (side,) = parts
    return known.get(side.name) if isinstance(side, Column) else None


def _is_mean(total: Aggregate, count: Aggregate) -> bool:
    plain = total.function == "sum" and total.text.upper().startswith("SUM(") and total.per_group is None
    if not plain or total.argument is None or isinstance(total.argument, Constant):
        return False
    if count.function == "count":
        return count.argument is not None and _of(count.argument) == _of(total.argument)
    return count.function == "count_rows" and not isinstance(total.argument, Case)


def _of(argument: Expression) -> Expression:
    """What is read, without conversions that change no value."""
    while isinstance(argument, Apply) and argument.function.name == "cast:real":
        (argument,) = argument.arguments
    return argument
