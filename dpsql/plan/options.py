"""What may stand in OPTIONS, in SET and in keyword arguments: names, ranges, and which one wins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpsql.errors import ProgrammingError
from dpsql.plan.expressions import nearest

__all__ = ["LATER", "NAMES", "Options", "read_clause", "read_options"]

STRATEGIES = ("LAPLACE_THRESHOLD", "PUBLIC_GROUPS")


@dataclass(frozen=True, slots=True)
class Options:
    """Options in force for one statement; None where nothing was said.

    Attributes:
        epsilon: Price of the whole statement.
        delta: Ceiling on delta.
        rho: Price of the whole statement in zCDP, instead of epsilon.
        mechanism: Name of the mechanism that every aggregate offering it must use.
        max_groups_per_unit: Group cap of this query.
        max_rows_per_group: Rows of one unit in one group.
        max_rows_contributed: Rows of one unit in this query.
        confidence: Level of printed intervals.
        group_selection_strategy: ``LAPLACE_THRESHOLD`` or ``PUBLIC_GROUPS``.
        group_selection_epsilon: Share of epsilon for choosing the groups of an open domain.
        min_privacy_units_per_group: A group appears only above this noised count of units.
        privacy_unit_column: Must be the policy's.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mechanism: str | None = None
    max_groups_per_unit: int | None = None
    max_rows_per_group: int | None = None
    max_rows_contributed: int | None = None
    confidence: float | None = None
    group_selection_strategy: str | None = None
    group_selection_epsilon: Fraction | None = None
    min_privacy_units_per_group: int | None = None
    privacy_unit_column: str | None = None

    def over(self, weaker: Options) -> Options:
        """These options, and the weaker ones where these say nothing. A price in one kind replaces the other kind."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        if self.epsilon is not None:
            weaker = replace(weaker, rho=None)
        if self.rho is not None:
            weaker = replace(weaker, epsilon=None)
        return replace(weaker, **given)

    def beside(self, other: Options) -> Options:
        """Two sources of equal rank: they may not disagree.

        Raises:
            ProgrammingError: Naming the option on which they do.
        """
        for field in fields(self):
            mine, others = getattr(self, field.name), getattr(other, field.name)
            if mine is not None and others is not None and mine != others:
                raise ProgrammingError(
                    f"{field.name} is {_shown(mine)} in the call and {_shown(others)} in OPTIONS. Give it once."
                )
        return self.over(other)


ALIASES = {"max_groups_contributed": "max_groups_per_unit"}
BOUNDS = ("max_groups_per_unit", "max_rows_contributed", "max_rows_per_group")
LATER = ("gamma", "metric", "multiple", "sensitivity", "centre", "scale")
NAMES = tuple(field.name for field in fields(Options)) + tuple(ALIASES)


def read_options(given: Mapping[str, Any]) -> Options:
    """Options from raw values.

    Args:
        given: Names to values; a value of None says nothing.

    Raises:
        ProgrammingError: Unknown names, values out of range, contradictions.
    """
    values: dict[str, Any] = {}
    for name, value in given.items():
        own = ALIASES.get(name, name)
        if own in LATER:
            raise ProgrammingError(
                f"Option {name} belongs to a mechanism that this version does not have. Leave it out."
            )
        if own == "kappa":
            raise ProgrammingError("kappa is called max_groups_contributed today. Write max_groups_contributed.")
        if own not in READERS:
            raise ProgrammingError(
                f"There is no option {name}. {nearest(name, NAMES) or 'There are ' + ', '.join(NAMES) + '.'}"
            )
        if value is None:
            continue
        if own in values and values[own] != READERS[own](name, value):
            raise ProgrammingError(f"{own} is given twice. Give it once.")
        values[own] = READERS[own](name, value)
    options = Options(**values)
    if options.epsilon is not None and options.rho is not None:
        raise ProgrammingError("epsilon and rho are two prices for one statement. Give one of them.")
    if options.max_groups_per_unit is not None and options.max_rows_contributed is not None:
        raise ProgrammingError("max_groups_contributed and max_rows_contributed exclude each other. Give one of them.")
    return options


def read_clause(given: Mapping[str, Any]) -> Options:
    """Options from a statement's own clause, where NULL for a bound would mean that there is none.

    Raises:
        ProgrammingError: As `read_options`, and for a bound of NULL.
    """
    for name, value in given.items():
        if value is None and ALIASES.get(name, name) in BOUNDS:
            raise ProgrammingError(
                f"{name} is NULL, but there is always a bound. Write a whole number from 1, or leave it out."
            )
    return read_options(given)


def _number(name: str, value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise ProgrammingError(f"{name} is {_given(value)}; write a number above 0.")
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):  # also a signalling NaN
        raise ProgrammingError(f"{name} is {value}; write a finite number above 0.")
    exact = Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)
    if exact <= 0:
        raise ProgrammingError(f"{name} is {value}; write a number above 0.")
    return exact


def _loss(name: str, value: Any) -> Fraction:
    loss = _number(name, value)
    if not Fraction(1, 10**9) <= loss <= 10**6:
        raise ProgrammingError(f"{name} is {value}; write a number from 1e-9 to 1e6.")
    return loss


def _chance(name: str, value: Any) -> Fraction:
    chance = _number(name, value)
    if not Fraction(1, 10**18) <= chance < 1:
        raise ProgrammingError(f"{name} is {value}; write a number from 1e-18 to below 1, such as 1e-8.")
    return chance


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9:
        raise ProgrammingError(f"{name} is {_given(value)}; write a whole number from 1.")
    return value


def _level(name: str, value: Any) -> float:
    level = _number(name, value)
    if not Fraction(1, 10**6) <= level <= 1 - Fraction(1, 10**12):  # a float tells those from 0 and 1
        raise ProgrammingError(f"{name} is {value}; write a number from 1e-6 to 1 - 1e-12, such as 0.95.")
    return float(level)


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ProgrammingError(f"{name} is {value!r}; write a name.")
    return value.lower()


def _strategy(name: str, value: Any) -> str:
    word = _word(name, value).upper()
    if word not in STRATEGIES:
        raise ProgrammingError(f"{name} is {value}; write {' or '.join(STRATEGIES)}.")
    return word


READERS: dict[str, Any] = {
    "epsilon": _loss,
    "delta": _chance,
    "rho": _loss,
    "mechanism": _word,
    "max_groups_per_unit": _count,
    "max_rows_per_group": _count,
    "max_rows_contributed": _count,
    "confidence": _level,
    "group_selection_strategy": _strategy,
    "group_selection_epsilon": _loss,
    "min_privacy_units_per_group": _count,
    "privacy_unit_column": _word,
}


def _given(value: object) -> str:
    """A value of the wrong kind, as it was written."""
    return repr(value) if isinstance(value, str) else str(value)


def _shown(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)
