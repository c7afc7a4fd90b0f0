"""What the audits make of runs that are odd, and not wrong; and of a neighbour that fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dpsql.audit.audits import AUDITS, charge, threshold
from dpsql.audit.replay import BOTH, FREE, Replay, Run
from dpsql.audit.template import Template
from tests.attacks.world import World

FOUND = Template(
    "SELECT diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY 1",
    options={"mechanism": "capped", "epsilon": 6, "delta": 1e-3},
)
BESIDE = Template(
    "SELECT COUNT(*) FROM (SELECT city, COUNT(*) AS n FROM patients GROUP BY city HAVING COUNT(*) > 3) AS a "
    "JOIN cities AS c ON a.city = c.name",
    options={"epsilon": 6},
)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(3, removed=["the heaviest"], last=["the heaviest"]) as world:
        yield world


def test_a_choice_of_groups_that_shows_none_has_nothing_to_be_convicted_of(world: World) -> None:
    replay = world.replay([FOUND], BOTH[:1], ("only the heaviest", "nobody"))
    assert any(not part.groups for _, run in replay.all() for part in run.parts)
    assert threshold(replay) == []


def test_public_tables_may_be_read_before_the_charge(world: World) -> None:
    replay = world.replay([BESIDE], BOTH[:1], ("everybody", "without the heaviest"))
    assert [[spent == FREE for _, _, spent in run.statements] for _, run in replay.all()] == [[True, False]] * 2
    assert charge(replay) == []


def test_a_neighbour_that_fails_is_convicted(world: World) -> None:
    replay = world.replay([FOUND], BOTH[:1], ("everybody", "without the heaviest"))

    def failed(run: Run) -> Run:
        return replace(run, parts=(), answer=None, error=("EngineFailed", "it failed"))

    one = next(iter(replay.runs))
    half = Replay(
        {asked: [failed(run) for run in runs] if asked == one else runs for asked, runs in replay.runs.items()}
    )
    convicted = {name: audit(half) for name, audit in AUDITS.items()}
    assert convicted["control flow"]
    assert "0 releases on one side" in convicted["sensitivity"][0]
