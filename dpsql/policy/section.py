"""What every section of a policy file is made of: closed mappings, plain names, exact numbers.

Tests: tests/unit/policy/test_classes.py, tests/unit/policy/test_metrics.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from dpsql.limits import LEAST_GIVEN_DELTA, LEAST_LOSS, LONGEST_DESCRIPTION, MOST_LOSS, MOST_ROWS

__all__ = [
    "Ceiling",
    "Chance",
    "ColumnName",
    "Count",
    "Description",
    "Duration",
    "FilePath",
    "Loss",
    "Name",
    "Number",
    "OwnName",
    "Positive",
    "Section",
    "amount",
    "exact",
    "fold",
    "seconds",
    "twins",
    "wrong",
]

_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,62}"
_LONGEST = 1000
"""Characters of a column's name in the source. It is a choice: far beyond any header."""
_DIGITS = 60
"""Decimal digits of a number. It is a choice: far beyond any measurement, yet few enough that no number in a policy
takes long to compute with."""
_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}
"""In seconds: the units of a time."""
_A_TO_Z = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
"""From each capital letter of ASCII to its small one, 32 further on."""


class Section(BaseModel):
    """A closed mapping: an unknown key, or a value of another type, is an error.

    What stands below a field in the source describes its key: `schema` reads it, and no other start pays for that. Nor
    for the readers of single sections: the policy's own is built of all of them, when a file is read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


def wrong(problem: str, remedy: str, *at: str | int) -> PydanticCustomError:
    """An error that says what is wrong and what to write instead.

    Args:
        problem: What is wrong.
        remedy: What to write instead.
        at: Where, as keys below the section whose validator raises it.
    """
    return PydanticCustomError("policy", "{message}", {"message": f"{problem}; {remedy}", "at": at})


def exact(value: object) -> Decimal:
    """The number, unrounded. A float is refused: 0.1 has already lost its value there.

    >>> exact(3), exact(Decimal("1e-9"))
    (Decimal('3'), Decimal('1E-9'))
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise wrong("this is not an exact number", "write digits, such as 0.5 or 1e-9, without quotes")
    number = Decimal(value)
    digits = number.as_tuple().digits
    if not number.is_finite() or len(digits) > _DIGITS or not -_DIGITS <= number.adjusted() <= _DIGITS:
        raise wrong(
            "this number is out of range", f"write at most {_DIGITS} digits, between 1e-{_DIGITS} and 1e{_DIGITS}"
        )
    return number


def fold(name: str) -> str:
    """The name as names are compared: A to Z and a to z are the same letters, and no others are.

    >>> fold("Visits"), fold("É")
    ('visits', 'É')
    """
    return name.translate(_A_TO_Z)


def twins(names: Iterable[str]) -> tuple[str, str] | None:
    """The first two names that differ in the case of their letters at most, or None.

    >>> twins(["age", "sex", "AGE"])
    ('age', 'AGE')
    """
    seen: dict[str, str] = {}
    for name in names:
        if fold(name) in seen:
            return seen[fold(name)], name
        seen[fold(name)] = name
    return None


def amount(text: object, units: Mapping[str, Fraction]) -> Fraction | None:
    """The amount in the unit that is 1, or None where the text is not a positive whole number and a unit."""
    match = re.fullmatch(rf"([1-9][0-9]{{0,8}}) ?({'|'.join(units)})", str(text))
    return units[match[2]] * int(match[1]) if match else None


def seconds(text: str) -> float:
    """A duration in seconds.

    >>> seconds("1500ms"), seconds("30min")
    (1.5, 1800.0)
    """
    return float(amount(text, _SECONDS) or 0)


def _duration(text: object) -> object:
    if amount(text, _SECONDS) is None:
        raise wrong(f"{text} is not a duration", "write a number and ms, s, min or h, such as 30s")
    return text


def _positive(value: object) -> Decimal:
    number = exact(value)
    if number <= 0:
        raise wrong(f"{number} is not above 0", "write a number above 0")
    return number


def _chance(value: object) -> Decimal:
    number = exact(value)
    if not 0 <= number < 1:
        raise wrong(f"{number} is not a probability", "write a number from 0 to below 1, such as 1e-6")
    return number


def _loss(value: object) -> Decimal:
    number = exact(value)
    if not LEAST_LOSS <= Fraction(number) <= MOST_LOSS:
        raise wrong(f"{number} is no price of a query", "write a number from 1e-9 to 1e6")
    return number


def _ceiling(value: object) -> Decimal:
    number = _chance(value)
    if 0 < Fraction(number) < LEAST_GIVEN_DELTA:
        raise wrong(f"{number} is no delta of a query", "write 0, or a number from 1e-18 to below 1, such as 1e-9")
    return number


def _name(value: str) -> str:
    if not re.fullmatch(_NAME, value):
        raise wrong(
            f"{value!r} is not a plain name",
            "write a letter or _, then letters, digits or _, at most 63 in all; a table's columns get such names under "
            "its rename, and tables in a view",
        )
    return value


def _own_name(value: str) -> str:
    if not 0 < len(value) <= _LONGEST:
        raise wrong(f"this is no name of {_LONGEST:,} characters at most", "write the column's name in the source")
    return value


def _described(value: str) -> str:
    if not value.strip() or not value.isprintable() or len(value) > LONGEST_DESCRIPTION:
        raise wrong(
            f"this is no line of plain text of {LONGEST_DESCRIPTION} characters at most",
            "write what all may know, in a line",
        )
    return value


def _column_name(value: str) -> str:
    if not re.fullmatch(rf"{_NAME}\.{_NAME}", value):
        raise wrong(f"{value!r} does not name a column", "write table.column, such as cities.name")
    return value


def _path(value: object) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value or not value.isprintable():
        raise wrong("this is not a path", "write a file name, such as hospital.duckdb")
    return Path(value)


Number = Annotated[Decimal, BeforeValidator(exact), WithJsonSchema({"type": "number"})]
Positive = Annotated[Decimal, BeforeValidator(_positive), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})]
Chance = Annotated[
    Decimal, BeforeValidator(_chance), WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 1})
]
Loss = Annotated[
    Decimal,
    BeforeValidator(_loss),
    WithJsonSchema({"type": "number", "minimum": float(LEAST_LOSS), "maximum": float(MOST_LOSS)}),
]
Ceiling = Annotated[
    Decimal, BeforeValidator(_ceiling), WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 1})
]
Duration = Annotated[
    str, BeforeValidator(_duration), WithJsonSchema({"type": "string", "pattern": "^[0-9]+ ?(ms|s|min|h)$"})
]
Count = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Name = Annotated[str, AfterValidator(_name), WithJsonSchema({"type": "string", "pattern": f"^{_NAME}$"})]
OwnName = Annotated[
    str, AfterValidator(_own_name), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": _LONGEST})
]
"""What the source calls a column: any text."""
Description = Annotated[
    str,
    AfterValidator(_described),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_DESCRIPTION}),
]
"""Words for whoever reads: nothing is computed from them."""
ColumnName = Annotated[
    str, AfterValidator(_column_name), WithJsonSchema({"type": "string", "pattern": rf"^{_NAME}\.{_NAME}$"})
]
FilePath = Annotated[Path, BeforeValidator(_path), WithJsonSchema({"type": "string", "minLength": 1})]
