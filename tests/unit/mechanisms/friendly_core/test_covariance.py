"""Covariance by its core: the metric, the Renyi bound against integrals, what an exchange moves, the answers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.friendly_core import covariance as module
from dpsql.mechanisms.friendly_core.covariance import (
    TAU,
    closeness,
    covariance,
    noise_for,
    part_covariance,
    plan_covariance,
    renyi,
)
from dpsql.privacy.account import units
from dpsql.privacy.conversions import pure_epsilon_of_rho
from dpsql.privacy.kinds import Concentrated
from dpsql.testing import FixedSampler, Noiseless

Floats = npt.NDArray[np.float64]
PRICE = Price(Fraction(4), Fraction(1, 10**6))


def spd(rng: np.random.Generator, d: int, spread: float = 0.3) -> Floats:
    half = np.eye(d) + spread * rng.normal(size=(d, d))
    return np.asarray(half @ half.T)


def apart(a: Floats, b: Floats) -> float:
    return float(closeness(np.array([a, b]))[0, 1])


def test_closeness_is_a_metric_that_linear_maps_do_not_change() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        a, b, c = (spd(rng, 3) for _ in range(3))
        f = rng.normal(size=(3, 3)) + 2 * np.eye(3)
        assert apart(a, b) == pytest.approx(apart(b, a)) == pytest.approx(apart(f @ a @ f.T, f @ b @ f.T), rel=1e-6)
        assert apart(a, c) <= apart(a, b) + apart(b, c) + 1e-9
        assert apart(a, 2 * a) == pytest.approx(math.log(2))


def test_a_singular_matrix_is_its_own_friend_alone() -> None:
    found = closeness(np.array([np.eye(2), np.diag([1.0, 0.0]), np.zeros((2, 2)), np.diag([1.0, 0.0])]))
    assert (np.diag(found) == 0).all()
    assert np.isinf(found[~np.eye(4, dtype=bool)]).all()


@pytest.mark.parametrize("order", [1.5, 4.0])
@pytest.mark.parametrize("u", [0.05, 0.2])
def test_the_divergence_of_one_entry_is_its_integral(order: float, u: float) -> None:
    eta, worst = 0.4, 0.0
    for s in (math.sqrt(1 - u), math.sqrt(1 + u)):
        for p, q in ((norm(1, eta), norm(s, s * eta)), (norm(s, s * eta), norm(1, eta))):

            def ratio(x: float, p: Any = p, q: Any = q) -> float:
                return math.exp(order * p.logpdf(x) + (1 - order) * q.logpdf(x))

            value = quad(ratio, -6, 8, limit=400)[0]
            worst = max(worst, math.log(value) / (order - 1))
    assert renyi(order, 1, u, eta) == pytest.approx(worst, rel=1e-5)


def test_the_ends_of_the_eigenvalues_are_the_worst() -> None:
    for d, u, eta, order in ((2, 0.1, 0.1, 5.0), (5, 0.02, 0.05, 20.0), (3, 0.3, 0.5, 2.0)):
        inside = [renyi(order, d, share * u, eta) for share in np.linspace(0, 1, 21)]
        assert inside == sorted(inside)


def test_an_exchanged_friend_moves_the_mean_by_no_more_than_the_theorem_says() -> None:
    rng, most = np.random.default_rng(2), 0.0
    for _ in range(60):
        m, d = 12, 2
        core = [spd(rng, d, 0.05) for _ in range(m)]
        ends = [np.diag([math.exp(TAU), 1.0]), np.diag([math.exp(-TAU), 1.0])]
        before, after = np.mean([*core, ends[0]], axis=0), np.mean([*core, ends[1]], axis=0)
        relative = np.linalg.eigvals(np.linalg.solve(after, before)).real
        most = max(most, float(np.abs(relative - 1).max()))
        fewer = np.linalg.eigvals(np.linalg.solve(np.mean(core, axis=0), before)).real
        assert np.abs(fewer - 1).max() <= 2 * math.sinh(2 * TAU) / (m + 1)
    assert 0.03 < most <= 2 * math.sinh(2 * TAU) / 13


def test_noise_is_what_was_worked_out_by_hand() -> None:
    found = [noise_for(2, 2 * math.sinh(1) / m, 1.0, 1e-7) for m in (100, 300, 1000)]
    assert found == pytest.approx([0.124, 0.031, 0.0085], rel=0.02)
    assert noise_for(2, 0.9, 0.1, 1e-7) is None, "where the eigenvalues alone tell, no noise helps"


def test_more_noise_costs_less_and_the_conversion_is_kept() -> None:
    eta = noise_for(3, 0.02, 1.0, 1e-6)
    assert eta is not None
    orders = [1 + 10 ** (k / 40) for k in range(-60, 200)]

    def epsilon(noise: float) -> float:
        gaps = [(math.log(1e6) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1) for a in orders]
        return min(renyi(a, 3, 0.02, noise) + gap for a, gap in zip(orders, gaps, strict=True))

    assert epsilon(eta) <= 1 < epsilon(eta * 0.99)


def test_a_part_gives_its_rows_covariance_in_any_order() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 3))
    assert np.allclose(part_covariance(rows), np.cov(rows.T))
    assert (part_covariance(rng.permutation(rows)) == part_covariance(rows)).all()
    assert (part_covariance(rows[:3]) == 0).all()


@pytest.mark.slow
def test_the_correlation_is_found_wherever_the_data_lie() -> None:
    rng = np.random.default_rng(4)
    true = np.array([[4.0, 1.2], [1.2, 1.0]])
    for sampler in (Noiseless(), FixedSampler(1)):
        points = rng.multivariate_normal([1e4, -3], true, 60_000)
        found = covariance(points, PRICE, sampler)
        assert found is not None
        assert (found == found.T).all()
        assert np.linalg.eigvalsh(found).min() >= 0
        assert found[0, 1] / math.sqrt(found[0, 0] * found[1, 1]) == pytest.approx(0.6, abs=0.15)
        assert found[0, 0] == pytest.approx(4, rel=0.25)


@pytest.mark.every(2)
@pytest.mark.parametrize("wild", [1e306, 1e200, 1e-200, 5e-324, 0.0])
def test_no_number_however_wild_is_an_error(wild: float) -> None:
    rng = np.random.default_rng(6)
    points = rng.normal(size=(20_000, 2))
    points[::7] *= wild
    assert covariance(points, PRICE, FixedSampler(1), parts=400) is None or wild < 1
    few = rng.normal(size=(40_000, 2))
    few[0] = [wild, -wild]
    assert covariance(few, PRICE, Noiseless(), parts=400) is not None


def test_parts_that_do_not_agree_have_no_answer() -> None:
    rng = np.random.default_rng(5)
    wild = rng.standard_cauchy((20_000, 2))
    assert covariance(wild, PRICE, FixedSampler(1), parts=400) is None
    assert covariance(np.zeros((0, 2)), PRICE, FixedSampler(1), parts=400) is None
    assert covariance(np.zeros((5000, 2)), PRICE, FixedSampler(1), parts=400) is None


def test_the_price_is_all_it_costs_and_a_smaller_one_takes_more_parts() -> None:
    plans = [plan_covariance(2, Price(Fraction(e), Fraction(1, 10**6))) for e in (8, 4, 2, 1)]
    assert [plan.parts for plan in plans] == sorted(plan.parts for plan in plans)
    for plan, e in zip(plans, (8, 4, 2, 1), strict=True):
        account = plan.loss.account("basic")
        assert account.epsilon == units(Fraction(e))
        assert plan.epsilon + 1 / plan.count.scale <= plan.filter.swaps.inner(Fraction(e), Fraction(1, 10**6))[0]


def test_a_price_in_rho_buys_the_epsilon_whose_rho_it_is() -> None:
    rho, delta = Fraction(2), Fraction(1, 10**6)
    plan = plan_covariance(2, Price(None, delta, rho))
    assert plan.loss == Concentrated(rho, outside=delta)
    epsilon = pure_epsilon_of_rho(rho)
    assert epsilon * math.tanh(epsilon / 2) <= rho
    assert replace(plan_covariance(2, Price(epsilon, delta)), loss=plan.loss) == plan


@pytest.mark.parametrize(
    ("price", "parts", "said"),
    [
        (Price(None, Fraction(0), Fraction(1)), None, "needs delta"),
        (Price(Fraction(1), Fraction(0)), None, "needs delta"),
        (Price(Fraction(1, 10), Fraction(1, 10**6)), None, "too small"),
        (PRICE, 1, "parts is 1"),
    ],
)
def test_what_cannot_be_is_refused(price: Price, parts: int | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        covariance(np.zeros((10, 2)), price, Noiseless(), parts=parts)


def test_normal_noise_is_normal() -> None:
    steps = FixedSampler(1).gaussian(Fraction(4**module.NORMAL_BITS), 20_000).astype(np.float64)
    draws = steps / 2.0**module.NORMAL_BITS
    assert abs(float(draws.mean())) < 0.03
    assert float(draws.std()) == pytest.approx(1, abs=0.02)
