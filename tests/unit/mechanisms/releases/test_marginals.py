"""Noisy marginals: what they cost, draw by draw, how far scores move, and which pairs are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dpsql.mechanisms.releases.marginals import CLEAR, Codes, Pair, believed, noisy_marginals, pair_score, table_of
from dpsql.mechanisms.releases.payment import Payment
from dpsql.privacy.sampling import Integers
from dpsql.testing_samplers import FixedSampler, Noiseless

SIZES = (3, 2, 4, 3)


class Metered(Noiseless):
    """Adds up what draws cost: noise on one histogram at a time, choices of scores that move by ``l1``."""

    def __init__(self, l1: int, squares: int) -> None:
        self.l1, self.squares = l1, squares
        self.epsilon = self.rho = Fraction(0)

    def laplace(self, scale: Fraction, size: int) -> Integers:
        self.epsilon += self.l1 / scale
        return super().laplace(scale, size)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        self.rho += self.squares / (2 * variance)
        return super().gaussian(variance, size)

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        self.epsilon += 2 * self.l1 * exponent
        return super().permute_and_flip(scores, exponent)

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        assert set(widths) == {1}
        self.rho += (2 * self.l1 * exponent) ** 2 / 8
        return super().intervals(widths, scores, exponent)


def chain(rows: int, seed: int) -> Codes:
    """Rows whose columns depend on each other in the order 2 - 0 - 3 - 1, most of the time."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((rows, 4), dtype=np.int64)
    codes[:, 2] = rng.integers(0, 4, rows)
    for one, other in ((2, 0), (0, 3), (3, 1)):
        loose = rng.random(rows) < 0.2
        codes[:, other] = np.where(loose, rng.integers(0, SIZES[other], rows), codes[:, one] % SIZES[other])
    return codes


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("priced", ["epsilon", "rho"])
def test_all_draws_together_cost_the_price(relation: str, priced: str, rows: int) -> None:
    price = Fraction(2, 3)
    payment = Payment(relation, **{priced: price}, rows=rows)  # type: ignore[arg-type]  # one of the two
    meter = Metered(payment.l1, payment.squares)
    noisy_marginals(chain(50, 0), (*SIZES[:2], 400, *SIZES[3:]), payment, meter)  # one column lies on a tree
    spent, other = (meter.epsilon, meter.rho) if priced == "epsilon" else (meter.rho, meter.epsilon)
    assert other == 0
    assert price * (1 - Fraction(1, 10**9)) <= spent <= price


class EveryPair:
    """All pairs of columns, one after the other."""

    def pairs(self, columns: int) -> int:
        return columns * (columns - 1) // 2

    def candidates(self, chosen: Sequence[Pair], sizes: Sequence[int]) -> list[Pair]:
        return [pair for pair in combinations(range(len(sizes)), 2) if pair not in chosen]


@pytest.mark.parametrize("priced", ["epsilon", "rho"])
def test_more_pairs_than_a_tree_has_cost_the_same_price(priced: str) -> None:
    payment = Payment("add_remove", **{priced: Fraction(2, 3)})  # type: ignore[arg-type]  # one of the two
    meter = Metered(payment.l1, payment.squares)
    found = noisy_marginals(chain(50, 0), SIZES, payment, meter, graph=EveryPair())
    assert set(found.pairs) == set(combinations(range(4), 2))
    assert Fraction(2, 3) * (1 - Fraction(1, 10**9)) <= meter.epsilon + meter.rho <= Fraction(2, 3)


def test_a_score_moves_by_no_more_than_its_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 5, 3), rng.integers(0, 5, 2)
    table = rng.integers(0, 4, 6)
    score = pair_score(table, one, other, total=8, penalty=2)
    for cell in range(6):
        more = table + (np.arange(6) == cell)
        assert abs(pair_score(more, one, other, total=8, penalty=2) - score) <= 1
        for gone in np.flatnonzero(table):
            swapped = more - (np.arange(6) == gone)
            assert abs(pair_score(swapped, one, other, total=8, penalty=2) - score) <= 2


