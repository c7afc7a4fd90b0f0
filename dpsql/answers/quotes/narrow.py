"""Which price makes columns as narrow as wanted: the inverse question of a quote's.

Tests: tests/unit/answers/quotes/test_batch.py, tests/unit/answers/quotes/test_foreseen.py, tests/unit/test_calls.py.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpsql.answers.quotes.foreseen import computed_columns, half_width_of, parts_of
from dpsql.answers.quotes.lying import is_fixed, lying
from dpsql.answers.quotes.picked import wider
from dpsql.errors import ProgrammingError
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.nodes import Case, Column, Expression, Scan
from dpsql.plan.options import as_given
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.plans import Plan
from dpsql.prepare import Measured, Prepared
from dpsql.prepare.batch import At, Prices

__all__ = ["CLIPPING", "FOUND", "guesses_of", "least_price", "price_for", "split_for", "widths_of"]

CLIPPING = frozenset({"located", "clamped", "capped"})
"""Mechanisms that clip where rows thin out, and are chosen by a guess of where that is."""
FOUND = CLIPPING | {"exponential", "friendly_core"}
"""Mechanisms that find in the data how far their noise must reach, or between which values their intervals lie."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A column that is to be narrow.

    Attributes:
        name: What it is called.
        expression: A released column, or what is computed from some.
        width: The most that half its 95% interval shall be wide, in the column's unit.
    """

    name: str
    expression: Expression
    width: float

    def parts(self, prepared: Prepared) -> list[Measured]:
        """What is measured for it."""
        return parts_of(prepared, self.expression)

    def given_by(self, prepared: Prepared) -> bool:
        """Whether its expected interval is as narrow."""
        if not isinstance(self.expression, Column):
            found = half_width_of(prepared, self.expression)
            if found is None:
                raise ProgrammingError(f"No half width is foretold of {self.name!r}. Name columns that it is made of.")
            return found <= self.width
        return all(
            wider(prepared, measured) <= self.width
            for measured in prepared.measured
            if measured.aggregate.name == self.expression.name and not measured.rest
        )


def widths_of(half_width: object) -> Mapping[str, float]:
    """Output columns to the half widths that are wanted; none where nothing was said.

    Raises:
        ProgrammingError: It is no mapping.
    """
    if half_width is None:
        return {}
    if not isinstance(half_width, Mapping):
        raise ProgrammingError(
            f"half_width is {as_given(half_width)}; name the columns that are to be as narrow, such as "
            "half_width={'n': 50}."
        )
    return half_width


def price_for(plan: Plan, half_width: Mapping[str, float], prepared_at: Callable[[Fraction], Prepared]) -> Fraction:
    """The least price, to three digits, whose expected 95% intervals are as narrow as wanted.

    Args:
        plan: What is asked.
        half_width: Output column to half width, in the column's unit, > 0.
        prepared_at: The statement prepared at a price: an epsilon, or a multiple of a metric.

    Raises:
        ProgrammingError: A column that holds no noise, or of which no interval can be foretold, or a width that no
            price up to 10^6 gives.
    """
    wanted = _wanted(plan, half_width)
    return least_price(lambda price: _narrow(prepared_at(price), wanted))


def split_for(own: Prepared, half_width: Mapping[str, float], at: At) -> Prepared:
    """The statement with each wanted column at the least price that makes its expected interval as narrow as wanted.

    Args:
        own: The statement at its own prices; the other columns keep theirs.
        half_width: Output column to half width, in the column's unit, > 0.
        at: The same statement at other prices.

    Raises:
        ProgrammingError: As `price_for`.
    """
    prices: Prices = own.prices
    narrowed, bought = list[_Wanted](), set[str]()
    for wanted in _wanted(own.plan, half_width):  # one after the other; what was made narrow stays so
        narrowed.append(wanted)
        names = {part.aggregate.name for part in wanted.parts(own)}
        prices = _cheapest(own, at, prices, names - bought or names, narrowed)
        bought |= names
    return at(own, prices)


def _cheapest(own: Prepared, at: At, prices: Prices, names: set[str], wanted: Sequence[_Wanted]) -> Prices:
    """The same prices, with the least one of some aggregates at which all that is wanted is narrow."""
    kind = "epsilon" if all(prices[name].rho is None for name in names) else "rho"

    def priced(price: Fraction) -> Prices:
        changes: dict[str, Any] = {kind: price}
        return {**prices, **{name: replace(prices[name], **changes) for name in names}}

    return priced(least_price(lambda price: _narrow(at(own, priced(price)), wanted)))


def _wanted(plan: Plan, half_width: Mapping[str, float]) -> list[_Wanted]:
    """The columns that are to be narrow."""
    names = {own.name for own in plan.aggregates}
    bare = {
        output.label: own
        for output, own in zip(plan.answer, answer_columns(plan), strict=True)
        if output.end is None and isinstance(own, Column) and own.name in names
    }
    columns, wanted = {**bare, **computed_columns(plan)}, list[_Wanted]()
    for name, width in half_width.items():
        if name not in columns or sum(output.label == name for output in plan.answer) > 1:
            takes = f"half_width takes one of: {', '.join(columns)}." if columns else "It has none."
            raise ProgrammingError(f"{name!r} is no number of the answer that holds noise. {takes}")
        if isinstance(width, bool) or not isinstance(width, int | float) or not 0 < width <= sys.float_info.max:
            shown = f"half_width of {name!r} is {as_given(width)}"
            raise ProgrammingError(f"{shown}; write a number above 0, in the column's unit.")
        wanted.append(_Wanted(name, columns[name], float(width)))
    return wanted


def _narrow(prepared: Prepared, wanted: Sequence[_Wanted]) -> bool:
    return all(column.given_by(prepared) for column in wanted)


def guesses_of(prepared: Prepared, half_width: Mapping[str, float]) -> tuple[str, ...]:
    """What is said of wanted columns whose intervals' widths rest on what is found in the data: they may be wider."""
    parts = [part for column in _wanted(prepared.plan, half_width) for part in column.parts(prepared)]
    return tuple(dict.fromkeys(note for part in parts if (note := _guess_of(part))))


