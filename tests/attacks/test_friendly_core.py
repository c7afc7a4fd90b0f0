"""FriendlyCore under attack: neighbours through SQL, measured losses on bad pairs, and bugs that must show.

Bugs in single parts are convicted where the parts are tested (tests/unit/mechanisms/friendly_core): the radius for
twice the radius, the true count for the released one, a count without its "- 1", swaps at the noise of add_remove, one
sample for all rows, and distances in floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.audit.measured import lower, upper
from dpsql.audit.replay import BOTH, Replay
from dpsql.audit.seen import same_but_draws
from dpsql.mechanisms.friendly_core import BasicFilter, LaplaceTotal, LocateThenClamp, PlaceByCoins
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.testing_samplers import FixedSampler
from tests.attacks.templates import OPEN, Template
from tests.attacks.world import World
from tests.statistical.thresholds import P_THRESHOLD

FRIENDLY = {"mechanism": "friendly_core", "epsilon": 300, "delta": 1e-3, "scale": (1, 1000)}
TOTALS = "(SELECT patient_id, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t"
QUESTIONS = (
    Template("SELECT AVG(age) FROM patients", options=FRIENDLY),
    Template("SELECT AVG(age), COUNT(*), AVG(weight) FROM patients", options=FRIENDLY),
    Template("SELECT sex, AVG(age) FROM patients GROUP BY sex", options=FRIENDLY),
    Template(f"SELECT AVG(s), AVG(n) FROM {TOTALS}", options=FRIENDLY),
    Template(f"SELECT AVG_VECTOR(s, n) FROM {TOTALS}", options=FRIENDLY),
    Template("SELECT AVG(reading) FROM notes", options={**FRIENDLY, "max_rows_contributed": 1}),
    Template("SELECT AVG(reading) FROM notes", options=FRIENDLY),  # several rows a unit: refused
    Template("SELECT AVG(age) FROM patients", options={**FRIENDLY, "epsilon": 0.01}),  # too few: refused
    Template("SELECT city, AVG(age) FROM patients GROUP BY city", options={**FRIENDLY, "delta": OPEN["delta"]}),
)


@pytest.fixture(scope="module")
def replay() -> Iterator[Replay]:
    with World(3, removed=["the heaviest", "NaN and infinities"]) as world:
        yield world.replay(QUESTIONS, BOTH)


def test_neighbours_see_the_same_statements_charges_columns_and_refusals(replay: Replay) -> None:
    # How much noise a later draw has follows from earlier released numbers, so the sampler's calls may differ.
    assert same_but_draws(replay) == []


def test_what_is_answered_is_charged_before_the_engine_is_asked(replay: Replay) -> None:
    answered = [run for _, run in replay.all() if run.error is None]
    assert answered
    for run in answered:
        assert len(run.charges) == 1
        assert all(spent == run.spent for _, _, spent in run.statements)


EPSILON, DELTA = Fraction(2), Fraction(1, 100)
DRAWS = 300
CUTS = np.concatenate([[-np.inf], np.linspace(-500, 500, 41), [10.0**6]])
MISS = P_THRESHOLD / (4 * len(CUTS))  # bounds from above and below on either side of each cut, all at once
Find = Callable[[npt.NDArray[np.int64], Sampler], float]


def place(points: npt.NDArray[np.int64], sampler: Sampler) -> float:
    """The place of an (epsilon, delta)-DP search with a known radius of 100; minus infinity for nobody."""
    found = PlaceByCoins(EPSILON, DELTA).find(points, 100, len(points), sampler)
    return -math.inf if found is None else float(found.steps[0] * found.step)


def whole(points: npt.NDArray[np.int64], sampler: Sampler) -> float:
    """A located mean, its parts adding up to (epsilon, delta)."""
    parts = LocateThenClamp(
        LaplaceLaw(Fraction(10)), Fraction(2, 10), PlaceByCoins(Fraction(12, 10), DELTA), LaplaceTotal(Fraction(1, 2)),
        25, 1600, 1,
    )  # fmt: skip
    found = parts.run(points, sampler)
    return -math.inf if found is None else float(found.mean[0])


def measured(find: Find, one: list[int], two: list[int], sampler: Sampler) -> float:
    """A lower bound on epsilon at delta, by events {answer <= c} and {answer > c} with cuts fixed beforehand."""
    first, second = (
        np.array([find(np.array(values)[:, None], sampler) for _ in range(DRAWS)]) for values in (one, two)
    )
    best = 0.0
    for cut in CUTS:
        hits = int((first <= cut).sum()), int((second <= cut).sum())
        for a, b in (hits, hits[::-1], (DRAWS - hits[0], DRAWS - hits[1]), (DRAWS - hits[1], DRAWS - hits[0])):
            chance = lower(a, DRAWS, MISS) - float(DELTA)
            if chance > 0:
                best = max(best, math.log(chance / upper(b, DRAWS, MISS)))
    return best


NEAR = [0] * 120
PAIRS = {
    "a far outlier": [*NEAR, 10**9],
    "a row at the radius": [*NEAR, 100],
    "one row more in the middle": [*NEAR, 0],
}
HALVES = [0] * 60 + [150] * 60
SLOWER = [pytest.param(whole, pair, marks=[] if pair == "a far outlier" else pytest.mark.slow) for pair in PAIRS]


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss")
@pytest.mark.parametrize(("find", "pair"), [*((place, pair) for pair in PAIRS), *SLOWER])
def test_no_bad_pair_loses_more_than_it_pays(find: Find, pair: str) -> None:
    assert measured(find, PAIRS[pair], NEAR, ExactSampler()) <= float(EPSILON)


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss")
@pytest.mark.parametrize("find", [place, pytest.param(whole, marks=pytest.mark.slow)])
def test_a_row_between_two_halves_that_joins_them_loses_no_more_than_it_pays(find: Find) -> None:
    assert measured(find, [*HALVES, 75], HALVES, ExactSampler()) <= float(EPSILON)


def test_a_core_that_is_forgotten_shows() -> None:
    def everybody(self: object, friends: npt.NDArray[Any], sampler: Sampler) -> npt.NDArray[np.bool_]:
        return np.ones(len(friends), dtype=np.bool_)

    with patch.object(BasicFilter, "kept", everybody):
        assert measured(place, PAIRS["a far outlier"], NEAR, FixedSampler("core")) > float(EPSILON)
