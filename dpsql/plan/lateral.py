"""Names of a SELECT list in the same SELECT: ``COUNT(*) AS n, n * 2`` is ``COUNT(*) AS n, COUNT(*) * 2``.

As in DuckDB a column of FROM goes before such a name, and a name stands for what was selected before it.

Tests: tests/unit/plan/test_lateral.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypeVar

from dpsql.plan.scope import Scope
from dpsql.sql import syntax
from dpsql.sql.tokens import fold
from dpsql.sql.tree.base import measure

__all__ = ["with_names_read"]

BY_NAME = frozenset({"dp_interval_low", "dp_interval_high"})
"""Functions whose argument is the name of an output column, not its value."""

Tree = TypeVar("Tree")


def with_names_read(query: syntax.Select, scope: Scope) -> syntax.Select:
    """The query whose select list reads names of its own earlier columns, with what they stand for in their place.

    Raises:
        UnsupportedQuery: What they stand for grows beyond what a statement may hold.
    """
    known: dict[str, syntax.Expr] = {}
    items = []
    for item in query.items:
        expression = _read(item.expression, known)
        if expression is not item.expression:
            measure(expression)  # names that stand for names grow without end
        items.append(item if expression is item.expression else dataclasses.replace(item, expression=expression))
        name = fold(item.alias or "")
        if name and not scope.holds(name) and not isinstance(expression, syntax.AllColumns):
            known[name] = expression
    changed = any(new is not old for new, old in zip(items, query.items, strict=True))
    return dataclasses.replace(query, items=tuple(items)) if changed else query


def _read(node: Tree, known: Mapping[str, syntax.Expr]) -> Tree:
    """A node with the names replaced; the same node where there are none. Sub-queries have names of their own."""
    if not known or isinstance(node, syntax.Select | syntax.Union):
        return node
    if isinstance(node, syntax.Call) and node.name in BY_NAME:
        return node
    if isinstance(node, syntax.Name):
        return known.get(node.parts[0], node) if len(node.parts) == 1 else node  # type: ignore[return-value]
    if isinstance(node, tuple):
        parts = tuple(_read(part, known) for part in node)
        return parts if any(a is not b for a, b in zip(parts, node, strict=True)) else node  # type: ignore[return-value]
    if isinstance(node, syntax.Node):
        values = {f.name: getattr(node, f.name) for f in dataclasses.fields(node) if f.name != "position"}
        changed = {name: new for name, old in values.items() if (new := _read(old, known)) is not old}
        return dataclasses.replace(node, **changed) if changed else node
    return node
