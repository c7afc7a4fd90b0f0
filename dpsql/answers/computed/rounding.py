"""How far an interval must reach for values that were rounded to a step nobody declared, before they were added up.

Real numbers are put on a grid whose step follows from their bounds. Beside wide bounds that step may be larger than the
values themselves, and then an interval of the noise alone would be narrow around a wrong place.

Tests: tests/unit/answers/computed/test_rounding.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from dpsql.answers.shown.screen import Ends
from dpsql.limits import FEWEST_STEPS
from dpsql.mechanisms.base import Request
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.nodes import Column
from dpsql.plan.types import Type

__all__ = ["rounded_by", "widened"]


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


def widened(intervals: Sequence[Ends], request: Request) -> Sequence[Ends]:
    """An aggregate's intervals, as wide as its rounded values ask for, and no wider than its bounds.

    A place among values moves by as much as they do, and so does a deviation; a variance is the square of one. Sums are
    left as they are: their noise is that of all values between the bounds.
    """
    function, grid = FUNCTIONS[request.aggregate.function], request.grid
    if grid is None or function.kind not in (Kind.PLACE, Kind.DEVIATION, Kind.VARIANCE):
        return intervals
    by, (least, most) = rounded_by(request), (float(end * grid.step) for end in (grid.low, grid.high))
    widest = (most - least) / 2 * (math.sqrt(2) if function.name.endswith("_samp") else 1)  # of two values, far apart

    def moved(low: float, high: float) -> Ends:
        match function.kind:
            case Kind.PLACE:
                return _end(low, low - by, least, min), _end(high, high + by, most, max)
            case Kind.DEVIATION:
                return _end(low, low - by, 0.0, min), _end(high, high + by, widest, max)
            case _:
                least_root, most_root = (math.sqrt(max(end, 0.0)) for end in (low, high))
                down, up = max(least_root - by, 0.0) ** 2, (most_root + by) ** 2
                return _end(low, down, 0.0, min), _end(high, up, widest**2, max)

    return [(low, high) if low is None or high is None else moved(low, high) for low, high in intervals]


def _end(end: float, moved: float, bound: float, outer: Callable[[float, float], float]) -> float:
    """Where an end is moved to: not beyond a bound, unless it was there before by more than its last digits."""
    inside = bound if outer(moved, bound) == moved else moved
    return inside if math.isclose(end, bound, rel_tol=1e-12) else outer(end, inside)
