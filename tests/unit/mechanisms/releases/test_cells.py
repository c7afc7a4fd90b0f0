"""Noisy cells: what they show without noise, their price, their intervals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.releases.cells import noisy_cells, sum_deviation
from dpsql.mechanisms.releases.payment import Payment
from dpsql.testing_samplers import FixedSampler, Noiseless

PURE = Payment("add_remove", epsilon=Fraction(1))
SWAPS = Payment("replace_one", epsilon=Fraction(1))


def test_without_noise_it_is_the_histogram() -> None:
    counts = [4, 0, 0, 9, 1]
    for payment, total in ((PURE, None), (SWAPS, 14), (Payment("replace_one", rho=Fraction(1), rows=3), None)):
        released = noisy_cells(counts, payment, Noiseless(), total)
        assert released.counts.tolist() == released.noised.tolist() == counts


def test_a_private_number_of_rows_takes_a_tenth_of_the_price() -> None:
    assert noisy_cells([1, 2], PURE, Noiseless()).law.spread == pytest.approx(10 / 9)
    assert noisy_cells([1, 2], SWAPS, Noiseless(), total=3).law.spread == 2
    released = noisy_cells([1, 2], SWAPS, FixedSampler(1), total=30)
    assert released.counts.sum() == 30  # whatever the noise


@pytest.mark.every(2)
@pytest.mark.parametrize("cells", [1, 4, 40])
def test_the_error_is_the_foretold_one_and_of_few_cells_that_of_the_cells_themselves(cells: int) -> None:
    counts, sampler = np.full(cells, 10_000), FixedSampler(f"foretold {cells}")
    for payment in (PURE, Payment("replace_one", rho=Fraction(1), rows=3)):
        errors = np.array([noisy_cells(counts, payment, sampler).counts - counts for _ in range(1000)])
        assert np.sqrt((errors**2).mean()) == pytest.approx(sum_deviation(cells, 1 / cells, payment), rel=0.15)
        assert errors.sum(axis=1).std() == pytest.approx(sum_deviation(cells, 1, payment), rel=0.15)
    assert sum_deviation(4, 1 / 4, PURE) < 1.01 * np.sqrt(2) * 10 / 9


def test_intervals_hold_the_truth_and_what_the_release_shows() -> None:
    counts = np.arange(30)
    sampler, missed, trials = FixedSampler("cells"), 0, 100
    for _ in range(trials):
        released = noisy_cells(counts, PURE, sampler)
        low, high = released.range_interval(5, 20)
        assert low <= released.counts[5:20].sum() <= high
        missed += not low <= counts[5:20].sum() <= high
    assert missed <= trials / 20


def test_nothing_to_release_is_refused() -> None:
    with pytest.raises(ValueError, match="no cells"):
        noisy_cells([], PURE, Noiseless())
    with pytest.raises(ValueError, match="private under"):
        noisy_cells([1, 2], PURE, Noiseless(), total=3)
