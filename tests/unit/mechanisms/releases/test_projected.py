"""Projected half spaces, against counting without noise, and their price."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.projected import circle, projected_points, random_signs, sizes_of
from dpsql.testing_samplers import FixedSampler, Noiseless

SWAPS = Payment("replace_one", epsilon=Fraction(1))


def test_numbers_are_those_of_counting_and_cost_the_price(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at, matrices, net = rng.normal(0, 1, (40, 3)), random_signs(5, 2, 3, FixedSampler("signs")), circle(12)
    released = projected_points(at, matrices, net, SWAPS, Noiseless())
    for i, matrix in enumerate(matrices):
        for j, u in enumerate(net):
            assert released.numbers[i, j] == sum(float(u @ (matrix @ x)) >= 0 for x in at)
    assert released.law == LaplaceLaw(Fraction(5 * 12))
    assert set(np.abs(matrices.ravel()).round(12)) == {round(2**-0.5, 12)}


def test_with_a_margin_projections_answer_half_spaces(seed: int) -> None:
    """Three dimensions to two, 300 matrices: the mean is within a tenth for points far from the plane."""
    rng = np.random.default_rng(seed)
    y = np.array([0.6, 0.8, 0.0])
    at = rng.normal(0, 1, (4000, 3))
    at /= np.linalg.norm(at, axis=1, keepdims=True)
    at = at[np.abs(at @ y) >= 0.85]
    at = at[(at @ y > 0) | (rng.random(len(at)) < 0.5)]
    released = projected_points(at, random_signs(300, 2, 3, FixedSampler("signs")), circle(90), SWAPS, Noiseless())
    exact = float((at @ y >= 0).sum())
    assert released.half_space(y) == pytest.approx(exact, abs=0.15 * len(at))
    assert abs(released.half_space(y) - exact) < abs(released.half_space(-y) - exact)


def test_the_theorem_s_own_sizes_are_out_of_reach() -> None:
    assert sizes_of(0.5, 0.2) == (4722, 12939.0)
    assert sizes_of(0.25, 0.1) == (22436, 75825.0)
