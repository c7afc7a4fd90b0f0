"""The ``?`` and ``$1`` of a statement: how many values it takes, and which of them are lists.

Tests: tests/unit/plan/test_parameters.py, tests/unit/plan/test_outline.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.sql.syntax import Node, Parameter
from dpsql.sql.walk import walk

__all__ = ["lists_in", "parameter_count"]


def parameter_count(node: Node) -> int:
    """How many values a statement takes: one more than the largest index of its parameters."""
    return max((own.index + 1 for own in _parameters_in(node)), default=0)


def lists_in(node: Node) -> frozenset[int]:
    """The indexes of the parameters that take a list of values."""
    return frozenset(own.index for own in _parameters_in(node) if own.many)


def _parameters_in(node: Node) -> Iterator[Parameter]:
    return (own for own in walk(node) if isinstance(own, Parameter))
