"""Queries over answers, written out: what a column is over released values, through all queries between.

Each query over an answer names the columns of the one before, and each name may stand twice: a chain of them can say
more than anything can walk through, though every query of it is short.

Tests: tests/unit/plan/over_answers/test_written_out.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.plan.nodes import Expression
from dpsql.plan.plans import AnyPlan, PublicPlan, Several, Stage
from dpsql.plan.values.applied import Position, refuse_large
from dpsql.plan.values.expressions import arguments_of, substituted

__all__ = ["refuse_blown_up", "written_size"]


def refuse_blown_up(plan: AnyPlan, position: Position) -> None:
    """Refuses queries over answers whose expressions are too large or too deep for the passes that follow the release.

    Args:
        plan: What is asked.
        position: Where the statement begins, for the message.

    Raises:
        UnsupportedQuery: One is; nothing was asked of any engine.
    """
    if isinstance(plan, PublicPlan):
        return  # one query, whose names are written out and bounded where they are read
    for part in plan.parts if isinstance(plan, Several) else plan.awaits:
        refuse_blown_up(part, position)
    own = plan.after if isinstance(plan, Several) else plan
    if not own.stages:
        return
    over: dict[str, Expression] = {}
    last = Stage(own.outputs, having=own.having, order_by=own.order_by)
    for stage in (last, *own.stages):
        below = over
        over = {}
        for name, expression in _named(stage):
            whole = substituted(expression, below)  # walks what this query says alone, for what is below is shared
            refuse_large(whole, name, position, written_size)
            if len(over) < len(stage.outputs):  # these come first
                over[f"c{len(over)}"] = whole


def written_size(expression: Expression, most: int) -> tuple[int, int]:
    """(nodes, nesting), what stands in two places counted twice; counting stops after ``most`` nodes."""
    nodes, deepest = 0, 0
    waiting = [(expression, 1)]
    while waiting and nodes <= most:
        node, depth = waiting.pop()
        nodes += 1
        deepest = max(deepest, depth)
        waiting.extend((part, depth + 1) for part in arguments_of(node))
    return nodes, deepest


def _named(stage: Stage) -> Iterator[tuple[str, Expression]]:
    """Every expression of a query with what a message calls it, its columns first."""
    yield from ((output.name, output.expression) for output in stage.outputs)
    yield from (("GROUP BY", expression) for expression in stage.group_by)
    yield from ((name, own) for name, own in (("WHERE", stage.where), ("HAVING", stage.having)) if own is not None)
    yield from (("ORDER BY", term.expression) for term in stage.order_by)
