"""Keys and aggregates of a statement in one order, however they are written: none of their orders means anything.

    SELECT city, sex, SUM(x), COUNT(*) FROM t GROUP BY city, sex
    SELECT sex, COUNT(*), city, SUM(x) FROM t GROUP BY sex, city

Both are one release: what is asked, measured and paid for is the same, and the columns of the answer read it by name.
So whoever moves a column reads what was paid for. Rows without ORDER BY still come in the order of the keys as they are
written (`Plan.rows_by`). Keys of GROUPING SETS stay as they are.

The order is that of what an expression holds. Two that it does not tell apart stay as they are written: then another
order is another release, and no more.

Tests: tests/unit/plan/test_one_order.py, tests/sql/test_released_once.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.nodes import Aggregate, Apply, Column, Constant, Expression
from dpsql.plan.over_answers.stages import RELEASED
from dpsql.plan.plans import Plan
from dpsql.plan.values.expressions import arguments_of, columns_of, substituted

__all__ = ["in_one_order"]

RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(FUNCTIONS)}
"""Of each aggregate, as `FUNCTIONS` has them: counts first."""


def in_one_order(plan: Plan) -> Plan:
    """The plan of one SELECT with its keys and aggregates in their one order, named anew by it."""
    if len(plan.keys) < 2 and len(plan.aggregates) < 2:
        return plan
    aggregates = sorted(range(len(plan.aggregates)), key=lambda place: _of_aggregate(plan.aggregates[place]))
    keys = list(range(len(plan.keys)))
    if plan.sets is None:
        keys.sort(key=lambda place: _told(plan.keys[place].expression))
    if aggregates == sorted(aggregates) and keys == sorted(keys):
        return plan
    named = {plan.aggregates[old].name: f"a{new}" for new, old in enumerate(aggregates)}
    named |= {plan.keys[old].name: f"k{new}" for new, old in enumerate(keys)}

    def read(expression: Expression) -> Expression:
        columns = (column for column in columns_of(expression) if column.alias == RELEASED)
        return substituted(expression, {own.name: replace(own, name=named.get(own.name, own.name)) for own in columns})

    return replace(
        plan,
        keys=tuple(replace(plan.keys[old], name=f"k{new}") for new, old in enumerate(keys)),
        aggregates=tuple(replace(plan.aggregates[old], name=f"a{new}") for new, old in enumerate(aggregates)),
        outputs=tuple(replace(output, expression=read(output.expression)) for output in plan.outputs),
        having=None if plan.having is None else read(plan.having),
        order_by=tuple(replace(term, expression=read(term.expression)) for term in plan.order_by),
        rows_by=_back(keys),
        told_by=_back(aggregates),
    )


def _back(order: list[int]) -> tuple[int, ...]:
    """Where each stands that was written first, second, ...; empty where that is the order."""
    return () if order == sorted(order) else tuple(sorted(range(len(order)), key=order.__getitem__))


def _of_aggregate(own: Aggregate) -> tuple[int, str]:
    values = [None if value is None else _told(value) for value in (own.argument, own.second, *own.vector)]
    return RANKS[own.function], repr((values, own.fraction, own.bounds, own.per_group, own.since, own.epsilon))


def _told(expression: Expression) -> str:
    """What an expression over rows holds, as text."""
    if isinstance(expression, Column):
        return f"{expression.alias}.{expression.name}"
    if isinstance(expression, Constant):
        return f"{expression.facts.type.name} {expression.value!r}"
    name = expression.function.name if isinstance(expression, Apply) else type(expression).__name__
    return f"{name}({', '.join(map(_told, arguments_of(expression)))})"
