"""After the noise: arithmetic, HAVING, ORDER BY and LIMIT over released values, and their intervals.

Runs in a second locked worker that holds no data. Nothing here can cost anything.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

from dpsql.engine.base import EngineStatement
from dpsql.engine.log import OPERATOR
from dpsql.engine.lower import WIRE, lower_cells, lower_released
from dpsql.errors import InvariantBroken, OperationalError, UnsupportedQuery
from dpsql.plan.domains import Cell
from dpsql.plan.expressions import columns_of, range_of, substituted
from dpsql.plan.intervals import Interval, total
from dpsql.plan.nodes import Apply, Column, Constant, Expression, Plan, Stage, Total, Windowed
from dpsql.plan.stages import is_aggregate
from dpsql.plan.types import Type, Value
from dpsql.privacy.tables import Group
from dpsql.worker.client import Worker, WorkerFailed

__all__ = [
    "AnswerRows",
    "Bars",
    "Ends",
    "PostProcess",
    "answer_columns",
    "as_float",
    "level_of_picked",
    "output_intervals",
    "picking",
    "with_interval_ends",
]

Ends = tuple[float | int | None, float | int | None]
_NONE: Ends = (None, None)
DEADLINE = 30.0  # seconds; there is no data behind it, so a slow statement tells nothing
CACHED_CELLS = 500_000  # public cells kept: analysts ask for the same keys again and again
SATURATION = 2**60  # integers beyond are released as this: post-processing adds and subtracts them without overflow
MOST_REHEARSED = 1000  # statements remembered as rehearsed; one takes about a hundred bytes
MADE_UP_ROWS = 4
MADE_UP: Mapping[Type, Sequence[Value]] = {
    Type.INTEGER: (-SATURATION, 0, SATURATION, None),
    Type.REAL: (-1e308, 0.0, 1e308, None),
    Type.BOOLEAN: (False, True, True, None),
    Type.TEXT: ("", "a", "\U0010ffff", None),
    Type.DATE: (date.min, date(2000, 1, 1), date.max, None),
    Type.TIMESTAMP: (datetime.min, datetime(2000, 1, 1), datetime.max, None),
    Type.NULL: (None, None, None, None),
}
"""Released values to rehearse with: the ends of each type, something between, and NULL."""
LARGEST = sys.float_info.max
MADE_UP_ENDS: Sequence[Ends] = ((0.0, 0.0), (-LARGEST, LARGEST), (None, None))
NOT_READY = "The worker for released values is not ready. Nothing was spent."

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


class PostProcess:
    """The worker without data, and what it is asked.

    Args:
        memory: Bytes of address space it may take.
    """

    def __init__(self, memory: int) -> None:
        self._worker = Worker(None, memory, threads=1)
        self._known: dict[str, list[Cell]] = {}
        self._rehearsed: set[str] = set()

    def close(self) -> None:
        """Ends the process."""
        self._worker.close()

    def cells(self, expressions: Sequence[Expression], columns: Sequence[Column], rows: Sequence[Cell]) -> list[Cell]:
        """Expressions over public cells: one tuple of results a cell, in the cells' order."""
        table = {f"c{i}": (WIRE[column.facts.type], [row[i] for row in rows]) for i, column in enumerate(columns)} | {
            "row": ("BIGINT", list(range(len(rows))))
        }
        statement = lower_cells(expressions, columns)
        # As text: 0.0 and -0.0, or 1 and True, are equal but not the same.
        asked = hashlib.sha256(repr((statement, table)).encode()).hexdigest()
        cells = self._known.get(asked)
        if cells is None:
            result = self._ran(statement, table)
            cells = list(zip(*(_listed(result[f"e{i}"]) for i in range(len(expressions))), strict=True))
            if len(cells) + sum(map(len, list(self._known.values()))) > CACHED_CELLS:
                self._known.clear()
            self._known[asked] = cells
        return cells

    def rows(self, plan: Plan, groups: Sequence[Group], released: Mapping[str, Sequence[Any]]) -> AnswerRows:
        """The answer's rows: outputs, HAVING, ORDER BY, LIMIT. Without ORDER BY they come in the order of the keys.

        Args:
            plan: The statement.
            groups: The groups that appear, in the order of the keys; None for a key that a grouping set leaves out.
            released: Per aggregate name, one value per group.
        """
        table: dict[str, tuple[str, Sequence[Any]]] = {
            key.name: (WIRE[type_], _fitting([group[i] for group in groups], type_))
            for i, key in enumerate(plan.keys)
            for type_ in (key.expression.facts.type,)
        }
        for column in _released_columns(plan):
            if column.name in released:
                table[column.name] = (WIRE[column.facts.type], _fitting(released[column.name], column.facts.type))
        table["row"] = ("BIGINT", list(range(len(groups))))
        if (names := _bare(plan)) is not None:
            return AnswerRows(list(zip(*(table[name][1] for name in names), strict=True)), list(range(len(groups))))
        rows = self._worked(plan, table)
        return replace(rows, members=_members(plan, groups, rows.rows))

    def rehearse(self, plan: Plan) -> None:
        """Does what follows the release to made-up values at the ends of their types, intervals too, before the charge.

        So a statement that the worker cannot bind, or whose functions fail, is refused while it is free. It sees the
        plan alone: no data, no stored answer. What was rehearsed once is not rehearsed again.

        Raises:
            OperationalError: The worker does not stand.
            UnsupportedQuery: The worker cannot do it.
        """
        if _bare(plan) is not None:
            return
        types = {key.name: key.expression.facts.type for key in plan.keys}
        types.update((column.name, column.facts.type) for column in _released_columns(plan))
        table = {name: (WIRE[kind], MADE_UP[kind]) for name, kind in types.items()}
        table["row"] = "BIGINT", range(MADE_UP_ROWS)
        names = [aggregate.name for aggregate in plan.aggregates]
        done = plan.outputs, plan.having, plan.order_by, plan.limit, plan.offset, plan.stages
        asked = hashlib.sha256(repr((done, table, names)).encode()).hexdigest()
        if asked in self._rehearsed:
            return
        try:
            rows = self._worked(plan, table)
        except WorkerFailed as failure:
            raise (_impossible() if failure.answered else OperationalError(NOT_READY)) from failure
        except InvariantBroken as otherwise:
            OPERATOR.error("a rehearsal failed: %s", otherwise)
            raise _impossible() from otherwise
        for column, ends in product(answer_columns(plan), MADE_UP_ENDS):
            bars = dict.fromkeys(names, lambda _, ends=ends: [ends] * MADE_UP_ROWS)
            output_intervals(column, bars, rows, 0.95)
        if len(self._rehearsed) >= MOST_REHEARSED:
            self._rehearsed.clear()
        self._rehearsed.add(asked)

    def _ran(
        self, statement: EngineStatement, table: Mapping[str, tuple[str, Sequence[Any]]]
    ) -> dict[str, Sequence[Any]]:
        """What the worker makes of a statement; why it made nothing is in the owner's log."""
        try:
            return self._worker.run(statement, deadline=DEADLINE, table=table)
        except WorkerFailed as failure:
            OPERATOR.error("the worker without data failed: %s\n%s", failure.detail, statement.sql)
            raise

    def _worked(self, plan: Plan, table: Mapping[str, tuple[str, Sequence[Any]]]) -> AnswerRows:
        """The plan's statement over a table of released values, run by the worker."""
        result = self._ran(lower_released(plan), table)
        columns = [_listed(result[f"c{i}"]) for i in range(len(plan.answer))]
        origin = [None if row is None else int(row) for row in result["row"]]
        return AnswerRows(list(zip(*columns, strict=True)) if columns else [], origin)


