"""How a CSV file writes what it holds: days, numbers, booleans, and values that are not there.

The names are those of DuckDB's ``read_csv``, and ``true_values`` and ``false_values`` those of pandas. They say how one
text is read, never which lines there are: one person's line must not change how another's is read.

Tests: tests/unit/owner/test_csv_texts.py.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from dpsql.policy.section import Section, wrong

__all__ = ["CsvPolicy"]

_LONGEST = 100  # Characters of a text or a format here. It is a choice: far beyond any.
_DAY = frozenset("YymdbBjaA")
_CLOCK = frozenset("HIMSfgnp")
"""What stands behind a % in formats of DuckDB: parts of days, and of times. Those of zones are none: a text with an
offset is read without a format."""
_SHORT = frozenset("ymdjHIMS")
"""Those of them that may be without leading zeros, as %-d: with any other one a refresh would fail."""


def _format(text: str, known: frozenset[str]) -> str:
    parts = re.findall("%(-?)(.?)", text)
    read = all(sign in (_SHORT & known if short else known | {"%"}) for short, sign in parts)
    if len(text) > _LONGEST or not text.isprintable() or not read:
        names = ", ".join(f"%{sign}" for sign in sorted(known))
        raise wrong(f"{text!r} is no format of days or times", f"write one of {names}, such as %d.%m.%Y")
    signs = {sign for _, sign in parts}
    if not signs & {"Y", "y"} or not ("j" in signs or ("d" in signs and signs & {"m", "b", "B"})):
        raise wrong(f"{text!r} names no whole day", "write its year, month and day, such as %d.%m.%Y")
    return text


def _dateformat(text: str) -> str:
    return _format(text, _DAY)


def _timestampformat(text: str) -> str:
    return _format(text, _DAY | _CLOCK)


def _word(text: str) -> str:
    if not 0 < len(text) <= _LONGEST or not text.isprintable():
        raise wrong(
            f"this is no text of 1 to {_LONGEST} characters", "write one as it stands in the file, such as NULL"
        )
    return text


_Word = Annotated[str, AfterValidator(_word), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": _LONGEST})]
_Words = Annotated[tuple[_Word, ...], Field(strict=False, min_length=1, max_length=_LONGEST)]


class CsvPolicy(Section):
    """How a CSV file writes what it holds, in the words of DuckDB's read_csv."""

    nullstr: _Words | None = Field(default=None, examples=[["NULL", "-"]])
    """Texts that stand for NULL in every column, beside an empty one."""
    dateformat: Annotated[str, AfterValidator(_dateformat)] | None = Field(default=None, examples=["%d.%m.%Y"])
    """How columns of type date are written; by default as 2024-12-31."""
    timestampformat: Annotated[str, AfterValidator(_timestampformat)] | None = Field(
        default=None, examples=["%d.%m.%Y %H:%M"]
    )
    """How columns of type timestamp are written; by default as 2024-12-31 23:59:00."""
    decimal_separator: Literal[",", "."] = "."
    """What stands before the decimals of numbers."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """What may stand between the thousands of numbers; a space is any narrow or no-break one, too."""
    true_values: _Words | None = Field(default=None, examples=[["ja"]])
    """Texts that are true in columns of type boolean, beside true, t, yes, y, 1 and 1.0."""
    false_values: _Words | None = Field(default=None, examples=[["nein"]])
    """Texts that are false in columns of type boolean, beside false, f, no, n, 0 and 0.0."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.thousands == self.decimal_separator:
            raise wrong("thousands and decimals have one sign", "write another one for thousands", "thousands")
        lists = [("nullstr", self.nullstr), ("true_values", self.true_values), ("false_values", self.false_values)]
        seen = set[str]()
        for name, words in lists:
            for word in words or ():
                if word in seen:
                    raise wrong(f"{word!r} stands here for two values", "name it once", name)
                seen.add(word)
        return self

    @property
    def options(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What is not read as it would be without: each option's name and texts."""
        found = []
        for name in sorted(self.model_fields_set):
            value = getattr(self, name)
            if value is not None and (name, value) != ("decimal_separator", "."):
                found.append((name, value if isinstance(value, tuple) else (value,)))
        return tuple(found)
