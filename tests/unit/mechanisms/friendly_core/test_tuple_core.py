"""Radius, core and average of tuples: what one exchanged tuple moves, and that the noise is enough for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.friendly_core.average import FriendlyAverage
from dpsql.mechanisms.friendly_core.basic import BasicSwapFilter
from dpsql.mechanisms.friendly_core.concentrated import ConcentratedSwapFilter
from dpsql.mechanisms.friendly_core.swaps import ByChance, ByThreshold
from dpsql.mechanisms.friendly_core.tuple_core import average_of, joint_radius, radius_of, search_between
from dpsql.mechanisms.friendly_core.tuples import gaps
from dpsql.testing import FixedSampler, Noiseless

Tuples = npt.NDArray[np.int64]


class Watcher(Noiseless):
    """Draws nothing; remembers scores, exponents and variances."""

    def __init__(self) -> None:
        self.scores: list[int] = []
        self.exponent = Fraction(0)
        self.variances: list[Fraction] = []

    def intervals(self, widths: Any, scores: Any, exponent: Fraction) -> tuple[int, int]:
        self.scores, self.exponent = list(scores), exponent
        return super().intervals(widths, scores, exponent)

    def gaussian(self, variance: Fraction, size: int) -> npt.NDArray[Any]:
        self.variances.append(variance)
        return super().gaussian(variance, size)


def cluster_tuples(rng: np.random.Generator, t: int, noise: int, k: int = 3) -> Tuples:
    """t tuples of k points, most of them around the same k places, some elsewhere."""
    places = np.arange(k)[:, None] * np.array([[1000, 0]])
    result = places + rng.integers(-noise, noise + 1, (t, k, 2))
    astray = rng.random(t) < 0.3
    result[astray] = rng.integers(-3000, 3000, (int(astray.sum()), k, 2))
    return np.array([sorted(map(tuple, one.tolist())) for one in result])


def exchanged(rng: np.random.Generator, tuples: Tuples) -> Tuples:
    other = tuples.copy()
    place = rng.integers(len(tuples))
    other[place] = cluster_tuples(rng, 1, 60, tuples.shape[1])[0]
    return other


@pytest.mark.parametrize("seed", range(5))
def test_an_exchanged_tuple_moves_no_score_of_the_search_further_than_its_exponent_allows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    epsilon, moved = Fraction(1, 2), Fraction(0)
    search = search_between((3, 3000), epsilon)
    for _ in range(60):
        tuples = cluster_tuples(rng, 12, 60)
        before, after = Watcher(), Watcher()
        radius_of(gaps(tuples), search, before)
        radius_of(gaps(exchanged(rng, tuples)), search, after)
        steps = max(abs(a - b) for a, b in zip(before.scores, after.scores, strict=True))
        moved = max(moved, 2 * before.exponent * steps)
    assert epsilon / 3 < moved <= epsilon, "2 x exponent x sensitivity is what the search costs"


def test_without_noise_the_search_takes_thrice_the_least_radius_of_half_the_neighbours() -> None:
    tuples, search = cluster_tuples(np.random.default_rng(1), 40, 50), search_between((3, 3000), Fraction(1))
    between = gaps(tuples)[np.arange(40), np.roll(np.arange(40), -1)]
    enough = [radius for radius in search.candidates if (between <= radius**2).mean() >= 0.5]
    assert radius_of(gaps(tuples), search, Noiseless()) == 3 * (enough[0] if enough else 3000)


@pytest.mark.parametrize("t", [11, 12])
def test_what_may_be_kept_on_neighbouring_tuples_has_one_order_and_lies_within_twice_the_radius(t: int) -> None:
    rng, radius, kept_pairs = np.random.default_rng(t), 120, 0
    for _ in range(150):
        tuples = cluster_tuples(rng, t, 60)
        other = exchanged(rng, tuples)
        may = []
        for one in (tuples, other):
            friends = (gaps(one) <= radius**2).sum(axis=1)
            may.append(one[2 * (friends - 1) > t - 1])  # where either filter's chance is above 0 (or its delta)
        together = np.concatenate(may)
        between = gaps_at_a_third(together)
        kept_pairs += len(may[0]) * len(may[1])
        assert between <= 4 * radius**2
    assert kept_pairs > 100


def gaps_at_a_third(tuples: Tuples) -> int:
    """Largest squared distance of matched points over all pairs; fails where two do not match with 1/3."""
    largest = 0
    for x in tuples:
        for y in tuples:
            between = ((x[:, None] - y[None]) ** 2).sum(axis=2)
            order = between.argmin(axis=1)
            k = len(x)
            assert (x == y).all() or len(set(order.tolist())) == k
            for i in range(k if not (x == y).all() else 0):
                for j in set(range(k)) - {i}:
                    assert 9 * between[i, order[i]] < min(between[i, order[j]], between[j, order[i]])
            largest = max(largest, int(between.min(axis=1).max()))
    return largest


def test_probabilities_of_the_basic_filter_move_together_by_less_than_its_gamma() -> None:
    rng, filter_ = np.random.default_rng(2), BasicSwapFilter()
    most = Fraction(0)
    for _ in range(200):
        tuples = cluster_tuples(rng, 14, 60)
        other = exchanged(rng, tuples)
        place = int(np.flatnonzero((tuples != other).any(axis=(1, 2)))[0]) if (tuples != other).any() else 0
        chances = []
        for one in (tuples, other):
            friends = (gaps(one) <= 120**2).sum(axis=1).tolist()
            among = len(one) - 1
            share = [(Fraction(z - 1, among) - Fraction(1, 2)) / (Fraction(1, 2) - filter_.alpha) for z in friends]
            chances.append([min(Fraction(1), max(Fraction(0), p)) for p in share])
        most = max(most, sum(abs(p - q) for i, (p, q) in enumerate(zip(*chances, strict=True)) if i != place))
    assert 1 < most <= filter_.gamma


@pytest.mark.parametrize("change", ["more", "exchanged"])
def test_the_averages_noise_covers_what_one_tuple_moves(change: str) -> None:
    rng, radius, k = np.random.default_rng(3), 60, 3
    average = FriendlyAverage.concentrated(Fraction(2), Fraction(1, 10**6), 200)
    costs = []
    for _ in range(20):
        places = np.arange(k)[:, None] * 10_000
        core = places + rng.integers(-30, 31, (200, k, 1))
        core[-1], last = places - 30, (places + 90)[None]  # the furthest that friends of friends can be apart
        other = np.concatenate([core if change == "more" else core[:-1], last])
        shown = [
            average.release(c.sum(axis=0).ravel().tolist(), len(c), joint_radius(radius, k), Noiseless())
            for c in (core, other)
        ]
        moved = [a * shown[0].step - b * shown[1].step for a, b in zip(shown[0].steps, shown[1].steps, strict=True)]  # type: ignore[union-attr]  # many tuples
        costs.append(float(sum(x * x for x in moved)) / (2 * min(s.spread for s in shown if s) ** 2))
    assert average.rho / 50 < max(costs) <= average.rho


def test_averages_of_places_are_means_whatever_the_order_of_the_tuples_points() -> None:
    rng, k = np.random.default_rng(4), 3
    core = np.array([[0, 0], [0, 9000], [9000, 0]]) + rng.integers(-20, 21, (300, k, 2))
    mixed = np.array([one[rng.permutation(k)] for one in core])
    average = FriendlyAverage.concentrated(Fraction(1), Fraction(1, 10**6), 300)
    found = average_of(mixed, 50, average, Noiseless())
    assert found is not None
    assert np.abs(np.array(sorted(map(tuple, found))) - np.rint(core.mean(axis=0))).max() <= 1
    assert average_of(mixed[:1], 50, average, Noiseless()) is None
    assert average_of(mixed[:0], 50, average, Noiseless()) is None


@pytest.mark.parametrize(
    "filter_", [ByChance(400), ByThreshold(400, ConcentratedSwapFilter(Fraction(1), Fraction(1, 10**8)))]
)
def test_as_many_tuples_are_kept_as_was_expected(filter_: ByChance | ByThreshold) -> None:
    agreeing = 340
    friends = np.array([agreeing] * agreeing + [1] * 60)
    kept = filter_.kept(friends, FixedSampler(2))
    assert abs(int(kept.sum()) - float(filter_.expected(Fraction(agreeing)))) < 40
    assert not kept[agreeing:].any()
    assert filter_.expected(Fraction(201)) < 20
