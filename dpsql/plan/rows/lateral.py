"""Names of a SELECT list in the same SELECT: ``COUNT(*) AS n, n * 2`` is ``COUNT(*) AS n, COUNT(*) * 2``.

As in DuckDB a column of FROM goes before such a name, and a name stands for what was selected before it. Alone in
ORDER BY the name goes first; in HAVING and inside expressions of ORDER BY a column does, where it may stand there.

Tests: tests/unit/plan/rows/test_lateral.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.scope import Scope
from dpsql.plan.nodes import Expression
from dpsql.sql import syntax
from dpsql.sql.rewritten import rewritten
from dpsql.sql.tokens import fold
from dpsql.sql.tree.base import measure

__all__ = ["condition_read", "of_the_list", "with_names_read", "within"]

BY_NAME = frozenset({"dp_interval_low", "dp_interval_high"})
"""Functions whose argument is the name of an output column, not its value."""


def with_names_read(query: syntax.Select, scope: Scope) -> syntax.Select:
    """The query whose select list reads names of its own earlier columns, with what they stand for in their place.

    Raises:
        UnsupportedQuery: What they stand for grows beyond what a statement may hold.
    """
    items, _ = _read_in_turn(query, scope)
    changed = any(new is not old for new, old in zip(items, query.items, strict=True))
    return dataclasses.replace(query, items=tuple(items)) if changed else query


def condition_read(query: syntax.Select, scope: Scope) -> syntax.Expr | None:
    """The query's WHERE, with what names of its select list stand for in their place, as in DuckDB; None without one.

    Raises:
        UnsupportedQuery: What they stand for grows beyond what a statement may hold.
    """
    if query.where is None or not any(item.alias for item in query.items):
        return query.where
    where = _read(query.where, _read_in_turn(query, scope)[1])
    if where is not query.where:
        measure(where)
    return where


def of_the_list(node: syntax.Expr, named: Mapping[str, Expression]) -> Expression | None:
    """What a bare name of the select list stands for; None for anything else."""
    return named.get(node.parts[0]) if isinstance(node, syntax.Name) and len(node.parts) == 1 else None


def within(
    node: syntax.Expr, named: Mapping[str, Expression], column: Callable[[syntax.Expr], Expression | None]
) -> Expression | None:
    """What a bare name of the select list stands for in HAVING, or inside an expression of ORDER BY.

    Args:
        node: The name; of anything else it is None.
        named: What the names stand for.
        column: What it is otherwise; None, or a refusal, where it may not stand there.
    """
    own = of_the_list(node, named)
    if own is None:
        return None
    try:
        return column(node) or own
    except UnsupportedQuery:
        return own


def _read_in_turn(query: syntax.Select, scope: Scope) -> tuple[list[syntax.Item], dict[str, syntax.Expr]]:
    """The select list with its own names read, and what each name stands for."""
    known: dict[str, syntax.Expr] = {}
    items: list[syntax.Item] = []
    for item in query.items:
        expression = _read(item.expression, known)
        if expression is not item.expression:
            measure(expression)  # names that stand for names grow without end
        items.append(item if expression is item.expression else dataclasses.replace(item, expression=expression))
        name = fold(item.alias or "")
        if name and not scope.holds(name) and not isinstance(expression, syntax.AllColumns):
            known[name] = expression
    return items, known


def _read(node: syntax.Expr, known: Mapping[str, syntax.Expr]) -> syntax.Expr:
    """A node with the names replaced; the same node where there are none. Sub-queries have names of their own."""

    def change(own: syntax.Node) -> syntax.Node | None:
        if isinstance(own, syntax.Call) and own.name in BY_NAME:
            return own
        if isinstance(own, syntax.Name):
            return known.get(own.parts[0], own) if len(own.parts) == 1 else own
        return None

    return rewritten(node, change) if known else node
