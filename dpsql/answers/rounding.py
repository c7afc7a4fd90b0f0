"""How far an interval must reach for values that were rounded to a step nobody declared, before they were added up.

Real numbers are put on a grid whose step follows from their bounds. Beside wide bounds that step may be larger than the
values themselves, and then an interval of the noise alone would be narrow around a wrong place.

Tests: tests/unit/answers/test_rounding.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.answers.screen import Ends
from dpsql.limits import FEWEST_STEPS
from dpsql.mechanisms.base import Request
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.nodes import Column
from dpsql.plan.types import Type

__all__ = ["reaching", "rounded_by"]


def rounded_by(request: Request) -> float:
    """By how much, at most, the values of an aggregate's argument are moved to their grid; 0 where they lie on it.

    Whole numbers do, and what an expression is known to make whole steps of. A column whose step is coarser than the
    one that follows from its bounds has it from the owner, whose word it is that values are multiples of it.
    """
    grid, argument = request.grid, request.aggregate.argument
    if grid is None or argument is None or request.facts.type is not Type.REAL:
        return 0.0
    facts = argument.facts
    if facts.step is not None:
        if (
            not isinstance(argument, Column)
            or not isinstance(facts.low, Fraction)
            or not isinstance(facts.high, Fraction)
        ):
            return 0.0
        if facts.step * FEWEST_STEPS > (facts.high - facts.low or abs(facts.high)):
            return 0.0
    return float(grid.step / 2)


def reaching(ends: Ends, request: Request) -> Ends:
    """The ends of an aggregate's interval, as far apart as its rounded values ask for.

    A place among values moves by as much as they do, and so does a deviation; a variance is the square of one. Sums are
    left as they are: their noise is that of all values between the bounds.
    """
    by, kind = rounded_by(request), FUNCTIONS[request.aggregate.function].kind
    low, high = ends
    if not by or low is None or high is None or request.grid is None:
        return ends
    match kind:
        case Kind.PLACE:
            step = request.grid.step
            least, most = float(request.grid.low * step), float(request.grid.high * step)
            return min(low, max(low - by, least)), max(high, min(high + by, most))
        case Kind.DEVIATION:
            return max(low - by, 0.0), high + by
        case Kind.VARIANCE:
            return max(math.sqrt(max(low, 0.0)) - by, 0.0) ** 2, (math.sqrt(max(high, 0.0)) + by) ** 2
        case _:
            return ends
