"""The replay audit over every relation, aggregate and grouping of the widened dialect (see `wider`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.audits import AUDITS, tightness
from tests.attacks.replay import BOTH, CROSSED, Replay
from tests.attacks.wider import WIDER, WIDER_REFUSED
from tests.attacks.world import SOME, World


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(1) as world:
        yield world


@pytest.fixture(scope="module")
def replays(world: World) -> list[Replay]:
    return world.in_turns((*WIDER, *WIDER_REFUSED), BOTH[:1])


@pytest.fixture(scope="module")
def crossed(world: World) -> Replay:
    """The other promises, on fewer databases and questions."""
    runs = {**world.replay(WIDER[::2], BOTH[1:], SOME).runs, **world.replay(WIDER[1::2], CROSSED, SOME).runs}
    return Replay(runs)


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts(replays: list[Replay], audit: str) -> None:
    assert [found for replay in replays for found in AUDITS[audit](replay)] == []


@pytest.mark.slow
def test_no_audit_convicts_on_any_neighbour(world: World) -> None:
    replay = world.replay((*WIDER, *WIDER_REFUSED), BOTH[:1])
    assert [found for audit in AUDITS.values() for found in audit(replay)] == []


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts_under_the_other_promises(crossed: Replay, audit: str) -> None:
    assert AUDITS[audit](crossed) == []


def test_every_template_is_answered_and_every_other_refused(replays: list[Replay]) -> None:
    assert len(WIDER) >= 60
    for where, run in (found for replay in replays for found in replay.all()):
        assert (run.error is None) == (run.template in WIDER), where
        if run.error is not None:
            assert (run.statements, run.parts, run.charges) == ((), (), ())


def test_pairs_come_near_the_whole_sensitivity(replays: list[Replay]) -> None:
    shares = [share for replay in replays for share in tightness(replay).values()]
    assert len([share for share in shares if share > 0.999]) >= 0.5 * len(shares)
