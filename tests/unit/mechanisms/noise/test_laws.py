"""The discrete laws against sums over the integers that share no code with them."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_mechanism import DiscreteGaussianPrivacyLoss
from scipy.special import erfcx
from scipy.stats import norm

from dpsql.mechanisms.noise.laws import (
    FEW,
    GaussianLaw,
    LaplaceLaw,
    erfc,
    gaussian_delta,
    gaussian_quantile,
    gaussian_tail,
    laplace_quantile,
    laplace_tail,
    scaled_erfc,
)
from dpsql.mechanisms.noise.least import least

SCALES = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(20)]
VARIANCES = [Fraction(1, 10), Fraction(1, 2), Fraction(2), Fraction(50), Fraction(1000)]


def exp(x: Fraction) -> Decimal:
    return (Decimal(x.numerator) / Decimal(x.denominator)).exp()


@cache
def laplace_law(scale: Fraction) -> dict[int, Decimal]:
    reach = math.ceil(70 * scale) + 2
    weights = {k: exp(-abs(k) / scale) for k in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


@cache
def gaussian_law(variance: Fraction, digits: int = 28) -> dict[int, Decimal]:
    reach = math.ceil(14 * math.sqrt(variance)) + 25
    with localcontext(prec=digits):
        weights = {k: exp(-Fraction(k * k) / (2 * variance)) for k in range(-reach, reach + 1)}
        total = sum(weights.values())
        return {k: weight / total for k, weight in weights.items()}


def hockey_stick(law: dict[int, Decimal], shift: int, epsilon: Fraction) -> Decimal:
    """Sum over all outputs of max(0, P(k) - e^epsilon P(k moved)): delta by its definition."""
    factor = exp(epsilon)
    pairs = ((p, law[k + shift]) for k, p in law.items() if k + shift in law)
    return sum((max(Decimal(0), p - factor * moved) for p, moved in pairs), Decimal(0))


@pytest.mark.parametrize("scale", SCALES)
def test_laplace_tail_is_the_sum_of_its_probabilities(scale: Fraction) -> None:
    law = laplace_law(scale)
    for at in (-3, -1, 0, 1, 2, 9):
        assert abs(laplace_tail(scale, at) - sum(p for k, p in law.items() if k >= at)) < Decimal("1e-24")


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("scale", SCALES)
def test_laplace_quantile_is_the_smallest_that_holds_enough(scale: Fraction, confidence: float) -> None:
    law, k = laplace_law(scale), laplace_quantile(scale, confidence)
    assert sum(law.get(j, 0) for j in range(-k, k + 1)) >= Decimal(str(confidence))
    assert sum(law.get(j, 0) for j in range(1 - k, k)) < Decimal(str(confidence))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("variance", VARIANCES)
def test_gaussian_quantile_is_the_smallest_that_holds_enough(variance: Fraction, confidence: float) -> None:
    law, k = gaussian_law(variance), gaussian_quantile(variance, confidence)
    assert sum(law.get(j, 0) for j in range(-k, k + 1)) >= Decimal(str(confidence))
    assert sum(law.get(j, 0) for j in range(1 - k, k)) < Decimal(str(confidence))


def test_quantiles_of_huge_laws_are_those_of_the_continuous_ones() -> None:
    assert laplace_quantile(Fraction(10**15), 0.95) == pytest.approx(10**15 * math.log(20), rel=1e-14)
    assert gaussian_quantile(Fraction(10**30), 0.95) == pytest.approx(10**15 * norm.isf(0.025), rel=1e-9)


def test_a_confidence_of_one_is_refused() -> None:
    for confidence in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match=r"write a number between 0 and 1"):
            laplace_quantile(Fraction(1), confidence)


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(10_001), Fraction(123_456)])
def test_gaussian_tail_encloses_the_sum_of_its_probabilities(variance: Fraction) -> None:
    law = gaussian_law(variance)
    sigma = math.sqrt(variance)
    for at in {-1, 0, 1, 2, math.ceil(sigma), math.ceil(2.4 * sigma), math.ceil(6 * sigma)}:
        low, high = gaussian_tail(variance, at)
        exact = sum((p for k, p in law.items() if k >= at), Decimal(0))
        assert Decimal(low) <= exact <= Decimal(high)
        assert high - low < 1e-5 * high


@pytest.mark.every(2)
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("shift", [1, 3, 10])
@pytest.mark.parametrize("variance", VARIANCES)
def test_gaussian_delta_is_the_hockey_stick_of_the_discrete_law(
    variance: Fraction, shift: int, epsilon: Fraction
) -> None:
    with localcontext(prec=50):
        exact = hockey_stick(gaussian_law(variance, 50), shift, epsilon)
    delta = gaussian_delta(shift, variance, epsilon)
    assert exact <= Decimal(delta)
    assert delta == pytest.approx(float(exact), rel=1e-6, abs=1e-30)


def test_gaussian_delta_holds_where_tails_are_no_longer_summed_term_by_term() -> None:
    variance, epsilon = Fraction(20_000), Fraction(1, 20)
    exact = hockey_stick(gaussian_law(variance), 10, epsilon)
    delta = gaussian_delta(10, variance, epsilon)
    assert exact <= Decimal(delta) <= exact * Decimal("1.0001")


def test_gaussian_delta_agrees_with_an_independent_accountant() -> None:
    for sigma, shift, epsilon in [(10, 3, 0.5), (2, 1, 1.5), (40, 7, 0.25)]:
        peer = DiscreteGaussianPrivacyLoss(float(sigma), sensitivity=shift).get_delta_for_epsilon(epsilon)
        assert gaussian_delta(shift, Fraction(sigma**2), Fraction(epsilon)) == pytest.approx(peer, rel=1e-6)


def test_gaussian_delta_tends_to_the_continuous_one_as_the_grid_gets_finer() -> None:
    shift, sigma, epsilon = 10**9, 3 * 10**9, 0.5
    s = shift / sigma
    continuous = norm.cdf(s / 2 - epsilon / s) - math.exp(epsilon) * norm.cdf(-s / 2 - epsilon / s)
    assert gaussian_delta(shift, Fraction(sigma**2), Fraction(epsilon)) == pytest.approx(continuous, rel=1e-8)


def test_gaussian_delta_rises_with_the_shift() -> None:
    for variance in (Fraction(1, 3), Fraction(5), Fraction(40_000)):
        deltas = [gaussian_delta(shift, variance, Fraction(1, 2)) for shift in range(1, 40)]
        assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(deltas))


def test_the_continuous_formula_would_understate_delta() -> None:
    # Why the sum is needed: at a small variance the discrete law can lose twice what the formula for the line says.
    variance, epsilon, s = Fraction(1, 2), 4.625, math.sqrt(2)
    continuous = norm.cdf(s / 2 - epsilon / s) - math.exp(epsilon) * norm.cdf(-s / 2 - epsilon / s)
    assert gaussian_delta(1, variance, Fraction(epsilon)) > 2 * continuous


@pytest.mark.parametrize("law", [LaplaceLaw(Fraction(30)), GaussianLaw(Fraction(900))])
def test_tail_of_two_is_near_the_tail_of_the_discrete_sum(law: LaplaceLaw | GaussianLaw) -> None:
    one = laplace_law(law.scale) if isinstance(law, LaplaceLaw) else gaussian_law(law.variance)
    p = np.array([float(x) for x in one.values()])
    both = np.convolve(p, p)
    distance = np.abs(np.arange(len(both)) - len(both) // 2)
    for width in (20, 60, 150):
        exact = both[distance > width].sum()
        near = law.tail_of_two(law.spread, np.array([law.spread]), np.array([width + 0.5]))[0]
        assert near == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("chance", [Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**12)])
def test_beyond_is_the_least_point_that_noise_reaches_so_rarely(chance: Fraction) -> None:
    limit = Decimal(chance.numerator) / chance.denominator
    laws: list[tuple[GaussianLaw | LaplaceLaw, dict[int, Decimal]]] = [
        *((LaplaceLaw(scale), laplace_law(scale)) for scale in SCALES),
        *((GaussianLaw(variance), gaussian_law(variance)) for variance in VARIANCES),
    ]
    for law, chances in laws:
        k = law.beyond(chance)
        assert k >= 1
        assert sum(p for at, p in chances.items() if at >= k) <= limit
        assert k == 1 or sum(p for at, p in chances.items() if at >= k - 1) > limit


@pytest.mark.parametrize("law", [LaplaceLaw(Fraction(10**6)), GaussianLaw(Fraction(10**12))])
@pytest.mark.parametrize("chance", [0.5, 1e-3, 1e-12, 1e-100, 1e-249])
def test_it_is_looked_for_from_near(law: LaplaceLaw | GaussianLaw, chance: float) -> None:
    found = law.beyond(Fraction(chance))
    assert law.near(chance) == pytest.approx(found, rel=1e-6, abs=1)


@pytest.mark.parametrize("near", [-5, 1, 2, 999, 1000, 1001, 1010, 10**9])
@pytest.mark.parametrize("first", [1, 2, 7, 1000, 1001])
def test_the_least_is_found_from_every_guess(first: int, near: int) -> None:
    assert least(lambda k: k >= first, near) == first


@pytest.mark.parametrize("off", [0, 1, -1, 1000])
def test_few_numbers_are_looked_at_from_a_good_guess(off: int) -> None:
    looked: list[int] = []

    def enough(k: int) -> bool:
        looked.append(k)
        return k >= 10**9

    assert least(enough, 10**9 + off) == 10**9
    assert len(looked) <= 3 + 2 * math.log2(1 + abs(off))


def test_beyond_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="1e-250 to 1/2"):
        LaplaceLaw(Fraction(1)).beyond(Fraction(0))


def test_the_error_function_of_few_is_that_of_many() -> None:
    x = np.linspace(-3, 12, FEW + 2).reshape(2, -1)
    assert erfc(x[:, :5]) == pytest.approx(erfc(x)[:, :5], rel=1e-13)
    assert [row.tolist() for row in erfc(x[:, :5])] == [[math.erfc(one) for one in row] for row in x[:, :5].tolist()]


def test_the_scaled_erfc_is_that_of_scipy() -> None:
    for x in (*np.linspace(0, 30, 601), *np.geomspace(1e-9, 1e9, 200)):
        assert scaled_erfc(float(x)) == pytest.approx(float(erfcx(x)), rel=1e-13)
