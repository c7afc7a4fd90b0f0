"""Half planes from a histogram of angles, against counting."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.releases.halfplanes import noisy_angles, sectors_of
from dpsql.mechanisms.releases.payment import Payment
from dpsql.testing_samplers import FixedSampler, Noiseless

SWAPS = Payment("replace_one", epsilon=Fraction(1))


def points(seed: int, n: int) -> np.ndarray:
    """Two clouds, on a grid, and the origin."""
    rng = np.random.default_rng(seed)
    near = np.where(rng.random((n, 1)) < 0.3, [[4.0, 1.0]], [[-1.0, 2.0]])
    return np.concatenate([np.rint(100 * (near + rng.normal(0, 1, (n, 2)))), np.zeros((7, 2))])


def test_without_noise_half_planes_along_sectors_are_exact(seed: int) -> None:
    at = points(seed, 500) + np.array([0.5, 0.25])  # off the borders of sectors
    released = noisy_angles(at, SWAPS, Noiseless(), len(at), sectors=360)
    for degree in range(0, 360, 7):
        a, b = math.cos(math.radians(degree)), math.sin(math.radians(degree))
        assert released.half_plane(a, b) == pytest.approx(int((at @ [a, b] > 0).sum()), abs=1e-4)


def test_all_half_planes_err_by_less_than_a_fiftieth(seed: int) -> None:
    at = points(seed, 20000)
    released = noisy_angles(at, SWAPS, FixedSampler("angles"), len(at))
    directions = np.random.default_rng(seed).normal(0, 1, (200, 2))
    errors = [abs(released.half_plane(a, b) - int((at @ [a, b] > 0).sum())) for a, b in directions]
    assert max(errors) < 0.02 * len(at)


def test_a_half_plane_and_its_opposite_hold_all_but_the_origin(seed: int) -> None:
    at = points(seed, 300)
    released = noisy_angles(at, Payment("add_remove", epsilon=Fraction(1)), Noiseless())
    for a, b in ((1, 0), (0.3, -2), (-1, -1)):
        assert released.half_plane(a, b) + released.half_plane(-a, -b) == pytest.approx(len(at) - 7)


def test_every_point_has_a_sector() -> None:
    at = np.array([[1.0, -1e-300], [1e-300, -1.0], [-1.0, 0.0], [-1.0, -0.0], [0.0, -0.0]])
    assert sectors_of(at, 8).tolist()[-1] == 8
    assert all(0 <= sector < 8 for sector in sectors_of(at, 8)[:-1])


def test_bad_half_planes_are_refused() -> None:
    released = noisy_angles(np.ones((3, 2)), SWAPS, Noiseless(), 3)
    with pytest.raises(ValueError, match="both 0"):
        released.half_plane(0, 0)
    with pytest.raises(ValueError, match="2 or more"):
        noisy_angles(np.ones((3, 2)), SWAPS, Noiseless(), 3, sectors=1)
