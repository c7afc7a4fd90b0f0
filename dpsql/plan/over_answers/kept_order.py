"""The order of an answer, which a query around it keeps where it names none, as DuckDB does.

So `SELECT y, n / 2 FROM (.. ORDER BY n DESC) LIMIT 3` is of the largest three, and ``ROW_NUMBER() OVER ()`` counts in
that order. A query that aggregates keeps none.

Tests: tests/unit/plan/over_answers/test_kept_order.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Order, Windowed
from dpsql.plan.over_answers.stages import released_columns
from dpsql.plan.plans import Plan, Several, Stage, deciding
from dpsql.plan.rows.windows import SHOWING
from dpsql.plan.values.partners import WrongAnswer
from dpsql.sql.syntax import Frame, Position

__all__ = ["with_order_kept"]


def with_order_kept(stage: Stage, plan: Plan | Several, position: Position) -> Stage:
    """The stage in the order of the rows that it reads; as it is where it has its own, or these have none.

    Args:
        stage: What comes after the plan.
        plan: Whose answer it reads. The order ends where a term is not made of what that shows.
        position: Of the query.

    Raises:
        WrongAnswer: The order ends so, and decides which rows there are, or what a window reads.
    """
    if stage.aggregates:
        return stage
    own = plan.after if isinstance(plan, Several) else plan
    order, whole = _kept(own, released_columns(plan))
    windows = _Windows(order)
    outputs = tuple(replace(output, expression=windows.ordered(output.expression)) for output in stage.outputs)
    terms = tuple(replace(term, expression=windows.ordered(term.expression)) for term in stage.order_by)
    some = bool(stage.offset) or (stage.limit is not None and stage.limit < _most_rows(own))
    cut = some and not terms and stage.limit != 0
    if not whole and (cut or windows.without):
        raise WrongAnswer(
            "it goes by the order of the sub-query, which does not show what it orders by.",
            construct="LIMIT" if cut else f"{windows.without[0].upper()} .. OVER ()", position=position,
            hint="Select that there, too, or write ORDER BY here.",
        )  # fmt: skip
    return replace(stage, outputs=outputs, order_by=terms or order)


def _kept(plan: Plan, columns: Mapping[Expression, Column]) -> tuple[tuple[Order, ...], bool]:
    """The order of a plan's rows as far as they show it, and whether that is all of it."""
    kept = list[Order]()
    for term in plan.stages[-1].order_by if plan.stages else deciding(plan.order_by, plan.keys):
        expression = _over(term.expression, columns)
        if expression is None:
            return tuple(kept), False
        kept.append(replace(term, expression=expression))
    return tuple(kept), bool(kept) or not _lost(plan)


def _lost(plan: Plan) -> bool:
    """Whether rows without an order had one below, which ended there."""
    for own in reversed(plan.stages):
        if own.order_by or own.aggregates:
            return bool(own.order_by)
    return bool(plan.order_by)


def _most_rows(plan: Plan) -> float:
    """The most rows that an answer may have; infinite where nobody knows."""
    domains = [key.domain for key in plan.keys]
    listed = math.prod(len(own) for own in domains if own is not None)
    most = math.inf if None in domains or plan.sets is not None or plan.table is not None else listed
    limit = (plan.stages[-1] if plan.stages else plan).limit
    return most if limit is None else min(most, limit)


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


@dataclass(slots=True)
class _Windows:
    """The windows of a stage that name no order, and are told apart by one.

    Attributes:
        order: Of the rows that they read.
        without: What they call.
    """

    order: tuple[Order, ...]
    without: tuple[str, ...] = ()

    def ordered(self, expression: Expression) -> Expression:
        """The expression with its windows in that order."""
        match expression:
            case Windowed(order=(), function=function) if expression.ties or function.name in SHOWING:
                self.without += (function.name,)
                frame = expression.frame
                if function.name in SHOWING and not expression.ties:  # without an order all rows are in its frame
                    frame = frame or Frame(rows=False, start=None, end=None)
                return replace(expression, order=self.order, frame=frame) if self.order else expression
            case Apply(arguments=arguments):
                return replace(expression, arguments=tuple(map(self.ordered, arguments)))
            case Case(branches=branches, default=default):
                parts = tuple((self.ordered(when), self.ordered(then)) for when, then in branches)
                return replace(expression, branches=parts, default=self.ordered(default))
        return expression
