"""The order of an answer, which a query around it keeps where it names none, as DuckDB does.

So `SELECT y, n / 2 FROM (.. ORDER BY n DESC) LIMIT 3` is of the largest three. A query that aggregates keeps none.

Tests: tests/unit/plan/test_kept_order.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpsql.plan.nodes import Apply, Column, Constant, Expression
from dpsql.plan.plans import Plan, Stage

__all__ = ["with_order_kept"]


def with_order_kept(stage: Stage, plan: Plan, columns: Mapping[Expression, Column]) -> Stage:
    """The stage in the order of the rows that it reads; itself where it has its own, or these have none.

    Args:
        stage: What comes after the plan.
        plan: Whose answer it reads.
        columns: What the answer shows, as the stage's columns. The order ends where a term is not made of these.
    """
    before = plan.stages[-1] if plan.stages else plan
    if stage.aggregates or stage.order_by:
        return stage
    kept = []
    for term in before.order_by:
        expression = _over(term.expression, columns)
        if expression is None:
            break
        kept.append(replace(term, expression=expression))
    return replace(stage, order_by=tuple(kept))


def _over(expression: Expression, columns: Mapping[Expression, Column]) -> Expression | None:
    """An expression over the columns of an answer; None where it reads what they do not show."""
    if expression in columns:
        return columns[expression]
    if isinstance(expression, Constant):
        return expression
    if not isinstance(expression, Apply):
        return None
    arguments = [_over(argument, columns) for argument in expression.arguments]
    known = tuple(argument for argument in arguments if argument is not None)
    return replace(expression, arguments=known) if len(known) == len(arguments) else None
