"""MIN, MAX and quantiles of dates: the days since a public date are measured, and what leaves is a date again.

Tests: tests/unit/plan/measured/test_dated.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import FUNCTIONS, AggregateCall
from dpsql.plan.nodes import Apply, Column, Constant, Expression
from dpsql.plan.plans import Output
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.conversions import as_constant, as_null
from dpsql.plan.values.expressions import Resolver
from dpsql.sql import syntax

__all__ = ["Days", "as_shown", "days_of", "days_within", "no_number", "wide_as_shown", "with_ends_of_dates"]

DAYS = "Name a number, such as the days since one of them: date_diff('day', DATE '2020-01-01', x)."


@dataclass(frozen=True, slots=True)
class Days:
    """How dates are counted.

    Attributes:
        since: The least date that their bounds allow.
        until: The last one.
    """

    since: date
    until: date

    def counted(self, dates: Expression, rows: Resolver) -> Expression:
        """The days since the least date."""
        return rows.apply("date_diff", (as_constant("day"), as_constant(self.since), dates), None)

    def as_date(self, released: Column, rows: Resolver) -> Expression:
        """The date that is so many days behind the least one, and none behind the last."""
        most = as_constant((self.until - self.since).days)
        days = rows.apply("least", (rows.apply("greatest", (released, as_constant(0)), None), most), None)
        return rows.apply("+", (as_constant(self.since), days), None)


def days_of(dates: Facts, node: syntax.Call) -> Days:
    """How the dates are counted of which so much is known, and of which an aggregate is asked.

    Raises:
        UnsupportedQuery: They have no bounds.
    """
    low, high = dates.low, dates.high
    if isinstance(low, date) and isinstance(high, date):
        return Days(low, high)
    raise UnsupportedQuery(
        "the dates have no bounds.", construct=node.name.upper(), position=node.position,
        hint="Declare bounds in the policy, or write WHERE x BETWEEN DATE '2020-01-01' AND DATE '2025-12-31'.",
    )  # fmt: skip


def as_shown(value: float, since: date | None = None) -> str:
    """A value with three digits; where it counts the days since a date, the date that is so many days behind it.

    >>> as_shown(290123.0), as_shown(0.33649), as_shown(366.0, date(2020, 1, 1))
    ('290000', '0.336', '2021-01-01')
    """
    return f"{float(f'{value:.3g}'):.10g}" if since is None else str(since + timedelta(days=value))


def wide_as_shown(width: float, since: date | None = None) -> str:
    """How far two values are apart, with three digits; of dates in days.

    >>> wide_as_shown(0.33649), wide_as_shown(40, date(2020, 1, 1))
    ('0.336', '40 days')
    """
    return as_shown(width) + ("" if since is None else " days")


def no_number(argument: Expression, call: AggregateCall) -> str:
    """What to write where an aggregate takes numbers alone."""
    match argument.facts.type:
        case Type.BOOLEAN:
            return "Write BOOL_OR(x), BOOL_AND(x) or COUNT_IF(x)."
        case Type.DATE if call.function == "quantile_cont":
            return f"Write QUANTILE_DISC(x, {float(call.fraction or Fraction(1, 2))}), which is one of the dates."
        case Type.TIMESTAMP if FUNCTIONS[call.function].one_of_them or call.function == "quantile_cont":
            return (
                "Name its day, CAST(x AS DATE): MIN, MAX and QUANTILE_DISC(x, 0.5) of days are dates. Of seconds, "
                "date_diff('second', TIMESTAMP '2020-01-01', x), they are numbers, as MEDIAN is."
            )
        case Type.DATE | Type.TIMESTAMP:
            return DAYS
    return "Name a numeric column or expression."


def with_ends_of_dates(outputs: Sequence[Output]) -> list[Output]:
    """The outputs, where those that show an end of a date's interval are dates."""
    dates = {output.name for output in outputs if output.type is Type.DATE}
    null = as_null(Type.DATE)
    return [replace(own, expression=null) if own.end and own.end[0] in dates else own for own in outputs]


def days_within(expression: Expression) -> tuple[date, Expression] | None:
    """A public date and the days that are added to it, where an expression is that; None for any other."""
    match expression:
        case Apply(function=function, arguments=(Constant(value=date() as since), days)) if function.name == "+":
            return (since, days) if expression.facts.type is Type.DATE else None
    return None
