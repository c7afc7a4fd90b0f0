"""Synthetic rows: exact without noise, consistent with it, and near the tables that nobody measured."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dpsql.mechanisms.releases.marginals import noisy_marginals, table_of
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.rows import consistent_columns, consistent_pairs, synthetic_rows
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.releases.test_marginals import SIZES, chain

PAYMENT = Payment("add_remove", rho=Fraction(1, 50))


def test_without_noise_rows_have_the_columns_and_pairs_of_the_table(seed: int) -> None:
    codes = chain(3000, seed)
    released = noisy_marginals(codes, SIZES, PAYMENT, Noiseless())
    rows = synthetic_rows(released, Noiseless())
    assert rows.shape == codes.shape
    for j in range(4):
        assert np.abs(table_of(rows, SIZES, (j,)) - table_of(codes, SIZES, (j,))).max() <= 12
    for pair in released.pairs:
        assert np.abs(table_of(rows, SIZES, pair) - table_of(codes, SIZES, pair)).max() <= 12


def test_noised_pairs_are_made_to_agree(seed: int) -> None:
    released = noisy_marginals(chain(2000, seed), SIZES, PAYMENT, FixedSampler("agree"))
    columns = consistent_columns(released)
    for column in columns:
        assert column.min() >= 0
        assert column.sum() == released.total
    for (a, b), table in consistent_pairs(released, columns).items():
        assert table.min() >= 0
        assert table.sum(axis=1) == pytest.approx(columns[a], abs=1)
        assert table.sum(axis=0) == pytest.approx(columns[b], abs=1)


def test_rows_resemble_the_table_more_than_independent_columns_do(seed: int) -> None:
    codes, sampler = chain(5000, seed), FixedSampler("rows")
    rows = synthetic_rows(noisy_marginals(codes, SIZES, PAYMENT, sampler), sampler)
    assert rows.min() >= 0
    assert (rows < np.array(SIZES)).all()
    distances, independent = [], []
    for pair in combinations(range(4), 2):
        exact = table_of(codes, SIZES, pair) / len(codes)
        apart = exact.reshape(SIZES[pair[0]], SIZES[pair[1]])
        distances.append(np.abs(table_of(rows, SIZES, pair) / len(rows) - exact).sum() / 2)
        independent.append(np.abs(np.outer(apart.sum(axis=1), apart.sum(axis=0)) - apart).sum() / 2)
    assert np.mean(distances) <= 0.03
    assert np.mean(independent) >= 0.2


def test_an_empty_table_gives_few_rows_or_none() -> None:
    empty = np.zeros((0, 4), dtype=np.int64)
    assert len(synthetic_rows(noisy_marginals(empty, SIZES, PAYMENT, Noiseless()), Noiseless())) == 0
    released = noisy_marginals(empty, SIZES, PAYMENT, FixedSampler("empty"))
    assert len(synthetic_rows(released, Noiseless())) == released.total