def _guess_of(part: Measured) -> str:
    """What is said of a part's half width; empty where public numbers alone tell it, or the quote's notes say it."""
    if lying(part) or is_fixed(part):
        return ""
    guess = f"{part.aggregate.text}: its half width is a guess."
    total = FUNCTIONS[part.aggregate.function].kind in (Kind.COUNT, Kind.SUM)
    if part.choice.release.mechanism in FOUND:
        other = " That of mechanism = 'laplace' is known before, where it answers this." if total else _shorter(part)
        return (
            f"{guess} `{part.choice.release.mechanism}` finds in the data how far the noise must reach: its interval "
            f"may come out several times as wide.{other}"
        )
    source, argument = part.request.source, part.aggregate.argument
    if total or (isinstance(source.relation, Scan) and not source.keys and not isinstance(argument, Case)):
        return ""
    rows = f"{part.request.rows_about:,} rows"
    return f"{guess} It is for {rows}, as many as are guessed: of fewer rows the interval is wider."


def _shorter(part: Measured) -> str:
    """Which other mechanism's interval would be shorter at this price, so that it is as wide as wanted for less."""
    others = [
        (own.half_width, own.mechanism) for own in part.choice.others if own.unasked and own.half_width is not None
    ]
    width, name = min(others, default=(math.inf, ""))
    if width >= part.choice.release.half_width:
        return ""
    return f" That of mechanism = '{name}' would be ±{width:.4g} here: it is as narrow as is wanted for a lower price."


def least_price(narrow: Callable[[Fraction], bool], wanted: str = "intervals that narrow") -> Fraction:
    """The least price of three digits at which something is narrow, from 1e-6 to 1e6.

    Args:
        narrow: Whether it is, at a price.
        wanted: How the refusal names it.

    Raises:
        ProgrammingError: There is none.
    """
    low, high = 0, 12 * 900  # 900 steps of three digits a decade
    if not narrow(_three_digits(high)):
        raise ProgrammingError(f"No price up to 1e6 gives {wanted}: the bounds or the grid set the limit.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if narrow(_three_digits(middle)) else (middle, high)
    return _three_digits(high)


def _three_digits(step: int) -> Fraction:
    """The numbers of three digits from 1e-6 on: 1.00e-6, 1.01e-6, ... 9.99e-6, 1.00e-5, ..."""
    decade, digits = divmod(step, 900)
    return Fraction(100 + digits, 100) * Fraction(10) ** (decade - 6)
