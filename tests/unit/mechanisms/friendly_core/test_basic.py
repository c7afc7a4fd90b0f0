"""The basic filter against enumeration: what it keeps is friendly, gamma is exact, and the losses are as stated."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.friendly_core import BasicFilter, BasicSwapFilter
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.friendly_core.graphs import (
    basic_probabilities,
    every_graph,
    friendly,
    random_graph,
    size_law,
    swap_probabilities,
    without,
)

ALPHAS = [Fraction(0), Fraction(1, 10), Fraction(1, 4)]
HALF = Fraction(1, 2)


def moved(whole: list[Fraction], less: list[Fraction], row: int) -> Fraction:
    others = whole[:row] + whole[row + 1 :]
    return sum((abs(a - b) for a, b in zip(others, less, strict=True)), whole[row])


def curator(whole: np.ndarray, less: np.ndarray, q: float) -> float:
    """Exact loss of the core's size plus two-sided geometric noise of ratio q, the larger of both directions.

    The likelihood ratio is monotone in the tails, so the sizes themselves and one step beyond suffice.
    """
    n = max(len(whole), len(less))
    at = np.arange(-1, n + 1)

    def law(sizes: np.ndarray) -> np.ndarray:
        return np.asarray((q ** np.abs(at[:, None] - np.arange(len(sizes))[None, :]) * sizes).sum(axis=1))

    return float(np.abs(np.log(law(whole) / law(less))).max())


@pytest.mark.parametrize("alpha", ALPHAS)
def test_no_graph_moves_the_probabilities_by_more_than_gamma(alpha: Fraction) -> None:
    gamma = BasicFilter(alpha).gamma
    for n in (1, 2, 3, 4, 5):
        for matrix in every_graph(n):
            whole = basic_probabilities(matrix, alpha)
            for row in range(n if n < 5 else 1):
                assert moved(whole, basic_probabilities(without(matrix, row), alpha), row) <= gamma


def test_gamma_is_attained_in_the_limit() -> None:
    # Row j has (1 - alpha) n friends, each with just above n / 2, all others exactly (1 - alpha) n of them.
    n = 2000
    for alpha, expected in ((Fraction(1, 10), 2.3489), (Fraction(1, 4), 3.2486)):
        low, high = n // 2 + 1, int((1 - alpha) * n)

        def p(z: int, n: int, alpha: Fraction = alpha) -> Fraction:
            return min(Fraction(1), max(Fraction(0), (Fraction(z, n) - HALF) / (HALF - alpha)))

        total = (high - 1) * abs(p(low, n) - p(low - 1, n - 1)) + p(high, n)
        total += (n - high) * abs(p(high - 1, n) - p(high - 1, n - 1))
        gamma = BasicFilter(alpha).gamma
        assert float(total) == pytest.approx(expected, abs=2e-3)
        assert total <= gamma < total * Fraction(1001, 1000)


def test_the_other_rows_alone_move_by_more_than_one() -> None:
    # The paper's stability lemma bounds them by 1; one outlier that leaves n - 1 equal rows moves them by almost 2.
    n = 1000
    whole = [Fraction(n - 1, n)] * (n - 1)
    apart = sum(abs((z - HALF) / HALF - 1) for z in whole)
    assert 1.99 < apart < 2


def test_rows_that_may_stay_with_or_without_one_row_are_friendly_together() -> None:
    for n in (2, 3, 4, 5):
        for matrix in every_graph(n):
            stays = basic_probabilities(matrix, Fraction(0))
            less = [Fraction(0), *basic_probabilities(without(matrix, 0), Fraction(0))]
            assert friendly(matrix, [i for i in range(n) if stays[i] > 0 or less[i] > 0])


def test_rows_that_may_stay_before_or_after_a_swap_are_friendly_together() -> None:
    # Rows 0 and 1 are the one that goes and the one that comes; a common friend is among the rows of both runs.
    for n in (3, 4, 5):
        for matrix in every_graph(n):
            before = swap_probabilities(without(matrix, 1), Fraction(0))
            after = swap_probabilities(without(matrix, 0), Fraction(0))
            kept = [2 + i for i in range(n - 2) if before[1 + i] > 0 or after[1 + i] > 0]
            kept += [0] * (before[0] > 0) + [1] * (after[0] > 0)
            for a in kept:
                for b in kept:
                    assert (matrix[a] & matrix[b])[2:].any()


def test_the_threshold_of_add_remove_would_not_do_for_swaps() -> None:
    # Four common rows in two pairs; each pair has one friend among the swapped rows. With more than n / 2 = 2.5
    # friends, all counted, both pairs may stay, and nobody is a friend of both.
    matrix = np.eye(6, dtype=bool)
    for a, b in ((2, 3), (4, 5), (0, 2), (0, 3), (1, 4), (1, 5)):
        matrix[a, b] = matrix[b, a] = True
    before, after = without(matrix, 1), without(matrix, 0)
    assert basic_probabilities(before, Fraction(0))[1] > 0
    assert basic_probabilities(after, Fraction(0))[3] > 0
    assert not friendly(matrix, [2, 4])
    assert max(swap_probabilities(before, Fraction(0)) + swap_probabilities(after, Fraction(0))) == 0


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_loss_of_the_cores_size_is_within_the_theorem(alpha: Fraction) -> None:
    rng = np.random.default_rng(31)
    inner = 0.2
    epsilon = BasicFilter(alpha).total(inner, 0)[0]
    swapped = BasicSwapFilter(alpha).total(inner, 0)[0]
    for _ in range(40):
        n = int(rng.integers(3, 25))
        matrix = random_graph(n, rng)
        whole = size_law(basic_probabilities(matrix, alpha))
        less = size_law(basic_probabilities(without(matrix, n - 1), alpha))
        assert curator(whole, less, math.exp(-inner)) <= epsilon + 1e-9
        before = size_law(swap_probabilities(without(matrix, n - 1), alpha))
        after = size_law(swap_probabilities(without(matrix, 0), alpha))
        assert curator(before, after, math.exp(-inner)) <= swapped + 1e-9


def test_the_theorem_is_attained_by_one_far_outlier() -> None:
    n, inner = 1000, 0.2
    law = np.array([1.0])
    p = float((Fraction(n - 1, n) - HALF) / HALF)
    law = np.array([math.comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)])
    complete = np.zeros(n)
    complete[-1] = 1
    loss = curator(law, complete, math.exp(-inner))
    assert loss == pytest.approx(0.4423, abs=1e-4)
    assert loss <= BasicFilter(Fraction(0)).total(inner, 0)[0] <= loss * 1.002


def test_delta_covers_a_mechanism_that_shows_all_with_a_small_chance() -> None:
    # A shows the core's size with chance d0 and nothing otherwise: friendly (e0, d0)-DP for every e0.
    rng = np.random.default_rng(5)
    chosen, inner, d0 = BasicFilter(), 0.3, 1e-3
    epsilon, delta = chosen.total(inner, d0)
    for _ in range(60):
        n = int(rng.integers(3, 30))
        matrix = random_graph(n, rng)
        whole = size_law(basic_probabilities(matrix, chosen.alpha))
        less = np.append(size_law(basic_probabilities(without(matrix, n - 1), chosen.alpha)), 0.0)
        for a, b in ((whole, less), (less, whole)):
            seen = d0 * np.maximum(0, a - math.exp(epsilon) * b).sum()
            assert seen <= delta


@pytest.mark.parametrize("chosen", [BasicFilter(), BasicFilter(Fraction(1, 4)), BasicSwapFilter()])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 10), Fraction(1), Fraction(30), Fraction(10**6)])
def test_what_the_inner_mechanism_may_cost_adds_up_to_no_more(
    chosen: BasicFilter | BasicSwapFilter, epsilon: Fraction
) -> None:
    delta = Fraction(1, 10**6)
    e0, d0 = chosen.inner(epsilon, delta)
    x = Decimal(e0.numerator) / Decimal(e0.denominator)
    gamma = Decimal(chosen.gamma.numerator) / Decimal(chosen.gamma.denominator)
    grown = gamma * (x.exp() - 1)
    swap = isinstance(chosen, BasicSwapFilter)
    whole = grown + (x if swap else 0)
    factor = (grown.exp() - 1) / (x.exp() - 1) + (grown.exp() if swap else 0)
    assert whole <= min(Decimal(100), Decimal(epsilon.numerator) / Decimal(epsilon.denominator))
    assert Decimal(d0.numerator) / Decimal(d0.denominator) * factor <= Decimal("1e-6")
    if epsilon <= 30:
        assert chosen.total(float(e0), float(d0)) == pytest.approx((float(epsilon), 1e-6), rel=1e-6)


def test_coins_fall_as_the_probabilities_say() -> None:
    sampler = FixedSampler(1)
    friends = np.array([1, 20, 21, 30, 36, 40] + [40] * 34)
    kept = np.array([BasicFilter().kept(friends, sampler) for _ in range(4000)]).mean(axis=0)
    expected = [0, 0, 1 / 16, 10 / 16, 1, 1]
    assert kept[:6] == pytest.approx(expected, abs=4 * 0.008)
    assert kept[0] == kept[1] == 0
    assert kept[4] == kept[5] == 1


def test_without_noise_a_row_stays_if_it_is_likely_to() -> None:
    friends = np.array([27, 28, 29] + [40] * 37)  # p is 7/16, 1/2 and 9/16
    assert BasicFilter().kept(friends, Noiseless())[:3].tolist() == [False, True, True]


def test_nobody_and_a_single_row() -> None:
    sampler = FixedSampler(1)
    nobody, one = np.zeros(0, dtype=np.int64), np.ones(1, dtype=np.int64)
    assert BasicFilter().kept(nobody, sampler).tolist() == []
    assert BasicFilter().kept(one, sampler).tolist() == [True]
    assert BasicSwapFilter().kept(nobody, sampler).tolist() == []
    assert BasicSwapFilter().kept(one, sampler).tolist() == [False]


def test_an_alpha_of_a_half_is_refused() -> None:
    with pytest.raises(ValueError, match="below 1/2"):
        BasicFilter(Fraction(1, 2))
