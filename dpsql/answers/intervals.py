"""Intervals of what is computed from released values, and which released values decide what is kept.

Tests: tests/unit/answers/test_postprocess.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from dpsql.answers.screen import Ends
from dpsql.plan.expressions import columns_of, range_of, substituted
from dpsql.plan.intervals import Interval, total
from dpsql.plan.nodes import Apply, Column, Constant, Expression, Total, Windowed
from dpsql.plan.plans import Plan, Stage
from dpsql.plan.stages import is_aggregate
from dpsql.plan.types import Type
from dpsql.privacy.tables import Group

__all__ = [
    "AnswerRows",
    "Bars",
    "answer_columns",
    "as_float",
    "as_interval",
    "level_of_picked",
    "output_intervals",
    "picking",
    "with_interval_ends",
]

_NONE: Ends = (None, None)

Bars = Callable[[float], Sequence[Ends]]
"""Confidence to one interval per released row."""


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """The answer's rows, and which released row each came from; None for a group of several.

    Where it is known which released rows such a group is made of, `members` has their numbers, for each of the rows.
    """

    rows: list[tuple[Any, ...]]
    origin: list[int | None]
    members: list[tuple[int, ...]] | None = None


def answer_columns(plan: Plan) -> list[Expression]:
    """Each column of the answer as an expression over released aggregates, through all stages."""
    over: dict[str, Expression] = {}
    for stage in (plan.outputs, *(stage.outputs for stage in plan.stages)):
        columns = [substituted(output.expression, over) for output in stage]
        over = {f"c{i}": expression for i, expression in enumerate(columns)}
    return list(over.values())


def with_interval_ends(plan: Plan, rows: AnswerRows, intervals: Callable[[int], list[Ends]]) -> list[tuple[Any, ...]]:
    """The answer's rows, with DP_INTERVAL_LOW and DP_INTERVAL_HIGH filled in."""
    ends = {i: output.end for i, output in enumerate(plan.answer) if output.end is not None}
    if not ends:
        return rows.rows
    columns, names = [list(column) for column in zip(*rows.rows, strict=True)], [output.name for output in plan.answer]
    for index, (name, side) in ends.items():
        found = next((held for i, other in enumerate(names) if other == name and (held := intervals(i))), [])
        if columns and found:
            columns[index] = [None if pair[side] is None else float(pair[side]) for pair in found]
    return list(zip(*columns, strict=True))


def output_intervals(
    expression: Expression, bars: Mapping[str, Bars], rows: AnswerRows, confidence: float
) -> list[Ends]:
    """Intervals of one output column around its noise-free answer; empty where it holds no noise.

    A bare aggregate has its mechanism's own interval. Anything computed from aggregates has the range of the
    computation over the box of their intervals, each at 1 - (1 - confidence)/k for k aggregates: by the union bound
    it covers at least as often as asked.
    """
    noised = [column for column in columns_of(expression) if column.name in bars]
    if not noised:
        return []
    level = 1 - (1 - confidence) / len(noised)
    ends = {column.name: bars[column.name](level) for column in noised}
    if isinstance(expression, Column):
        of = ends[expression.name]
        return [_NONE if row is None else _shown(*of[row], expression.facts.type) for row in rows.origin]
    if not expression.facts.type.numeric:
        return []
    if rows.members is not None:
        return [_of_group(expression, group, bars, confidence) for group in rows.members]
    result: list[Ends] = []
    for row in rows.origin:
        if row is None:
            result.append(_NONE)
            continue
        box: dict[Column | Windowed | Total, Interval] = {
            column: as_interval(ends[column.name][row]) for column in noised
        }
        bounds = range_of(expression, hard=False, known=box.get)
        result.append((as_float(bounds.low), as_float(bounds.high)))
    return result


def members_of(plan: Plan, groups: Sequence[Group], rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, ...]] | None:
    """Which released rows each row of an aggregated answer is made of; None where released values decide about that.

    They do not where every released row goes into a group of keys, and the answer shows these keys.
    """
    if len(plan.stages) != 1 or not plan.stages[0].aggregates or plan.stages[0].where is not None:
        return None
    stage, keys = plan.stages[0], [key.name for key in plan.keys]
    if plan.having is not None or plan.limit is not None or plan.offset:
        return None
    inner = {f"c{i}": output.expression for i, output in enumerate(plan.outputs)}
    shown = [output.expression for output in stage.outputs]
    places: list[tuple[int, int]] = []  # of a key in the answer's row, and in the released group
    for term in stage.group_by:
        key = inner.get(term.name) if isinstance(term, Column) else None
        if not isinstance(key, Column) or key.name not in keys or term not in shown:
            return None
        places.append((shown.index(term), keys.index(key.name)))
    found: dict[Group, list[int]] = {}
    for number, group in enumerate(groups):
        found.setdefault(tuple(group[place] for _, place in places), []).append(number)
    return [tuple(found.get(tuple(row[place] for place, _ in places), ())) for row in rows]


