"""Variances and covariances of numbers so far apart that no double holds what they are made of.

Tests: tests/sql/refused.sql.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.functions import REAL_LIMIT
from dpsql.plan.nodes import Aggregate
from dpsql.sql import syntax

__all__ = ["refuse_squares"]


def refuse_squares(aggregate: Aggregate, node: syntax.Call) -> None:
    """Refuses those whose value could be beyond what an engine holds.

    Args:
        aggregate: What is asked.
        node: The call, for messages.

    Raises:
        UnsupportedQuery: It could.
    """
    if FUNCTIONS[aggregate.function].kind not in (Kind.VARIANCE, Kind.PAIR):
        return
    farthest = Fraction(1)
    for argument in (aggregate.argument, aggregate.second or aggregate.argument):
        low, high = (None, None) if argument is None else (argument.facts.low, argument.facts.high)
        farthest *= high - low if isinstance(low, Fraction) and isinstance(high, Fraction) else 1
    if farthest > REAL_LIMIT:
        raise UnsupportedQuery(
            "its value could be beyond 10^300, where an engine's numbers end.", construct=node.name.upper(),
            position=node.position, hint="Keep the argument within constants: LEAST(x, 1e100).",
        )  # fmt: skip
