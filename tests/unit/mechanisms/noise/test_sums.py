"""Sums of several draws: never said to be nearer than they are, and hardly farther."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law
from dpsql.mechanisms.noise.sums import MOST_DRAWS, gaussian_sum_beyond, laplace_sum_beyond

CHANCES = (Fraction(1, 20), Fraction(1, 100), Fraction(1, 5000))


def exact(law: Law, count: int, chance: Fraction) -> int:
    """The least k with P(sum >= k) <= chance, from the exact law of the sum."""
    most = law.beyond(Fraction(1, 10**17))
    at_least = [float(law.tail(at)) for at in range(1, most + 1)]
    side = [one - other for one, other in zip(at_least, [*at_least[1:], 0.0], strict=True)]
    single = np.array([*reversed(side), 1 - 2 * at_least[0], *side])
    summed = single
    for _ in range(count - 1):
        summed = np.convolve(summed, single)
    middle = len(summed) // 2
    tails = list(accumulate(reversed(summed.tolist())))[::-1]
    return next(at for at in range(1, middle) if tails[middle + at] <= chance)


@pytest.mark.every(2)
@pytest.mark.parametrize("count", [1, 2, 9, 40])
@pytest.mark.parametrize("chance", CHANCES)
def test_sums_of_laplace_noise_are_hardly_farther_than_exactly(count: int, chance: Fraction) -> None:
    scale = Fraction(9)
    least = exact(LaplaceLaw(scale), count, chance)
    assert least <= laplace_sum_beyond(scale, count, chance) <= least + count + 2


@pytest.mark.parametrize("count", [1, 2, 9, 40])
@pytest.mark.parametrize("chance", CHANCES)
def test_sums_of_gaussian_noise_are_within_chernoffs_bound(count: int, chance: Fraction) -> None:
    variance = Fraction(100)
    least = exact(GaussianLaw(variance), count, chance)
    assert least <= gaussian_sum_beyond(variance, count, chance) <= 1.5 * least + 2


def test_each_law_has_its_own() -> None:
    chance = Fraction(1, 100)
    assert LaplaceLaw(Fraction(40)).sum_beyond(108, chance) == laplace_sum_beyond(Fraction(40), 108, chance)
    assert GaussianLaw(Fraction(40)).sum_beyond(108, chance) == gaussian_sum_beyond(Fraction(40), 108, chance)


def test_a_sum_of_more_draws_than_float64_holds_is_refused() -> None:
    assert laplace_sum_beyond(Fraction(1), MOST_DRAWS, Fraction(1, 20)) > 1.6 * (2 * MOST_DRAWS) ** 0.5
    with pytest.raises(ValueError, match="1001 draws leaves float64"):
        laplace_sum_beyond(Fraction(1), MOST_DRAWS + 1, Fraction(1, 20))
