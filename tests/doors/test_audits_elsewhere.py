"""The replay audits and the seeded bugs over other engines: nothing is convicted but what is planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpsql.audit.audits import AUDITS, tightness
from dpsql.audit.replay import BOTH, Replay
from dpsql.policy import EngineSection
from tests.attacks.seeded_bugs import BUGS, Bug, convictions, small_world
from tests.attacks.templates import REFUSED, TEMPLATES
from tests.attacks.world import World
from tests.doors.elsewhere import Elsewhere

pytestmark = pytest.mark.doors
LACKS = "has nothing that computes it"


@pytest.fixture(scope="module")
def moved(elsewhere: Elsewhere) -> Callable[[Path], EngineSection]:
    return elsewhere.section


@pytest.fixture(scope="module")
def world(moved: Callable[[Path], EngineSection]) -> Iterator[World]:
    with small_world(0, moved) as world:
        yield world


@pytest.fixture(scope="module")
def replay(world: World) -> Replay:
    return world.replay((*TEMPLATES, *REFUSED), BOTH[:1])


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts(replay: Replay, audit: str) -> None:
    assert AUDITS[audit](replay) == []


def test_every_template_is_answered_or_is_what_the_engine_lacks(replay: Replay) -> None:
    runs, lacking = list(replay.all()), 0
    for where, run in runs:
        if run.template in REFUSED:
            assert (run.statements, run.parts, run.charges) == ((), (), ()), where
        elif not (run.promise.composition == "basic" and "rho =" in run.template.sql):
            lacking += run.error is not None
            assert run.error is None or LACKS in str(run.error), where
    assert lacking < len(runs) / 20


def test_pairs_reach_the_whole_sensitivity(replay: Replay) -> None:
    assert len([share for share in tightness(replay).values() if share > 0.999]) >= 50


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_seeded_bug_is_convicted_by_its_audit(world: World, moved: Callable[[Path], EngineSection], bug: Bug) -> None:
    assert convictions(world, bug, 0, moved)[bug.audit]
