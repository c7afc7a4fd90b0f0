"""Intervals of what looks at several released rows at once: windows, and sub-queries as values.

Sums, means, extremes and values of other rows never fall where one of their arguments grows. So over the lower ends of
all rows they give a lower end, and over the upper ends an upper one, for the truth of the same rows in the same order:
the released ones. With k noised columns and G released rows every end is taken at 1 - (1 - confidence)/(k G), so that
by the union bound all of them hold at once, whatever rows HAVING or LIMIT keep, and what follows from them holds too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpsql.answers.computed.forms import choosing
from dpsql.answers.computed.intervals import MOST_NODES, AnswerRows, Bars, ends_of, known_value, within
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.shown.screen import Ends
from dpsql.errors import EngineFailed
from dpsql.plan.functions import Function
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Column, Expression, Total, Windowed
from dpsql.plan.over_answers.ranged import Ranged, Told
from dpsql.plan.over_answers.roles import columns_read
from dpsql.plan.over_answers.stages import AGGREGATES, RELEASED
from dpsql.plan.plans import Output, Plan
from dpsql.plan.rows.windows import FUNCTIONS
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.conversions import converted
from dpsql.plan.values.expressions import arguments_of, columns_of, substituted
from dpsql.plan.values.ranges import RELEASED as SATURATED
from dpsql.privacy.tables import Group, GroupColumns

__all__ = ["MOST_GROUPS", "RISING", "Over", "several_rows", "several_rows_intervals"]

Over = Windowed | Total
_Box = dict[Expression, Told]
RISING = ("sum", "avg", "min", "max", "lag", "lead", "first_value", "last_value", "nth_value")
"""Functions that never fall where a value of a row grows, all else being equal."""

MOST_GROUPS = 10_000  # Released rows whose ends are worked out one by one. It is a choice: so many take about a second.


def several_rows(expression: Expression) -> tuple[Over, ...]:
    """The windows and sub-queries of an expression, each once."""
    if isinstance(expression, Over):
        return (expression,)
    return tuple(dict.fromkeys(over for part in arguments_of(expression) for over in several_rows(part)))


def several_rows_intervals(
    column: int,
    plan: Plan,
    groups: Sequence[Group],
    values: Mapping[str, Sequence[Any]],
    bars: Mapping[str, Bars],
    rows: AnswerRows,
    after: PostProcess,
    confidence: float,
) -> list[Ends]:
    """One interval a row of a column of the answer that holds a window or a sub-query as a value.

    Args:
        column: Which, from 0.
        plan: The statement.
        groups: The released groups.
        values: Per aggregate name, one released value a group.
        bars: Intervals of the released values, by name.
        rows: The answer's rows.
        after: The worker that does the plan's work once more, over ends of intervals.
        confidence: Between 0 and 1.

    Returns:
        ``(None, None)`` where nothing sound is known: ranks, rows of groups of rows, ends without bounds, and where
        noise decides which rows are read: by the truth they may be others.
    """
    unknown: list[Ends] = [(None, None)] * len(rows.rows)
    over = columns_read(plan, len(plan.stages) - 1)
    written = plan.answer[column].expression
    whole, nodes = substituted(written, over) if over else written, several_rows(written)
    read = [substituted(node, over) for node in nodes]
    noised = [c for c in columns_of(whole) if c.name in bars]
    if not noised:
        return []
    rising = all(node.function.name in RISING and node.arguments for node in nodes)
    if (
        not rising
        or len(groups) > MOST_GROUPS
        or any(stage.aggregates for stage in plan.stages)
        or len(several_rows(whole)) != len(nodes)
        or any(_by_chance(node, bars) for node in read)
    ):
        return unknown
    ranged, of = Ranged(whole), [Ranged(node.arguments[0]) for node in read if isinstance(node, Over)]
    if len(rows.rows) * ranged.size + len(groups) * sum(own.size for own in of) > MOST_NODES:
        return unknown
    level = 1 - (1 - confidence) / (len(noised) * max(len(groups), 1))
    boxes = _boxes({c: bars[c.name](level) for c in noised}, _keys(plan, groups, whole), len(groups))
    ends, asked = dict[str, Sequence[Any]](), list[Over]()
    for index, node in enumerate(nodes):
        found, real = _moderate_ends(of[index], boxes, node.arguments[0]), _real(node)
        if real is None or found is None:
            return unknown
        ends |= {f"low{index}": found[0], f"high{index}": found[1]}
        asked.append(real)
    worked = _worked(_extended(plan, asked), groups, {**values, **ends}, after, len(plan.answer), rows)
    return unknown if worked is None else _together(ranged, read, boxes, rows, worked)


def _by_chance(node: Expression, noised: Collection[str]) -> bool:
    """Whether noise decides which rows it reads."""
    return isinstance(node, Over) and any(own.name in noised for own in choosing(node))


def _moderate_ends(of: Ranged, boxes: Sequence[_Box], argument: Expression) -> tuple[list[float], list[float]] | None:
    """The ends of an argument over all rows; None where one may be NULL, which counts for less than its lower end.

    None, too, where one is unknown, or larger than released numbers are: sums of the others do not overflow.
    """
    lows, highs, most = list[float](), list[float](), SATURATED[Type.REAL]
    for box in boxes:
        own = of.possible(box.get)
        if (own.null and argument.facts.nullable) or not isinstance(own.range, Interval):
            return None
        low, high = own.range.low, own.range.high
        if low is None or high is None or low < -most or high > most:
            return None
        lows.append(float(low))
        highs.append(float(high))
    return lows, highs


def _keys(plan: Plan, groups: Sequence[Group], whole: Expression) -> dict[Column, Sequence[Any]]:
    """What each group has of the keys that an expression reads."""
    held = GroupColumns.of(groups, len(plan.keys)).columns
    values = {key.name: column for key, column in zip(plan.keys, held, strict=True)}
    return {column: values[column.name] for column in columns_of(whole) if column.name in values}


def _boxes(ends: Mapping[Column, Sequence[Ends]], keys: Mapping[Column, Sequence[Any]], count: int) -> list[_Box]:
    """For each released row what its noised columns lie in, and what its keys are."""
    boxes: list[_Box] = [{column: known_value(values[row]) for column, values in keys.items()} for row in range(count)]
    for column, pairs in ends.items():
        for row, box in enumerate(boxes):
            box[column] = within(column, pairs[row])
    return boxes


def _real(node: Over) -> Over | None:
    """The same over real numbers, its first argument to be replaced; None where it takes others."""
    arguments = tuple(converted(a, Type.REAL) if i in (0, 2) else a for i, a in enumerate(node.arguments))
    if any(argument is None for argument in arguments):
        return None
    taken = tuple(argument for argument in arguments if argument is not None)
    types = tuple(argument.facts.type for argument in taken)
    function: Function | None
    if isinstance(node, Windowed):
        function = FUNCTIONS.get((node.function.name, types))
    else:
        function = next((f for f in AGGREGATES[node.function.name] if f.parameters == types), None)
    return None if function is None else replace(node, function=function, arguments=taken, facts=Facts(Type.REAL))


def _extended(plan: Plan, asked: Sequence[Over]) -> Plan:
    """The plan with two more columns for each node: what it gives over lower ends, and over upper ones."""
    names = [f"{side}{index}" for index in range(len(asked)) for side in ("low", "high")]
    carried = tuple(Output(name, Column(RELEASED, name, Facts(Type.REAL))) for name in names)
    held = [output.expression for output in carried]
    stages = []
    outputs = plan.outputs
    for stage in plan.stages:
        at = len(outputs)
        outputs = (*outputs, *carried)
        stages.append(outputs)
        held = [Column(RELEASED, f"c{at + i}", Facts(Type.REAL)) for i in range(len(names))]
        carried = tuple(Output(name, column) for name, column in zip(names, held, strict=True))
        outputs = stage.outputs
    last = tuple(
        Output(name, replace(asked[i // 2], arguments=(held[i], *asked[i // 2].arguments[1:])))
        for i, name in enumerate(names)
    )
    every = [*stages, (*outputs, *last)]
    return replace(
        plan, outputs=every[0],
        stages=tuple(replace(stage, outputs=own) for stage, own in zip(plan.stages, every[1:], strict=True)),
    )  # fmt: skip


def _worked(
    plan: Plan,
    groups: Sequence[Group],
    values: Mapping[str, Sequence[Any]],
    after: PostProcess,
    shown: int,
    rows: AnswerRows,
) -> list[tuple[Any, ...]] | None:
    """The added columns, row by row; None where the worker does not give them for the same rows."""
    try:
        found = after.rows(plan, groups, values)
    except EngineFailed:
        return None
    return [row[shown:] for row in found.rows] if found.origin == rows.origin else None


def _together(
    whole: Ranged,
    nodes: Sequence[Expression],
    boxes: Sequence[_Box],
    rows: AnswerRows,
    found: Sequence[tuple[Any, ...]],
) -> list[Ends]:
    """The range of the whole expression over what its nodes and its own row's columns lie in."""
    result: list[Ends] = []
    for origin, ends in zip(rows.origin, found, strict=True):
        if origin is None or None in ends:
            result.append((None, None))
            continue
        box = dict(boxes[origin])
        for index, node in enumerate(nodes):
            low, high = sorted(ends[2 * index : 2 * index + 2])
            box[node] = Interval(Fraction(low), Fraction(high))
        bounds = whole.over(box.get)
        result.append(ends_of(bounds))
    return result
