"""What is proved of released numbers is kept whole, and holds for whatever is linear in the cells."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.releases.cells import noisy_cells
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.proofs import Proof, cells_proof, read_proof, tree_proof, uniform_proof
from dpsql.mechanisms.releases.tree import noisy_tree
from dpsql.privacy.sampling import ExactSampler
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
        assert kept is not None
        weights = np.arange(2, 5) == np.arange(8)[:, None]
        for own in (weights.any(axis=1).astype(np.float64), np.ones(8)):
            assert kept.interval(own, 0.9) == proof.interval(own, 0.9)
    assert read_proof(None) is None


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
