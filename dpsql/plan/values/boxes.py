"""What is known of the columns of some rows: a range for each of them, and how such ranges meet and join.

Tests: tests/attacks/test_narrowed_bounds.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from dpsql.plan.functions.rules import hull
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Apply, Column
from dpsql.plan.values.steps import NOTHING

__all__ = ["Box", "Difference", "Key", "Range", "Value", "all_of", "any_of", "join", "key_of", "meet"]

Range = Any
"""An `Interval` of numbers, or a `Span` of dates."""

Value = tuple[str, str] | Apply
"""A column, by alias and name, or a function of columns."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One value less another, in microseconds where they are days or moments (`plan.values.differences`)."""

    one: Value
    other: Value


Key = Value | Difference
"""What a range is known of."""

Box = Mapping[Key, Range]
"""Columns, functions of them and differences to the range of values that are not NULL; all where unnamed."""


def key_of(compared: Column | Apply) -> Value:
    """What a column or a function is known by."""
    return compared if isinstance(compared, Apply) else (compared.alias, compared.name)


def all_of(boxes: Sequence[Box | None]) -> Box | None:
    """Where all boxes meet; None where one of them has no row."""
    met: dict[Key, Range] = {}
    for box in boxes:
        if box is None:
            return None
        for at, found in box.items():
            met[at] = meet(met[at], found) if at in met else found
    return met


def any_of(boxes: Sequence[Box | None]) -> Box | None:
    """The smallest box that holds all; None where none of them has a row."""
    held = [box for box in boxes if box is not None]
    if not held:
        return None
    return {at: reduce(join, [box[at] for box in held]) for at in held[0] if all(at in box for box in held)}


def meet(one: Range, other: Range) -> Range:
    """Where both ranges lie."""
    if one is NOTHING or other is NOTHING:
        return NOTHING
    pairs = (
        [(one.low, other.low), (one.high, other.high)] if isinstance(one, Interval) else zip(one, other, strict=True)
    )
    low, high = (
        choose((end for end in pair if end is not None), default=None)
        for choose, pair in zip((max, min), pairs, strict=True)
    )
    if low is not None and high is not None and low > high:
        return NOTHING
    return Interval(low, high) if isinstance(one, Interval) else (low, high)


def join(one: Range, other: Range) -> Range:
    """The smallest range that holds both."""
    if one is NOTHING or other is NOTHING:
        return other if one is NOTHING else one
    return hull((one, other))
