"""The table of aggregates: how each is written, what it measures, and what is true of that wherever it is asked.

A new aggregate is its row in `FUNCTIONS`, a row in `CALLS` for each of its names, and a mechanism that answers it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpsql.plan.functions.refused import REFUSED_AGGREGATES
from dpsql.plan.types import Type

__all__ = ["CALLS", "FUNCTIONS", "NAMES", "AggregateCall", "AggregateFunction", "ByUnit", "Kind", "Takes"]

ALL, NUMBERS, REALS = tuple(Type), (Type.INTEGER, Type.REAL), (Type.REAL,)


class Kind(enum.Enum):
    """What the value of an aggregate is, and so where it can lie."""

    COUNT = "a number of rows, units or values, whatever the bounds"
    SUM = "a sum of values"
    PLACE = "a number between the least and the largest value"
    VARIANCE = "a mean square of distances to the mean"
    DEVIATION = "the root of a variance"
    CORRELATION = "a number from -1 to 1"
    PAIR = "a number that two arguments make, on a scale of its own"
    CHOICE = "one of the values, of any type and without bounds"
    TABLE = "a column of what a function of a whole table gives"


class ByUnit(enum.Enum):
    """How an aggregate follows from one value of each unit."""

    TOTAL = "it is the sum of them"
    EXTREME = "it is the least or the largest of them"


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """One aggregate that can be measured.

    Attributes:
        name: What plans call it.
        kind: What its value is.
        arguments: How many columns or expressions it is about: 0 where it counts whole rows or units.
        keeps_type: Whether its value has the argument's type; otherwise a count is an integer, all else a real.
        additive: Whether the value of a whole is the sum of the values of its parts, where no row is in two of them.
        by_unit: How it follows from one value of each unit, or None where it does not.
        inside_unit: Types of its argument inside one privacy unit; None where it does not stand there.
        over_answers: Types of its argument over answers and public tables; None where it does not stand there.
        drawn: Whether each group's value may be drawn among many, one group after the other.
        located: Whether a centre and a spread of its column may stand in for bounds.
        default: The key of a policy's default mechanism for it, or None where owners set none. Half of a
            ``quantile`` is the ``median``.
    """

    name: str
    kind: Kind
    arguments: int = 1
    keeps_type: bool = False
    additive: bool = False
    by_unit: ByUnit | None = None
    inside_unit: tuple[Type, ...] | None = None
    over_answers: tuple[Type, ...] | None = None
    drawn: bool = False
    located: bool = False
    default: str | None = None

    @property
    def one_of_them(self) -> bool:
        """Whether its value is one of the values, by its place in their order."""
        return self.kind is Kind.PLACE and self.keeps_type

    def result(self, argument: Type | None) -> Type:
        """Type of its value for an argument of this type."""
        if self.kind is Kind.COUNT:
            return Type.INTEGER
        return argument if self.keeps_type and argument is not None else Type.REAL


F, TOTAL, EXTREME = AggregateFunction, ByUnit.TOTAL, ByUnit.EXTREME  # Short names, for the rows below.
FUNCTIONS: Mapping[str, AggregateFunction] = {
    row.name: row
    for row in (
        F("count_rows", Kind.COUNT, 0, additive=True, by_unit=TOTAL, inside_unit=(), over_answers=()),
        F("count", Kind.COUNT, additive=True, by_unit=TOTAL, inside_unit=ALL, over_answers=ALL, default="count"),
        F("count_units", Kind.COUNT, 0, by_unit=TOTAL),
        F("count_distinct", Kind.COUNT, inside_unit=ALL, over_answers=ALL),
        F(
            "sum", Kind.SUM, keeps_type=True, additive=True, by_unit=TOTAL, inside_unit=NUMBERS,
            over_answers=NUMBERS, default="sum",
        ),
        F("avg", Kind.PLACE, inside_unit=NUMBERS, over_answers=NUMBERS, located=True, default="avg"),
        F("trimmed_mean", Kind.PLACE, located=True),
        F(
            "min", Kind.PLACE, keeps_type=True, by_unit=EXTREME, inside_unit=ALL, over_answers=ALL, drawn=True,
            default="min",
        ),
        F(
            "max", Kind.PLACE, keeps_type=True, by_unit=EXTREME, inside_unit=ALL, over_answers=ALL, drawn=True,
            default="max",
        ),
        F("quantile_cont", Kind.PLACE, drawn=True, located=True, default="quantile"),
        F("quantile_disc", Kind.PLACE, drawn=True, keeps_type=True, default="quantile"),
        F("var_pop", Kind.VARIANCE, over_answers=REALS, located=True, default="var"),
        F("var_samp", Kind.VARIANCE, over_answers=REALS, located=True, default="var"),
        F("stddev_pop", Kind.DEVIATION, over_answers=REALS, located=True, default="stddev"),
        F("stddev_samp", Kind.DEVIATION, over_answers=REALS, located=True, default="stddev"),
        F("covar_pop", Kind.PAIR, 2),
        F("covar_samp", Kind.PAIR, 2),
        F("regr_slope", Kind.PAIR, 2),
        F("corr", Kind.CORRELATION, 2),
        F("mode", Kind.CHOICE, drawn=True, keeps_type=True, default="mode"),
        F("dp_kmeans", Kind.TABLE),
        F("dp_covariance", Kind.TABLE),
    )
}  # fmt: skip
"""Every aggregate that can be measured, by its name in plans."""


class Takes(enum.Enum):
    """What a call takes."""

    COUNTED = "a star, nothing, or a value, perhaps DISTINCT"
    VALUE = "one value of any type"
    NUMBER = "one number"
    NUMBER_OR_TRUTH = "one number, or a condition: TRUE is 1, FALSE is 0"
    QUANTILE = "a number and a fraction, or a fraction WITHIN GROUP"
    ELEMENT = "a number, and into how many parts; one of the quantiles between them follows as [OFFSET(1)]"
    TRIMMED = "a number, and the share to leave out at either end"
    PAIR = "two numbers, y and x"
    VECTOR = "two numbers or more: a mean of each"
    COUNT_IF = "a condition: how many rows meet it"
    ANY = "a condition: whether some row meets it"
    ALL = "a condition: whether no row fails it"


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """One aggregate as an analyst writes it.

    Attributes:
        name: In lower case.
        takes: Its arguments.
        function: What it measures; of COUNT the arguments decide it.
        fraction: The quantile that its name says.
    """

    name: str
    takes: Takes
    function: str
    fraction: Fraction | None = None

    @property
    def plain(self) -> bool:
        """Whether it has one argument at most, and its value is what is measured."""
        return self.takes in (Takes.COUNTED, Takes.VALUE, Takes.NUMBER, Takes.NUMBER_OR_TRUTH) and not self.fraction


def _calls(takes: Takes, function: str, *names: str) -> list[AggregateCall]:
    return [AggregateCall(name, takes, function) for name in (names or (function,))]


APPROXIMATE = ("approx_quantile", "approx_percentile")
"""What DuckDB, and others, call a quantile that need not be exact: none is, once it is noised."""

CALLS: Mapping[str, AggregateCall] = {
    row.name: row
    for row in (
        *_calls(Takes.COUNTED, "count"),
        *_calls(Takes.NUMBER_OR_TRUTH, "sum"),
        *_calls(Takes.NUMBER_OR_TRUTH, "avg", "avg", "mean"),
        *_calls(Takes.NUMBER, "min"),
        *_calls(Takes.NUMBER, "max"),
        *_calls(Takes.VALUE, "mode"),
        AggregateCall("median", Takes.NUMBER, "quantile_cont", Fraction(1, 2)),
        *_calls(Takes.NUMBER, "var_pop"),
        *_calls(Takes.NUMBER, "var_samp", "var_samp", "variance"),
        *_calls(Takes.NUMBER, "stddev_pop"),
        *_calls(Takes.NUMBER, "stddev_samp", "stddev_samp", "stddev"),
        *_calls(Takes.TRIMMED, "trimmed_mean"),
        *_calls(Takes.VECTOR, "avg", "avg_vector"),
        *_calls(Takes.PAIR, "covar_pop"),
        *_calls(Takes.PAIR, "covar_samp"),
        *_calls(Takes.PAIR, "corr"),
        *_calls(Takes.PAIR, "regr_slope"),
        *_calls(Takes.QUANTILE, "quantile_cont", "quantile_cont", "percentile_cont", *APPROXIMATE),
        *_calls(Takes.QUANTILE, "quantile_disc", "quantile_disc", "percentile_disc", "quantile"),
        *_calls(Takes.ELEMENT, "quantile_disc", "approx_quantiles"),
        *_calls(Takes.COUNT_IF, "count", "count_if", "countif"),
        *_calls(Takes.ANY, "count", "bool_or", "logical_or"),
        *_calls(Takes.ALL, "count", "bool_and", "logical_and"),
    )
}
"""Every aggregate that can be written, by its name in SQL."""

NAMES = frozenset({*CALLS, *REFUSED_AGGREGATES, "product"})
"""Whatever an analyst may take for an aggregate: those that can be written, and those that are refused."""
