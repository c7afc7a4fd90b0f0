"""What tools put around a statement: ``SELECT * FROM (..) LIMIT 100`` shows the first rows of another, and is that.

Tests: tests/unit/answers/test_wrappers.py.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.plan.known.scope import same_name
from dpsql.plan.over_answers.stages import row_count
from dpsql.plan.plans import AnyPlan, Cut, Plan, Several
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.values.expressions import Resolver
from dpsql.sql import syntax

__all__ = ["cut_to", "described_alone", "wrapped"]


def described_alone(query: syntax.Queryable) -> syntax.Queryable:
    """A query as it stands, or with LIMIT 0 where it shows columns WHERE 1 = 0: so do tools ask for names and types."""
    if not isinstance(query, syntax.Select) or query.where is None or not _is_false(query.where):
        return query
    bare = all(isinstance(item.expression, syntax.AllColumns | syntax.Name) for item in query.items)
    if not bare or query.group_by or query.having is not None or query.distinct:
        return query
    return replace(query, where=None, limit=0, offset=None)


def _is_false(condition: syntax.Expr) -> bool:
    """Whether a condition is FALSE, or compares two numbers so that it is."""
    match condition:
        case syntax.Literal(value=False):
            return True
        case syntax.Call(arguments=(syntax.Literal(value=int() as one), syntax.Literal(value=int() as other))):
            return one != other if condition.name == "=" else condition.name == "<>" and one == other
    return False


def wrapped(query: syntax.Select) -> syntax.Select | None:
    """What a tool's wrapper is around: all columns of one sub-query as they are, of all rows or the first."""
    source = query.source
    if not isinstance(source, syntax.Derived) or not isinstance(source.query, syntax.Select):
        return None
    match query.items:
        case [syntax.Item(syntax.AllColumns(table, (), ()))] if table is None or same_name(table, source.alias or ""):
            bare = replace(query, items=(), source=None, limit=None, offset=None, ctes=())
            return source.query if bare == syntax.Select(()) else None
    return None


def cut_to(plan: AnyPlan, query: syntax.Select, rows: Rows) -> AnyPlan:
    """A plan of which only the first rows are shown."""
    resolver = Resolver(lambda _: None, rows.parameters)
    limit, offset = row_count(query.limit, "LIMIT", resolver), row_count(query.offset, "OFFSET", resolver) or 0
    if isinstance(plan, Several):
        return replace(plan, after=replace(plan.after, cut=plan.after.cut.then(limit, offset)))
    if isinstance(plan, Plan):
        return replace(plan, cut=plan.cut.then(limit, offset))
    cut = Cut(plan.stage.limit, plan.stage.offset).then(limit, offset)
    return replace(plan, stage=replace(plan.stage, limit=cut.limit, offset=cut.offset))
