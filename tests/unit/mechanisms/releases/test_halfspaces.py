"""Half spaces in three and four dimensions: the net's theorem by brute force, and what is learnt of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpsql.mechanisms.releases.halfspaces import direction_net, learnt_half_spaces, net_spacing
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.shares import Floats
from dpsql.testing_samplers import FixedSampler, Noiseless

SWAPS = Payment("replace_one", epsilon=Fraction(1))


def directions(dimensions: int, seed: int, size: int) -> Floats:
    drawn = np.random.default_rng(seed).normal(0, 1, (size, dimensions))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def grid(dimensions: int, reach: int) -> Floats:
    return np.array(list(product(range(-reach, reach + 1), repeat=dimensions)), dtype=np.float64)


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_every_direction_is_near_one_of_the_net(dimensions: int, seed: int) -> None:
    net, asked = direction_net(dimensions), directions(dimensions, seed, 5000)
    assert np.linalg.norm(net, axis=1) == pytest.approx(1)
    assert len(np.unique(net.round(9), axis=0)) == len(net)
    near = asked @ net.T
    apart = np.sqrt(np.maximum(0, 2 - 2 * near.max(axis=1)))
    assert apart.max() <= net_spacing(dimensions)
    points = grid(dimensions, 3)
    for y, u in zip(asked[:40], net[near.argmax(axis=1)][:40], strict=True):
        outside = np.abs(points @ y) > net_spacing(dimensions) * np.linalg.norm(points, axis=1)
        assert ((points @ y > 0) == (points @ u > 0))[outside].all()


@pytest.mark.parametrize(("dimensions", "noise"), [(3, False), (3, True), (4, True)])
def test_answers_err_by_no_more_than_what_was_learnt_and_the_margin(dimensions: int, noise: bool, seed: int) -> None:
    points = grid(dimensions, 5 if dimensions == 3 else 3)
    weights = np.exp(-((points - np.array([2, 1, -1, 0][:dimensions])) ** 2).sum(axis=1) / 4)
    counts = np.random.default_rng(seed).multinomial(20000, weights / weights.sum())
    sampler = FixedSampler(seed) if noise else Noiseless()
    released = learnt_half_spaces(counts, points, SWAPS, sampler, 20000, rounds=25)
    of_net = [abs(released.half_space(u) - counts[points @ u > 1e-9].sum()) for u in released.net]
    assert max(of_net) <= 0.06 * 20000
    spans = net_spacing(dimensions) * np.linalg.norm(points, axis=1)
    for y in directions(dimensions, seed, 50):
        margin = counts[np.abs(points @ y) <= spans].sum()
        assert abs(released.half_space(y) - counts[points @ y > 0].sum()) <= max(of_net) + margin


def test_other_dimensions_are_refused() -> None:
    for dimensions in (1, 5):
        points = np.zeros((4, dimensions))
        with pytest.raises(ValueError, match=r"made for 2 to 4; .* `marginals`"):
            learnt_half_spaces(np.ones(4, dtype=np.int64), points, SWAPS, Noiseless(), 4)