def _of_group(expression: Expression, members: Sequence[int], bars: Mapping[str, Bars], confidence: float) -> Ends:
    """The interval of what is computed from aggregates over some released rows.

    Every noised value that goes in has its own interval at 1 - (1 - confidence)/k for the k of them, so that all hold
    their truths at once with the confidence asked for (union bound); what is computed is monotone, or hulled, in each.
    """
    noised = [column for column in columns_of(expression) if column.name in bars]
    level = 1 - (1 - confidence) / max(1, len(noised) * len(members))
    ends = {column: bars[column.name](level) for column in noised}
    boxes: list[dict[Any, Interval]] = [
        {column: as_interval(ends[column][row]) for column in noised} for row in members
    ]
    bounds = _range_of_group(expression, boxes) if members else None
    return _NONE if bounds is None else (as_float(bounds.low), as_float(bounds.high))


def _range_of_group(expression: Expression, boxes: Sequence[Mapping[Any, Interval]]) -> Interval | None:
    """The range of an aggregate over rows whose columns lie in these boxes, or of arithmetic on such; None: unknown."""
    if not isinstance(expression, Apply):
        return range_of(expression, hard=False) if isinstance(expression, Constant) else None
    if not is_aggregate(expression):
        parts = [_range_of_group(argument, boxes) for argument in expression.arguments]
        if any(part is None for part in parts):
            return None
        columns = [Column("group", f"g{i}", part.facts) for i, part in enumerate(expression.arguments)]
        known: dict[Any, Interval | None] = dict(zip(columns, parts, strict=True))
        found = range_of(replace(expression, arguments=tuple(columns)), hard=False, known=known.get)
        return found if isinstance(found, Interval) else None
    rows = Interval.point(len(boxes))
    if not expression.arguments:
        return rows
    (argument,) = expression.arguments
    if argument.facts.nullable or not argument.facts.type.numeric:
        return None  # how many rows count is not known, or there is no number
    ranges: list[Interval] = [range_of(argument, hard=False, known=box.get) for box in boxes]
    match expression.function.name:
        case "count" if "DISTINCT" not in expression.function.sql:
            return rows
        case "sum":
            return reduce(total, ranges)
        case "avg":
            return reduce(total, ranges) / rows
        case "min":
            return reduce(Interval.least, ranges)
        case "max":
            return reduce(Interval.greatest, ranges)
    return None


def picking(plan: Plan) -> frozenset[str]:
    """The released columns by whose values HAVING, WHERE over the answer, or ORDER BY with LIMIT keep some rows."""
    read: list[Expression] = []
    over: dict[str, Expression] = {}
    own = Stage(plan.outputs, having=plan.having, order_by=plan.order_by, limit=plan.limit, offset=plan.offset)
    for stage in (own, *plan.stages):
        deciding = [x for x in (stage.where, stage.having) if x is not None]
        if stage.limit is not None or stage.offset:
            deciding += [order.expression for order in stage.order_by]
        read += [substituted(expression, over) if over else expression for expression in deciding]
        columns = [substituted(o.expression, over) if over else o.expression for o in stage.outputs]
        over = {f"c{i}": expression for i, expression in enumerate(columns)}
    return frozenset(column.name for expression in read for column in columns_of(expression))


def level_of_picked(confidence: float, kept: int, of: int) -> float:
    """The level at which intervals of rows are taken that were kept for their own noised values, ``kept`` of ``of``.

    The largest of many noised values are those whose noise was upward, so that their own intervals miss more often than
    they say. Taken at 1 - (1 - confidence) kept / of, they miss on average over the kept rows as often as was asked for
    or less, for independent noises and any rule that keeps a fixed number of rows, or each by its own value.

    Source: Benjamini, Yekutieli 2005, "False discovery rate-adjusted multiple confidence intervals", Theorem 1.

    >>> round(level_of_picked(0.95, kept=10, of=1000), 6)
    0.9995
    """
    return 1 - (1 - confidence) * max(kept, 1) / max(of, kept, 1)


def as_interval(ends: Ends) -> Interval:
    """The same, exactly."""
    low, high = ends
    return Interval(None if low is None else Fraction(low), None if high is None else Fraction(high))


def _shown(low: float | int | None, high: float | int | None, type_: Type) -> Ends:
    if type_ is Type.INTEGER and low is not None and high is not None:
        return math.ceil(low), math.floor(high)
    return low, high


def as_float(end: Fraction | None) -> float | None:
    """The end as a double; none where it is beyond them all."""
    try:
        return None if end is None else float(end)
    except OverflowError:
        return None
