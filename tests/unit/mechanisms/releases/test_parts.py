"""Columns of many codes: parts of about equal numbers of rows, single codes apart, and rows spread as in the column."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.releases.marginals import noisy_marginals
from dpsql.mechanisms.releases.parts import Codes, NoisyCodes, noisy_codes
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.rows import synthetic_rows
from dpsql.privacy.sampling import Sampler
from dpsql.testing_samplers import FixedSampler, Noiseless

PAYMENT = Payment("add_remove", epsilon=Fraction(1))
DEAR = Payment("add_remove", epsilon=Fraction(1000))


def long_column(counts: Codes, sampler: Sampler, payment: Payment = PAYMENT) -> NoisyCodes:
    found = noisy_codes(counts, payment, Fraction(1), 1, sampler)
    assert isinstance(found, NoisyCodes)
    return found


def test_parts_hold_about_equal_numbers_and_heavy_codes_stand_alone(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 20, 500)
    counts[[0, 120, 499]] = 100, 3000, 2
    cut = long_column(counts, Noiseless(), DEAR).cut(10, alone=499)
    most = counts.sum() / 10
    assert cut.numbers == pytest.approx(np.bincount(cut.of, counts))
    assert (np.diff(cut.of) >= 0).all()
    assert all((cut.of == cut.of[code]).sum() == 1 for code in (120, 499))
    assert all(np.bincount(cut.of, counts)[part] <= most + 1 for part in set(cut.of.tolist()) - {cut.of[120]})
    assert cut.expected == pytest.approx(counts, abs=0.1)


def test_rows_have_codes_of_their_part_as_often_as_expected(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 20, 300)
    cut = long_column(counts, Noiseless(), DEAR).cut(8)
    for times in (1, 3):
        rows = np.repeat(cut.of, times * counts)
        codes = cut.filled(rows, FixedSampler(seed))
        assert (cut.of[codes] == rows).all()
        assert np.abs(np.bincount(codes, minlength=300) - times * counts).max() <= 1


def test_what_is_but_noise_is_spread_evenly() -> None:
    """300 rows over 4,096 codes and one heavy code: hardly a code but that one is made to stand out."""
    counts = np.bincount(np.random.default_rng(1).integers(0, 4096, 300), minlength=4096)
    counts[1234] += 400
    found = long_column(counts, FixedSampler("even"))
    assert found.expected.min() >= 0
    assert found.expected[1234] == pytest.approx(400, abs=60)
    others = np.delete(found.expected, 1234)
    assert others.max() < 15
    assert (others > 0).sum() > 2000


def test_the_variances_are_those_of_the_noise() -> None:
    counts, numbers = np.full(60, 5), []
    for i in range(150):
        found = long_column(counts, FixedSampler(f"spread {i}"))
        cut = found.cut(6)
        numbers.append([found.total[0], cut.numbers[0] - 5 * (cut.of == 0).sum(), cut.variances[0]])
    total, first, said = np.array(numbers).T
    assert np.var(total) == pytest.approx(long_column(counts, Noiseless()).total[1], rel=0.4)
    assert np.mean(first**2) == pytest.approx(np.mean(said), rel=0.4)


@pytest.mark.parametrize("most", [60_000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_a_column_of_very_many_codes_keeps_its_quantiles_and_its_nulls(most: int) -> None:
    rng = np.random.default_rng(5)
    pay = np.minimum(rng.lognormal(8, 1, 4000), most - 1).astype(np.int64)
    pay[:400] = most  # NULL
    codes = np.stack([pay, (pay > np.median(pay)).astype(np.int64)], axis=1)
    sampler = FixedSampler("pay")
    released = noisy_marginals(codes, (most + 1, 2), PAYMENT, sampler, alone=(most, None))
    rows = synthetic_rows(released, sampler)
    assert (rows[:, 0] == most).sum() == pytest.approx(400, abs=60)
    for share in (0.25, 0.5, 0.75):
        assert (rows[:, 0] <= np.quantile(pay, share)).mean() == pytest.approx(share, abs=0.05)
    assert (rows[:, 1] == (rows[:, 0] > np.median(pay))).mean() > 0.9


def test_an_empty_column_is_one_part() -> None:
    cut = long_column(np.zeros(100, dtype=np.int64), Noiseless()).cut(5)
    assert cut.of.tolist() == [0] * 100
    assert cut.filled(np.zeros(3, dtype=np.int64), Noiseless()).shape == (3,)
