"""What stands in one column of made-up rows: at the bounds, far beyond them, of each group, or nothing at all.

Tests: tests/unit/audit/test_made_up.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpsql.policy.column import ColumnPolicy

__all__ = ["KINDS", "ColumnValues", "distinct", "everywhere", "made_of", "value_of"]

STEPS = 12
"""Ordinary numbers are so many steps from bound to bound. It is a choice: enough that most rows differ."""
FAR: Mapping[str, Any] = {"integer": 2**62, "real": 1e300, "decimal": Decimal(10**20)}
"""Numbers far beyond any bound, in a column's own type."""
FIRST = date(2024, 1, 1)
"""Days and moments without bounds begin here."""
COMMON = ("common 0", "common 1", "common 2")
"""Open texts that many units share."""


@dataclass(frozen=True)
class ColumnValues:
    """What a column may hold.

    Attributes:
        name: The column's name: what is rare in it bears it.
        spread: Values it may well have: of numbers, days and moments from the low bound to the high one; all those
            that are declared; of open texts some that many units share.
        number: Whether it is a number that may be added up.
        heavy: The farther bound of a number, or the last value.
        beyond: Farther than that, on the same side.
        open: Whether any text may stand there.
        nullable: Whether NULL is one of its groups.
    """

    name: str
    spread: Sequence[Any]
    number: bool
    heavy: Any
    beyond: Any
    open: bool
    nullable: bool = False


def made_of(name: str, column: ColumnPolicy, listed: Sequence[Any] | None) -> ColumnValues:
    """What a column may hold.

    Args:
        name: Its name.
        column: What the policy says of it.
        listed: The values of its domain, where they are declared or a public table has them.
    """
    if column.type == "boolean":
        listed = (False, True)
    if listed is not None:
        return ColumnValues(name, listed, False, listed[-1], listed[-1], False, column.nullable)
    if column.type == "text":
        return ColumnValues(name, COMMON, False, "unheard of", "unheard of", True)
    ends: tuple[Any, Any] = column.bounds or _anything(column)
    if column.type == "date":
        days = (ends[1] - ends[0]).days
        spread = [ends[0] + timedelta(days=days * at // STEPS) for at in range(STEPS + 1)]
        return ColumnValues(name, spread, False, ends[1], ends[1], False)
    if column.type == "timestamp":
        spread = [ends[0] + (ends[1] - ends[0]) * at // STEPS for at in range(STEPS + 1)]
        return ColumnValues(name, spread, False, ends[1], ends[1], False)
    low, high = map(Fraction, ends)
    numbers = [_typed(column, low + (high - low) * at / STEPS) for at in range(STEPS + 1)]
    far = FAR[column.type]
    return (
        ColumnValues(name, numbers, True, numbers[-1], far, False)
        if abs(high) >= abs(low)
        else ColumnValues(name, numbers, True, numbers[0], -far, False)
    )


def _anything(column: ColumnPolicy) -> tuple[Any, Any]:
    """Where values of a column without bounds lie."""
    return (_moment(column, 0), _moment(column, 300)) if column.type in ("date", "timestamp") else (-5, 20)


def _moment(column: ColumnPolicy, days: int) -> date:
    day = FIRST + timedelta(days=days)
    return day if column.type == "date" else datetime(day.year, day.month, day.day)


def _typed(column: ColumnPolicy, value: Fraction) -> Any:
    """A number on the column's grid, in its type."""
    whole = Fraction(math.floor(value / column.grid_step)) * column.grid_step
    match column.type:
        case "integer":
            return int(whole)
        case "decimal":
            return Decimal(whole.numerator) / Decimal(whole.denominator)
    return float(whole)


def _each(values: ColumnValues, at: int) -> Any:
    """One value after the other, and NULL where it is a group."""
    own = [*values.spread, None] if values.nullable else values.spread
    return own[at % len(own)]


def _group(values: ColumnValues, at: int) -> Any:
    """One of the groups that many units are in: not the last declared one, which somebody has alone."""
    return values.spread[at % max(1, len(values.spread) - (0 if values.open else 1))]


def everywhere(values: ColumnValues, unit: int, at: int) -> Any:
    """What stands in a row of one who is in as many groups as there are, and shares them."""
    return f"common {at}" if values.open else _each(values, unit + at)


Kind = Callable[[ColumnValues, int], Any]
"""The value of a column in the row of that place."""

WILD = (math.nan, math.inf, -math.inf, -0.0)


def _heaviest(values: ColumnValues, at: int) -> Any:
    if values.number:
        return values.beyond
    return f"rare {values.name} {at}" if values.open else _each(values, at)


def _wild(values: ColumnValues, at: int) -> Any:
    return WILD[at % len(WILD)] if values.number and isinstance(values.heavy, float) else _group(values, at)


KINDS: Mapping[str, Kind] = {
    "the heaviest": _heaviest,
    "at the upper bounds": lambda values, at: values.spread[-1] if values.number else values.spread[0],
    "at the lower bounds": lambda values, at: values.spread[0],
    "in every group": lambda values, at: values.heavy if values.number else everywhere(values, 0, at),
    "alone in its group": lambda values, at: values.heavy,
    "NULLs alone": lambda values, at: None,
    "NaN and infinities": _wild,
}
"""The units that come and go: each name to what stands in the rows of such a unit."""


def value_of(values: ColumnValues, unit: int, at: int) -> Any:
    """What stands in a row of an ordinary unit."""
    return _each(values, unit + at) if values.number else _group(values, unit + at)


def distinct(column: ColumnPolicy | None, listed: Sequence[Any] | None, at: int) -> tuple[Any, int]:
    """A value of a key's column for that number, and how many such values there are at most, or 0 for any number."""
    if listed is not None:
        return listed[at % len(listed)], len(listed)
    if column is None or (column.type == "integer" and column.bounds is None):
        return at, 0
    if column.type == "text":
        return f"key {at}", 0
    if column.type == "boolean":
        return bool(at % 2), 2
    ends: tuple[Any, Any] = column.bounds or _anything(column)
    if column.type == "integer":
        size = ends[1] - ends[0] + 1
        return ends[0] + at % size, size
    return ends[0] + timedelta(days=at), 0
