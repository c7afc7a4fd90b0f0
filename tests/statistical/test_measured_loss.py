"""Raw numbers from SQL on neighbouring tables, released many times: what the loss is, beside what is charged.

A measured loss is above the real one with `P_THRESHOLD`, and noise does not fit its law with `P_THRESHOLD`; that losses
are nearly reached is shown on draws that are always the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from dpsql.audit.measured import measured_loss
from dpsql.audit.moves import claims, numbers
from dpsql.audit.replay import BOTH, RunPart
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import Composed
from dpsql.privacy.sampling import ExactSampler
from dpsql.testing_samplers import FixedSampler
from tests.attacks.templates import Template
from tests.attacks.world import World
from tests.statistical.measured import noise_of
from tests.statistical.test_sampling import assert_distributed, gaussian_cdf, laplace_cdf
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE
from tests.turns import every_third

SIZES = [SAMPLE_SIZE, pytest.param(10 * SAMPLE_SIZE, marks=pytest.mark.slow)]
EPSILONS = (0.1, 1.0, 3.0)
QUESTIONS = {
    "sum": "SELECT SUM(score) FROM visits",
    "count by ward": "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "mean": "SELECT AVG(score) FROM visits",
    "variance": "SELECT VAR_POP(score) FROM visits",
    "sum over a join": "SELECT SUM(v.score) FROM visits v JOIN patients p USING (patient_id)",
    "sum of totals": "SELECT SUM(s) FROM (SELECT patient_id, SUM(score) AS s FROM visits GROUP BY patient_id) AS t",
}
THRESHOLDS = ("threshold", "gaussian_threshold")
CASES = [
    *((mechanism, name) for mechanism in ("laplace", "gaussian") for name in QUESTIONS),
    *((mechanism, name) for mechanism in THRESHOLDS for name in ("units by diagnosis", "lone diagnoses")),
]
IN_TURNS = every_third(CASES)
REMOVED = {"units by diagnosis": "NaN and infinities", "lone diagnoses": "in all groups"}
"""A unit that shares two diagnoses with others, and one that has three of its own; for the rest, one at every bound."""
AT_EVERY_BOUND = "alone in its group"

Pairs = Mapping[tuple[str, str, float], tuple[RunPart, RunPart]]


def template(mechanism: str, name: str, epsilon: float) -> Template:
    if mechanism in THRESHOLDS:
        sql = f"SELECT diagnosis, COUNT(DISTINCT patient_id) AS {name.split()[0]} FROM visits GROUP BY diagnosis"
        return Template(sql, options={"epsilon": epsilon, "delta": 1e-2, "mechanism": mechanism})
    return Template(QUESTIONS[name], options={"epsilon": epsilon, "delta": 1e-3, "mechanism": mechanism})


class Asked(dict[tuple[str, str, float], tuple[RunPart, RunPart]]):
    """Each case's release on two neighbours, everybody and without one unit, asked the first time that it is wanted."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def __missing__(self, wanted: tuple[str, str, float]) -> tuple[RunPart, RunPart]:
        names = "everybody", f"without {REMOVED.get(wanted[1], AT_EVERY_BOUND)}"
        runs = {name: runs for (_, name), runs in self._world.replay([template(*wanted)], BOTH[:1], names).runs.items()}
        one, two = (runs[name][0].parts[0] for name in names)
        return self.setdefault(wanted, (one, two))


@pytest.fixture(scope="module")
def pairs() -> Iterator[Pairs]:
    with World(0, removed=[AT_EVERY_BOUND, *REMOVED.values()], last=[]) as world:
        yield Asked(world)


def delta_of(loss: Loss) -> float:
    return float(loss.priced().delta) * 1e-18


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss")
@pytest.mark.parametrize(
    ("epsilon", "size"),
    [(1.0, SAMPLE_SIZE), *(pytest.param(e, 10 * SAMPLE_SIZE, marks=pytest.mark.slow) for e in EPSILONS)],
)
@pytest.mark.parametrize(("mechanism", "name"), IN_TURNS)
def test_the_measured_loss_never_exceeds_the_charge(
    pairs: Pairs, mechanism: str, name: str, epsilon: float, size: int
) -> None:
    one, two = pairs[mechanism, name, epsilon]
    assert one.release.mechanism == mechanism
    loss = one.release.loss
    assert float(Fraction(loss.priced().epsilon or 0, 10**12)) == pytest.approx(epsilon, rel=1e-9)
    assert measured_loss(one, two, size, ExactSampler(), epsilon, delta_of(loss)) <= epsilon


