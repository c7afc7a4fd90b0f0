"""How far two values of a row are apart, by conditions that compare them, and what their differences can then be.

``discharged >= admitted`` says that ``date_diff('hour', admitted, discharged)`` is no less than 0, and ``discharged <=
admitted + INTERVAL 30 DAY`` that it is at most 720. What is known of two values is one range: of numbers as they are
subtracted, and of days and moments of the microseconds between them, a day being its midnight.

* Whole numbers and days are steps apart, so that one which is greater is greater by a step. Of real numbers the
  greater one less the other is no less than 0 however it is rounded, and the other less the greater is its opposite.
* Boundaries of units that are between ``least`` and ``most`` long: a stretch of ``most`` has one at least, so that in
  d >= 0 of time there are at least floor(d / most). From the first to the last of k it is (k - 1) least or more, and
  the first lies behind the start, so that there are at most ceil(d / least). Backwards both hold with a minus.
* Complete units: d >= q most has q of them, and they are no more than the boundaries. Weeks are counted as sevenths of
  days, complete. So both hold for these too.
* The other way round: k >= 1 boundaries or complete units take more than (k - 1) least. Where k <= 0, the end lies less
  than (1 - k) most before the start.

Tests: tests/attacks/test_narrowed_bounds.py, tests/unit/plan/values/test_differences.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpsql.plan.functions.table import Nulls
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.nodes import Apply, Column, Constant, Expression
from dpsql.plan.types import Type
from dpsql.plan.values.boxes import Box, Difference, Key, Range, Value, key_of, meet
from dpsql.plan.values.ranges import DATED
from dpsql.plan.values.steps import NOTHING

__all__ = ["by_comparison", "in_other_names", "of_difference", "with_differences"]

DAY = 86_400_000_000  # In microseconds.
LENGTHS = {
    "microsecond": (1, 1),
    "millisecond": (1_000, 1_000),
    "second": (1_000_000, 1_000_000),
    "minute": (60_000_000, 60_000_000),
    "hour": (3_600_000_000, 3_600_000_000),
    "day": (DAY, DAY),
    "week": (7 * DAY, 7 * DAY),
    "month": (28 * DAY, 31 * DAY),
    "quarter": (90 * DAY, 92 * DAY),
    "year": (365 * DAY, 366 * DAY),
}
"""How many microseconds each unit has at least, and at most."""
COUNTS = frozenset({"date_diff", "datediff", "date_sub", "datesub"})
MOVES = {"add:days": DAY, "add:seconds": 1_000_000}  # By how many microseconds each moves for 1.

Sides = tuple[Difference, int, int | None]
"""A difference of two values, what is added to it, and the step on which the two lie apart; None for real numbers."""


def by_comparison(sign: str, one: Expression, other: Expression) -> Box:
    """How far two values are apart for which a comparison is true: each less the other."""
    sides = _sides(one, other)
    if sides is None or sign == "<>":
        return {}
    difference, moved, step = sides
    if sign in ("<", "<="):
        return by_comparison(">" if sign == "<" else ">=", other, one)
    low = Fraction(-moved)
    if step is not None:
        low = Fraction(step * (math.floor(low / step) + 1 if sign == ">" else math.ceil(low / step)))
    if sign != "=":
        return _both({}, difference, Interval(low, None))
    return _both({}, difference, Interval.point(low) if low == -moved else NOTHING)


def with_differences(box: Box) -> Box:
    """The same box, with how far the two values are apart of which it has a difference."""
    found = dict(box)
    for at, ends in box.items():
        if isinstance(at, Apply) and isinstance(ends, Interval) and (read := _read(at)) is not None:
            (difference, moved, step), unit = read
            apart = ends if unit is None else Interval(_from(ends.low, unit, 1), _from(ends.high, unit, -1))
            _both(found, difference, _on(apart - Interval.point(moved), step))
    return found


def of_difference(expression: Apply, box: Box) -> Range:
    """Where a difference lies by how far its two values are apart; everywhere where nothing is known of that."""
    read = _read(expression)
    found = EVERYTHING if read is None else box.get(read[0][0], EVERYTHING)
    if read is None or not isinstance(found, Interval):
        return EVERYTHING
    (_, moved, _), unit = read
    apart = found + Interval.point(moved)
    return apart if unit is None else Interval(_into(apart.low, unit, math.floor), _into(apart.high, unit, math.ceil))


def in_other_names(box: Box, names: dict[Value, Value]) -> Box:
    """The differences of a box between values that have other names above."""
    return {
        Difference(names[at.one], names[at.other]): ends
        for at, ends in box.items()
        if isinstance(at, Difference) and at.one in names and at.other in names
    }


def _both(box: dict[Key, Range], at: Difference, apart: Range) -> Box:
    """Puts it into a box, and its opposite."""
    opposite = Difference(at.other, at.one), NOTHING if apart is NOTHING else -apart
    for key, ends in ((at, apart), opposite):
        box[key] = meet(box[key], ends) if key in box else ends
    return box


def _on(apart: Interval, step: int | None) -> Interval:
    """The part of it between the first and the last step that lie in it."""
    if step is None:
        return apart
    return Interval(
        None if apart.low is None else Fraction(math.ceil(apart.low / step) * step),
        None if apart.high is None else Fraction(math.floor(apart.high / step) * step),
    )


def _sides(one: Expression, other: Expression) -> Sides | None:
    """Two values that are subtracted or compared; None where one is a constant, or both are texts, say."""
    (first, ahead), (second, behind) = _unmoved(one), _unmoved(other)
    if not isinstance(first, Column | Apply) or not isinstance(second, Column | Apply):
        return None
    kinds = first.facts.type, second.facts.type
    if kinds[0] not in DATED and (kinds[0] is not kinds[1] or not kinds[0].numeric):
        return None
    if kinds[0] in DATED and kinds[1] not in DATED:
        return None
    steps = {Type.INTEGER: 1, Type.REAL: None}
    step = steps[kinds[0]] if kinds[0].numeric else DAY if kinds == (Type.DATE, Type.DATE) else 1
    return Difference(key_of(first), key_of(second)), ahead - behind, step


def _unmoved(value: Expression) -> tuple[Expression, int]:
    """What a constant is added to, surely without a NULL, and how much: whole numbers, or microseconds."""
    moved = 0
    while isinstance(value, Apply) and value.function.nulls is Nulls.STRICT:
        name, kind = value.function.name, value.facts.type
        match value.arguments:
            case (argument,) if name == "cast:timestamp" and argument.facts.type is Type.DATE:
                value = argument
            case (argument, Constant(value=int() as count)) if name in MOVES:
                value, moved = argument, moved + count * MOVES[name]
            case (argument, Constant(value=int() as count)) if name in ("+", "-") and kind in (Type.INTEGER, Type.DATE):
                by = count * (DAY if kind is Type.DATE else 1)
                value, moved = argument, moved + (by if name == "+" else -by)
            case _:
                break
    return value, moved


def _read(expression: Apply) -> tuple[Sides, tuple[int, int] | None] | None:
    """The two values of a difference, and how long its unit is if it counts time; None for any other function."""
    name = expression.function.name
    match expression.arguments:
        case (one, other) if name == "-":
            sides = _sides(one, other)
            days = one.facts.type is Type.DATE
            return None if sides is None else (sides, LENGTHS["day"] if days else None)
        case (Constant(value=str() as unit), start, end) if name in COUNTS:
            sides = _sides(end, start)
            return None if sides is None else (sides, LENGTHS[unit.lower()])
    return None


def _from(count: Fraction | None, unit: tuple[int, int], way: int) -> Fraction | None:
    """How far apart two moments are at least (1) or at most (-1) between which so many units are counted."""
    if count is None:
        return None
    least, most = unit
    own = count * way
    return way * ((own - 1) * (least if own >= 1 else most) + 1)


def _into(apart: Fraction | None, unit: tuple[int, int], rounded: Any) -> Fraction | None:
    """How many units are counted between two moments that are at least (floor) or at most (ceil) so far apart."""
    if apart is None:
        return None
    least, most = unit
    longest = (apart >= 0) is (rounded is math.floor)
    return Fraction(rounded(apart / (most if longest else least)))
