"""Every seeded bug is caught by its named audit, and nothing is caught where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.seeded_bugs import BUGS, Bug, convictions, small_world
from tests.attacks.world import World
from tests.turns import every_third

RUNS = [pytest.param(1, id="1 run"), pytest.param(20, id="20 runs", marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=RUNS)
def worlds(request: pytest.FixtureRequest) -> Iterator[list[World]]:
    made: list[World] = []
    try:
        for seed in range(request.param):
            made.append(small_world(seed))
        yield made
    finally:
        for world in made:
            world.close()


@pytest.mark.parametrize(("bug",), every_third([(bug,) for bug in BUGS]), ids=lambda bug: bug.name)
def test_a_seeded_bug_is_convicted_by_its_audit_every_time(worlds: list[World], bug: Bug) -> None:
    for seed, world in enumerate(worlds):
        assert convictions(world, bug, seed)[bug.audit], f"{bug.name} passed {bug.audit}, {seed}"


def test_nothing_is_convicted_without_a_bug(worlds: list[World]) -> None:
    for seed, world in enumerate(worlds):
        assert {name: found for name, found in convictions(world, None, seed).items() if found} == {}
