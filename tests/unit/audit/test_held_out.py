"""The bound whose event is found on other draws: sound where nothing is wrong, near where a loss is there."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.audit.held_out import best_event, bound
from dpsql.audit.measured import MISS, Floats
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.testing_samplers import FixedSampler

SIZE = 20_000


def noised(raw: tuple[int, ...], sampler: Sampler, size: int = SIZE) -> Floats:
    """(size, k) numbers with noise of scale 1."""
    drawn = sampler.laplace(Fraction(1), size * len(raw)).reshape(size, len(raw))
    return np.array(raw, dtype=np.float64) + drawn


@pytest.mark.chance(MISS, "the bound on the loss is above the loss")
def test_the_bound_is_below_the_loss() -> None:
    sampler = ExactSampler()
    assert bound(noised((0, 5), sampler), noised((1, 5), sampler), 0.0, MISS) <= 1


def test_it_comes_near_a_loss_whichever_side_shows_it() -> None:
    sides = noised((0, 0, 5), FixedSampler("one")), noised((0, 1, 5), FixedSampler("two"))
    for one, two in (sides, sides[::-1]):
        assert 0.8 < bound(one, two, 0.0, 1e-6) <= 1


def test_a_value_that_one_side_alone_may_lack_is_an_event() -> None:
    one = np.where(np.arange(SIZE)[:, None] % 10 == 0, math.nan, 1.0)
    two = np.where(np.arange(SIZE)[:, None] % 100 == 0, math.nan, 1.0)
    seen, event = best_event(one, two, 0.0)
    assert seen > 1.9
    assert event(one).sum() == SIZE // 10
    assert bound(one, two, 0.0, 1e-6) > 1.7


def test_delta_is_taken_from_the_likelier_side() -> None:
    one = np.where(np.arange(SIZE)[:, None] % 10 == 0, 1.0, 0.0)
    assert bound(one, np.zeros((SIZE, 1)), 0.0, 1e-6) > 4
    assert bound(one, np.zeros((SIZE, 1)), 0.11, 1e-6) <= 0


def test_what_is_alike_on_both_sides_shows_nothing() -> None:
    drawn = noised((0,), FixedSampler("alike"))
    assert bound(drawn, drawn, 0.0, 1e-6) < 0.1
