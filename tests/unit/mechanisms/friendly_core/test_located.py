"""The located mean: its parts' losses, its error against the scale of the data alone, and when it says nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import binom

from dpsql.audit.audits import Shifted
from dpsql.mechanisms.friendly_core import place as module
from dpsql.mechanisms.friendly_core.friends import FARTHEST, Ball
from dpsql.mechanisms.friendly_core.located import GaussianTotal, LaplaceTotal, LocateThenClamp, put_into_ball
from dpsql.mechanisms.friendly_core.place import PlaceByCoins, PlaceByNoise, exact_sums
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.privacy.conversions import rho_of_pure
from dpsql.testing_samplers import FixedSampler, Noiseless

DELTA = Fraction(1, 10**6)


def by_epsilon(n: int, dimensions: int = 1, low: int = 1, high: int = 10**9) -> LocateThenClamp:
    """epsilon 1: a tenth for the count, 50/n or a tenth for the search, the rest 2 to 3."""
    search = max(Fraction(1, 10), Fraction(50, n))
    rest = Fraction(9, 10) - search
    total = LaplaceTotal(rest * 3 / 5) if dimensions == 1 else GaussianTotal(rest**2 / 200)
    place = PlaceByCoins(rest * 2 / 5, DELTA)
    return LocateThenClamp(LaplaceLaw(Fraction(10)), search, place, total, low, high, dimensions)


def by_rho(rho: Fraction, dimensions: int) -> LocateThenClamp:
    return LocateThenClamp(
        count=GaussianLaw(10 / rho),
        search=Fraction(1, 2),
        place=PlaceByNoise(rho * 3 / 10, DELTA),
        total=GaussianTotal(rho * 6 / 10),
        low=1,
        high=10**9,
        dimensions=dimensions,
    )


def normal(n: int, dimensions: int, *, at: int, deviation: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.rint(at + deviation * rng.standard_normal((n, dimensions))).astype(np.int64)


@pytest.mark.parametrize("dimensions", [1, 2, 7])
def test_every_row_ends_inside_the_ball_and_inner_ones_stay(dimensions: int) -> None:
    rng = np.random.default_rng(6)
    points = np.vstack(
        [
            rng.integers(-40, 41, (300, dimensions)),
            rng.integers(-(10**6), 10**6, (300, dimensions)),
            np.full((1, dimensions), FARTHEST),
            np.full((1, dimensions), -FARTHEST),
        ]
    )
    centre, reach = tuple(range(dimensions)), 37
    moved = put_into_ball(points, centre, reach)
    for before, after in zip(points, moved, strict=True):
        left = [int(x) - y for x, y in zip(before, centre, strict=True)]
        assert sum(int(x) ** 2 for x in after) <= reach**2
        if sum(x * x for x in left) < reach**2:
            assert after.tolist() == left
        assert all(a * b >= 0 and abs(a) <= abs(b) for a, b in zip(after.tolist(), left, strict=True))


def test_a_row_is_moved_the_same_whatever_else_there_is() -> None:
    points = np.random.default_rng(2).integers(-(10**8), 10**8, (1000, 6))
    together = put_into_ball(points, (5,) * 6, 10**6)
    assert all(
        put_into_ball(points[i : i + 1], (5,) * 6, 10**6).tolist() == [together[i].tolist()] for i in range(0, 1000, 37)
    )


def test_sums_are_exact_at_the_ends_of_the_range() -> None:
    points = np.array([[FARTHEST, -FARTHEST]] * 9 + [[1, -1]])
    assert exact_sums(points) == [9 * FARTHEST + 1, -9 * FARTHEST - 1]


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_without_noise_the_answer_is_the_clamped_mean(dimensions: int) -> None:
    points = normal(3000, dimensions, at=-(10**7), deviation=500)
    found = by_epsilon(3000, dimensions).run(points, Noiseless())
    assert found is not None
    assert found.rows == 3000
    clamped = put_into_ball(points, found.centre, found.reach).mean(axis=0) + np.array(found.centre)
    assert [float(x) for x in found.mean] == pytest.approx(clamped, abs=1e-3)
    assert clamped == pytest.approx(points.mean(axis=0), abs=15)


@pytest.mark.parametrize(("at", "deviation"), [(0, 1000), (10**12, 1000), (-(10**6), 10**6)])
def test_the_error_is_that_of_the_datas_own_scale_wherever_they_lie(at: int, deviation: int) -> None:
    sampler = FixedSampler(1)
    points, chosen = normal(2000, 1, at=at, deviation=deviation), by_epsilon(2000)
    found = [chosen.run(points, sampler) for _ in range(40)]
    errors = [float(f.mean[0]) - points.mean() for f in found if f is not None]
    assert len(errors) >= 38
    assert np.quantile(np.abs(errors), 0.9) < 0.06 * deviation
    expected = chosen.half_width(2000, chosen.radius(2000, deviation))
    assert expected / 4 < np.quantile(np.abs(errors), 0.95) < 3 * expected


@pytest.mark.parametrize("dimensions", [1, 3, 20])
def test_rho_buys_a_mean_in_many_dimensions(dimensions: int) -> None:
    sampler = FixedSampler(1)
    points, chosen = normal(1500, dimensions, at=10**6, deviation=1000), by_rho(Fraction(1, 2), dimensions)
    found = [chosen.run(points, sampler) for _ in range(8)]
    errors = [np.array([float(x) for x in f.mean]) - points.mean(axis=0) for f in found if f is not None]
    assert len(errors) >= 7
    typical = float(np.median([np.linalg.norm(error) for error in errors]))
    assert typical / math.sqrt(dimensions) < 10 * math.sqrt(dimensions) + 10


def test_two_halves_far_apart_have_no_place() -> None:
    sampler = FixedSampler(1)
    points = np.repeat(np.array([[0], [10**9]]), 1000, axis=0)
    chosen = LocateThenClamp(
        LaplaceLaw(Fraction(10)), None, PlaceByCoins(Fraction(1, 2), DELTA), LaplaceTotal(Fraction(1)), 100, 100, 1
    )
    assert all(chosen.run(points, sampler) is None for _ in range(5))
    assert chosen.run(points[:1000], sampler) is not None


@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_too_few_rows_have_no_place(n: int) -> None:
    sampler = FixedSampler(1)
    for chosen in (by_epsilon(1000), by_rho(Fraction(1, 2), 1)):
        assert chosen.run(np.full((n, 1), 7), sampler) is None


def test_a_neighbour_moves_the_sum_by_the_reach_and_a_swap_by_twice_that() -> None:
    # The seeded bug that this convicts: swaps at the noise of add_remove.
    place = PlaceByCoins(Fraction(1), DELTA)
    for swap, moved in ((False, 70), (True, 140)):
        laplace = LocateThenClamp(None, None, place, LaplaceTotal(Fraction(1, 2)), 1, 1, 1, swap).sum_law(70)
        gaussian = LocateThenClamp(None, None, place, GaussianTotal(Fraction(1, 2)), 1, 1, 4, swap).sum_law(70)
        assert laplace == LaplaceLaw(Fraction(2 * moved))
        assert gaussian == GaussianLaw(Fraction(moved**2))


@pytest.mark.parametrize("about", [20_001, 10**6, 10**9])
def test_a_sample_costs_no_more_than_the_whole(about: int) -> None:
    for epsilon in (Fraction(1, 1000), Fraction(1, 2), Fraction(20)):
        sampled = PlaceByCoins(epsilon, DELTA)._sampled(2, about)
        assert sampled is not None
        q = Decimal(module.MOST_PAIRED) / about
        inner = Decimal(sampled.epsilon.numerator) / Decimal(sampled.epsilon.denominator)
        cost = (1 + q * (inner.exp() - 1)).ln()
        assert cost <= Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        assert cost >= Decimal(epsilon.numerator) / Decimal(epsilon.denominator) * Decimal("0.999999")
        assert sampled.delta * Fraction(module.MOST_PAIRED, about) <= DELTA


def test_coins_in_the_place_of_noise_cost_no_more_rho() -> None:
    place = PlaceByNoise(Fraction(1, 30), DELTA)
    assert rho_of_pure(place._coins.epsilon) <= place.rho
    assert place._coins.delta == place.delta


def test_one_dimension_and_swaps_are_never_sampled() -> None:
    assert PlaceByCoins(Fraction(1), DELTA)._sampled(1, 10**9) is None
    assert PlaceByCoins(Fraction(1), DELTA, swap=True)._sampled(2, 10**9) is None
    assert PlaceByCoins(Fraction(1), DELTA)._sampled(2, module.MOST_PAIRED) is None


def paired_rows(run: Callable[[], object]) -> int:
    """The most rows of which ``run`` compares all pairs."""
    compared = [0]

    def friends(ball: Ball, points: np.ndarray) -> np.ndarray:
        compared.append(len(points))
        return np.full(len(points), len(points))

    with patch.object(Ball, "friends", friends):
        run()
    return max(compared)


class Extreme(Shifted):
    """Noise that is always the same number, and coins that all fall on one side."""

    def __init__(self, noise: int, heads: bool) -> None:
        super().__init__(noise)
        self.heads = heads

    def chances(self, numerators: np.ndarray, m: int) -> np.ndarray:
        """(n,) bool."""
        return (numerators > 0) if self.heads else (numerators >= m)


@pytest.mark.every(2)
@pytest.mark.parametrize("heads", [True, False])
@pytest.mark.parametrize("chosen", [by_epsilon(60, 2), by_rho(Fraction(1, 2), 2)], ids=["epsilon", "rho"])
def test_no_noise_and_no_coin_makes_all_pairs_of_many_rows_be_compared(chosen: LocateThenClamp, heads: bool) -> None:
    # The seeded bug that this convicts: whether there is a sample, and how dense, by a number that may be too small.
    with patch.multiple(module, MOST_PAIRED=20, MOST_COMPARED=30):
        most = 0
        for n in (0, 1, 15, 20, 21, 29, 30, 31, 60, 300):
            points = np.zeros((n, 2), dtype=np.int64)
            for noise in range(-2 * n - 2 * chosen.slack, 2 * chosen.slack + 50, 7):
                paired = paired_rows(lambda: chosen.run(points, Extreme(noise, heads)))  # noqa: B023 - run at once
                assert paired <= 30, (n, noise)
                most = max(most, paired)
        assert most > 0 or not heads


@pytest.mark.parametrize("about", [1, 19, 31, 10**6])
def test_a_public_number_of_rows_that_is_too_large_is_not_paired(about: int) -> None:
    points = np.zeros((about if about < 100 else 400, 2), dtype=np.int64)
    with patch.multiple(module, MOST_PAIRED=20, MOST_COMPARED=30):
        for place in (PlaceByCoins(Fraction(1), DELTA, swap=True), PlaceByNoise(Fraction(1), DELTA, swap=True)):
            assert paired_rows(lambda: place.find(points, 5, about, Noiseless())) == (0 if about > 30 else about)  # noqa: B023
            if about > 30:
                assert place.spread(about, 5, 2) == math.inf


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10**5)])
def test_rows_are_more_than_the_raised_number_only_within_delta(epsilon: Fraction) -> None:
    for count in (LaplaceLaw(1 / epsilon), GaussianLaw(1 / epsilon)):
        for place in (PlaceByCoins(epsilon, DELTA), PlaceByNoise(epsilon, DELTA)):
            chosen = LocateThenClamp(count, None, place, GaussianTotal(epsilon), 9, 9, 2)
            # n - 1 rows, of which n are thought: n - 1 + noise + slack < n.
            assert count.tail(chosen.slack) <= place.beyond == DELTA * module.BEYOND
            left = (
                place._for(2, 10, 0)[0].delta if isinstance(place, PlaceByCoins) else module._kept_of(DELTA, 2, False)
            )
            assert left + 2 * place.beyond <= DELTA
            flat = LocateThenClamp(count, None, place, GaussianTotal(epsilon), 9, 9, 1)
            assert (flat.slack, module._kept_of(DELTA, 1, False)) == (0, DELTA)  # nothing is paired, and nothing paid


def test_a_sample_is_hardly_ever_cut_off() -> None:
    m, over = module.MOST_PAIRED, Fraction(module.MOST_COMPARED, module.MOST_PAIRED)
    assert over == Fraction(3, 2)
    bound = m * (Decimal("0.5") - Decimal("1.5") * Decimal("1.5").ln())  # the logarithm of Chernoff's
    assert bound < -3100 * Decimal(2).ln()
    assert bound + 101 < Decimal(10).ln() * -250  # times 1 + e^100 it is within any delta that has a slack
    for n in (m + 1, 2 * m, 10**6, 10**9):
        assert binom.logsf(module.MOST_COMPARED, n, m / n) <= float(bound) + 1e-6
    for n in (31, 60, 1000):  # the same bound where it can be summed
        for mean in (5, 20):
            chernoff = mean * (0.5 - 1.5 * math.log(1.5))
            assert math.log(binom.sf(1.5 * mean - 1, n, mean / n)) <= chernoff


@pytest.mark.parametrize("slack", [0, 200, 50_000])
def test_with_a_slack_the_sample_is_expected_to_be_smaller_and_costs_no_more(slack: int) -> None:
    place = PlaceByCoins(Fraction(1, 100), DELTA)
    own, rows = place._for(2, 10**6, slack)
    assert rows == pytest.approx(module.MOST_PAIRED * 10**6 / (10**6 + slack))
    q = Decimal(module.MOST_PAIRED) / (10**6 + slack)
    inner = Decimal(own.epsilon.numerator) / Decimal(own.epsilon.denominator)
    assert (1 + q * (inner.exp() - 1)).ln() <= Decimal("0.01")
    assert place.spread(10**6, 100, 2, slack) < 1.3 * place.spread(10**6, 100, 2)


@pytest.mark.slow
def test_a_hundred_thousand_rows_in_the_plane_are_sampled_and_found() -> None:
    sampler = FixedSampler(1)
    points, chosen = normal(100_000, 2, at=10**9, deviation=10**4), by_epsilon(100_000, 2)
    found = chosen.run(points, sampler)
    assert found is not None
    assert np.abs([float(x) for x in found.mean] - points.mean(axis=0)).max() < 300


def test_few_rows_are_expected_to_find_nothing() -> None:
    assert by_epsilon(100).half_width(50, 1000) == math.inf
    assert by_rho(Fraction(1, 100), 2).half_width(500, 1000) == math.inf
    assert by_epsilon(1000).half_width(1000, 1000) < math.inf
