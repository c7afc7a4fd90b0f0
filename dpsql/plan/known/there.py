"""In which rows an expression is not NULL, as conditions: two with the same ones have values in the same rows.

Nothing here rests on what a policy declares of NULL, for data may break it.
"""

from __future__ import annotations

from dpsql.plan.known.relations import conjuncts
from dpsql.plan.nodes import Apply, Case, Constant, Expression
from dpsql.plan.values.ranges import is_certain

__all__ = ["Presence", "filtered", "presence", "value_where_there", "wanted"]

Presence = frozenset[tuple[str, Expression]]
"""What must hold of a row: that an expression is TRUE (``is``), or that it is not NULL (``has``)."""


def filtered(argument: Expression) -> tuple[Expression | None, Expression]:
    """The condition without which an argument is NULL, of FILTER or of a CASE without ELSE, and the value behind it.

    The condition is None, and the value the argument, where there is none.
    """
    match argument:
        case Case(branches=((condition, value),), default=Constant(value=None)):
            return condition, value
    return None, argument


def presence(expression: Expression) -> Presence:
    """What holds of exactly those rows where an expression is not NULL; nothing where it never is.

    Two forms of one condition may give different sets, and then nothing is known of both.
    """
    if is_certain(expression):
        return frozenset()
    condition, value = filtered(expression)
    if condition is None:
        return frozenset([("has", expression)])
    return presence(value).union(*map(_holds, conjuncts(condition)))


def _holds(condition: Expression) -> Presence:
    value = wanted(condition)
    return frozenset([("is", condition)]) if value is None else presence(value)


def wanted(condition: Expression) -> Expression | None:
    """What a condition wants to be there: ``x`` of ``x IS NOT NULL``; None of any other condition."""
    match condition:
        case Apply(function=no, arguments=(Apply(function=missing, arguments=(value,)),)):
            return value if (no.name, missing.name) == ("not", "is_null") else None
    return None


def value_where_there(expression: Expression) -> Expression:
    """The value that an expression has where it is not NULL: ``x`` of ``CASE WHEN y IS NOT NULL THEN x END``."""
    condition, value = filtered(expression)
    return expression if condition is None else value_where_there(value)
