"""Which expressions keep the owner's hints of their column: a centre, a spread and a scale.

The rule: they pass through x + c, x - c, c - x, x * c, c * x, x / c and -x, for a constant c, and through casts between
numbers, which round at most. A centre goes with the value; a spread and a scale, which are distances, with the size of
the factor. Every other expression has no hints. They only serve to choose, to centre and to predict: no proof rests on
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.plan.nodes import Apply, Constant, Expression
from dpsql.plan.types import Facts

__all__ = ["hinted", "source"]


def hinted(facts: Facts, name: str, arguments: Sequence[Expression]) -> Facts:
    """What is known of a function's values, with the hints of its argument where they pass.

    Args:
        facts: What follows from ranges.
        name: The function's.
        arguments: As it takes them.
    """
    found = _affine(name, arguments)
    if found is None or not facts.type.numeric or not found[2].facts.type.numeric:
        return facts
    factor, offset, own = found[0], found[1], found[2].facts
    scale = own.scale
    return replace(
        facts,
        centre=None if own.centre is None else factor * own.centre + offset,
        spread=None if own.spread is None else abs(factor) * own.spread,
        scale=None if scale is None else (abs(factor) * scale[0], abs(factor) * scale[1]),
    )


def source(expression: Expression) -> Expression:
    """What an expression's hints came from: itself, without what they pass through."""
    while isinstance(expression, Apply):
        found = _affine(expression.function.name, expression.arguments)
        if found is None:
            return expression
        expression = found[2]
    return expression


def _affine(name: str, arguments: Sequence[Expression]) -> tuple[Fraction, Fraction, Expression] | None:
    """(a, b, x) of a function that is a x + b, a not 0; or None."""
    one, zero = Fraction(1), Fraction(0)
    if len(arguments) == 1:
        (only,) = arguments
        if name == "negate":
            return -one, zero, only
        return (one, zero, only) if name.startswith("cast:") and only.facts.type.numeric else None
    if len(arguments) != 2:
        return None
    first, second = arguments
    left, right = map(_constant, arguments)
    if left is None and right is not None:
        found = {"+": (one, right), "-": (one, -right), "*": (right, zero)}.get(name)
        found = (1 / right, zero) if name == "/" and right else found
        return None if found is None or not found[0] else (*found, first)
    if left is not None and right is None:
        found = {"+": (one, left), "-": (-one, left), "*": (left, zero)}.get(name)
        return None if found is None or not found[0] else (*found, second)
    return None


def _constant(expression: Expression) -> Fraction | None:
    """The number that an expression is, or None."""
    if isinstance(expression, Apply) and expression.function.name.startswith("cast:"):
        return _constant(expression.arguments[0])
    if not isinstance(expression, Constant) or isinstance(expression.value, bool):
        return None
    value = expression.value
    return Fraction(value) if isinstance(value, int | float) else None
