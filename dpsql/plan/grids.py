"""The public grid on which sums are exact integers."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.limits import FARTHEST_STEP, FEWEST_STEPS, UNBOUNDED_STEP
from dpsql.plan.types import Facts, Grid, Type

__all__ = ["grid_of", "saturating_grid"]


def grid_of(facts: Facts) -> Grid | None:
    """The grid of a number: its bounds in steps, rounded outward; None without bounds.

    >>> grid_of(Facts(Type.REAL, Fraction(0), Fraction(20000), step=Fraction(1, 100))).high
    2000000
    """
    if not facts.type.numeric or not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        return None
    step = facts.step or _default_step(facts.type, facts.low, facts.high)
    low, high = math.floor(facts.low / step), math.ceil(facts.high / step)
    return Grid(step, low, high) if max(abs(low), abs(high)) <= FARTHEST_STEP else None


def saturating_grid(facts: Facts) -> Grid:
    """The grid of a number that may have no bounds: it then saturates at 2^53 steps."""
    step = facts.step or (Fraction(1) if facts.type is Type.INTEGER else UNBOUNDED_STEP)
    return grid_of(facts) or Grid(step, -FARTHEST_STEP, FARTHEST_STEP)


def _default_step(type_: Type, low: Fraction, high: Fraction) -> Fraction:
    """1 for integers, else the largest power of ten that gives at least 2^20 steps within the bounds.

    Where there is one value only the steps are counted from 0 to it.
    """
    if type_ is Type.INTEGER:
        return Fraction(1)
    limit, step = (high - low or abs(high) or Fraction(1)) / FEWEST_STEPS, Fraction(1)
    while step > limit:
        step /= 10
    while step * 10 <= limit:
        step *= 10
    return step