def _impossible() -> UnsupportedQuery:
    return UnsupportedQuery(
        "what it does with the released values cannot be done.", construct="SELECT",
        hint="Nothing was spent. Ask for the aggregates alone, and work on the answer.",
    )  # fmt: skip


def _bare(plan: Plan) -> list[str] | None:
    """The released columns that are the whole answer, row by row, as in most GROUP BYs; None if there is more to do."""
    if plan.stages or plan.having is not None or plan.order_by or plan.limit is not None or plan.offset:
        return None
    columns = [output.expression for output in plan.outputs]
    names = [c.name for c in columns if isinstance(c, Column) and c.facts.type is not Type.TIMESTAMP]
    return names if len(names) == len(columns) else None  # a timestamp may be written as a date: the worker casts it


def _listed(values: Sequence[Any]) -> list[Any]:
    """Python values: numpy's own become int and float."""
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _fitting(values: Sequence[Any], type_: Type) -> list[Value]:
    """Released values as the worker takes them: integers saturate far outside anything a table can hold."""
    if type_ is Type.INTEGER:
        whole = [None if value is None else int(value) for value in values]
        return [
            v if v is None or -SATURATION <= v <= SATURATION else SATURATION if v > 0 else -SATURATION for v in whole
        ]
    return [None if value is None else float(value) for value in values] if type_ is Type.REAL else list(values)


def _released_columns(plan: Plan) -> list[Column]:
    """Every released column that outputs, HAVING or ORDER BY mention."""
    expressions = [output.expression for output in plan.outputs] + [order.expression for order in plan.order_by]
    if plan.having is not None:
        expressions.append(plan.having)
    return list(dict.fromkeys(column for expression in expressions for column in columns_of(expression)))


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
            columns[index] = [None if pair[side] is None else float(pair[side]) for pair in found]  # type: ignore[arg-type]  # not None
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
            column: _interval(ends[column.name][row]) for column in noised
        }
        bounds = range_of(expression, hard=False, known=box.get)
        result.append((as_float(bounds.low), as_float(bounds.high)))
    return result


def _members(plan: Plan, groups: Sequence[Group], rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, ...]] | None:
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
    boxes: list[dict[Any, Interval]] = [{column: _interval(ends[column][row]) for column in noised} for row in members]
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


def _interval(ends: Ends) -> Interval:
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
