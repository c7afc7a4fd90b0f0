"""A tree of syntax with some of its nodes replaced.

Tests: tests/unit/plan/rows/test_lateral.py, tests/unit/answers/test_several.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import is_
from typing import TypeVar

from dpsql.sql import syntax
from dpsql.sql.walk import slots_of

__all__ = ["rewritten"]

Tree = TypeVar("Tree")
QUERIES = (syntax.Select, syntax.Union)


def rewritten(node: Tree, change: Callable[[syntax.Node], syntax.Node | None]) -> Tree:
    """A node, or a tuple of them, with what `change` gives for nodes below in their place; the same one without any.

    Queries below it stay as they are: they have names of their own.

    Args:
        node: Where to begin.
        change: What a node becomes; None to look below it.
    """
    if isinstance(node, tuple):
        parts = [rewritten(part, change) for part in node]
        return node if all(map(is_, parts, node)) else tuple(parts)  # type: ignore[return-value]
    if not isinstance(node, syntax.Node) or isinstance(node, QUERIES):
        return node
    found = change(node)
    if found is not None:
        return found  # type: ignore[return-value]  # an expression for an expression
    changed = {}
    for name in slots_of(node):
        old = getattr(node, name)
        new = rewritten(old, change)
        if new is not old:
            changed[name] = new
    return dataclasses.replace(node, **changed) if changed else node
