"""Sub-queries that read no rows are the values that they compute: ``(SELECT 1 + 1)`` is ``1 + 1`` wherever it stands,
``x IN (SELECT 1)`` is ``x IN (1)``, and ``EXISTS (SELECT 1)`` is true.

Tests: tests/unit/plan/over_answers/test_own_values.py, tests/sql.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.plan.known.conditions import holds_aggregate, windows_in
from dpsql.sql import syntax
from dpsql.sql.rewritten import rewritten
from dpsql.sql.walk import slots_of

__all__ = ["with_own_values"]

HOLDERS = (syntax.Derived, syntax.ScalarQuery, syntax.Exists, syntax.InQuery, syntax.TableFunctionCall)


def with_own_values(query: syntax.Queryable) -> syntax.Queryable:
    """The query, with values in the place of such sub-queries; columns keep their names."""
    ctes = tuple((name, with_own_values(named)) for name, named in query.ctes)
    if isinstance(query, syntax.Union):
        return replace(query, left=with_own_values(query.left), right=with_own_values(query.right), ctes=ctes)
    clauses = {name: rewritten(getattr(query, name), _changed) for name in slots_of(query) if name != "ctes"}
    return replace(query, **clauses, ctes=ctes)


def _changed(node: syntax.Node) -> syntax.Node | None:
    """What a node becomes that holds a query; None for others."""
    if not isinstance(node, HOLDERS):
        return None
    if isinstance(node, syntax.TableFunctionCall):  # its queries are rows
        return node
    query = with_own_values(node.query)
    value = None if isinstance(node, syntax.Derived) else _own_value(query)
    match node:
        case syntax.ScalarQuery() if value is not None:
            return value
        case syntax.Exists() if value is not None:
            return syntax.Literal(not node.negated, position=node.position)
        case syntax.InQuery():
            operand = rewritten(node.operand, _changed)
            if value is not None:
                return syntax.InList(operand, (value,), node.negated, position=node.position)
            return replace(node, operand=operand, query=query)
    return replace(node, query=query)


def _own_value(query: syntax.Queryable) -> syntax.Expr | None:
    """What a SELECT of one value computes without FROM; None for any other query."""
    if not isinstance(query, syntax.Select) or len(query.items) != 1:
        return None
    (item,) = query.items
    value = item.expression
    bare = syntax.Select(query.items) == replace(query, distinct=False, order_by=())
    rows = isinstance(value, syntax.AllColumns) or holds_aggregate(value) or windows_in(value)
    return value if bare and not rows else None
