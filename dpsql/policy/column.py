"""Columns: what is publicly promised of their values.

Tests: tests/unit/policy/test_model.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SkipValidation,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from dpsql.errors import InvariantBroken
from dpsql.limits import COARSEST_STEP, FARTHEST_STEP, MAX_LENGTH, UNBOUNDED_STEP, default_step
from dpsql.policy.section import ColumnName, Description, Section, exact, wrong

__all__ = ["Bound", "ColumnPolicy", "ColumnType", "Listed"]

ColumnType = Literal["integer", "real", "decimal", "boolean", "text", "date", "timestamp"]
Bound = int | Decimal | date | datetime
"""One bound: int for integers, Decimal for reals and decimals, date, or datetime without a zone."""
Listed = int | bool | str | date | datetime
"""One value of a declared domain, in the column's own type."""

_MOST_LENGTH = 100_000  # Letters of a text, at most. It is a choice: an engine works on 2,048 rows at once.
_NUMERIC = ("integer", "real", "decimal")
_ORDERED = (*_NUMERIC, "date", "timestamp")
_PAIR = {
    "oneOf": [
        {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["number", "string"]}},
        {"const": "auto"},
    ]
}
"""The JSON Schema of two bounds: numbers, or days as text; or auto."""
_LIST = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": ["number", "string", "boolean"]}}
"""The JSON Schema of the values of a column."""
_NUMBER = {"type": "number"}
_NUMBERS = {"type": "array", "minItems": 2, "maxItems": 2, "items": _NUMBER}  # The JSON Schema of two numbers.


