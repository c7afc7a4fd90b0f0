"""Where an argument must lie for a function of it to have its values in a range: the days of a year, say.

It is found for functions that never fall as that argument rises (`Function.rises`), the others being constants, and are
NULL only where it is. Of such a function the values in a range are those of one stretch, whose ends are found by
halving. The function's own rule says what it is at a single moment, day or whole number, exactly.

Tests: tests/attacks/test_narrowed_bounds.py.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpsql.plan.functions.days import FIRST, LAST, clock
from dpsql.plan.functions.table import Nulls
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Apply, Column, Constant, Expression
from dpsql.plan.types import Type
from dpsql.plan.values.boxes import Box, Range, key_of, meet
from dpsql.plan.values.ranges import known_range
from dpsql.plan.values.steps import EXACT, NOTHING

__all__ = ["argument_within", "with_arguments"]


def with_arguments(box: Box) -> Box:
    """The same box, with where the arguments of its functions lie."""
    found = dict(box)
    for at, ends in box.items():
        while isinstance(at, Apply) and (within := argument_within(at, ends)) is not None:
            argument, ends = within
            if not isinstance(argument, Column | Apply):
                break
            at = key_of(argument)
            found[at] = meet(found[at] if at in found else known_range(argument), ends)
    return found


@lru_cache(maxsize=1024)  # Some hundred bytes each, by public facts alone: each value asks again.
def argument_within(applied: Apply, found: Range) -> tuple[Expression, Range] | None:
    """The argument of a function, and where it lies if the function's value is in a range; None where nothing is known.

    Args:
        applied: Of which the value is not NULL.
        found: Where it lies, as its type has it; or `NOTHING`.
    """
    function = applied.function
    moving = [at for at, argument in enumerate(applied.arguments) if not isinstance(argument, Constant)]
    if not function.rises or function.nulls is not Nulls.STRICT or len(moving) != 1:
        return None
    (at,) = moving
    argument, ranges = applied.arguments[at], [*map(known_range, applied.arguments)]
    if found is NOTHING:
        return argument, NOTHING
    kind = argument.facts.type
    least, most, open_below, open_above = _places(ranges[at], kind)
    wanted = (found.low, found.high) if isinstance(found, Interval) else found

    def value(place: int) -> Any:
        own = function.bounds((*ranges[:at], _at(place, kind), *ranges[at + 1 :]), (True,) * len(ranges))
        return own.low if isinstance(own, Interval) else own[0]

    if least > most:
        return None
    before, behind = value(least), value(most)
    if before is None or behind is None or before > behind:
        return None
    low = least if wanted[0] is None else _first(least, most, lambda place: value(place) >= wanted[0])
    high = most if wanted[1] is None else _first(least, most, lambda place: value(place) > wanted[1]) - 1
    if (low > most and open_above) or (high < least and open_below):
        return None  # it is met beyond the places that are looked at, if anywhere
    if low > high:
        return argument, NOTHING
    first, last = _at(low, kind), _at(high, kind)
    ends = (first.low, last.high) if kind is Type.INTEGER else (first[0], last[1])
    below, above = None if open_below and low == least else ends[0], None if open_above and high == most else ends[1]
    return argument, Interval(below, above) if kind is Type.INTEGER else (below, above)


def _first(least: int, most: int, holds: Callable[[int], bool]) -> int:
    """The first place at which it holds, from which on it does; one more than the most where it never does."""
    most += 1
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if holds(middle) else (middle + 1, most)
    return least


def _places(known: Range, kind: Type) -> tuple[int, int, bool, bool]:
    """The first and the last value of an argument that is looked at, numbered, and whether it may lie below, and above:
    whole numbers, days, or microseconds."""
    if kind is Type.INTEGER:
        seen = known.clipped(Fraction(-EXACT), Fraction(EXACT))
        return int(seen.low), int(seen.high), seen.low != known.low, seen.high != known.high
    low, high = known[0] or FIRST, known[1] or LAST
    places = (low.toordinal(), high.toordinal()) if kind is Type.DATE else (clock(low), clock(high))
    return *places, known[0] is None, known[1] is None


def _at(place: int, kind: Type) -> Range:
    """The range of one value alone."""
    if kind is Type.INTEGER:
        return Interval.point(place)
    moment = date.fromordinal(place) if kind is Type.DATE else FIRST + timedelta(microseconds=place)
    return moment, moment
