"""What stands below a node of the syntax tree.

Tests: tests/unit/sql/test_walk.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from dpsql.sql.syntax import Node

__all__ = ["children", "slots_of", "walk"]

_SLOTS: dict[type[Node], tuple[str, ...]] = {}
"""What `slots_of` found for each kind of node that was met: trees are walked for every statement."""


def slots_of(node: Node) -> tuple[str, ...]:
    """Names of what a node holds other nodes in, as they are written."""
    kind = type(node)
    slots = _SLOTS.get(kind)
    if slots is None:
        hints = get_type_hints(kind)
        slots = _SLOTS[kind] = tuple(slot.name for slot in fields(node) if _holds_nodes(hints[slot.name]))
    return slots


def _holds_nodes(hint: Any) -> bool:
    """Whether values of a type are nodes, or tuples of them."""
    return issubclass(hint, Node) if isinstance(hint, type) else any(map(_holds_nodes, get_args(hint)))


def children(node: Node) -> list[Node]:
    """The nodes directly below one, as they are written; those in tuples, too."""
    found: list[Node] = []
    for name in slots_of(node):
        _add_nodes(getattr(node, name), found)
    return found


def _add_nodes(value: object, found: list[Node]) -> None:
    if isinstance(value, Node):
        found.append(value)
    elif isinstance(value, tuple):
        for part in value:
            _add_nodes(part, found)


def walk(node: Node) -> Iterator[Node]:
    """A node and all that stand below it, each before what is below it."""
    below = [node]
    while below:
        node = below.pop()
        yield node
        below.extend(reversed(children(node)))
