"""What is proved of released numbers is kept whole, and holds for whatever is linear in the cells."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.cells import noisy_cells
from dpsql.mechanisms.releases.marginals import noisy_marginals
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.proofs import (
    Proof,
    cells_proof,
    least_interval,
    marginals_proofs,
    read_proof,
    tree_proof,
    uniform_proof,
)
from dpsql.mechanisms.releases.tree import noisy_tree
from dpsql.privacy.sampling import ExactSampler
from dpsql.testing_samplers import Noiseless
from dpsql.worker.wire import decode, encode

EXACT = np.array([5, 0, 7, 3, 0, 0, 9, 1])
PRICES = {"epsilon": Fraction(1)}, {"rho": Fraction(1, 8)}


def proofs(price: dict[str, Fraction]) -> list[Proof]:
    payment = Payment("add_remove", **price)  # type: ignore[arg-type]  # one of the two
    sampler = ExactSampler()
    return [
        cells_proof(noisy_cells(EXACT, payment, sampler)),
        tree_proof(noisy_tree(EXACT, payment, sampler)),
        uniform_proof(EXACT + 0.5, 6),
    ]


@pytest.mark.chance(0, "what is kept is compared, whatever the noise was")
@pytest.mark.parametrize("price", PRICES)
def test_what_is_kept_is_what_was_proved(price: dict[str, Fraction]) -> None:
    for proof in proofs(price):
        kept = read_proof(decode(encode(proof.told())))
        weights = np.arange(2, 5) == np.arange(8)[:, None]
        for own in (weights.any(axis=1).astype(np.float64), np.ones(8)):
            assert kept.interval(own, 0.9) == proof.interval(own, 0.9)


@pytest.mark.chance(1.2e-8, "six intervals for each of two prices, each wrong with a chance of 1e-9 at the most")
@pytest.mark.parametrize("price", PRICES)
def test_intervals_hold_for_any_weights(price: dict[str, Fraction]) -> None:
    for proof in proofs(price)[:2]:
        for weights in np.array([[1.0] * 8, np.arange(8) - 3.0, [0, 1, 1, 0, 0, 1, 0, 0.0]]):
            low, high = proof.interval(weights, 1 - 1e-9) or (1.0, 0.0)
            assert low <= weights @ EXACT <= high
        assert proof.interval(np.zeros(8), 0.9) == (0, 0)


def test_a_bound_of_all_ranges_is_one_of_ranges_alone() -> None:
    proof = uniform_proof(EXACT + 0.5, 6)
    run, gap = np.array([0, 1, 1, 1, 0, 0, 0, 0.0]), np.array([0, 1, 0, 1, 0, 0, 0, 0.0])
    assert proof.interval(run, 0.95) == (5.5, 17.5)
    assert proof.interval(gap, 0.95) is None
    assert proof.interval(2 * run, 0.95) is None
    assert proof.interval(run, 0.99) is None


def test_coarser_cells_hold_any_weights_between_their_least_and_their_largest() -> None:
    """Three cells in two coarser ones, the second alone in its own; the noise is far below a row."""
    law = LaplaceLaw(Fraction(1, 1000))
    proof = Proof(np.array([10.0, 5.0]), law, of=np.array([0, 1, 0]))
    low, high = proof.interval(np.array([-1.0, 2.0, 3.0]), 0.9) or (0.0, 0.0)
    assert (low, high) == pytest.approx((0, 40), abs=0.1)
    assert proof.deviation(np.array([-1.0, 2.0, 3.0])) == np.inf
    assert 0 < proof.deviation(np.array([3.0, 2.0, 3.0])) < np.inf


def test_of_two_proofs_the_one_with_less_noise_is_taken_at_half_the_chance_of_failure() -> None:
    law, weights = GaussianLaw(Fraction(4)), np.ones(4)
    wide, narrow = Proof(np.ones(4), law), Proof(np.array([2.0, 2.0]), law)
    assert least_interval([(narrow, np.ones(2))], 0.9) == narrow.interval(np.ones(2), 0.9)
    assert least_interval([(wide, weights), (narrow, np.ones(2))], 0.9) == narrow.interval(np.ones(2), 0.95)


@pytest.mark.parametrize("sizes", [(3, 4), (3, 60), (60, 70)])
def test_marginals_prove_their_columns_and_their_pairs(sizes: tuple[int, int]) -> None:
    """With no noise to speak of, also of columns that are cut: there a pair proves what goes along the cuts."""
    codes = np.stack(np.unravel_index(np.arange(sizes[0] * sizes[1]), sizes), axis=1)
    rows = np.arange(len(codes)) * 7 % 11
    payment = Payment("add_remove", epsilon=Fraction(10**6))
    found = marginals_proofs(noisy_marginals(codes, sizes, payment, Noiseless(), weights=rows), sizes)
    assert [proof.columns for proof in found] == [(0,), (1,), (0, 1)]
    for proof in found:
        columns = list(proof.columns or ())
        own = np.ravel_multi_index(tuple(codes[:, columns].T), [sizes[column] for column in columns])
        exact = np.bincount(own, weights=rows, minlength=proof.cells)
        weights = (np.arange(proof.cells) % 3 == 1) * 2.0
        low, high = proof.interval(weights, 0.95) or (1.0, 0.0)
        assert low <= weights @ exact <= high
        assert proof.of is not None or high - low < 0.1
