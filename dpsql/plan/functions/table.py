"""What one row of the allow-list says, and how rows are written."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.types import Type, Value

__all__ = [
    "BOOLEAN",
    "DATE",
    "INTEGER",
    "INTEGER_LIMIT",
    "REAL",
    "REAL_LIMIT",
    "TEXT",
    "TIMESTAMP",
    "Check",
    "Function",
    "Length",
    "Nulls",
    "Span",
    "Spelt",
    "Work",
    "within",
]

INTEGER_LIMIT = 2**62
"""As a whole number: results beyond could overflow BIGINT, so that such integers are computed as reals instead."""
REAL_LIMIT = 10**300  # As a real number: results beyond could become infinite, and are refused.

INTEGER, REAL, TEXT, BOOLEAN = Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN
DATE, TIMESTAMP = Type.DATE, Type.TIMESTAMP

Span = tuple[date | datetime | None, date | datetime | None]
"""First and last day or moment; None where unknown."""

Length = tuple[int, int]
"""(a, b): a text is at most a times as long as the longest text in the row, plus b characters."""

Work = Callable[[Sequence[int], Sequence[Value]], int]
"""How long a function takes, from how many letters its arguments have, and from the constants among them."""

Check = Callable[[Any], str | None]
"""What is wrong with a constant, or None."""


class Nulls(enum.Enum):
    """When a function is NULL."""

    STRICT = "NULL when an argument is"
    ONLY = "NULL only when an argument is"
    NEVER = "never NULL"
    ALL = "NULL when all arguments are"
    MAY = "NULL when an argument is, and where it has no value"
    OPEN = "NULL where it says so, whatever the arguments"


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """One row of the allow-list: one function at one signature, and one way to run it.

    Attributes:
        name: How the analyst writes it, lower case; with a colon where SQL has its own form (``cast:date``).
        parameters: Types of its arguments; the last repeats when ``variadic``.
        result: Type of its value.
        sql: What it computes: ``{0}`` the first argument, ``{*}`` all, ``{rest}`` all but the first. Words in capitals
            and signs are SQL that every database has; a call of a lower-case name is a primitive, which a dialect
            spells (`dpsql.engine.dialect`). It must be total: an error or a NaN would tell of a row.
        written: How the analyst writes it, in the same form; DuckDB's own reading of that is what it means.
        variadic: Whether the last parameter may repeat.
        constants: Arguments that must be constants, each with what is checked of it; a sequence of texts lists them.
        interval: Bounds of the value from the ranges of the arguments: an `Interval` for each number, a `Span` for
            each date, the text of each constant text. None bounds nothing. A function that is NULL only when all
            arguments are takes ``(ranges, certain)``: any argument that is not certain may be NULL.
        saturated: The same where columns without declared bounds take their engine's ends; None: as ``interval``.
        grows: Whether this form may run only where the result provably stays in its type.
        needs: What the ranges must prove for this form to run; the next row of the same name is tried otherwise.
        length: Bounds of the result's length from the arguments' lengths and constants; None: it lengthens nothing.
        work: Nanoseconds that it takes at most, from the letters of its arguments and the constants. None: as long as
            most do, for each letter (`plan.rows.unit_work`).
        nulls: When it is NULL.
        has_value: Of one that may be NULL where no argument is: what the ranges must prove so that it is not. None:
            nothing proves it.
        rises: Whether it never falls, or never rises, as any one argument rises and the others are constants, its
            ``interval`` being exact for single values.
        step: The grid its numbers lie on, where that is known.
        texts: Whether integers, booleans and dates stand for their text, as in ``concat('no. ', 7)``.
        departs: Where it is NULL though DuckDB has an error or another value; empty where nowhere.
        copies: How often each parameter stands in ``sql``.
    """

    name: str
    parameters: tuple[Type, ...]
    result: Type
    sql: str
    written: str = ""
    variadic: bool = False
    constants: Mapping[int, Check | Sequence[str]] = field(default_factory=dict)
    interval: Callable[..., Any] | None = None
    saturated: Callable[..., Any] | None = None
    grows: bool = False
    needs: Callable[..., bool] | None = None
    length: Callable[[Sequence[Length], Sequence[Value]], Length] | None = None
    work: Work | None = None
    nulls: Nulls = Nulls.STRICT
    has_value: Callable[..., bool] | None = None
    rises: bool = False
    step: Fraction | None = None
    texts: bool = False
    departs: str = ""
    copies: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        counts = (max(1, self.sql.count(f"{{{index}}}")) for index in range(len(self.parameters)))
        object.__setattr__(self, "copies", tuple(counts))

    def takes(self, count: int) -> bool:
        """Whether it can have this many arguments."""
        return count >= len(self.parameters) if self.variadic else count == len(self.parameters)

    def parameter(self, index: int) -> Type:
        """Type of one argument."""
        return self.parameters[min(index, len(self.parameters) - 1)]

    def bounds(self, ranges: tuple[Any, ...], certain: tuple[bool, ...], *, hard: bool = False) -> Any:
        """Bounds of its value from the ranges of its arguments; ``certain`` says which can never be NULL."""
        rule = self.saturated if hard and self.saturated is not None else self.interval
        if rule is None:
            return (None, None) if self.result in (DATE, TIMESTAMP) else EVERYTHING
        found = rule(ranges, certain) if self.nulls is Nulls.ALL else rule(*ranges)
        return found.settled if isinstance(found, Interval) else found

    @property
    def spelling(self) -> str:
        """How the analyst writes it: ``written``, or a plain call."""
        if self.written:
            return self.written
        arguments = "{*}" if self.variadic else ", ".join(f"{{{i}}}" for i in range(len(self.parameters)))
        return f"{self.name}({arguments})"


@dataclass(frozen=True, slots=True)
class Spelt:
    """How much a database's words for a function have it do.

    Attributes:
        copies: How often each parameter stands in them.
        calls: How many functions they call, where DuckDB's words call one.
        work: Nanoseconds that it takes there, as `Function.work`; None: as long as the function itself says.
    """

    copies: Sequence[int]
    calls: int
    work: Work | None = None

    @classmethod
    def as_written(cls, function: Function) -> Spelt:
        """Of a database that has all primitives as functions of its own."""
        return cls(function.copies, 1)


def within(low: int, high: int) -> Check:
    """A check that a constant lies between two whole numbers."""
    return lambda value: None if low <= value <= high else f"must lie between {low} and {high}"
