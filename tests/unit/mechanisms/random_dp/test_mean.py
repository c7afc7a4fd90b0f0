"""A declared mean: the choice of its scale by enumeration, the share of people it covers, and what is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.random_dp import RandomDP
from dpsql.mechanisms.random_dp.mean import DistanceMean, chosen_scale, scales, wanted_rank
from dpsql.plan.catalog import RandomStatistic
from dpsql.plan.options import Options
from dpsql.plan.types import Grid
from dpsql.privacy import kinds
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import CELLS, CITY, COST, VISITS, asking

NAMED = Options(mechanism="random_dp")
MEAN = RandomStatistic("visits: AVG(cost)", "cost", frozenset(), Fraction(1, 50))
PEOPLE = replace(VISITS, every_unit=True, rows_per_unit=1, random_dp=replace(CELLS, statistics=(MEAN,)))
FACTS = replace(COST.facts, nullable=False, centre=Fraction(30), spread=Fraction(5))
WITH_DELTA = Price(Fraction(3), Fraction(1, 10**6))
GRID = Grid(Fraction(1, 10), 0, 1000)


def answer(**facts: object) -> DistanceMean | Refusal:
    settings = {
        "table": PEOPLE, "options": NAMED, "neighbours": "replace_one", "price": WITH_DELTA, "facts": FACTS,
        "grid": GRID, **facts,
    }  # fmt: skip
    found = RandomDP().offer(asking("avg", **settings))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(found, DistanceMean | Refusal)
    return found


def mean(**facts: object) -> DistanceMean:
    found = answer(**facts)
    assert isinstance(found, DistanceMean), found
    return found


def why(**facts: object) -> str:
    found = answer(**facts)
    assert isinstance(found, Refusal)
    return found.reason


def people(values: npt.NDArray[np.int64]) -> RawTable:
    return RawTable({"value": values.tolist(), "rows": [1] * len(values)})


# ----------------------------------------------------------------------------------------- the choice of the scale


class Law(Noiseless):
    """Keeps the law of the choice instead of choosing."""

    def __init__(self) -> None:
        self.law: list[float] | None = None

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """The first interval."""
        weights = np.exp(float(exponent) * (np.array(scores, dtype=float) - max(scores)))
        self.law = (weights / weights.sum()).tolist()
        return 0, 0


def law(distances: list[int], width: int, gamma: Fraction, epsilon: Fraction, delta: Fraction) -> list[float] | None:
    """The chance of each scale for people whose pairs are so far apart; None where nothing is chosen."""
    sampler = Law()
    chosen_scale(np.array([0] * len(distances) + distances, dtype=np.int64), width, gamma, epsilon, delta, sampler)
    return sampler.law


@given(
    st.lists(st.integers(0, 300), min_size=100, max_size=100),
    st.integers(0, 99),
    st.integers(0, 300),
    st.sampled_from([Fraction(1, 2), Fraction(2)]),
)
def test_one_pair_changes_no_chance_by_more_than_epsilon(
    distances: list[int], at: int, moved: int, epsilon: Fraction
) -> None:
    other = [*distances[:at], moved, *distances[at + 1 :]]
    laws = [law(found, 300, Fraction(9, 10), epsilon, Fraction(1, 2)) for found in (distances, other)]
    assert laws[0] is not None and laws[1] is not None
    for one, two in zip(*laws, strict=True):
        assert abs(math.log(one / two)) <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("delta", [Fraction(1, 20), Fraction(1, 10**6)])
@pytest.mark.parametrize("kind", ["all far", "all near", "a step at r", "even"])
def test_a_scale_below_the_covered_distance_is_chosen_with_chance_delta_at_most(kind: str, delta: Fraction) -> None:
    pairs, gamma, epsilon, width = 400, Fraction(1, 4), Fraction(2), 1000
    r = pairs + 1 - math.floor(gamma * pairs)
    distances = {
        "all far": [width] * pairs,
        "all near": [1] * pairs,
        "a step at r": [1] * (r - 1) + [width] * (pairs - r + 1),
        "even": [width * i // pairs for i in range(pairs)],
    }[kind]
    chances = law(distances, width, gamma, epsilon, delta)
    assert chances is not None
    covered = sorted(distances)[r - 1]
    short = sum(chance for scale, chance in zip(scales(width), chances, strict=True) if scale < covered)
    assert short <= delta


def test_too_few_people_take_the_declared_bound() -> None:
    sampler = FixedSampler(1)
    assert wanted_rank(100, Fraction(1, 50), Fraction(1), Fraction(1, 10**6), 40) is None
    values = np.arange(200, dtype=np.int64)
    assert chosen_scale(values, 5000, Fraction(1, 50), Fraction(1), Fraction(1, 10**6), sampler) == 5000


def test_scales_reach_from_one_to_the_bound_in_small_steps() -> None:
    for width in (1, 2, 7, 1000, 2**53):
        found = scales(width)
        assert (found[0], found[-1]) == (1, width)
        assert all(a < b and 5 * b <= 6 * a + 5 for a, b in itertools.pairwise(found))
    assert len(scales(2**53)) < 220


def test_the_scale_comes_near_the_quantile_of_the_distances() -> None:
    values = np.random.default_rng(3).normal(0, 100, 100_000).astype(np.int64)
    chosen = chosen_scale(values, 10**6, Fraction(1, 50), Fraction(1), Fraction(1, 10**8), FixedSampler(1))
    distances = np.abs(values[:50_000] - values[50_000:])
    assert np.quantile(distances, 0.98) <= chosen <= 1.6 * np.quantile(distances, 0.98)


def test_the_share_of_people_that_is_not_covered_stays_below_gamma() -> None:
    # The theorem's event by simulation: the distance of a random swap above the (r - 1)-th of the other pairs.
    random, gamma, pairs, tables = np.random.default_rng(5), 0.1, 60, 20_000
    r = pairs + 1 - math.floor(gamma * pairs)
    values = np.exp(2 * random.standard_normal((tables, 2 * pairs)))  # heavy tails
    distances = np.abs(values[:, ::2] - values[:, 1::2])
    swap, others = distances[:, 0], np.sort(distances[:, 1:], axis=1)
    share = np.mean(swap > others[:, r - 2])
    assert 0.8 * gamma <= share <= gamma + 5 * math.sqrt(gamma / tables)


# --------------------------------------------------------------------------------------------------- the release


def test_it_charges_epsilon_delta_and_the_declared_gamma() -> None:
    assert mean().loss == kinds.RandomDPLoss(Fraction(3), Fraction(1, 50), MEAN.name, 1, Fraction(1, 10**6))
    assert sum(share for share in mean().epsilons if share) == 3


def test_without_noise_the_mean_is_exact() -> None:
    values = np.array([250, 310, 305, 295, 1000], dtype=np.int64)
    released = mean().release(people(values), Noiseless())
    assert released.values == [pytest.approx(values.mean() / 10)]
    assert mean().intervals(released, 0.95)[0][0] is not None


def test_noise_follows_the_data_instead_of_the_bounds() -> None:
    sampler = FixedSampler(1)
    random = np.random.default_rng(2)
    near = np.clip(random.normal(300, 10, 40_000), 0, 1000).astype(np.int64)
    widths = []
    for values in (near, random.integers(0, 1001, 40_000)):
        released = mean().release(people(values), sampler)
        low, high = mean().intervals(released, 0.95)[0]
        assert low is not None and high is not None
        widths.append(high - low)
    assert widths[0] < widths[1] / 8


def test_intervals_cover_the_mean() -> None:
    sampler = FixedSampler(1)
    values = np.clip(np.random.default_rng(4).normal(300, 60, 4000), 0, 1000).astype(np.int64)
    release, inside = mean(), 0
    for _ in range(300):
        low, high = release.intervals(release.release(people(values), sampler), 0.9)[0]
        inside += low is not None and high is not None and low <= float(values.mean()) / 10 <= high
    assert inside >= 300 * 0.9 - 5 * math.sqrt(300 * 0.09)


def test_what_it_does_not_answer_is_said() -> None:
    assert "under replace_one alone" in why(neighbours="add_remove")
    assert "every_unit" in why(table=replace(PEOPLE, every_unit=False))
    assert "no groups" in why(keys=(CITY,))
    assert "needs delta" in why(price=Price(Fraction(1), Fraction(0)))
    assert "more than the gamma" in why(options=replace(NAMED, gamma=Fraction(1, 100)))
    other = replace(PEOPLE, random_dp=replace(CELLS, statistics=(replace(MEAN, column="weight"),)))
    assert "fixes which means there are" in why(table=other)
    assert "declares none" in why(table=replace(PEOPLE, random_dp=CELLS))


def test_a_reader_learns_what_is_given_up() -> None:
    assert "the share 0.02 of people who lie furthest from others may have no protection" in mean().notes[0]
