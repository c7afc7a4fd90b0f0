"""MWEM: what it costs, draw by draw, and what it learns."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from dpsql.mechanisms.releases.mwem import Masks, best_rounds, error_of, learnt_histogram
from dpsql.mechanisms.releases.payment import Payment
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.releases.test_marginals import Metered

BITS = np.array(list(product([0, 1], repeat=6)))
PAIRS: Masks = np.array(
    [
        (BITS[:, pair] == values).all(axis=1)
        for pair in combinations(range(6), 2)
        for values in product([0, 1], repeat=2)
    ]
)


def table(rows: int, seed: int) -> np.ndarray:
    """Six bits, each as the one before it three times of four."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (rows, 6))
    for j in range(1, 6):
        bits[:, j] = np.where(rng.random(rows) < 0.5, bits[:, j - 1], bits[:, j])
    return np.bincount(bits @ 2 ** np.arange(5, -1, -1), minlength=64)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("priced", ["epsilon", "rho"])
def test_all_draws_together_cost_the_price(relation: str, priced: str, rows: int) -> None:
    """A number of rows moves by the rows of one unit, also where a unit is replaced."""
    price = Fraction(2, 3)
    payment = Payment(relation, **{priced: price}, rows=rows)  # type: ignore[arg-type]  # one of the two
    total = 50 if relation == "replace_one" and rows == 1 else None
    meter = Metered(rows, rows**2)
    learnt_histogram(table(50, 0), PAIRS, payment, meter, total, rounds=4)
    spent = meter.epsilon if priced == "epsilon" else meter.rho
    assert price * (1 - Fraction(1, 10**9)) <= spent <= price


def test_rounds_choose_the_worst_question_and_never_the_same(seed: int) -> None:
    counts = table(4000, seed)
    learnt = learnt_histogram(counts, PAIRS, Payment("replace_one", epsilon=Fraction(1)), Noiseless(), 4000, rounds=8)
    assert len(set(learnt.asked)) == 8
    assert learnt.measured == tuple(int(PAIRS[k] @ counts) for k in learnt.asked)
    uniform = np.abs(PAIRS @ np.full(64, 4000 / 64) - PAIRS @ counts)
    assert learnt.asked[0] == int(np.argmax(np.rint(uniform)))
    assert learnt.cells.sum() == pytest.approx(4000)


def test_a_few_rounds_take_most_of_the_error_away() -> None:
    counts = table(4000, 0)  # One table: no theorem promises as much of every one.
    learnt = learnt_histogram(counts, PAIRS, Payment("replace_one", epsilon=Fraction(1)), Noiseless(), 4000, rounds=8)
    uniform = np.abs(PAIRS @ np.full(64, 4000 / 64) - PAIRS @ counts)
    assert np.abs(PAIRS @ learnt.cells - PAIRS @ counts).max() < uniform.max() / 3


def test_it_errs_less_than_the_uniform_histogram_and_than_its_theorem(seed: int) -> None:
    counts, payment = table(20000, seed), Payment("add_remove", epsilon=Fraction(1))
    learnt = learnt_histogram(counts, PAIRS, payment, FixedSampler("mwem"))
    error = np.abs(PAIRS @ learnt.cells - PAIRS @ counts).max()
    assert error <= 0.02 * 20000
    rounds = best_rounds(20000, 64, len(PAIRS), payment)
    assert error <= error_of(20000, 64, len(PAIRS), 1.0, rounds)


def test_more_rounds_than_the_best_are_worse_in_the_theorem() -> None:
    best = best_rounds(3000, 2**16, 500, Payment("replace_one", epsilon=Fraction(1)))
    errors = [error_of(3000, 2**16, 500, 1.0, rounds) for rounds in range(1, 100)]
    assert abs(int(np.argmin(errors)) + 1 - best) <= 1
    assert best_rounds(3000, 2**16, 500, Payment("replace_one", rho=Fraction(1, 2))) == best


class Wild(Noiseless):
    """Noise far beyond the table."""

    def laplace(self, scale: Fraction, size: int) -> np.ndarray:
        return np.full(size, 10**12)


def test_wild_noise_leaves_a_histogram() -> None:
    payment = Payment("replace_one", epsilon=Fraction(1))
    cells = learnt_histogram(table(30, 0), PAIRS, payment, Wild(), 30, rounds=5).cells
    assert np.isfinite(cells).all()
    assert cells.sum() == pytest.approx(30)


@pytest.mark.parametrize(("questions", "rounds"), [(PAIRS, 0), (PAIRS[:3], 4)])
def test_rounds_need_a_question_each(questions: Masks, rounds: int) -> None:
    with pytest.raises(ValueError, match="each round measures another"):
        learnt_histogram(table(9, 0), questions, Payment("add_remove", rho=Fraction(1)), Noiseless(), rounds=rounds)


def test_a_domain_too_large_is_refused() -> None:
    wide = np.zeros(10**6 + 1, dtype=np.int64)
    with pytest.raises(ValueError, match=r"mwem takes 1000000 cells, .* or `marginals`"):
        learnt_histogram(
            wide, np.zeros((1, len(wide)), dtype=bool), Payment("add_remove", rho=Fraction(1)), Noiseless()
        )
