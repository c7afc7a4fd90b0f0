"""``round`` and ``trunc`` of whole numbers to constant digits, which stay whole, as in DuckDB.

To decimals nothing is left to round. To tens, hundreds and so on they are quotients towards zero, multiplied again;
rounding moves by half of one first, away from zero. The bounds that follow from those are the exact ones: what is moved
up is never below what is moved down.

Tests: tests/unit/plan/values/test_rounded.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.nodes import Case, Constant, Expression
from dpsql.plan.types import Type
from dpsql.plan.values.conversions import as_constant
from dpsql.plan.values.ranges import known_range, with_bounds

__all__ = ["rounded"]

Apply = Callable[[str, tuple[Expression, ...]], Expression]
MOST_DIGITS = 15  # On either side of the point. It is a choice, the one for reals: a double has some 15.


def rounded(name: str, arguments: tuple[Expression, ...], apply: Apply) -> Expression | None:
    """The whole number that a call rounds to; None where it is no such call, or could be too large for the engine.

    Args:
        name: The function's.
        arguments: Resolved.
        apply: A function of the table over resolved arguments.
    """
    match name, arguments:
        case "round" | "trunc", (own, Constant(value=int(digits))) if own.facts.type is Type.INTEGER:
            if isinstance(digits, bool) or abs(digits) > MOST_DIGITS:
                return None
        case _:
            return None
    if digits >= 0:
        return own
    tens = as_constant(10**-digits)
    try:
        if name == "trunc":
            found = _multiple(own, tens, apply)
        else:
            found = _nearest(own, tens, as_constant(10**-digits // 2), apply)
    except UnsupportedQuery:
        return None
    return found if found.facts.type is Type.INTEGER else None


def _nearest(own: Expression, tens: Expression, half: Expression, apply: Apply) -> Expression:
    known = known_range(own)
    known = known if isinstance(known, Interval) else EVERYTHING
    above = _multiple(apply("+", (own, half)), tens, apply)
    if known.low is not None and known.low >= 0:
        return above
    below = _multiple(apply("-", (own, half)), tens, apply)
    if known.high is not None and known.high <= 0:
        return below
    bounds = Interval(below.facts.low, above.facts.high)  # type: ignore[arg-type]  # of whole numbers
    return Case(((apply("<", (own, as_constant(0))), below),), above, with_bounds(above.facts, bounds, Fraction(1)))


def _multiple(own: Expression, tens: Expression, apply: Apply) -> Expression:
    return apply("*", (apply("//", (own, tens)), tens))
