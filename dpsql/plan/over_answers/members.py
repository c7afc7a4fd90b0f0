"""Which released rows each row of an aggregated answer is made of: the worker says it, in columns beside the answer.

It is known where no noise decides it: where what rows are chosen by (WHERE, HAVING, ORDER BY with LIMIT, up to the
aggregates) and what they are grouped by follows from the keys of the released groups. So it is with the condition of an
aggregate of its own, FILTER or CASE without ELSE.

Tests: tests/unit/answers/test_members.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpsql.plan.functions import Function
from dpsql.plan.functions.table import Nulls
from dpsql.plan.known.there import filtered
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.over_answers.grouping import GROUPING_SET
from dpsql.plan.over_answers.roles import columns_read
from dpsql.plan.over_answers.stages import RELEASED, aggregates_in
from dpsql.plan.plans import Output, Plan, Stage
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import columns_of, substituted

__all__ = [
    "MEMBERS",
    "ROW",
    "Members",
    "WithMembers",
    "chooses_by_noise",
    "noise_decides",
    "numbers",
    "picking",
    "with_members",
]

ROW = Column(RELEASED, "row", Facts(Type.INTEGER, nullable=False))
MEMBERS = Function(
    "members", (Type.INTEGER,), Type.TEXT, "STRING_AGG(text_from_integer({0}), ',') {over}", nulls=Nulls.OPEN
)


def numbers(told: Any) -> tuple[int, ...]:
    """The numbers of rows that the worker told.

    >>> numbers("3,1"), numbers(2), numbers(None)
    ((3, 1), (2,), ())
    """
    return () if told is None else (told,) if isinstance(told, int) else tuple(map(int, told.split(",")))


@dataclass(frozen=True, slots=True)
class Members:
    """The numbers of the released rows that one row of an answer is made of.

    Attributes:
        rows: All of them.
        met: Those that meet a condition of an aggregate, by it; only of conditions on keys.
    """

    rows: Sequence[int]
    met: Mapping[Expression, Sequence[int]] = field(default_factory=dict)

    def counted(self, aggregate: Apply) -> tuple[Expression | None, Sequence[int]]:
        """What an aggregate is of, and of which rows: where keys alone decide that, the value behind the condition."""
        if not aggregate.arguments:
            return None, self.rows
        argument = aggregate.arguments[0]
        condition, value = filtered(argument)
        if condition is None or condition not in self.met:
            return argument, self.rows
        return value, self.met[condition]


@dataclass(frozen=True, slots=True)
class WithMembers:
    """A plan with columns behind its own that say what each row is made of.

    Attributes:
        plan: It.
        alone: The same up to the aggregates, with these columns only.
        conditions: Of aggregates, over keys; one column each, behind that of all rows.
    """

    plan: Plan
    alone: Plan
    conditions: tuple[Expression, ...]

    def told(self, rows: Sequence[tuple[Any, ...]]) -> list[Members]:
        """What these columns say, row by row."""
        places = range(-1 - len(self.conditions), 0)
        each = ([numbers(row[place]) for place in places] for row in rows)
        return [Members(every, dict(zip(self.conditions, own, strict=True))) for every, *own in each]


def with_members(plan: Plan) -> WithMembers | None:
    """The plan that also tells the members of its rows; None where it aggregates no answer, or noise decides them."""
    at = next((place for place, stage in enumerate(plan.stages) if stage.aggregates), None)
    if at is None or any(stage.aggregates for stage in plan.stages[at + 1 :]):
        return None
    if _by_noise(plan, at):
        return None
    stage, over, keys = plan.stages[at], columns_read(plan, at), _keys(plan)

    def public(expression: Expression) -> bool:
        return keys.issuperset(own.name for own in columns_of(substituted(expression, over)))

    every = {id(own): own for output in stage.outputs for own in aggregates_in(output.expression)}.values()
    conditions = (filtered(node.arguments[0])[0] for node in every if node.arguments)
    written = dict.fromkeys(own for own in conditions if own is not None and public(own))
    found = [_members(ROW), *(_members(Case(((own, ROW),), Constant(None, ROW.facts), ROW.facts)) for own in written)]
    members = [Output(f"members{i}", own) for i, own in enumerate(found)]
    alone = Stage(tuple(members), stage.where, stage.group_by, aggregates=True)
    stages, carried = list[Stage](), members
    for later in plan.stages[at:]:
        stages.append(replace(later, outputs=(*later.outputs, *carried)))
        carried = [
            Output(own.name, Column(RELEASED, f"c{len(later.outputs) + i}", own.expression.facts))
            for i, own in enumerate(carried)
        ]
    met, before = tuple(substituted(own, over) for own in written), plan.stages[:at]
    return WithMembers(replace(plan, stages=(*before, *stages)), replace(plan, stages=(*before, alone)), met)


def noise_decides(plan: Plan) -> bool:
    """Whether rows of an answer are aggregated, and noise decides which, or which of them are one group."""
    return any(_by_noise(plan, at) for at, stage in enumerate(plan.stages) if stage.aggregates)


def chooses_by_noise(plan: Plan) -> bool:
    """Whether HAVING, WHERE over the answer, or LIMIT by a noised number decides which rows there are."""
    return not picking(plan) <= _keys(plan)


def _by_noise(plan: Plan, at: int) -> bool:
    """The same of one stage."""
    stage, over = plan.stages[at], columns_read(plan, at)
    picked = picking(replace(plan, stages=(*plan.stages[:at], Stage((), stage.where))))
    read = {own.name for key in stage.group_by for own in columns_of(substituted(key, over))}
    return not picked | read <= _keys(plan)


def _keys(plan: Plan) -> frozenset[str]:
    """The released columns that hold no noise."""
    return frozenset({GROUPING_SET.name, *(key.name for key in plan.keys)})


def _members(row: Expression) -> Expression:
    return Apply(MEMBERS, (row,), Facts(Type.TEXT))


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