class ColumnPolicy(Section):
    """What is public about one column: its type, and the bounds or the values that the view enforces."""

    type: ColumnType = Field(examples=["integer"])
    """integer, real, decimal, boolean, text, date or timestamp (without a time zone)."""
    description: Description | None = Field(default=None, examples=["Minutes from arrival to the first doctor"])
    """What it means, and its unit of measure, in one line of at most 500 characters. Whoever may ask reads it: it must
    tell of nobody."""
    bounds: Annotated[tuple[Bound, Bound], SkipValidation, WithJsonSchema(_PAIR)] | None = None
    """[low, high]: numbers outside are moved to the nearer bound, dates and timestamps outside read as NULL; or auto:
    those that `dpsql advise` finds. A day bounds timestamps at its midnight."""
    values: Annotated[tuple[Listed, ...], SkipValidation, WithJsonSchema(_LIST)] | None = None
    """Every value there is, each a group of its own even when it has no rows; others read as NULL."""
    values_from: ColumnName | None = None
    """table.column of a public table that lists the values."""
    nullable: bool = False
    """Whether NULL is one of the groups of a declared domain."""
    centre: Annotated[Decimal, SkipValidation, WithJsonSchema(_NUMBER)] | None = None
    """A typical value: a public guess, in the column's unit, used to make means more accurate."""
    spread: Annotated[Decimal, SkipValidation, WithJsonSchema(_NUMBER)] | None = None
    """A typical distance from it: a public guess, in the column's unit."""
    grid: Annotated[Decimal, SkipValidation, WithJsonSchema(_NUMBER)] | None = None
    """Sums are exact whole multiples of this step, in the column's unit."""
    scale: Annotated[tuple[Decimal, Decimal], SkipValidation, WithJsonSchema(_NUMBERS)] | None = None
    """[low, high]: how far apart typical values are, at least and at most; for means without bounds."""

    max_length: Annotated[int, Field(ge=1, le=_MOST_LENGTH)] | None = None
    """Letters of a text; what is longer is cut there. By default 1,000."""

    _auto: bool = PrivateAttr(default=False)  # bounds: auto

    # The validators below run after `type` is known: what a bound may be depends on it. They do all the
    # checking, so pydantic's own is skipped for those fields.

    @field_validator("bounds", mode="before")
    @classmethod
    def _read_bounds(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("type")
        if kind is None or value is None:
            return value
        if value == "auto":
            raise wrong(f"bounds: auto are found for numbers, and this is a {kind} column", "write [low, high]")
        if kind not in _ORDERED:
            raise wrong(f"a {kind} column has no bounds", "list its values: [...], or remove bounds")
        low, high = _pair(value, "[0, 100]")
        bounds = (_typed(kind, low, 0), _typed(kind, high, 1))
        if bounds[0] > bounds[1]:
            raise wrong(f"the low bound {low} is above the high bound {high}", f"write [{high}, {low}]")
        return bounds

    @field_validator("values", mode="before")
    @classmethod
    def _read_values(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("type")
        if kind is None or value is None:
            return value
        if kind in ("real", "decimal"):
            raise wrong(f"a {kind} column cannot list its values", "write bounds: [low, high]")
        if not isinstance(value, list | tuple) or not value:
            raise wrong("this is not a list of values", "write [first, second, ...]")
        listed = tuple(_typed(kind, entry, place) for place, entry in enumerate(value))
        seen = set[Any]()
        for place, entry in enumerate(listed):
            if entry in seen:
                raise wrong(f"{entry} is listed twice", "list each value once", place)
            seen.add(entry)
        return listed

    @field_validator("centre", "spread", "grid", mode="before")
    @classmethod
    def _read_number(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("type")
        if kind is None or value is None:
            return value
        if kind not in _NUMERIC:
            raise wrong(f"a {kind} column has no {info.field_name}", f"remove {info.field_name}")
        number = exact(value)
        if info.field_name != "centre" and number <= 0:
            raise wrong(f"{number} is not above 0", "write a number above 0")
        if info.field_name == "grid" and kind == "integer" and Fraction(number).denominator > 1:
            raise wrong(f"the grid {number} of an integer column is not a whole number", "write 1, or remove grid")
        return number

    @field_validator("scale", mode="before")
    @classmethod
    def _read_scale(cls, value: object, info: ValidationInfo) -> object:
        kind = info.data.get("type")
        if kind is None or value is None:
            return value
        if kind not in _NUMERIC:
            raise wrong(f"a {kind} column has no scale", "remove scale")
        low, high = (exact(entry) for entry in _pair(value, "[0.1, 100]"))
        if not 0 < low <= high:
            raise wrong("the two scales are not above 0 and in order", "write [low, high] with 0 < low <= high")
        return low, high

    @model_validator(mode="wrap")
    @classmethod
    def _reads_auto(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """``bounds: auto`` is no pair of bounds: the column has none until facts are there."""
        auto = isinstance(data, Mapping) and data.get("bounds") == "auto" and data.get("type") in _NUMERIC
        column = handler({key: value for key, value in data.items() if key != "bounds"} if auto else data)
        if auto:
            if column.values is not None or column.values_from is not None:
                raise wrong("bounds and values contradict each other", "keep one of them", "bounds")
            column._auto = True
        return column

    @property
    def auto(self) -> bool:
        """Whether the bounds are those that `dpsql advise` finds."""
        return self._auto

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        declared = [key for key in ("bounds", "values", "values_from") if getattr(self, key) is not None]
        if len(declared) > 1:
            raise wrong(f"{declared[0]} and {declared[1]} contradict each other", "keep one of them", declared[1])
        if self.values_from is not None and self.type in ("real", "decimal"):
            raise wrong(f"a {self.type} column cannot list its values", "write bounds: [low, high]", "values_from")
        if self.max_length is not None and self.type != "text":
            raise wrong(f"a {self.type} column has no max_length", "remove max_length", "max_length")
        if self.max_length is not None and declared:
            raise wrong(f"{declared[0]} says how long the texts are", "remove max_length", "max_length")
        if self.bounds is None or self.type not in _NUMERIC:
            return self
        low, high = self._numbers()
        if self.centre is not None and not low <= Fraction(self.centre) <= high:
            raise wrong(f"the centre {self.centre} is outside the bounds", "write a typical value inside", "centre")
        if max(abs(low), abs(high)) > FARTHEST_STEP * self.grid_step:
            raise wrong(
                "the bounds are more than 2^53 grid steps from 0",
                "write narrower bounds, or a coarser grid",
                "bounds" if self.grid is None else "grid",
            )
        return self

    @property
    def cut_at(self) -> int | None:
        """Letters of a text behind which it is cut; None where no text is."""
        open_text = self.type == "text" and self.values is None and self.values_from is None
        return (self.max_length or MAX_LENGTH) if open_text else None

    @property
    def grid_step(self) -> Fraction:
        """The step of which sums are exact multiples, in the column's unit.

        The declared ``grid``; else 1 for integers, and for others the largest power of ten that gives at least 2^20
        steps between the bounds, at most 0.01 where a real does not reach too far for it, or 1e-6 where there are no
        bounds.

        >>> ColumnPolicy(type="real", bounds=(0, 20000)).grid_step, ColumnPolicy(type="integer").grid_step
        (Fraction(1, 100), Fraction(1, 1))
        """
        if self.grid is not None:
            return Fraction(self.grid)
        if self.type not in ("real", "decimal"):
            return Fraction(1)
        if self.bounds is None:
            return UNBOUNDED_STEP
        step = default_step(*self._numbers())
        return min(step, COARSEST_STEP) if self.type == "decimal" else step

    def _numbers(self) -> tuple[Fraction, Fraction]:
        """The bounds of a numeric column as fractions, since arithmetic on Decimals rounds."""
        match self.bounds:
            case (int() | Decimal() as low, int() | Decimal() as high):
                return Fraction(low), Fraction(high)
            case _:
                raise InvariantBroken("a column without numeric bounds was asked for them")


def _pair(value: object, example: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise wrong("this is not a pair", f"write [low, high], such as {example}")
    return value


def _typed(kind: str, value: Any, place: int) -> Any:
    """The value as the column's type has it."""
    match kind:
        case "real" | "decimal":
            return exact(value)
        case "integer" if not isinstance(value, str | date | bool) and Fraction(exact(value)).denominator == 1:
            return int(value)
        case "boolean" if isinstance(value, bool):
            return value
        case "text" if isinstance(value, str) and value.isprintable():
            return value
        case "date" if isinstance(value, date) and not isinstance(value, datetime):
            return value
        case "timestamp" if isinstance(value, datetime) and value.tzinfo is None:
            return value
        case "timestamp" if isinstance(value, date) and not isinstance(value, datetime):
            return datetime.combine(value, time())  # as SQL casts a day: its midnight
    article, example = _EXAMPLES[kind]
    raise wrong(f"{value!s} is not {article}", f"write {example}", place)


_EXAMPLES = {
    "integer": ("a whole number", "digits, such as 42"),
    "boolean": ("true or false", "true or false, without quotes"),
    "text": ("printable text", "it in quotes, such as 'F'"),
    "date": ("a date", "year-month-day, such as 2024-01-31, without quotes"),
    "timestamp": (
        "a timestamp without time zone",
        "a day, or date and time, such as 2024-01-31 00:00:00, without quotes",
    ),
}
