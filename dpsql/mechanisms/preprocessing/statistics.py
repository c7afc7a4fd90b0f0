"""The statistics that are preprocessed for SQL: each with its rule, its fast form, and in words when it is exact.

Tests: tests/unit/mechanisms/preprocessing/test_mechanism.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpsql.mechanisms.preprocessing.counts import Counts
from dpsql.mechanisms.preprocessing.extremes import maximum, minimum
from dpsql.mechanisms.preprocessing.mean import mean_of
from dpsql.mechanisms.preprocessing.median import median
from dpsql.mechanisms.preprocessing.ordered import trimmed_mean
from dpsql.mechanisms.preprocessing.quantile import quantile
from dpsql.mechanisms.preprocessing.rules import (
    ExtremeRule,
    MeanRule,
    MedianRule,
    QuantileRule,
    Rule,
    TrimmedRule,
    VarianceRule,
)
from dpsql.mechanisms.preprocessing.variance import Ddof, variance_of

__all__ = ["Quantile", "Statistic", "TrimmedMean", "statistic_of"]


class Statistic(Protocol):
    """One statistic of a multiset of numbers."""

    @property
    def power(self) -> int:
        """1 where it is in the column's unit, 2 where in its square."""
        ...

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        """How a sensitivity follows from public facts, in the column's unit."""
        ...

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        """g: the statistic, moved just enough that one row more or less changes it by no more than the sensitivity."""
        ...

    def exact_if(self, reach: str, centre: str) -> str:
        """When g is the statistic itself, and what else happens: the end of "Exact if ...".

        Args:
            reach: n times the sensitivity, or the root of that for a variance.
            centre: The centre.
        """
        ...

    def holds(self, low: Fraction, high: Fraction, centre: Fraction) -> tuple[bool, bool]:
        """Which ends of an interval that holds g hold the statistic itself, too, whatever the data are."""
        ...

    @property
    def unknown(self) -> str:
        """What no interval can tell of the statistic: the start of a sentence."""
        ...


class Anywhere:
    """What g tells nothing of: the statistic may lie on either side of it, as far as values can."""

    __slots__ = ()
    unknown = "It has no interval"

    def holds(self, low: Fraction, high: Fraction, centre: Fraction) -> tuple[bool, bool]:
        return False, False


@dataclass(frozen=True, slots=True)
class Mean(Anywhere):
    """AVG."""

    power: int = 1

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        return MeanRule(spread, width)

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        return mean_of(data, centre=centre, sensitivity=sensitivity)

    def exact_if(self, reach: str, centre: str) -> str:
        return (
            f"all values lie within {reach} of one another, and their mean within {reach} of the centre {centre}; "
            "otherwise values far out pull less, and the answer lies nearer to the centre"
        )


@dataclass(frozen=True, slots=True)
class Median:
    """MEDIAN. It is at least as far from the centre as g, on the same side (`median`)."""

    power: int = 1
    unknown: str = "The end of its interval away from the centre is not known"

    def holds(self, low: Fraction, high: Fraction, centre: Fraction) -> tuple[bool, bool]:
        return low > centre, high < centre

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        return MedianRule(spread, width)

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        return median(data, centre=centre, sensitivity=sensitivity)

    def exact_if(self, reach: str, centre: str) -> str:
        return (
            f"the median lies within half of {reach} of the centre {centre}, with values close by on that side; "
            "otherwise it is pulled towards the centre, and more rows do not mend that"
        )


@dataclass(frozen=True, slots=True)
class Quantile(Anywhere):
    """QUANTILE_CONT(x, share) and QUANTILE_DISC(x, share), 0 < share < 1, but for MEDIAN."""

    share: Fraction
    discrete: bool
    power: int = 1

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        return QuantileRule(spread, width, self.share)

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        return quantile(data, self.share, centre=centre, sensitivity=sensitivity, discrete=self.discrete)

    def exact_if(self, reach: str, centre: str) -> str:
        return (
            f"the quantile lies well within {reach} of the centre {centre}, with values close by on that side; "
            "otherwise it is pulled towards the centre, and more rows do not mend that"
        )


@dataclass(frozen=True, slots=True)
class TrimmedMean(Anywhere):
    """TRIMMED_MEAN(x, share)."""

    share: Fraction
    power: int = 1

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        return TrimmedRule(spread, width, self.share)

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        return trimmed_mean(data, self.share, centre=centre, sensitivity=sensitivity)

    def exact_if(self, reach: str, centre: str) -> str:
        return (
            f"the values that are kept lie well within {reach} of one another and of the centre {centre}; otherwise "
            "the answer is pulled towards the centre"
        )


@dataclass(frozen=True, slots=True)
class Variance:
    """VAR_POP, VAR_SAMP. The variance of no rows is 0, so it has no centre. It is at least g (`variance`)."""

    ddof: Ddof
    power: int = 2
    unknown: str = "The upper end of its interval is not known"

    def holds(self, low: Fraction, high: Fraction, centre: Fraction) -> tuple[bool, bool]:
        return True, False

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        return VarianceRule(spread, width)

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        return variance_of(data, sensitivity=sensitivity, ddof=self.ddof)

    def exact_if(self, reach: str, centre: str) -> str:
        return f"all values lie within {reach} of one another; otherwise it is too small"


@dataclass(frozen=True, slots=True)
class Extreme(Anywhere):
    """MIN, MAX."""

    form: Callable[..., Fraction]
    power: int = 1

    def rule(self, spread: Fraction | None, width: Fraction | None) -> Rule:
        return ExtremeRule(spread, width)

    def moved(self, data: Counts, centre: Fraction, sensitivity: Fraction) -> Fraction:
        return self.form(data, sensitivity, centre=centre)

    def exact_if(self, reach: str, centre: str) -> str:
        return (
            f"no gap between outer values is wider than the sensitivity allows; otherwise it is pulled towards {centre}"
        )


STATISTICS: Mapping[str, Statistic] = {
    "avg": Mean(),
    "var_pop": Variance(0),
    "var_samp": Variance(1),
    "stddev_pop": Variance(0),
    "stddev_samp": Variance(1),
    "min": Extreme(minimum),
    "max": Extreme(maximum),
}
"""By the name of the SQL function; a standard deviation is the root of a noised variance."""


def statistic_of(function: str, fraction: Fraction | None) -> Statistic | None:
    """The statistic of an aggregate, or None where it has no preprocessed form here.

    >>> statistic_of("avg", None), statistic_of("corr", None)
    (Mean(power=1), None)
    >>> statistic_of("quantile_disc", Fraction(9, 10))
    Quantile(share=Fraction(9, 10), discrete=True, power=1)
    """
    if function == "quantile_cont" and fraction == Fraction(1, 2):
        return Median()
    if function == "trimmed_mean" and fraction is not None:
        return TrimmedMean(fraction)
    if function in ("quantile_cont", "quantile_disc") and fraction is not None and 0 < fraction < 1:
        return Quantile(fraction, discrete=function == "quantile_disc")
    return STATISTICS.get(function)
