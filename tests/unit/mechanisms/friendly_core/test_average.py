"""The average of friendly rows: its sensitivity, its chance of a wrong count, and what one row alone shows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.friendly_core.average import FriendlyAverage
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.privacy.conversions import epsilon_of_rho
from dpsql.privacy.sampling import Integers
from dpsql.testing_samplers import FixedSampler, Noiseless

DELTA = Fraction(1, 10**6)


class Watching(Noiseless):
    """No noise; remembers the variances it was asked for."""

    def __init__(self) -> None:
        self.variances: list[Fraction] = []

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        self.variances.append(variance)
        return super().gaussian(variance, size)


def plain() -> FriendlyAverage:
    return FriendlyAverage(LaplaceLaw(Fraction(1)), DELTA, Fraction(1, 2))


def test_without_noise_it_is_the_mean_to_a_thousandth_of_its_sensitivity() -> None:
    points = np.random.default_rng(1).integers(0, 1000, (5000, 3))
    found = plain().release(points.sum(axis=0).tolist(), 5000, 2000, Noiseless())
    assert found is not None
    mean = [float(steps * found.step) for steps in found.steps]
    assert mean == pytest.approx(points.mean(axis=0), abs=float(found.step) / 2)
    assert found.step <= 4 / Fraction(1000 * 1)
    assert found.nearest == tuple(round(x) for x in points.mean(axis=0))


def test_noise_covers_twice_the_radius_by_the_released_count() -> None:
    # The seeded bugs that this convicts: r for 2 r, and the true count for n^.
    watching, radius, rows = Watching(), 1000, 400
    found = plain().release([12345, 7], rows, radius, watching)
    assert found is not None
    assert found.about == rows - LaplaceLaw(Fraction(1)).beyond(DELTA)
    moved = 2 * radius / found.about / float(found.step) + math.sqrt(2)
    assert float(watching.variances[0]) == pytest.approx(moved**2, rel=1e-6)  # rho = 1/2
    assert watching.variances[0] >= (Fraction(2 * radius, found.about) / found.step) ** 2


def test_rounding_moves_no_coordinate_by_more_than_a_step_beyond_the_mean() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        points = rng.integers(-50, 51, (30, 2))
        one, less = (plain().release(p.sum(axis=0).tolist(), len(p), 100, Noiseless()) for p in (points, points[1:]))
        assert one is not None
        assert less is not None
        step = max(one.step, less.step)
        apart = np.array(one.steps) * float(one.step) - np.array(less.steps) * float(less.step)
        true = points.mean(axis=0) - points[1:].mean(axis=0)
        assert np.abs(apart - true).max() <= float(step) * (1 + 1e-9)


def test_one_row_alone_is_nobody_but_for_the_stated_chance() -> None:
    sampler = FixedSampler(1)
    # The seeded bug that this convicts: n^ without its "- 1".
    for law in (LaplaceLaw(Fraction(3)), GaussianLaw(Fraction(40))):
        for chance in (Fraction(1, 3), Fraction(1, 50)):
            chosen = FriendlyAverage(law, chance, Fraction(1))
            shown = sum(chosen.release([5], 1, 10, sampler) is not None for _ in range(2000)) / 2000
            assert shown <= chance + 4 * math.sqrt(chance / 2000)
    assert plain().release([0], 0, 10, sampler) is None


def test_the_count_lies_below_the_rows_as_often_as_stated() -> None:
    sampler = FixedSampler(1)
    chosen = FriendlyAverage(GaussianLaw(Fraction(40)), Fraction(1, 20), Fraction(1))
    released = [chosen.release([0], 100, 10, sampler) for _ in range(2000)]
    missed = sum(found is not None and found.about >= 100 for found in released) / 2000
    assert 0.01 < missed <= 0.05 + 4 * math.sqrt(0.05 / 2000)


def test_the_price_in_rho_is_not_passed() -> None:
    for about in (1, 100, 10**6):
        rho = Fraction(1, 4)
        chosen = FriendlyAverage.concentrated(rho, DELTA, about)
        assert isinstance(chosen.count, GaussianLaw)
        assert 1 / (2 * chosen.count.variance) / (1 - chosen.chance) + chosen.rho <= rho
        assert chosen.chance <= DELTA


def test_the_price_in_epsilon_and_delta_is_not_passed() -> None:
    for about in (100, 1000, 10**6):
        epsilon = Fraction(1, 4)
        chosen = FriendlyAverage.approximate(epsilon, DELTA, about)
        assert chosen is not None
        assert isinstance(chosen.count, LaplaceLaw)
        of_mean = epsilon - 1 / chosen.count.scale
        assert epsilon_of_rho(chosen.rho, DELTA - chosen.chance) <= of_mean * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("about", [300, 3000, 10**5])
def test_the_shares_of_the_count_are_the_best(about: int) -> None:
    rho, epsilon = Fraction(1, 4), Fraction(1, 2)
    best = FriendlyAverage.concentrated(rho, DELTA, about).spread(about, 1)
    chosen = FriendlyAverage.approximate(epsilon, DELTA, about)
    assert chosen is not None
    for share in (Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)):
        other = FriendlyAverage(GaussianLaw(1 / (2 * rho * share)), DELTA, rho * (1 - share))
        assert best <= other.spread(about, 1) * 1.02


def test_the_spread_is_what_noise_has() -> None:
    sampler = FixedSampler(1)
    chosen = FriendlyAverage.concentrated(Fraction(1, 2), DELTA, 1000)
    found = [chosen.release([0, 0], 1000, 10**6, sampler) for _ in range(600)]
    means = np.array([[float(s * f.step) for s in f.steps] for f in found if f is not None])
    assert means.std() == pytest.approx(chosen.spread(1000, 10**6), rel=0.12)
    assert chosen.spread(5, 10**6) == math.inf