@pytest.mark.parametrize("epsilon", (1.0, pytest.param(3.0, marks=pytest.mark.slow)))
def test_the_measure_comes_near_a_loss_that_is_there(pairs: Pairs, epsilon: float) -> None:
    # The unit fills the whole sensitivity of each: with laplace noise all of epsilon is really lost.
    sampler = FixedSampler("near")
    for name in QUESTIONS:
        one, two = pairs["laplace", name, epsilon]
        assert measured_loss(one, two, SAMPLE_SIZE // 2, sampler, epsilon, 0.0) > 0.8 * epsilon
    # This one touches one group of others where it might touch three.
    one, two = pairs["threshold", "units by diagnosis", epsilon]
    assert epsilon / 8 < measured_loss(one, two, SAMPLE_SIZE, sampler, epsilon, 0.0) <= epsilon / 3


@pytest.mark.parametrize("epsilon", (0.1, 1.0))
def test_half_the_noise_is_measured(pairs: Pairs, epsilon: float) -> None:
    one, two = pairs["laplace", "sum", epsilon]
    with patch.object(LaplaceLaw, "draw", lambda law, sampler, size: sampler.laplace(law.scale / 2, size)):
        assert measured_loss(one, two, SAMPLE_SIZE, FixedSampler("half"), epsilon, 0.0) > epsilon


@pytest.mark.every(2)
@pytest.mark.chance(3 * P_THRESHOLD, "one of at most three noised numbers does not fit its law")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("mechanism", "name"), IN_TURNS)
def test_noise_follows_the_law_that_the_loss_implies(pairs: Pairs, mechanism: str, name: str, size: int) -> None:
    part, _ = pairs[mechanism, name, 1.0]
    assert len(part.draws) <= 3
    for noise, draw in zip(noise_of(part, size, ExactSampler()), part.draws, strict=True):
        if draw.law == "laplace":
            assert_distributed(noise, laplace_cdf(draw.parameter), float(draw.parameter))
        else:
            assert_distributed(noise, gaussian_cdf(draw.parameter), math.sqrt(draw.parameter))


def test_laws_are_those_of_sensitivity_and_loss(pairs: Pairs) -> None:
    # 4 rows of at most 20 in a sum, 4 rows in 3 wards in a count, 3 diagnoses: the caps of the policy, by hand.
    scales = {name: pairs["laplace", name, 1.0][0].draws[0].parameter for name in ("sum", "count by ward")}
    assert scales == {"sum": 4 * 20, "count by ward": 4}
    assert pairs["threshold", "units by diagnosis", 1.0][0].draws[0].parameter == 3
    mean = pairs["laplace", "mean", 1.0][0]
    assert isinstance(mean.release.loss, Composed)
    assert sum(claims(mean)) <= 1
    # centre 7: the sum moves by 13 steps a row, the count by 1
    assert [draw.parameter * share for draw, share in zip(mean.draws, claims(mean), strict=True)] == [4 * 13, 4]
    by_rho = pairs["gaussian", "count by ward", 1.0][0]
    # 4 rows in 3 wards: 2 rows in one and 1 in two of them at most in L1, 4 in a single one in L2
    assert by_rho.draws[0].parameter * 2 * claims(by_rho)[0] == 4**2


@pytest.mark.parametrize(("mechanism", "name"), CASES)
def test_every_released_value_lies_on_the_grid(pairs: Pairs, mechanism: str, name: str) -> None:
    part, _ = pairs[mechanism, name, 1.0]
    for noise in noise_of(part, 1_000, FixedSampler(name)):
        assert noise.dtype == np.int64
    released = part.released
    integers = [k for column, _ in numbers(part) for k in released[column] if k is not None]
    assert integers or part.selects
    assert all(type(k) is int for k in integers)
