"""Why the values of an expression have no bounds although its columns have: a logarithm of 0, a divisor near 0.

Tests: tests/unit/plan/known/test_unbounded.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.plan.known.narrowing import facts_on
from dpsql.plan.nodes import Apply, Column, Expression, Relation
from dpsql.plan.types import Type
from dpsql.plan.values.expressions import arguments_of

__all__ = ["LOGARITHMS", "unbounded"]

LOGARITHMS = frozenset({"ln", "log", "log2", "log10"})


def unbounded(expression: Expression, relation: Relation) -> tuple[str, str] | None:
    """The step of an expression that loses the bounds, in a sentence, and in another one what keeps them.

    Args:
        expression: Of which bounds are missing.
        relation: The rows; their conditions count.

    Returns:
        None where a column has none, or another function loses them.
    """
    if _is_bounded(expression, relation):
        return None
    for argument in arguments_of(expression):
        if (found := unbounded(argument, relation)) is not None:
            return found
    if not isinstance(expression, Apply) or not all(_is_bounded(own, relation) for own in expression.arguments):
        return None
    if expression.function.name in LOGARITHMS and len(expression.arguments) == 1:
        name = expression.function.name
        reason = f"{name} is taken of numbers that may be 0 or less, or close to 0, so that its values have no bounds."
        return reason, _away(expression.arguments[0], f"what {name} is taken of")
    if expression.function.name == "/":
        reason = "it divides by numbers that may be 0, or close to it, so that its values have no bounds."
        return reason, f"{_away(expression.arguments[1], 'the divisor')} NULLIF is not enough."
    return None


def _is_bounded(expression: Expression, relation: Relation) -> bool:
    facts = facts_on(expression, relation)
    return not facts.type.numeric or (isinstance(facts.low, Fraction) and isinstance(facts.high, Fraction))


def _away(expression: Expression, otherwise: str) -> str:
    """How to keep numbers away from 0. A NULL that GREATEST takes becomes a number."""
    while isinstance(expression, Apply) and expression.function.name.startswith("cast:"):
        (expression,) = expression.arguments
    if not isinstance(expression, Column):
        return f"Keep {otherwise} at 1 or more: in WHERE, or by greatest(.., 1)."
    name = expression.said or expression.name
    lifts = "" if expression.facts.nullable else f", greatest({name}, 1) lifts them"
    alone = ", which > 0 alone does not" * (expression.facts.type is Type.REAL)
    return f"Keep {name} away from 0{alone}: WHERE {name} >= 1 leaves other rows out{lifts}."
