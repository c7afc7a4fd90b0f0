"""The ``?``, ``$1`` and ``$name`` of a statement: how many values it takes, and which of them are lists.

Tests: tests/unit/plan/test_parameters.py, tests/unit/plan/test_outline.py.
"""

from __future__ import annotations

from dpsql.sql.syntax import Node, Parameter
from dpsql.sql.walk import walk

__all__ = ["parameter_count", "parameters_in"]


def parameter_count(node: Node) -> int:
    """How many values a statement takes: one more than the largest index of its parameters."""
    return parameters_in(node)[0]


def parameters_in(node: Node) -> tuple[int, frozenset[int], tuple[str, ...]]:
    """How many values a statement takes, the indexes of those that are lists of values, and the names of all.

    Names are folded, and in the order of their values; there are none where the parameters have no names.
    """
    found = [own for own in walk(node) if isinstance(own, Parameter)]
    count = max((own.index + 1 for own in found), default=0)
    named = {own.index: own.name for own in found if own.name}
    names = tuple(named[index] for index in sorted(named))
    return count, frozenset(own.index for own in found if own.many), names
