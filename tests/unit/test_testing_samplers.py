"""The samplers for tests: none of the noise, or always the same."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpsql.privacy.sampling import ExpOf, Sampler
from dpsql.testing_samplers import FixedSampler, Noiseless


def test_noiseless_shows_the_deterministic_part() -> None:
    still = Noiseless()
    assert still.gaussian(Fraction(9), 2).tolist() == [0, 0]
    assert still.bernoulli(Fraction(1, 2), 2).tolist() == [True, True]
    assert still.bernoulli(Fraction(49, 100), 1).tolist() == [False]
    assert still.bernoulli(ExpOf(Fraction(69, 100)), 1).tolist() == [True]  # exp(-0.69) > 1/2
    assert still.bernoulli(ExpOf(Fraction(70, 100)), 1).tolist() == [False]
    assert still.integers(5, 2).tolist() == [0, 0]
    assert still.permute_and_flip([1, 7, 7], Fraction(1)) == 1
    assert still.intervals([0, 5, 9], [9, 3, 2], Fraction(1)) == (1, 2)


def run_of(sampler: Sampler) -> Iterator[Any]:
    yield sampler.laplace(Fraction(50), 5).tolist()
    yield sampler.laplace(Fraction(50), 5).tolist()
    yield sampler.gaussian(Fraction(50), 5).tolist()
    yield sampler.bernoulli(ExpOf(Fraction(1, 2)), 9).tolist()
    yield sampler.integers(10**9, 3).tolist()
    yield sampler.chances(np.full(40, 3), 7).tolist()
    yield sampler.order(30).tolist()
    yield sampler.permute_and_flip([1, 2, 3], Fraction(1, 9))
    yield sampler.intervals([100, 200], [1, 2], Fraction(1, 9))


def test_a_fixed_sampler_repeats_itself_and_no_other() -> None:
    once, again, other = list(run_of(FixedSampler(1))), list(run_of(FixedSampler(1))), list(run_of(FixedSampler(2)))
    assert once == again
    assert once[0] != once[1]
    assert all(mine != theirs for mine, theirs in zip(once[:6], other[:6], strict=True))


def test_a_fixed_samplers_call_depends_on_its_number_not_on_earlier_arguments() -> None:
    here, there = FixedSampler(1), FixedSampler(1)
    here.permute_and_flip([1, 2, 3], Fraction(1))
    there.permute_and_flip([5, 4], Fraction(1))
    assert here.laplace(Fraction(99), 4).tolist() == there.laplace(Fraction(99), 4).tolist()


def test_without_noise_an_order_is_fixed_and_keeps_neighbours_apart() -> None:
    for size in (0, 1, 2, 9, 100, 1000):
        order = Noiseless().order(size)
        assert sorted(order.tolist()) == list(range(size))
        assert size < 100 or int(np.abs(np.diff(order)).min()) > size // 4
