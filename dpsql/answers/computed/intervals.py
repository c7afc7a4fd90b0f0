"""Intervals of what is computed from released values.

Tests: tests/unit/answers/computed/test_postprocess.py, test_intervals.py and test_computed_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from functools import reduce
from typing import Any

from dpsql.answers.shown.screen import Ends
from dpsql.plan.intervals import EVERYTHING, Interval, total
from dpsql.plan.measured.dated import days_within
from dpsql.plan.nodes import Apply, Column, Expression
from dpsql.plan.over_answers.members import Members
from dpsql.plan.over_answers.ranged import Ranged, Told
from dpsql.plan.over_answers.stages import aggregates_in
from dpsql.plan.over_answers.written_out import written_size
from dpsql.plan.plans import Plan
from dpsql.plan.types import Type
from dpsql.plan.values.expressions import columns_of
from dpsql.plan.values.possible import NULL, Possible

__all__ = [
    "MOST_NODES",
    "AnswerRows",
    "Bars",
    "as_interval",
    "ends_of",
    "known_value",
    "level_of_picked",
    "output_intervals",
    "with_interval_ends",
    "within",
]

_NONE: Ends = (None, None)
MOST_NODES = 2_000_000
"""Ranges of one node over one row each, for one column; where it would take more, nothing is said. It is a choice: so
many take about half a minute."""

Bars = Callable[[float], Sequence[Ends]]
"""Confidence to one interval per released row."""


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """The answer's rows, and which released row each came from; None for a group of several.

    Where it is known which released rows such a group is made of, `members` has them, for each of the rows.
    `grouped` has what all released rows are grouped by, by the name of the key. `told` is what to know of its numbers.
    """

    rows: list[tuple[Any, ...]]
    origin: Sequence[int | None]
    members: Sequence[Members] | None = None
    grouped: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    told: tuple[str, ...] = ()


def with_interval_ends(plan: Plan, rows: AnswerRows, intervals: Callable[[int], list[Ends]]) -> list[tuple[Any, ...]]:
    """The answer's rows, with DP_INTERVAL_LOW and DP_INTERVAL_HIGH filled in."""
    ends = {i: output.end for i, output in enumerate(plan.answer) if output.end is not None}
    if not ends:
        return rows.rows
    columns, names = [list(column) for column in zip(*rows.rows, strict=True)], [output.name for output in plan.answer]
    for index, (name, side) in ends.items():
        found = next((held for i, other in enumerate(names) if other == name and (held := intervals(i))), [])
        if columns and found:
            as_end = float if plan.answer[index].type is Type.REAL else (lambda end: end)
            columns[index] = [None if pair[side] is None else as_end(pair[side]) for pair in found]
    return list(zip(*columns, strict=True))


def output_intervals(
    expression: Expression, bars: Mapping[str, Bars], rows: AnswerRows, confidence: float
) -> list[Ends]:
    """Intervals of one output column around its noise-free answer; empty where it holds no noise.

    A bare aggregate has its mechanism's own interval. Anything computed from aggregates has the range of the
    computation over the box of their intervals, each at 1 - (1 - confidence)/k for k aggregates: by the union bound
    it covers at least as often as asked. What a row is grouped by is known.
    """
    noised = [column for column in columns_of(expression) if column.name in bars]
    if not noised:
        return []
    dated = days_within(expression)
    if dated is not None:
        since, days = dated
        return [_dates(since, own) for own in output_intervals(days, bars, rows, confidence)]
    if rows.members is not None and expression.facts.type.numeric and not isinstance(expression, Column):
        return _of_groups(expression, rows.members, rows.grouped, bars, confidence)
    level = 1 - (1 - confidence) / len(noised)
    ends = {column.name: bars[column.name](level) for column in noised}
    if isinstance(expression, Column):
        of = ends[expression.name]
        return [_NONE if row is None else _shown(*of[row], expression.facts.type) for row in rows.origin]
    if not expression.facts.type.numeric:
        return []
    ranged = Ranged(expression)
    keyed = [own for own in columns_of(expression) if own.name in rows.grouped]
    columns = [*(ends[column.name] for column in noised), *(rows.grouped[column.name] for column in keyed)]
    boxes = [None if row is None else tuple(column[row] for column in columns) for row in rows.origin]
    different = {box for box in boxes if box is not None}  # of counts there are few, however many rows
    if len(different) * ranged.size > MOST_NODES:
        return [_NONE] * len(boxes)
    known: dict[tuple[Any, ...] | None, Ends] = {box: _over(ranged, noised, keyed, box) for box in different}
    return [known.get(box, _NONE) for box in boxes]


def _dates(since: date, ends: Ends) -> Ends:
    """The first and the last date that are so many days behind one; None for those beyond the calendar."""
    low, high = _shown(*ends, Type.INTEGER)
    return _date(since, low), _date(since, high)


def _date(since: date, days: int | None) -> date | None:
    try:
        return None if days is None else since + timedelta(days=days)
    except OverflowError:
        return None


def within(column: Column, ends: Ends) -> Told:
    """What an interval of a released column says of it: whole numbers lie between whole ones."""
    if not column.facts.type.numeric:
        return Possible(ends, null=False) if column.facts.type is Type.DATE and ends != _NONE else None
    found, whole = as_interval(ends), as_interval(_shown(*ends, column.facts.type))
    return found if whole.finite and whole.low > whole.high else whole  # type: ignore[operator]  # finite


