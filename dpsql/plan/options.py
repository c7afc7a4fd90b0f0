"""What may stand in OPTIONS, in SET and in keyword arguments: names, ranges, and which one wins."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.limits import LEAST_GIVEN_DELTA, LEAST_LOSS, MOST_LOSS
from dpsql.plan.nodes import OptionValue
from dpsql.plan.values.expressions import Resolver, nearest
from dpsql.sql import syntax

__all__ = ["NAMES", "Options", "as_given", "options_of", "read_options"]

LARGEST = 10**15
"""In a column's unit: the largest number of an option such as a scale; the least scale is its inverse. It is a
choice."""
MOST = 10**300  # No option takes as much; beyond it a number may be no float, and its text very long. It is a choice.
STRATEGIES = ("LAPLACE_THRESHOLD", "GAUSSIAN_THRESHOLD", "PUBLIC_GROUPS")


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
        group_selection_strategy: ``LAPLACE_THRESHOLD``, ``GAUSSIAN_THRESHOLD`` or ``PUBLIC_GROUPS``.
        group_selection_epsilon: Share of epsilon for choosing the groups of an open domain.
        min_privacy_units_per_group: A group appears only above this noised count of units.
        privacy_unit_column: Must be the policy's.
        sensitivity: preprocessing: how far one unit may move the statistic, in the column's unit.
        centre: preprocessing: the statistic of no rows at all, in the column's unit.
        scale: friendly_core: the least and the largest distance to expect between values, in the column's unit.
        gamma: random_dp: the most gamma that this statement may cost.
        metric: metric: the policy's metric that prices this statement.
        multiple: metric: how much of it the statement costs.
        interval: exponential: ``none`` declines the interval of a quantile, so that the whole price is for its value.
        rest: Whether all groups that were not chosen make one more row.
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
    sensitivity: Fraction | None = None
    centre: Fraction | None = None
    scale: tuple[Fraction, Fraction] | None = None
    gamma: Fraction | None = None
    metric: str | None = None
    multiple: Fraction | None = None
    interval: str | None = None
    rest: bool | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that say something."""
        return tuple(name for name in OWN_NAMES if getattr(self, name) is not None)

    def shown(self, name: str) -> str:
        """One of them as text, by any of its names; '' where nothing was said.

        >>> Options(epsilon=Fraction(1, 20), scale=(Fraction(1), Fraction(5, 2))).shown("epsilon")
        '0.05'
        """
        value = getattr(self, ALIASES.get(name, name))
        return "" if value is None else _shown(value).lower()

    def over(self, weaker: Options) -> Options:
        """These options, and the weaker ones where these say nothing. A price in one kind replaces the other kind."""
        given = {name: getattr(self, name) for name in self.given}
        if not given:
            return weaker
        if self.epsilon is not None or self.rho is not None:
            weaker = replace(weaker, epsilon=None, rho=None, metric=None, multiple=None)
        if self.multiple is not None:
            weaker = replace(weaker, epsilon=None, delta=None, rho=None)
        return replace(weaker, **given)

    def at(self, price: Fraction) -> Options:
        """These options at another price, of the kind that they name: a multiple of a metric, else an epsilon."""
        if self.metric is not None or self.multiple is not None:
            return replace(self, multiple=price, epsilon=None, rho=None)
        return replace(self, epsilon=price, rho=None)

    def only(self, names: Collection[str]) -> Options:
        """These options, without those of other names."""
        return Options(**{name: getattr(self, name) for name in names})

    def without(self, name: str) -> Options:
        """These options without one, by any of its names."""
        own = ALIASES.get(name, name)
        return replace(self, **{own: None}) if own in Options.__dataclass_fields__ else self

    def beside(self, other: Options) -> Options:
        """Two sources of equal rank: they may not disagree.

        Raises:
            ProgrammingError: Naming the option on which they do.
        """
        given = {name: getattr(self, name) for name in self.given}
        for name, mine in given.items():
            others = getattr(other, name)
            if others is not None and mine != others:
                raise ProgrammingError(
                    f"{name} is {_shown(mine)} in the call and {_shown(others)} in OPTIONS. Give it once."
                )
        both = replace(other, **given) if given else other
        _one_price(both)
        return both


ALIASES = {"max_groups_contributed": "max_groups_per_unit"}

OWN_NAMES = tuple(field.name for field in fields(Options))
NAMES = OWN_NAMES + tuple(ALIASES)


def options_of(query: syntax.Select, resolver: Resolver) -> tuple[tuple[str, OptionValue], ...]:
    """The SELECT's own options: names are words, two numbers a pair, everything else is a constant.

    Raises:
        UnsupportedQuery: An option is given twice.
    """
    given: dict[str, OptionValue] = {}
    for name, node in query.options or ():
        if name in given:
            raise UnsupportedQuery(
                "the option is given twice.", construct=name, position=node.position, hint="Keep one of them."
            )
        match node:
            case syntax.Name():
                given[name] = node.spelling or node.parts[-1]
            case syntax.Call(name="row", arguments=parts):
                given[name] = tuple(resolver.constant(part, f"option {name}") for part in parts)
            case _:
                given[name] = resolver.constant(node, f"option {name}")
    return tuple(given.items())


