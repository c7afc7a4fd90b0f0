"""The types of values, and what is publicly known of an expression's values."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

__all__ = [
    "DECLARED",
    "INTEGERS",
    "Awaited",
    "Facts",
    "Grid",
    "ListOf",
    "Parameters",
    "Passed",
    "Shown",
    "Type",
    "Value",
]

Value = None | bool | int | float | Decimal | str | date | datetime
"""A constant of the plan. Times of day carry no zone."""
Passed = Value | tuple[Value, ...]
"""What a parameter stands for: one value, or for ``= ANY(?)`` all values of a list."""
Parameters = Sequence[Value | UUID | Sequence[Value | UUID]] | Mapping[str, Value | UUID | Sequence[Value | UUID]]
"""What comes with a statement: a value for each ``?``, or a list of them; or for each ``$name``. A UUID is its text."""


class Type(enum.Enum):
    """The types of columns and expressions. ``decimal`` columns are read as REAL on their exact grid."""

    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    NULL = "null"

    @property
    def numeric(self) -> bool:
        """Whether arithmetic applies."""
        return self in (Type.INTEGER, Type.REAL)


@dataclass(frozen=True, slots=True)
class Awaited:
    """A parameter whose value is released before the statement that takes it runs.

    Attributes:
        name: What the release is found by.
        type: The value's type.
    """

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class ListOf:
    """The type of a column of an answer whose values are lists, such as several quantiles at once.

    Attributes:
        element: The type of what they hold.
    """

    element: Type

    @property
    def value(self) -> str:
        """Our word for it.

        >>> ListOf(Type.REAL).value
        'real[]'
        """
        return f"{self.element.value}[]"

    @property
    def numeric(self) -> bool:
        """Whether arithmetic applies: to its elements alone."""
        return False


Shown = Type | ListOf
"""The types of an answer's columns."""

DECLARED = {kind.value: kind for kind in Type if kind is not Type.NULL} | {"decimal": Type.REAL}
"""The types by the policy's words for them."""
INTEGERS: dict[str, tuple[int, int]] = {
    "tinyint": (-(2**7), 2**7 - 1),
    "smallint": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
    "utinyint": (0, 2**8 - 1),
    "usmallint": (0, 2**16 - 1),
    "uinteger": (0, 2**32 - 1),
}
"""The least and the largest number of each of DuckDB's types of whole numbers."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where released numbers of an expression lie: multiples of ``step`` from ``low * step`` to ``high * step``.

    Attributes:
        step: Grid step in the column's unit, > 0.
        low: Smallest value in steps (rounded outward).
        high: Largest value in steps (rounded outward).
    """

    step: Fraction
    low: int
    high: int

    @property
    def reach(self) -> int:
        """Largest absolute value in steps: what one added row can move a sum by."""
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is publicly known of an expression over one row.

    Attributes:
        type: Its type.
        low: Lower bound in the column's unit (numbers as Fraction, dates as themselves), or None.
        high: Upper bound, or None.
        nullable: Whether NULL can occur where the declarations hold.
        step: Grid step in the column's unit, or None where none is declared.
        centre: A typical value (the owner's public guess), or None.
        spread: A typical distance from it, or None.
        scale: The least and the largest distance to expect between values, or None.
    """

    type: Type
    low: Fraction | date | datetime | None = None
    high: Fraction | date | datetime | None = None
    nullable: bool = True
    step: Fraction | None = None
    centre: Fraction | None = None
    spread: Fraction | None = None
    scale: tuple[Fraction, Fraction] | None = None

    @property
    def bounded(self) -> bool:
        """Whether both bounds are known."""
        return self.low is not None and self.high is not None