def known_value(value: Any) -> Told:
    """What a value is that a row is grouped by; None where that is no finite number, no text and not NULL."""
    if value is None or isinstance(value, str):
        return NULL if value is None else value
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return Interval.point(Fraction(value)) if number else None


def _over(ranged: Ranged, noised: Sequence[Column], keyed: Sequence[Column], box: Sequence[Any]) -> Ends:
    """The range of an expression where its noised columns lie in these intervals, and its keys are these values."""
    known: dict[Any, Told] = dict(zip(noised, map(within, noised, box), strict=False))
    known |= zip(keyed, map(known_value, box[len(noised) :]), strict=True)
    return ends_of(ranged.over(known.get))


def ends_of(bounds: Interval) -> Ends:
    """The same as doubles."""
    return _as_float(bounds.low), _as_float(bounds.high)


def _of_groups(
    expression: Expression,
    groups: Sequence[Members],
    grouped: Mapping[str, Sequence[Any]],
    bars: Mapping[str, Bars],
    confidence: float,
) -> list[Ends]:
    """The intervals of what is computed from aggregates over some released rows, one a group of them.

    Every noised value that goes in has its own interval at 1 - (1 - confidence)/k for the k of them, so that all hold
    their truths at once with the confidence asked for (union bound); what is computed is monotone, or hulled, in each.
    Which rows a condition on keys leaves out is known.

    Args:
        expression: Over released aggregates and keys.
        groups: The released rows of each.
        grouped: What all released rows are grouped by, by the name of the key.
        bars: Intervals of released values, by name; those of one level, which are of all rows, are asked for once.
        confidence: Between 0 and 1.
    """
    noised = [column for column in columns_of(expression) if column.name in bars]
    aggregates = list({id(own): own for own in aggregates_in(expression)}.values())
    most = MOST_NODES - len(groups) * written_size(expression, MOST_NODES)[0]
    if len(aggregates) * sum(len(own.rows) for own in groups) > most:
        return [_NONE] * len(groups)
    counted = [[members.counted(own) for own in aggregates] for members in groups]
    ranged = {id(of): Ranged(of) for of in {id(of): of for own in counted for of, _ in own if of is not None}.values()}
    if sum(len(rows) * ranged[id(of)].size for own in counted for of, rows in own if of is not None) > most:
        return [_NONE] * len(groups)
    whole = Ranged(expression)
    if len(groups) * whole.size > most:
        return [_NONE] * len(groups)
    keyed = [own for own in columns_of(expression) if own.name in grouped]
    alike: dict[int, list[int]] = {}  # groups by how many rows are read: at one level each
    read = [sorted({row for _, rows in own for row in rows}) for own in counted]
    for place, rows in enumerate(read):
        alike.setdefault(len(rows), []).append(place)
    result: list[Ends] = [_NONE] * len(groups)
    for count, places in alike.items():
        level = 1 - (1 - confidence) / max(1, len(noised) * count)
        ends = {column: bars[column.name](level) for column in noised}
        for place in places:
            boxes: dict[int, dict[Any, Told]] = {}
            for row in read[place]:
                boxes[row] = {column: known_value(grouped[column.name][row]) for column in keyed}
                boxes[row] |= {column: within(column, ends[column][row]) for column in noised}
            if groups[place].rows:
                result[place] = ends_of(whole.over(_Group(groups[place], grouped, boxes, ranged).known))
    return result


@dataclass(frozen=True, slots=True)
class _Group:
    """Some released rows, of which something is computed.

    Attributes:
        members: They.
        grouped: What all are grouped by, by the name of the key.
        boxes: What the noised columns of each lie in, and what its keys are.
        ranged: What is aggregated, by identity.
    """

    members: Members
    grouped: Mapping[str, Sequence[Any]]
    boxes: Mapping[int, Mapping[Any, Told]]
    ranged: Mapping[int, Ranged]

    def known(self, node: Expression) -> Told:
        """Where an aggregate over the rows lies, or what they are grouped by; None: unknown."""
        if isinstance(node, Apply):
            return self._aggregated(node)
        if not isinstance(node, Column):
            return None
        column = self.grouped.get(node.name)
        values = set() if column is None else {column[row] for row in self.members.rows}
        return known_value(values.pop()) if len(values) == 1 else None

    def _aggregated(self, expression: Apply) -> Interval | None:
        argument, counted = self.members.counted(expression)
        rows = Interval.point(len(counted))
        if argument is None:
            return rows
        if not argument.facts.type.numeric:
            return None
        each = [self.ranged[id(argument)].possible(self.boxes[row].get) for row in counted]
        if argument.facts.nullable and any(own.null for own in each):
            return None  # how many rows count is not known
        ranges = [EVERYTHING if own.range is None else own.range for own in each]
        match expression.function.name:
            case "count" if "DISTINCT" not in expression.function.sql:
                return rows
            case _ if not ranges:
                return None  # of no rows it is NULL
            case "sum":
                return reduce(total, ranges)
            case "avg":
                return reduce(total, ranges) / rows
            case "min":
                return reduce(Interval.least, ranges)
            case "max":
                return reduce(Interval.greatest, ranges)
        return None


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


def _as_float(end: Fraction | None) -> float | None:
    """The end as a double; none where it is beyond them all."""
    try:
        return None if end is None else float(end)
    except OverflowError:
        return None
