"""The ``?`` and ``$1`` of a statement: how many values it takes, and which of them are lists.

Tests: tests/unit/plan/test_parameters.py, tests/unit/plan/test_outline.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from dpsql.sql.syntax import Node, Parameter

__all__ = ["lists_in", "parameter_count"]


def _parameters_in(node: object) -> Iterator[Parameter]:
    """The parameters of a statement."""
    if isinstance(node, Parameter):
        yield node
        return
    parts = [getattr(node, field.name) for field in fields(node)] if isinstance(node, Node) else node
    for part in parts if isinstance(parts, list | tuple) else ():
        yield from _parameters_in(part)


def parameter_count(node: object) -> int:
    """How many values a statement takes: one more than the largest index of its parameters."""
    return max((own.index + 1 for own in _parameters_in(node)), default=0)


def lists_in(node: object) -> frozenset[int]:
    """The indexes of the parameters that take a list of values."""
    return frozenset(own.index for own in _parameters_in(node) if own.many)
