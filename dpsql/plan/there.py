"""In which rows an expression is not NULL, as conditions: two with the same ones have values in the same rows.

Nothing here rests on what a policy declares of NULL, for data may break it.
"""

from __future__ import annotations

from dpsql.plan.nodes import Apply, Case, Constant, Expression
from dpsql.plan.ranges import is_certain
from dpsql.plan.relations import conjuncts

__all__ = ["Presence", "presence", "value_where_there"]

Presence = frozenset[tuple[str, Expression]]
"""What must hold of a row: that an expression is TRUE (``is``), or that it is not NULL (``has``)."""


def presence(expression: Expression) -> Presence:
    """What holds of exactly those rows where an expression is not NULL; nothing where it never is.

    Two forms of one condition may give different sets, and then nothing is known of both.
    """
    if is_certain(expression):
        return frozenset()
    match expression:
        case Case(branches=((condition, value),), default=Constant(value=None)):
            return presence(value).union(*map(_holds, conjuncts(condition)))
    return frozenset([("has", expression)])


def _holds(condition: Expression) -> Presence:
    match condition:
        case Apply(function=outer, arguments=(Apply(function=inner, arguments=(value,)),)) if (
            outer.name == "not" and inner.name == "is_null"
        ):
            return presence(value)
    return frozenset([("is", condition)])


def value_where_there(expression: Expression) -> Expression:
    """The value that an expression has where it is not NULL: ``x`` of ``CASE WHEN y IS NOT NULL THEN x END``."""
    match expression:
        case Case(branches=((_, value),), default=Constant(value=None)):
            return value_where_there(value)
    return expression