def read_options(given: Mapping[str, Any]) -> Options:
    """Options from raw values.

    Args:
        given: Names to values; a value of None says nothing: in OPTIONS, too, a bound of NULL is the policy's own.

    Raises:
        ProgrammingError: Unknown names, values out of range, contradictions.
    """
    values: dict[str, Any] = {}
    for name, value in given.items():
        own = ALIASES.get(name, name)
        if own == "kappa":
            raise ProgrammingError("kappa is called max_groups_contributed today. Write max_groups_contributed.")
        if own == "intervals":
            raise ProgrammingError(
                "intervals is an option of connections and servers. Here an answer has them: with_intervals(), "
                "to_pandas(intervals=True); on the command line --intervals."
            )
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
    _one_price(options)
    if options.max_groups_per_unit is not None and options.max_rows_contributed is not None:
        raise ProgrammingError("max_groups_contributed and max_rows_contributed exclude each other. Give one of them.")
    return options


def _one_price(options: Options) -> None:
    """Refuses several prices for one statement."""
    if options.epsilon is not None and options.rho is not None:
        raise ProgrammingError("epsilon and rho are two prices for one statement. Give one of them.")
    for name in ("epsilon", "delta", "rho"):
        if options.multiple is not None and getattr(options, name) is not None:
            raise ProgrammingError(f"multiple is the whole price of a statement under a metric. Leave {name} out.")


def _exact(name: str, value: Any, wanted: str = "number") -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise ProgrammingError(f"{name} is {as_given(value)}; write a {wanted}.")
    if isinstance(value, int | Fraction) and abs(Fraction(value)) > MOST:
        raise ProgrammingError(f"{name} is above 1e300; write a smaller {wanted}.")
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):  # also a signalling NaN
        raise ProgrammingError(f"{name} is {value}; write a finite {wanted}.")
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)


def _number(name: str, value: Any) -> Fraction:
    exact = _exact(name, value, "number above 0")
    if exact <= 0:
        raise ProgrammingError(f"{name} is {value}; write a number above 0.")
    return exact


def _point(name: str, value: Any) -> Fraction:
    point = _exact(name, value)
    if abs(point) > LARGEST:
        raise ProgrammingError(f"{name} is {value}; write a number from -1e15 to 1e15.")
    return point


def _size(name: str, value: Any) -> Fraction:
    size = _number(name, value)
    if not 1 / Fraction(LARGEST) <= size <= LARGEST:
        raise ProgrammingError(f"{name} is {value}; write a number from 1e-15 to 1e15.")
    return size


def _ends(name: str, value: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ProgrammingError(f"{name} is {as_given(value)}; write two numbers above 0, such as (0.1, 100).")
    low, high = (_size(name, end) for end in value)
    if low > high:
        raise ProgrammingError(f"{name} is ({_shown(low)}, {_shown(high)}); write the lower number first.")
    return low, high


def _loss(name: str, value: Any) -> Fraction:
    loss = _number(name, value)
    if not LEAST_LOSS <= loss <= MOST_LOSS:
        raise ProgrammingError(f"{name} is {value}; write a number from 1e-9 to 1e6.")
    return loss


def _chance(name: str, value: Any) -> Fraction:
    chance = _number(name, value)
    if not LEAST_GIVEN_DELTA <= chance < 1:
        raise ProgrammingError(f"{name} is {value}; write a number from 1e-18 to below 1, such as 1e-8.")
    return chance


def _ceiling(name: str, value: Any) -> Fraction:
    """A chance, or 0, which declines the policy's own."""
    return _chance(name, value) if _exact(name, value, "number of 0 or more") else Fraction(0)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9:
        raise ProgrammingError(f"{name} is {as_given(value)}; write a whole number from 1.")
    return value


def _level(name: str, value: Any) -> float:
    level = _number(name, value)
    if not Fraction(1, 10**6) <= level <= 1 - Fraction(1, 10**12):  # a float tells those from 0 and 1
        raise ProgrammingError(f"{name} is {value}; write a number from 1e-6 to 1 - 1e-12, such as 0.95.")
    return float(level)


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ProgrammingError(f"{name} is {as_given(value)}; write a name.")
    return value.lower()


def _strategy(name: str, value: Any) -> str:
    word = _word(name, value).upper()
    if word not in STRATEGIES:
        raise ProgrammingError(f"{name} is {value}; write {', '.join(STRATEGIES[:-1])} or {STRATEGIES[-1]}.")
    return word


def _declined(name: str, value: Any) -> str:
    word = _word(name, value)
    if word != "none":
        raise ProgrammingError(f"{name} is {value}; write none, or leave it out to get intervals.")
    return word


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ProgrammingError(f"{name} is {as_given(value)}; write true or false.")
    return value


READERS: dict[str, Any] = {
    "epsilon": _loss,
    "delta": _ceiling,
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
    "sensitivity": _size,
    "centre": _point,
    "scale": _ends,
    "gamma": _chance,
    "metric": _word,
    "multiple": _loss,
    "interval": _declined,
    "rest": _switch,
}


def as_given(value: object) -> str:
    """A value of the wrong kind, as it was written; by its type where nobody can write it.

    >>> as_given("x"), as_given(-1), as_given(10**5000), as_given(Fraction(10**5000, 3))
    ("'x'", '-1', 'a number above 1e300', 'a Fraction')
    """
    if isinstance(value, int) and abs(value) > MOST:
        return "a number above 1e300"
    try:
        return repr(value) if isinstance(value, str) else str(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{float(value):.15g}" if isinstance(value, Fraction) else str(value)
