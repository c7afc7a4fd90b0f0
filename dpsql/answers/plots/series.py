"""An answer as pictures see it: its columns with their roles, as numbers and as words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from dpsql.answers.shown.ends import distinct
from dpsql.answers.shown.screen import Ends, plain, safe
from dpsql.given import kind_given
from dpsql.plan.over_answers.roles import ColumnRole
from dpsql.plan.types import Shown, Type

__all__ = ["Seen", "Series", "number_of", "seen", "units_given", "words"]

MOST_MARKS = 32
"""In characters: a longer name is cut. A choice: a third of a picture's width."""


@dataclass(frozen=True, slots=True)
class Series:
    """One column.

    Attributes:
        name: What it is called.
        type: Of its values.
        role: What it is in the answer.
        values: One a row.
        ends: Its intervals, one a row; empty where it has none.
        unit: What its values are counted in, such as ``kg``; '' where nobody says.
    """

    name: str
    type: Shown
    role: ColumnRole
    values: Sequence[Any]
    ends: Sequence[Ends]
    unit: str = ""

    @property
    def named(self) -> str:
        """Name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def title(self) -> str:
        """Name and unit, for a picture."""
        return words(self.named)

    def numbers(self, rows: Sequence[int]) -> list[float]:
        """The values of some rows; NaN where there is none."""
        return [number_of(self.values[row]) for row in rows]

    def intervals(self, rows: Sequence[int]) -> list[tuple[float, float] | None]:
        """The intervals of some rows, infinite where they have no bound; None where nothing is known of one."""
        return [self._interval(row) for row in rows]

    def _interval(self, row: int) -> tuple[float, float] | None:
        low, high = self.ends[row] if self.ends else (None, None)
        if self.values[row] is None or (low is None and high is None):
            return None
        return (-math.inf if low is None else float(low), math.inf if high is None else float(high))

    def label(self, row: int) -> str:
        """The value of a row, in words."""
        return words(plain(self.values[row]))


@dataclass(frozen=True)
class Seen:
    """What is drawn.

    Attributes:
        keys: What tells rows apart.
        values: Numbers to draw; at least one.
        count: How many rows.
    """

    keys: tuple[Series, ...]
    values: tuple[Series, ...]
    count: int

    @cached_property
    def axis(self) -> Series | None:
        """The key along which a picture runs: time, else numbers, else what has most values; of equals the last."""
        several = [key for key in self.keys if len(set(key.values)) > 1] or self.keys
        return max(reversed(several), key=lambda key: (_order(key), len(set(key.values))), default=None)

    @cached_property
    def panels(self) -> dict[str, list[int]]:
        """The rows of each picture: one for each set of the other keys' values, in the order of the answer."""
        others = [key for key in self.keys if key is not self.axis]
        found: dict[tuple[Any, ...], list[int]] = {}
        for row in range(self.count):
            found.setdefault(tuple(key.values[row] for key in others), []).append(row)
        titles = [
            ", ".join(f"{key.named}: {plain(own)}" for key, own in zip(others, values, strict=True)) for values in found
        ]
        return dict(zip(distinct(titles), found.values(), strict=True))  # NULL, and a text that reads so, are two

    @cached_property
    def ordered(self) -> bool:
        """Whether the axis is one of numbers or times, with one row at most at each place of a panel."""
        axis = self.axis
        if axis is None or not _order(axis) or len({value for value in axis.values if value is not None}) < 2:
            return False
        return all(len({axis.values[row] for row in rows}) == len(rows) for rows in self.panels.values())


def seen(columns: Sequence[Series]) -> Seen:
    """The columns by what they are. Where none holds noise, numbers are drawn by what is none, or by the first column.

    The values are empty where there is no number.
    """
    count = len(columns[0].values) if columns else 0
    values = [own for own in columns if own.role.barred and own.role is not ColumnRole.DATE]
    keys = [own for own in columns if own.role is ColumnRole.KEY]
    if not values:
        values = [own for own in keys if own.type.numeric]
        keys = [own for own in keys if not own.type.numeric]
        if not keys and len(values) > 1:
            keys, values = values[:1], values[1:]
        if keys and len(set(keys[0].values)) == count:
            keys = keys[:1]  # it tells all rows apart
    return Seen(tuple(keys), tuple(values), count)


def words(text: str, most: int = MOST_MARKS) -> str:
    """Text for a picture: safe, cut to so many characters, and never read as a formula.

    >>> words("a very long name of a group of people")
    'a very long name of a group of …'
    >>> words("$5")
    '\\\\$5'
    """
    shown = safe(text)
    shown = shown if len(shown) <= most else f"{shown[: most - 1]}…"
    return shown.replace("$", r"\$")


def number_of(value: Any) -> float:
    """A value as a place on an axis; NaN where it has none. Times are days since the beginning of 1970."""
    match value:
        case None | str():
            return math.nan
        case datetime():
            return (value - datetime(1970, 1, 1)).total_seconds() / 86_400
        case date():
            return float((value - date(1970, 1, 1)).days)
        case _:
            number = float(value)
            return number if math.isfinite(number) else math.nan


def _order(key: Series) -> int:
    return 2 if key.type in (Type.DATE, Type.TIMESTAMP) else int(key.type.numeric)


def units_given(units: Mapping[str, str] | None) -> Mapping[str, str]:
    """What columns are counted in, by their names.

    Raises:
        ProgrammingError: It is no mapping.
    """
    kind_given(units or {}, Mapping, "units", "Write a mapping such as {'weight': 'kg'}.")
    return units or {}
