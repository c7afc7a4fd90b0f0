"""Whole numbers that lie farther out than the worker without data reads them.

An answer shows them as they were released. What is computed of them, and which rows are kept or put in order by them,
rests on numbers that are cut, for one that overflows would fail after the charge: a note tells it, and intervals hold
what the true number gives and what the cut one does (`plan.over_answers.ranged`).

Tests: tests/unit/answers/computed/test_far.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

import numpy as np

from dpsql.limits import SATURATION
from dpsql.plan.catalog import ColumnInfo
from dpsql.plan.nodes import Column, Expression, Total, Windowed
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.plans import Plan, Stage
from dpsql.plan.types import Type, Value
from dpsql.plan.values.expressions import arguments_of, columns_of, substituted
from dpsql.plan.values.ranges import reading
from dpsql.privacy.tables import listed

__all__ = ["FAR", "MORE_THAN_64_BITS", "as_read", "as_released", "fitting", "plain", "told_of"]

FAR = (
    "Whole numbers are computed with, compared and put in order as at most 2^60 (1152921504606846976) away from 0: "
    "what comes of a larger one may be off, and its interval allows for that. A column that only shows one is not cut, "
    "and SUM(CAST(x AS DOUBLE)) reaches farther."
)
MORE_THAN_64_BITS = (
    "A whole number of the answer has more than the 64 bits that its column has here. The cost stays, and the answer "
    "is kept: Python, the command line and MCP show it for nothing. SUM(CAST(x AS DOUBLE)) is a real number everywhere."
)
Rows = list[tuple[Any, ...]]


def fitting(values: Sequence[Any], type_: Type, most: int = SATURATION) -> list[Value]:
    """Released values as the worker takes them: integers saturate far outside anything a table can hold.

    A day in the place of a moment is its midnight.

    Args:
        values: The values.
        type_: Their type.
        most: No integer lies further from 0.
    """
    own = plain(values, type_)
    return own if type_ is not Type.INTEGER or _farthest(own) <= most else [_cut(value, most) for value in own]


def plain(values: Sequence[Any], type_: Type) -> list[Value]:
    """Released values as an answer shows them, whole numbers however large."""
    if type_ is Type.INTEGER:
        array = np.asarray(values)
        whole: list[Value] = array.tolist() if array.dtype == np.int64 else [_whole(value) for value in values]
        return whole
    held = listed(values)
    match type_:
        case Type.REAL:
            return [None if value is None else float(value) for value in held]
        case Type.TIMESTAMP:
            return [datetime.combine(value, time()) if type(value) is date else value for value in held]
        case _:
            return list(held)


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _cut(value: Any, most: int) -> Value:
    return None if value is None else max(-most, min(most, value))


def _farthest(values: Sequence[Any]) -> int:
    """How far from 0 whole numbers lie."""
    own = values if None not in values else [value for value in values if value is not None]
    return max(max(own), -min(own)) if own else 0


def as_read(values: list[Any], column: Column | ColumnInfo) -> list[Any]:
    """A released column as the worker reads it; the list itself where that is what was released."""
    if column.facts.type is not Type.INTEGER or column.facts.bounded:
        return values
    most = reading(column.reach)
    return values if _farthest(values) <= most else [_cut(value, most) for value in values]


def as_released(plan: Plan, rows: Rows, origin: Sequence[int | None], cut: Mapping[str, Sequence[Value]]) -> Rows:
    """The rows, with what was released in the place of what the worker read of it, where they show just this."""
    if not cut:
        return rows
    columns = [list(column) for column in zip(*rows, strict=True)]
    for shown, expression in zip(columns, answer_columns(plan), strict=False):
        if isinstance(expression, Column) and expression.name in cut:
            own = cut[expression.name]
            shown[:] = [v if row is None else own[row] for v, row in zip(shown, origin, strict=True)]
    return list(zip(*columns, strict=True))


def told_of(plan: Plan, exact: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
    """The note where something that is computed of these whole numbers, or rows that are kept or put in order by them,
    may rest on a number that was cut.

    Over several rows, and from one stage to the next, no function makes whole numbers of larger than the sum of all of
    them eight times over: those that could have more than 64 bits are real.
    """
    names = {column.name for column in _worked_on(plan) if column.facts.type is Type.INTEGER}
    most = max((_farthest(exact[name]) for name in names if name in exact), default=0)
    rows = max(map(len, exact.values()), default=0)
    adds = bool(plan.stages) or any(map(_over_rows, answer_columns(plan)))
    return (FAR,) if most * (8 * rows if adds else 1) > SATURATION else ()


def _over_rows(expression: Expression) -> bool:
    """Whether it looks at several rows of an answer at once."""
    return isinstance(expression, Windowed | Total) or any(map(_over_rows, arguments_of(expression)))


def _worked_on(plan: Plan) -> set[Column]:
    """The released columns of which more becomes than columns of the answer that show them."""
    read: list[Expression] = []
    over: dict[str, Expression] = {}
    own = Stage(plan.outputs, having=plan.having, order_by=plan.order_by)
    for stage in (own, *plan.stages):
        parts = [stage.where, stage.having, *stage.group_by, *(term.expression for term in stage.order_by)]
        read += [substituted(part, over) for part in parts if part is not None]
        columns = [substituted(output.expression, over) for output in stage.outputs]
        over = {f"c{i}": expression for i, expression in enumerate(columns)}
    whole = any(stage.aggregates for stage in plan.stages)
    read += [expression for expression in over.values() if whole or not isinstance(expression, Column)]
    return {column for expression in read for column in columns_of(expression)}
