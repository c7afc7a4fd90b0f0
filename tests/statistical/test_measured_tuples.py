"""Measured loss of the core of tuples: never above what is claimed, and a core forgotten is convicted."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import betainccinv, betaincinv

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.friendly_core.clusters import plan_k_means
from dpsql.mechanisms.friendly_core.tuple_core import average_of
from dpsql.mechanisms.friendly_core.tuples import gaps
from dpsql.privacy.kinds import Approximate
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.testing_samplers import FixedSampler

RUNS = 3000
COUNTED = RUNS - RUNS // 10
MISS = 1e-9 / 28  # each bound fails with at most this probability: two directions of 7 events with two bounds each
PARTS = 400
PLAN = plan_k_means(1, Price(Fraction(2), Fraction(1, 10**4)), "add_remove", PARTS)
RADIUS = 1000
Tuples = npt.NDArray[np.int64]
Keep = Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]


def claimed() -> tuple[float, float]:
    core = PLAN.core
    assert isinstance(core, Approximate)
    return float(core.epsilon), float(core.delta)


def by_friends(friends: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return PLAN.filter.kept(friends, ExactSampler())


def everybody(friends: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Seeded bug: all tuples are averaged, as if they were friends."""
    return np.ones(len(friends), dtype=np.bool_)


def answers(keep: Keep, tuples: Tuples, sampler: Sampler) -> npt.NDArray[np.float64]:
    """(RUNS,) the first coordinate of the noisy average, in radii; nan for none."""
    friends = (gaps(tuples) <= RADIUS**2).sum(axis=1)
    found = (average_of(tuples[keep(friends)], RADIUS, PLAN.average, sampler) for _ in range(RUNS))
    return np.array([math.nan if centres is None else centres[0][0] / RADIUS for centres in found])


def low(hits: int) -> float:
    return 0.0 if hits == 0 else float(betaincinv(hits, COUNTED - hits + 1, MISS))


def high(hits: int) -> float:
    return 1.0 if hits == COUNTED else float(betainccinv(hits + 1, COUNTED - hits, MISS))


def measured(keep: Keep, one: Tuples, other: Tuples, delta: float, sampler: Sampler) -> float:
    """A lower bound on epsilon from the events {no answer}, {answer above} and {answer below a threshold}."""
    found, pair = 0.0, [answers(keep, tuples, sampler) for tuples in (one, other)]
    earlier = [answers[: RUNS // 10] for answers in pair]  # they say where to cut, and are not counted
    pair = [answers[RUNS // 10 :] for answers in pair]
    for (first, second), (seen, _) in zip((pair, pair[::-1]), (earlier, earlier[::-1]), strict=True):
        events = [(np.isnan(first), np.isnan(second))]
        numbers = seen[~np.isnan(seen)]
        for at in np.quantile(numbers, [0.05, 0.5, 0.95]) if len(numbers) else ():
            events += [(first > at, second > at), (first < at, second < at)]
        for event, same in events:
            p, q = low(int(event.sum())), high(int(same.sum()))
            if p > delta:
                found = max(found, math.log((p - delta) / q))
    return found


def around(places: list[int]) -> Tuples:
    return np.array(places, dtype=np.int64)[:, None, None]


WORST = {
    "a far tuple": (around([0] * PARTS), around([0] * (PARTS - 1) + [2**21])),
    "a tuple two radii away": (around([-500] * (PARTS - 1) + [-500]), around([-500] * (PARTS - 1) + [500])),
    "halves that one tuple joins": (
        around([0] * (PARTS // 2) + [1500] * (PARTS // 2 - 1) + [750]),
        around([0] * (PARTS // 2) + [1500] * (PARTS // 2 - 1) + [2**21]),
    ),
}


@pytest.mark.chance(1e-9, "the bound on the loss is above the loss")
@pytest.mark.slow
@pytest.mark.parametrize("name", WORST)
def test_measured_loss_of_the_core_stays_below_what_is_claimed(name: str) -> None:
    epsilon, delta = claimed()
    assert measured(by_friends, *WORST[name], delta, ExactSampler()) <= epsilon


@pytest.mark.slow
def test_a_core_forgotten_is_convicted() -> None:
    epsilon, delta = claimed()
    assert measured(everybody, *WORST["a far tuple"], delta, FixedSampler("forgotten")) > epsilon
