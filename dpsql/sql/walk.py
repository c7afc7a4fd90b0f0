"""What stands below a node of the syntax tree.

Tests: tests/unit/sql/test_walk.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from dpsql.sql.syntax import Node

__all__ = ["children", "walk"]


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below one, as they are written; those in tuples, too."""
    for slot in fields(node):
        yield from _nodes(getattr(node, slot.name))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _nodes(part)


def walk(node: Node) -> Iterator[Node]:
    """A node and all that stand below it, each before what is below it."""
    yield node
    for child in children(node):
        yield from walk(child)
