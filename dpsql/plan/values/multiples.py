"""Of which step the values of an expression are whole multiples, by what it is made of.

A share that is written with reals, ``CASE WHEN c THEN 1.0 ELSE 0.0 END``, has two values like the condition itself. On
a grid of a millionth of its width a mechanism would look between them for where its rows lie, and take the fewer ones
for outliers. On a grid of their distance there is nothing between.

Constants, conditions and whole numbers are multiples of a known step, and sums, differences, products, quotients by a
constant and casts of such are. The values of a column of reals are multiples of its step by the owner's word alone.

Tests: tests/unit/plan/values/test_expressions.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpsql.limits import FEWEST_STEPS
from dpsql.plan.nodes import Apply, Case, Constant, Expression
from dpsql.plan.types import Facts, Type

__all__ = ["multiple_of_all", "step_of_call", "within"]

SAME = ("negate", "abs")  # What keeps the step of its argument.
WIDENED = ("cast:real", "cast:float")  # Conditions and whole numbers as reals.


def multiple_of_all(expressions: Iterable[Expression]) -> Fraction | None:
    """The largest step of which all values of all these expressions are multiples; None where none is known."""
    found = [_multiple(expression) for expression in expressions]
    known = [step for step in found if step is not None]
    if len(known) < len(found):
        return None
    together = Fraction(0)
    for step in known:
        over = math.lcm(together.denominator, step.denominator)
        together = Fraction(math.gcd(int(together * over), int(step * over)), over)
    return together or None


def step_of_call(name: str, arguments: Sequence[Expression]) -> Fraction | None:
    """The step of which all that a function gives are multiples; None where that is not known.

    Args:
        name: The function's.
        arguments: As it takes them.
    """
    found = [_multiple(argument) for argument in arguments]
    if None in found or not found:
        return None
    first, last = found[0] or Fraction(0), found[-1] or Fraction(0)
    if name in ("+", "-"):
        return multiple_of_all(arguments)
    if name == "*":
        return first * last or None
    if name == "/" and isinstance(arguments[-1], Constant) and last:
        return first / last or None
    exact = name in SAME or (name in WIDENED and arguments[0].facts.type in (Type.BOOLEAN, Type.INTEGER))
    return first or None if exact and len(arguments) == 1 else None


def within(step: Fraction | None, facts: Facts) -> Fraction | None:
    """The step, unless the bounds hold more of its multiples than the grid that follows from them has steps."""
    if step is None or not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        return None
    return step if max(abs(facts.low), abs(facts.high)) <= step * FEWEST_STEPS else None


def _multiple(expression: Expression) -> Fraction | None:
    """The step of one expression, 0 for nothing but NULL and 0, which are multiples of all."""
    facts = expression.facts
    if isinstance(expression, Constant):
        value = expression.value
        return Fraction(0) if value is None else abs(Fraction(str(value))) if facts.type.numeric else None
    if facts.type is Type.BOOLEAN:
        return Fraction(1)
    if facts.type is Type.INTEGER:
        return facts.step or Fraction(1)
    return facts.step if isinstance(expression, Apply | Case) else None
