"""When the preprocessed statistic is the true one, and how far it may be off else: the theorems, on random data."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from dpsql.mechanisms.preprocessing import mean_of, median, variance_of
from dpsql.mechanisms.preprocessing.variance import Ddof
from tests.unit.mechanisms.preprocessing.oracles import Bag, true_mean, true_median, true_variance

NOTHING = Fraction(0)


def bags(seed: int, count: int) -> Iterator[tuple[Bag, Fraction, Fraction]]:
    """Data around a centre or far from it, with a Delta that suits it, more or less."""
    chance = random.Random(seed)
    for _ in range(count):
        n = chance.randint(1, 12)
        spread = chance.choice((1, 5, 30))
        bag = [Fraction(chance.randint(-spread, spread)) for _ in range(n)]
        bag += [Fraction(chance.choice((-200, 90, 1000)))] * chance.choice((0, 0, 1))
        yield bag, Fraction(chance.randint(-9, 9)), Fraction(chance.randint(1, 40), chance.choice((1, 2, 5)))


def test_mean_is_exact_within_a_width_of_n_delta() -> None:
    """Theorem 1.7, first half."""
    exact = 0
    for bag, c, delta in bags(seed=1, count=2000):
        n, f = len(bag), true_mean(bag)
        if max(bag) - min(bag) <= n * delta and abs(f - c) <= n * delta:
            assert mean_of(bag, centre=c, sensitivity=delta) == f
            exact += 1
    assert 200 < exact < 1900


def test_mean_errs_by_what_lies_too_far_out() -> None:
    """Theorem 1.7, second half."""
    off = 0
    for bag, c, delta in bags(seed=2, count=2000):
        n, f = len(bag), true_mean(bag)
        too_far = sum((max(2 * abs(x - f) / n - delta, NOTHING) for x in bag), NOTHING)
        error = abs(mean_of(bag, centre=c, sensitivity=delta) - f)
        assert error <= max(abs(f - c) - n * delta / 2, NOTHING) + too_far
        off += error > 0
    assert off > 200


def test_median_is_exact_where_the_values_thin_out_slowly_towards_the_centre() -> None:
    """Theorem 1.6, sharper: the j-th rank from the middle, towards the centre, is within 2 j Delta."""
    exact = other_side_far = 0
    for bag, c, delta in bags(seed=3, count=4000):
        n, f, values = len(bag), true_median(bag), sorted(bag)
        if abs(f - c) > n * delta / 2:
            continue
        if f < c:
            values.reverse()
        near = [(Fraction(n - 1, 2) - i, values[i]) for i in range(n)]  # rank from the middle, towards the centre
        if all(abs(value - f) <= 2 * j * delta for j, value in near if 0 < j <= Fraction(n + 1, 4)):
            assert median(bag, centre=c, sensitivity=delta) == f
            exact += 1
            other_side_far += abs(values[-1] - f) > 100 * delta
    assert exact > 500
    assert other_side_far > 20


@pytest.mark.parametrize("ddof", [0, 1])
def test_variance_is_exact_within_a_width_of_root_n_delta(ddof: Ddof) -> None:
    exact = 0
    for bag, c, delta in bags(seed=4, count=2000):
        delta *= 20
        if ddof < len(bag) and (max(bag) - min(bag)) ** 2 <= len(bag) * delta:
            moved = [x + 1000 * c for x in bag]
            assert variance_of(moved, sensitivity=delta, ddof=ddof) == true_variance(ddof)(bag)
            exact += 1
    assert 200 < exact < 1900


@pytest.mark.slow
def test_variance_errs_downwards_by_what_lies_too_far_out() -> None:
    """Theorem 1.8."""
    off = 0
    for bag, _, delta in bags(seed=5, count=2000):
        delta *= 20
        n, mean, f = len(bag), true_mean(bag), true_variance(0)(bag)
        too_far = sum((max(4 * (x - mean) ** 2 / n - f / n - delta, NOTHING) for x in bag), NOTHING)
        error = f - variance_of(bag, sensitivity=delta)
        assert 0 <= error <= max(f - n * delta / 2, too_far, NOTHING)
        off += error > 0
    assert off > 200


def test_a_larger_delta_never_moves_the_answer_away() -> None:
    for bag, c, delta in bags(seed=6, count=300):
        f = true_median(bag)
        errors = [abs(median(bag, centre=c, sensitivity=k * delta) - f) for k in (0, 1, 2, 4, 1000)]
        assert errors == sorted(errors, reverse=True)
