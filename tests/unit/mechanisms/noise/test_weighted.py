"""Weighted sums of draws: never said to be nearer than they are, and hardly farther."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law
from dpsql.mechanisms.noise.weighted import reach_of_sum

LAWS = (
    *(LaplaceLaw(Fraction(scale)) for scale in ("1/10", "3/10", "1", "16")),
    *(GaussianLaw(Fraction(variance)) for variance in ("1/20", "1/4", "2", "100")),
)
LONG = ((1, 72),)  # whose exact law takes long
SHAPES = (
    ((1, 2),),
    ((1, 12),),
    pytest.param(LONG, marks=pytest.mark.slow),
    ((11, 1), (1, 11)),
    ((3, 1), (2, 1), (7, 2)),
)
CHANCES = (0.05, 0.01, 1e-6)


def single(law: Law, weight: int) -> npt.NDArray[np.float64]:
    """The law of one draw times a whole weight, on the whole numbers around 0."""
    most = law.beyond(Fraction(1, 10**17))
    at_least = [float(law.tail(at)) for at in range(1, most + 1)]
    side = [one - other for one, other in zip(at_least, [*at_least[1:], 0.0], strict=True)]
    found = np.zeros(2 * most * weight + 1)
    found[::weight] = [*reversed(side), 1 - 2 * at_least[0], *side]
    return found


def exact(terms: list[tuple[Law, int, int]], chance: float) -> int:
    """The least w with P(|sum| > w) <= chance, from the exact law of the sum."""
    summed = np.ones(1)
    for law, weight, count in terms:
        for _ in range(count):
            summed = np.convolve(summed, single(law, weight))
    middle = len(summed) // 2
    beyond = 2 * np.cumsum(summed[::-1])[::-1][middle + 1 :]  # P(|sum| > 0), P(|sum| > 1), ..
    return int(np.argmax(beyond <= chance))


@pytest.mark.every(3)
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_reach_is_hardly_farther_than_exactly(law: Law, shape: tuple[tuple[int, int], ...]) -> None:
    for chance in CHANCES:
        least = exact([(law, weight, count) for weight, count in shape], chance)
        found = reach_of_sum(tuple((law, float(weight), count) for weight, count in shape), chance)
        assert least <= found <= 1.015 * least + 0.1


def test_two_laws_may_be_summed_up() -> None:
    terms: list[tuple[Law, int, int]] = [(LaplaceLaw(Fraction(5)), 1, 3), (GaussianLaw(Fraction(30)), 2, 2)]
    least = exact(terms, 0.05)
    assert least <= reach_of_sum(tuple((law, float(weight), count) for law, weight, count in terms), 0.05) < least + 1


@pytest.mark.parametrize("scale", [Fraction(1, 10**6), Fraction(1, 3), Fraction(10**12)])
def test_one_draw_reaches_as_far_as_its_own_quantile_and_nothing_nowhere(scale: Fraction) -> None:
    law = LaplaceLaw(scale)
    assert reach_of_sum(((law, 3.0, 1),), 0.05) == 3 * law.quantile(0.95)
    assert reach_of_sum((), 0.05) == 0


@pytest.mark.parametrize("chance", [0.05, 1e-8, 1e-14])
def test_sums_of_many_are_as_those_of_a_normal_law_of_their_variance(chance: float) -> None:
    """Where chances are too small for it, they are within Chernoff's bound."""
    found = reach_of_sum(((LaplaceLaw(Fraction(10**9)), 0.5, 100_000),), chance)
    sigma = math.sqrt(2 * 100_000) * 0.5e9
    levels = {0.05: 1.96, 1e-8: 5.73, 1e-14: 7.74}
    assert levels[chance] * sigma < found < (1.02 if chance > 1e-9 else 1.1) * levels[chance] * sigma


def test_weights_of_any_size_scale_the_reach() -> None:
    law = GaussianLaw(Fraction(50))
    one = reach_of_sum(((law, 1.0, 2), (law, 1.5, 3)), 0.05)
    for factor in (1e-12, 1e12):
        assert reach_of_sum(((law, factor, 2), (law, 1.5 * factor, 3)), 0.05) == pytest.approx(factor * one, rel=1e-6)
