"""Tails of weighted sums of noises: the laws themselves, summed and integrated, are never above them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.noise.tails import STEPS_APART, gaussian_tail_of_sum, laplace_tail_of_sum

Floats = npt.NDArray[np.float64]


def integrated(scales: list[float], width: float) -> float:
    """P(|sum of Laplace noises| > width), by the characteristic function on a grid."""
    step, count = 0.002, 2**19
    t = 2 * math.pi * np.fft.fftfreq(count, d=step)
    shape = np.prod([1 / (1 + (scale * t) ** 2) for scale in scales], axis=0)
    density = np.fft.fft(shape).real / (count * step)
    x = np.fft.fftfreq(count, d=1 / (count * step))
    return float(density[np.abs(x) > width].sum() * step)


@pytest.mark.every(2, 1)
@pytest.mark.parametrize("scales", [[1.0], [1.0, 3.0], [2.0, 2.0, 2.0], [1.0, 1.001, 5.0, 0.2], [3.0] * 6, [0.0, 2.0]])
def test_a_sum_of_laplace_noises_has_the_tail_of_its_characteristic_function(scales: list[float]) -> None:
    for width in (0.5, 3.0, 10.0, 25.0):
        exact = integrated([scale for scale in scales if scale], width)
        found = float(laplace_tail_of_sum(np.array(scales)[:, None], np.array([width]))[0])
        most = integrated([1.11 * scale for scale in scales if scale], width)
        assert exact - 2e-3 <= found <= most + 2e-3


def test_one_laplace_noise_and_normal_ones_have_their_own_tails() -> None:
    width = np.array([0.0, 1.0, 7.0])
    assert laplace_tail_of_sum(np.full((1, 3), 2.0), width) == pytest.approx(np.exp(-width / 2), rel=1e-12)
    spreads = np.array([[3.0] * 3, [4.0] * 3])
    expected = [math.erfc(one / 5 / math.sqrt(2)) for one in width]
    assert gaussian_tail_of_sum(spreads, width) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("tail_of_sum", [laplace_tail_of_sum, gaussian_tail_of_sum])
def test_a_sum_of_no_noise_is_0(tail_of_sum: object) -> None:
    assert callable(tail_of_sum)
    assert tail_of_sum(np.zeros((3, 2)), np.array([0.0, 1e-9])).tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("spreads", [(0.3, 0.2), (0.7, 2.0), (1.5, 1.4), (4.0, 0.1)])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, 0.3), (0.2, 1.0)])
def test_no_sum_of_discrete_noises_is_beyond_the_continuous_one_and_its_steps(
    kind: str, spreads: tuple[float, float], weights: tuple[float, float]
) -> None:
    numbers = range(-60, 61)

    def law(spread: float) -> dict[int, float]:
        size = {k: -abs(k) / spread if kind == "laplace" else -(k**2) / (2 * spread**2) for k in numbers}
        whole = sum(map(math.exp, size.values()))
        return {k: math.exp(one) / whole for k, one in size.items()}

    first, second = map(law, spreads)
    sums = [
        (abs(weights[0] * j + weights[1] * k), first[j] * second[k])
        for j, k in product(numbers, numbers)
        if first[j] * second[k] > 1e-30
    ]
    tail_of_sum = laplace_tail_of_sum if kind == "laplace" else gaussian_tail_of_sum
    scaled = np.array([weight * spread for weight, spread in zip(weights, spreads, strict=True)])[:, None]
    for width in np.arange(0.0, 12.0, 0.7):
        exact = sum(chance for far, chance in sums if far > width + STEPS_APART * sum(weights))
        assert exact <= tail_of_sum(scaled, np.array([width]))[0] + 1e-9
