"""Measured loss under a metric: never above the distance of the two values, and near it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from dpsql.audit.measured import measured_loss
from dpsql.audit.replay import Drawing, RunPart
from dpsql.mechanisms.metric.release.cells_release import CellsRelease
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.plan.plans import Plan
from dpsql.privacy.sampling import ExactSampler
from dpsql.privacy.tables import Group
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement
from tests.statistical.measured import certain, laplace_shares
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE
from tests.unit.mechanisms.metric.homes import opened, policy

MULTIPLE = Fraction(1, 2)
STEP = Fraction(1, 2)  # epsilon of one year in the street's metric
TAKEN = 0.1  # by sampling error from a measured loss, at most: but for `P_THRESHOLD`, as each test checks
SIZE = 2 * SAMPLE_SIZE


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with opened(tmp_path_factory.mktemp("loss"), policy()) as proxy:
        yield proxy.session(analyst="ana")


def release_of(session: Session, sql: str) -> NoisedRelease:
    """The noise of a statement's one answer."""
    statement = parse(sql)
    assert isinstance(statement, QueryStatement)
    plan = session._plan(statement.select, ())
    assert isinstance(plan, Plan)
    prepared = session._prepare(plan, {"metric": "home", "multiple": MULTIPLE})
    release = prepared.measured[0].choice.release
    assert isinstance(release, CellsRelease) and isinstance(release.inner, NoisedRelease)
    return release.inner


def part(release: NoisedRelease, raw: dict[Group, tuple[int, ...]]) -> RunPart:
    """A release over exact integers, as the replay audit records it."""
    assert release.scale is not None
    draw = Drawing("laplace", Fraction(release.scale), (0,) * len(raw))
    return RunPart(release, False, False, tuple(raw), raw, {"steps": [0] * len(raw)}, (draw,), ())


pytestmark = [
    pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss"),
    pytest.mark.chance(P_THRESHOLD, "it is below what the exact chances of its events make certain"),
]


def measured(release: NoisedRelease, one: int, two: int, claim: float, least: float) -> float:
    """The measured loss between two numbers, which is above ``least`` but for `P_THRESHOLD`."""
    assert release.scale is not None
    assert certain(laplace_shares(release.scale, two - one, claim), SIZE) >= least
    return measured_loss(part(release, {(): (one,)}), part(release, {(): (two,)}), SIZE, ExactSampler(), claim, 0)


@pytest.mark.parametrize("years", [1, 2, 5])
def test_a_sum_of_ages_tells_years_apart_by_their_distance(session: Session, years: int) -> None:
    release = release_of(session, "SELECT SUM(age) FROM people")
    claim = float(MULTIPLE * STEP * years)
    assert claim - TAKEN < measured(release, 31, 31 + years, claim, claim - TAKEN) <= claim


def test_a_count_of_one_town_tells_it_from_another_by_less_than_their_distance(session: Session) -> None:
    # Alm and Cern are 50 km apart, at 0.1 a kilometre; the noise is for Bach and Cern, 45 km apart.
    release = release_of(session, "SELECT COUNT(*) FROM people WHERE town = 'Cern'")
    claim = float(MULTIPLE * 5)
    assert 0.7 * claim < measured(release, 3, 4, claim, 0.7 * claim) <= claim
