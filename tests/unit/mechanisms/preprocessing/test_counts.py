"""Sums of value counts are exact whatever the size of the values, and arrays count as lists do."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.preprocessing import Counts, maximum, mean_of, median, total, trimmed_mean, variance_of
from dpsql.mechanisms.preprocessing.counts import RankedSums, weighted

SIZES = (9, 2**20, 2**31, 2**40, 2**53, 2**56, 2**62, 2**80)


def drawn(size: int, seed: int) -> list[int]:
    """Sixty whole numbers of that magnitude, some of them twice."""
    chance = random.Random(f"{size}, {seed}")
    values = [chance.randint(-size, size) for _ in range(40)]
    return sorted(values + values[:20])


def as_arrays(values: list[int]) -> Counts:
    return Counts.of(np.array(values)) if abs(max(values, key=abs)) < 2**62 else Counts.of(values)


@pytest.mark.parametrize("size", SIZES)
def test_sums_and_squares_are_exact(size: int) -> None:
    for seed in range(20):
        values = drawn(size, seed)
        counts = as_arrays(values)
        assert counts.count == 60
        assert counts.total == sum(values)
        assert counts.squares == sum(v * v for v in values)
        sums = RankedSums(counts)
        assert [sums.upto(rank) for rank in range(61)] == [sum(values[:rank]) for rank in range(61)]
        assert [sums.value(rank) for rank in range(60)] == values


def test_a_weighted_sum_is_exact_for_a_billion_rows() -> None:
    values, counts = np.array([-(2**53), -3, 2**53]), np.array([2**29, 1, 2**28])
    assert weighted(values, counts) == -(2**53) * 2**29 - 3 + 2**53 * 2**28
    many = np.array([2**40, 1, 2**40])  # more rows than two halves of 32 bits can add up
    assert weighted(values, many) == -(2**53) * 2**40 - 3 + 2**53 * 2**40


@pytest.mark.every(2)
@pytest.mark.parametrize("size", SIZES)
def test_arrays_and_python_integers_give_the_same_statistics(size: int) -> None:
    """Times 2^70 nothing fits 64 bits: the same arithmetic in Python's integers."""
    for seed in range(10):
        values = drawn(size, seed)
        small, tally = as_arrays(values), Counter(values)
        wide = Counts([v * 2**70 for v in sorted(tally)], [tally[v] for v in sorted(tally)], Fraction(1, 2**70))
        assert wide.arrays()[0].dtype == object
        c, delta = Fraction(size, 3), Fraction(size, 50)
        assert median(small, centre=c, sensitivity=delta) == median(wide, centre=c, sensitivity=delta)
        assert mean_of(small, centre=c, sensitivity=delta) == mean_of(wide, centre=c, sensitivity=delta)
        assert maximum(small, delta, centre=c) == maximum(wide, delta, centre=c)
        assert variance_of(small, sensitivity=delta**2) == variance_of(wide, sensitivity=delta**2)
        assert total(small, delta) == total(wide, delta)
        tenth = Fraction(1, 10)
        trimmed = [trimmed_mean(data, tenth, centre=c, sensitivity=delta) for data in (small, wide)]
        assert trimmed[0] == trimmed[1]


def test_values_at_the_ends_of_64_bits_are_counted_exactly() -> None:
    ends = np.array([-(2**63), 2**63 - 1, 2**63 - 1])
    assert Counts.of(ends).total == 2**63 - 2
    assert maximum(ends, 2**62, centre=0) == maximum(ends.tolist(), 2**62, centre=0)
    assert median(ends, centre=0, sensitivity=2**62) == median(ends.tolist(), centre=0, sensitivity=2**62)
    assert Counts.of(np.array([2**64 - 1], dtype=np.uint64)).total == 2**64 - 1