def test_the_pairs_are_those_of_the_best_tree(seed: int) -> None:
    codes = chain(2000, seed)
    released = noisy_marginals(codes, SIZES, Payment("add_remove", epsilon=Fraction(1)), Noiseless())
    assert set(released.pairs) == {(0, 2), (0, 3), (1, 3)}
    assert released.total == 2000
    for pair, table in released.pairs.items():
        assert table.ravel().tolist() == table_of(codes, SIZES, pair).tolist()


def test_tables_are_those_of_counting(seed: int) -> None:
    codes = chain(60, seed)
    weights = np.random.default_rng(seed).integers(0, 5, 60)
    for pair in combinations(range(4), 2):
        counted = np.zeros((SIZES[pair[0]], SIZES[pair[1]]), dtype=int)
        for line, weight in zip(codes, weights, strict=True):
            counted[line[pair[0]], line[pair[1]]] += weight
        assert table_of(codes, SIZES, pair, weights).tolist() == counted.ravel().tolist()
        assert table_of(np.repeat(codes, weights, axis=0), SIZES, pair).tolist() == counted.ravel().tolist()


def test_weights_are_rows() -> None:
    codes, payment = chain(40, 0), Payment("replace_one", rho=Fraction(1))
    weights = np.arange(40) % 3
    found = noisy_marginals(codes, SIZES, payment, FixedSampler(1), weights=weights)
    alike = noisy_marginals(np.repeat(codes, weights, axis=0), SIZES, payment, FixedSampler(1))
    assert {pair: table.tolist() for pair, table in found.pairs.items()} == {
        pair: table.tolist() for pair, table in alike.pairs.items()
    }


def test_what_cannot_be_released_is_refused() -> None:
    payment = Payment("add_remove", epsilon=Fraction(1))
    with pytest.raises(ValueError, match=r"1 columns have no pairs; .* `cells` or `tree`"):
        noisy_marginals(np.zeros((3, 1), dtype=np.int64), (2,), payment, Noiseless())
    with pytest.raises(ValueError, match="1,048,577 codes, above 1,048,576"):
        noisy_marginals(np.zeros((3, 2), dtype=np.int64), (2, 16**5 + 1), payment, Noiseless())
    with pytest.raises(ValueError, match="private under"):
        noisy_marginals(np.zeros((3, 2), dtype=np.int64), (2, 2), payment, Noiseless(), total=3)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10**4), Fraction(1, 10**8)])
def test_noise_alone_makes_no_more_rows_than_are_likely(epsilon: Fraction) -> None:
    # What this convicts: at a price of 1e-8 the number of rows that ten people were made into was above 10^9.
    codes, payment = np.zeros((10, 2), dtype=np.int64), Payment("add_remove", epsilon)
    drawn = [noisy_marginals(codes, (10, 10), payment, FixedSampler(str(seed))).total for seed in range(20)]
    cut = [noisy_marginals(codes, (10, 10), payment, FixedSampler(str(seed)), likely=5000).total for seed in range(20)]
    assert cut == [min(total, 5000) for total in drawn]
    assert max(drawn) > 10**9 or epsilon > Fraction(1, 10**8)


def test_many_rows_are_made_where_their_number_is_clear_of_its_noise() -> None:
    codes, payment = np.zeros((20_000, 2), dtype=np.int64), Payment("add_remove", Fraction(1))
    one, two = (noisy_marginals(codes, (10, 10), payment, FixedSampler("n"), likely=most) for most in (None, 5000))
    assert one.total == two.total > 19_000


@pytest.mark.parametrize("spread", [0.0, 1.0, 1e3, 1e12])
def test_what_is_believed_above_what_is_likely_is_about_what_there_is(spread: float) -> None:
    for rows in (0, 10, 10**3, 10**6):
        for noise in np.linspace(-CLEAR / 2, CLEAR / 2, 121) * spread:
            made = believed(max(0, round(rows + noise)), spread, 1000)
            assert made <= max(1000, 2 * rows)
