"""Interval arithmetic encloses what doubles do, and says no more than it knows."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.plan.intervals import EVERYTHING, Interval, difference, product, quotient, total

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150)
decimals = st.decimals(-(10**6), 10**6, places=3).map(Fraction)


@st.composite
def interval_with_a_value(draw: st.DrawFn) -> tuple[Interval, float]:
    """An interval, its ends doubles or decimals, and a double inside."""
    ends = sorted((draw(finite | decimals), draw(finite | decimals)))
    low, high = (float(end) + 0.0 for end in ends)
    return Interval(Fraction(ends[0]), Fraction(ends[1])), draw(st.floats(low, high))


def holds(interval: Interval, value: float) -> bool:
    return (interval.low is None or float(interval.low) <= value) and (
        interval.high is None or value <= float(interval.high)
    )


@pytest.mark.parametrize(
    ("rule", "engine"), [(total, operator.add), (difference, operator.sub), (product, operator.mul)]
)
@given(a=interval_with_a_value(), b=interval_with_a_value())
def test_real_arithmetic_stays_inside_though_it_rounds(
    rule: Callable[[Interval, Interval], Interval],
    engine: Callable[[float, float], float],
    a: tuple[Interval, float],
    b: tuple[Interval, float],
) -> None:
    assert holds(rule(a[0], b[0]), engine(a[1], b[1]))


@given(a=interval_with_a_value(), b=interval_with_a_value())
def test_a_quotient_stays_inside_or_bounds_nothing(a: tuple[Interval, float], b: tuple[Interval, float]) -> None:
    bounds = quotient(a[0], b[0])
    if abs(b[1]) < 1e-300:
        assert bounds == EVERYTHING
    else:
        assert holds(bounds, a[1] / b[1])


@pytest.mark.parametrize("half", [Interval(Fraction(1, 10), None), Interval(None, Fraction(-7, 10))])
@given(b=interval_with_a_value(), step=st.floats(0, 1e100))
def test_half_open_intervals_enclose_too(half: Interval, b: tuple[Interval, float], step: float) -> None:
    value = float(half.low) + step if half.low is not None else float(half.high or 0) - step
    assert holds(total(half, b[0]), value + b[1])
    assert holds(product(half, b[0]), value * b[1])
    assert abs(b[1]) < 1e-300 or holds(quotient(half, b[0]), value / b[1])


@given(a=interval_with_a_value())
def test_rising_functions_stay_inside(a: tuple[Interval, float]) -> None:
    interval, value = a
    for function in (math.atan, math.floor, math.ceil, math.trunc):
        assert holds(interval.rising(function), function(value))
        assert holds(interval.rising(function, exactly=True), function(value))


def test_decimal_ends_stay_as_they_are_written_where_doubles_agree() -> None:
    fifth, half = Interval.point(Fraction(1, 5)), Interval.point(Fraction(1, 2))
    assert product(fifth, half) == Interval.point(Fraction(1, 10))


def test_an_end_moves_with_the_rounding_of_doubles() -> None:
    bounds = product(Interval(Fraction(115, 100), Fraction(2)), Interval.point(100))
    assert bounds.rounded(math.floor).low == 114  # 1.15 * 100 is 114.99999999999999 to a computer


def test_a_divisor_that_underflows_may_be_zero() -> None:
    tiny = Interval(Fraction(1, 10**200), Fraction(1))
    assert quotient(Interval.point(1), product(tiny, tiny)) == EVERYTHING


def test_an_overflow_is_not_bounded() -> None:
    large = Interval.point(Fraction(10) ** 200)
    assert not product(large, large).finite


@pytest.mark.parametrize("end", [Fraction(-1), Fraction(10) ** 400])
def test_what_a_function_does_not_take_is_not_bounded(end: Fraction) -> None:
    assert Interval.point(end).rising(math.sqrt) == EVERYTHING
