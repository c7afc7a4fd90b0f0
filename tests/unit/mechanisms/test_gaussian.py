"""Discrete Gaussian noise: the least variance within a price, and what is charged for it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.gaussian import Gaussian, gaussian_delta, gaussian_variance, gaussian_variance_of_rho
from dpsql.mechanisms.noise.laws import GaussianLaw
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.plans import Key
from dpsql.privacy.conversions import rho_of_epsilon
from dpsql.privacy.kinds import Concentrated
from tests.unit.mechanisms.asking import BY_RHO, CITY, FEW_ROWS, HALF, WITH_DELTA, asking, offered

MILLIONTH = Fraction(1, 10**6)


def gaussian(function: str, **facts: object) -> tuple[GaussianLaw, Concentrated, NoisedRelease]:
    release = offered(Gaussian().offer(asking(function, **facts)))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(release, NoisedRelease)
    assert isinstance(release.law, GaussianLaw)
    assert isinstance(release.loss, Concentrated)
    return release.law, release.loss, release


def test_a_price_in_rho_fixes_the_variance_exactly() -> None:
    law, loss, release = gaussian("count_rows", held=FEW_ROWS, keys=(CITY,), price=BY_RHO)
    assert law.variance == Fraction(5**2 + 5**2 + 2**2) * 4  # q = 2 groups of 5 rows and one of 2; 1 / (2 rho) = 4
    assert loss == Concentrated(Fraction(1, 8))
    assert release.sensitivity == pytest.approx(math.sqrt(54))
    assert release.scale == pytest.approx(math.sqrt(216))


def test_replace_one_quadruples_the_variance() -> None:
    for function in ("count_rows", "count", "count_units", "sum"):
        one, _, _ = gaussian(function, held=FEW_ROWS, keys=(CITY,), price=BY_RHO)
        two, _, _ = gaussian(function, held=FEW_ROWS, keys=(CITY,), price=BY_RHO, neighbours="replace_one")
        assert two.variance == 4 * one.variance


@pytest.mark.parametrize("rho", [Fraction(0), Fraction(-1)])
def test_noise_of_no_size_is_refused(rho: Fraction) -> None:
    with pytest.raises(ValueError, match="must both be above 0"):
        gaussian_variance_of_rho(1, rho)


@pytest.mark.parametrize("delta", [MILLIONTH, Fraction(1, 10**12), Fraction(1, 3), Fraction(1, 10**60)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(8)])
@pytest.mark.parametrize("shift", [1, 12, 24_000_000])
def test_the_variance_is_within_delta_and_hardly_less_would_not_be(
    shift: int, epsilon: Fraction, delta: Fraction
) -> None:
    variance = gaussian_variance(shift, epsilon, delta)
    assert Fraction(gaussian_delta(shift, variance, epsilon)) <= delta
    assert Fraction(gaussian_delta(shift, variance * Fraction(999, 1000), epsilon)) > delta


@pytest.mark.parametrize(
    ("shift", "epsilon", "delta"),
    [
        (0, Fraction(1), MILLIONTH),
        (1, Fraction(0), MILLIONTH),
        (1, Fraction(1), Fraction(0)),
        (1, Fraction(1), Fraction(1)),
    ],
)
def test_a_variance_outside_its_range_is_refused(shift: int, epsilon: Fraction, delta: Fraction) -> None:
    with pytest.raises(ValueError, match="no variance"):
        gaussian_variance(shift, epsilon, delta)


def test_one_cell_is_charged_the_delta_it_has() -> None:
    law, loss, _ = gaussian("count_rows", price=WITH_DELTA)
    assert loss.epsilon == Fraction(1, 2)
    assert loss.delta is not None
    assert MILLIONTH * Fraction(99, 100) < loss.delta <= MILLIONTH
    assert loss.rho == 1 / (2 * law.variance)


def test_one_cell_needs_less_noise_than_the_bound_for_vectors() -> None:
    one, _, _ = gaussian("count_rows", price=WITH_DELTA)
    vector, loss, _ = gaussian("count_rows", held=Contribution(1, 1, 1), keys=(CITY,), price=WITH_DELTA)
    assert one.variance == vector.variance  # one group a unit: still one cell under add_remove
    assert one.variance < gaussian_variance_of_rho(1, rho_of_epsilon(Fraction(1, 2), MILLIONTH))
    assert loss.delta is not None


@pytest.mark.parametrize(
    ("held", "keys", "neighbours"),
    [(FEW_ROWS, (CITY,), "add_remove"), (Contribution(1, 1, 1), (CITY,), "replace_one")],
)
def test_vectors_take_the_bound_proved_for_every_concentrated_loss(
    held: Contribution, keys: tuple[Key, ...], neighbours: str
) -> None:
    law, loss, _ = gaussian("count_rows", held=held, keys=keys, price=WITH_DELTA, neighbours=neighbours)
    most = rho_of_epsilon(Fraction(1, 2), MILLIONTH)
    assert most * Fraction(999_999, 10**6) < loss.rho <= most
    assert (loss.epsilon, loss.delta) == (Fraction(1, 2), MILLIONTH)
    swap = 4 if neighbours == "replace_one" else 1
    assert law.variance == Fraction(swap * held.l2_squared()) / (2 * loss.rho)


@pytest.mark.parametrize("function", ["count_rows", "avg"])
def test_an_epsilon_without_delta_is_refused_with_what_to_write(function: str) -> None:
    answer = Gaussian().offer(asking(function, price=HALF))
    assert isinstance(answer, Refusal)
    assert "add delta" in answer.reason
    assert "1e-8" in answer.reason


def test_a_price_that_buys_nothing_is_refused() -> None:
    tiny = Price(Fraction(1, 10**60), Fraction(1, 10**90))
    answer = Gaussian().offer(asking("count_rows", held=FEW_ROWS, keys=(CITY,), price=tiny))
    assert isinstance(answer, Refusal) == (rho_of_epsilon(Fraction(1, 10**60), Fraction(1, 10**90)) == 0)
