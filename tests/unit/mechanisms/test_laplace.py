"""Discrete Laplace noise: scales, losses, grids, and the exact loss of its law."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.laplace import Laplace, laplace_scale
from dpsql.mechanisms.noise.noised import NoisedRelease, in_unit
from dpsql.plan.needs import MeasureKind
from dpsql.plan.types import Grid
from dpsql.privacy.conversions import rho_of_pure
from dpsql.privacy.kinds import Pure
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, FEW_ROWS, GRID, OPEN, ConstantNoise, asking, offered, raw


def laplace(function: str = "sum", **facts: object) -> NoisedRelease:
    release = offered(Laplace().offer(asking(function, **facts)))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(release, NoisedRelease)
    return release


def test_the_scale_is_the_exact_ratio() -> None:
    assert laplace_scale(7, Fraction(3, 10)) == Fraction(70, 3)


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0, Fraction(1)), (1, Fraction(0)), (1, Fraction(-1))])
def test_noise_of_no_size_is_refused(sensitivity: int, epsilon: Fraction) -> None:
    with pytest.raises(ValueError, match="must both be above 0"):
        laplace_scale(sensitivity, epsilon)


def test_the_law_loses_exactly_epsilon() -> None:
    # With q = exp(-epsilon / s) written as a rational, P(k) ~ q^|k|: a move by s costs q^-s = e^epsilon, exactly.
    q, s = Fraction(2, 3), 4
    ratios = [q ** abs(k) / q ** abs(k - s) for k in range(-50, 51)]
    scale = laplace_scale(s, Fraction(math.log(1 / q) * s))
    assert max(ratios) == q**-s
    assert math.exp(1 / scale) == pytest.approx(float(1 / q), rel=1e-15)


def test_a_sum_moves_by_the_largest_value_times_the_rows_of_a_unit() -> None:
    release = laplace("sum", held=FEW_ROWS, keys=(CITY,))
    assert release.law.spread == 12 * 1000 / 0.5  # 12 rows, 1000 steps each
    assert release.sensitivity == 1200.0
    assert release.scale == 2400.0
    assert release.loss == Pure(Fraction(1, 2))


def test_replace_one_doubles_the_noise_of_groups() -> None:
    for function in ("count_rows", "count", "count_units", "sum"):
        swapped, added = (laplace(function, keys=(CITY,), neighbours=n) for n in ("replace_one", "add_remove"))
        assert swapped.law.spread == 2 * added.law.spread


def test_a_grouped_unit_count_needs_the_group_cap_only() -> None:
    assert laplace("count_units", held=FEW_ROWS, keys=(CITY,)).sensitivity == 3
    assert laplace("count_units", held=FEW_ROWS, keys=(CITY,)).need.measures[0].kind is MeasureKind.UNITS  # type: ignore[union-attr]  # Aggregates


def test_a_price_in_rho_buys_the_largest_pure_epsilon_within_it() -> None:
    loss = laplace("count_rows", price=BY_RHO).loss
    assert isinstance(loss, Pure)
    assert rho_of_pure(loss.epsilon) <= Fraction(1, 8) < rho_of_pure(loss.epsilon + Fraction(1, 10**11))
    assert loss.account("zcdp").rho == 125 * 10**9  # charged the price, not a unit more


def test_a_rho_that_buys_nothing_is_refused() -> None:
    nothing = Price(None, Fraction(0), rho=Fraction(1, 10**14))
    for function in ("count_rows", "avg"):
        answer = Laplace().offer(asking(function, price=nothing))
        assert isinstance(answer, Refusal)
        assert "too small" in answer.reason


def test_values_lie_on_the_grid() -> None:
    released = laplace("sum").release(raw([0, 5, 123]), ConstantNoise(2))
    assert list(released.values) == [0.2, 0.7, 12.5]


def test_an_integer_grid_gives_integers() -> None:
    release = laplace("sum", grid=Grid(Fraction(5), 0, 10))
    assert release.release(raw([3]), ConstantNoise(-4)).values == [-5]
    assert isinstance(release.release(raw([3]), Noiseless()).values[0], int)


def test_grid_steps_become_the_nearest_float() -> None:
    assert in_unit(3, Fraction(1, 10)) == 0.3  # 3 * 0.1 would be 0.30000000000000004
    assert in_unit(2**60 + 1, Fraction(1, 3)) == float(Fraction(2**60 + 1, 3))


def test_intervals_hold_the_truth_as_often_as_the_law_says() -> None:
    release = laplace("sum", price=Price(Fraction(2000), Fraction(0)))  # scale 1/2
    reach = release.law.quantile(0.95)
    inside = release.release(raw([7]), ConstantNoise(reach))
    outside = release.release(raw([7]), ConstantNoise(reach + 1))
    assert release.intervals(inside, 0.95) == [(0.7, in_unit(7 + 2 * reach, GRID.step))]
    assert release.intervals(outside, 0.95)[0][0] == 0.8


def test_the_half_width_is_that_of_the_intervals() -> None:
    release = laplace("count_rows")
    low, high = release.intervals(release.release(raw([100]), Noiseless()), 0.95)[0]
    assert low is not None
    assert high is not None
    assert (high - low) / 2 == release.half_width == 6


def test_an_open_domain_is_left_to_threshold() -> None:
    answer = Laplace().offer(asking("count_units", keys=(OPEN,), selects=True))
    assert isinstance(answer, Refusal)
    assert "only a threshold can" in answer.reason


def test_a_sum_without_bounds_is_refused_with_what_to_write() -> None:
    answer = Laplace().offer(asking("sum", grid=None))
    assert isinstance(answer, Refusal)
    assert "contribution_bounds_per_row" in answer.reason
