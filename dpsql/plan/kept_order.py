"""The order of an answer, which a query around it keeps where it names none, as DuckDB does.

So `SELECT y, n / 2 FROM (.. ORDER BY n DESC) LIMIT 3` is of the largest three. A query that aggregates keeps none.

Tests: tests/unit/plan/test_kept_order.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from dpsql.plan.nodes import Apply, Column, Constant, Expression
from dpsql.plan.partners import WrongAnswer
from dpsql.plan.plans import Plan, Several, Stage, deciding
from dpsql.sql.syntax import Position

__all__ = ["with_order_kept"]


def with_order_kept(
    stage: Stage, answer: Plan | Several, columns: Mapping[Expression, Column], position: Position
) -> Stage:
    """The stage in the order of the rows that it reads; itself where it has its own, or these have none.

    Args:
        stage: What comes after the plan.
        answer: What it reads.
        columns: What the answer shows, as the stage's columns. The order ends where a term is not made of these.
        position: Where the stage is written.

    Raises:
        WrongAnswer: It takes some of the rows alone, by an order that ends so.
    """
    plan = answer.after if isinstance(answer, Several) else answer
    before = plan.stages[-1] if plan.stages else plan
    if stage.aggregates or stage.order_by:
        return stage
    kept = []
    order = deciding(plan.order_by, plan.keys) if before is plan else before.order_by
    for term in order:
        expression = _over(term.expression, columns)
        if expression is None:
            break
        kept.append(replace(term, expression=expression))
    some = stage.offset or (stage.limit is not None and stage.limit < _most_rows(plan, before))
    if len(kept) < len(order) and some and stage.limit != 0:
        raise WrongAnswer(
            "which rows it takes is for the order of the query inside, of which a term is not among its columns.",
            construct="LIMIT", position=position,
            hint="Write ORDER BY beside LIMIT, over columns of the query inside, or name that term among these.",
        )  # fmt: skip
    return replace(stage, order_by=tuple(kept))


def _most_rows(plan: Plan, before: Plan | Stage) -> float:
    """The most rows that may be there; infinite where nobody knows."""
    domains = [key.domain for key in plan.keys]
    listed = math.prod(len(own) for own in domains if own is not None)
    most = math.inf if None in domains or plan.sets is not None or plan.table is not None else listed
    return min(most, math.inf if before.limit is None else before.limit)


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
