"""Cuts of ordered rows: both theorems, on every kind of data and with the worst noise that they allow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.mechanisms.releases.intervals import NoisyCuts, best_parts, guaranteed_error, noisy_cuts, rows_needed
from dpsql.mechanisms.releases.payment import Payment
from dpsql.privacy.sampling import Integers
from dpsql.testing_samplers import FixedSampler, Noiseless

PURE = Payment("replace_one", epsilon=Fraction(1))


class Given(Noiseless):
    """Noise that a test names, over and over; it counts what was drawn."""

    def __init__(self, noise: list[int]) -> None:
        self.noise, self.drawn = noise, 0
        self.scales: set[Fraction] = set()

    def laplace(self, scale: Fraction, size: int) -> Integers:
        self.scales.add(scale)
        self.drawn += size
        return np.array([self.noise[(self.drawn - i) % len(self.noise)] for i in range(size)])


def worst_range(released: NoisyCuts, counts: list[int]) -> float:
    """The largest error of all ranges, in rows."""
    exact = np.concatenate([[0], np.cumsum(counts)])
    off = np.array([released.up_to(cell) for cell in range(len(counts) + 1)]) - exact
    return float(off.max() - off.min())


@given(
    st.lists(st.integers(0, 9) | st.just(60), min_size=1, max_size=20),
    st.integers(2, 7),
    st.lists(st.integers(-6, 6), min_size=1, max_size=9),
)
def test_ranges_err_by_no_more_than_parts_and_noise(counts: list[int], parts: int, noise: list[int]) -> None:
    exact, sampler = np.cumsum(counts), Given(noise)
    released = noisy_cuts(lambda b: int(exact[b - 1]), len(counts), PURE, sampler, sum(counts), parts)
    limit = 2 * (sum(counts) / parts + max(map(abs, noise)))
    assert worst_range(released, counts) <= limit + 1e-6
    assert released.in_range(1, len(counts)) == pytest.approx(sum(counts))
    assert all(1 <= a <= b <= len(counts) for a, b in zip(released.cuts, released.cuts[1:], strict=False))


@given(st.integers(1, 200), st.integers(2, 9), st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=9))
def test_no_noise_makes_more_probes_than_are_paid_for(cells: int, parts: int, noise: list[int]) -> None:
    sampler = Given(noise)
    noisy_cuts(lambda b: b, cells, PURE, sampler, cells, parts)
    paid = (parts - 1) * max(1, (cells - 1).bit_length())
    assert sampler.drawn <= paid
    assert sampler.scales <= {Fraction(paid)}  # one row is moved in each number, also where it is replaced


def test_a_private_number_of_rows_is_bought() -> None:
    sampler = Given([0])
    released = noisy_cuts(lambda b: 10 * b, 16, Payment("add_remove", epsilon=Fraction(1)), sampler, parts=4)
    assert sampler.scales == {Fraction(10), Fraction(12 * 10, 9)}
    assert released.total == 160
    assert released.cuts == (4, 8, 12)


def test_an_atom_is_one_heavy_cell() -> None:
    counts = [1] * 10 + [80] + [1] * 10
    exact = np.cumsum(counts)
    released = noisy_cuts(lambda b: int(exact[b - 1]), 21, PURE, Noiseless(), 100, parts=20)
    assert released.in_range(11, 11) >= 70
    assert released.in_range(1, 10) <= 15


def test_the_guarantee_holds_as_often_as_it_says() -> None:
    counts = np.bincount(np.random.default_rng(0).integers(0, 64, 30000) ** 2 // 64, minlength=64)
    exact, sampler = np.cumsum(counts), FixedSampler("cuts")
    parts = best_parts(30000, 64, PURE)
    limit, trials = guaranteed_error(30000, 64, PURE, parts), 20
    errors = [
        worst_range(noisy_cuts(lambda b: int(exact[b - 1]), 64, PURE, sampler, 30000), counts.tolist())
        for _ in range(trials)
    ]
    assert sum(error > limit for error in errors) <= 1
    assert limit < 0.2 * 30000


def test_the_rows_needed_are_those_of_the_guarantee() -> None:
    """The paper's proof needs 2.8e7 rows for alpha .1 and 10 bits; its statement of 7.7e3 is met by nothing."""
    rows = rows_needed(0.1, 1024, PURE)
    assert 10**5 < rows < 2 * 10**5
    best = min(guaranteed_error(rows, 1024, PURE, parts) for parts in range(20, 82))
    assert best <= 0.1 * rows * (1 + 1e-6)
    assert min(guaranteed_error(rows * 9 // 10, 1024, PURE, parts) for parts in range(20, 82)) > 0.09 * rows


def test_bad_cuts_are_refused() -> None:
    with pytest.raises(ValueError, match="2 parts or more"):
        noisy_cuts(lambda b: b, 4, PURE, Noiseless(), 4, parts=1)
    with pytest.raises(ValueError, match="private under"):
        noisy_cuts(lambda b: b, 4, Payment("add_remove", epsilon=Fraction(1)), Noiseless(), total=4)
