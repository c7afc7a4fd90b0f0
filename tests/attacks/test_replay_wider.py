"""The replay audit over every relation, aggregate and grouping of the widened dialect (see `wider`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.audit.audits import AUDITS, tightness
from dpsql.audit.replay import BOTH, CROSSED, Replay
from tests.attacks.wider import WIDER, WIDER_REFUSED
from tests.attacks.world import SOME, World


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Neighbours that lose the most; there are more in `test_replay_audit`, and all of them in ``make test-slow``."""
    with World(1, removed=[name.removeprefix("without ") for name in SOME[1:]], last=()) as world:
        yield world


@pytest.fixture(scope="module")
def replay(world: World) -> Replay:
    """Every third template."""
    return world.replay((*WIDER[::3], *WIDER_REFUSED), BOTH[:1])


@pytest.fixture(scope="module")
def crossed(world: World) -> Replay:
    """The other promises, on fewer databases and questions."""
    return other_promises(world, 9)


def other_promises(world: World, step: int) -> Replay:
    """Every so many questions under the promises that the others are not asked under."""
    runs = world.replay(WIDER[::step], BOTH[1:], SOME).runs, world.replay(WIDER[step // 2 :: step], CROSSED, SOME).runs
    return Replay({**runs[0], **runs[1]})


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts(replay: Replay, audit: str) -> None:
    assert AUDITS[audit](replay) == []


@pytest.mark.slow
def test_no_audit_convicts_on_any_neighbour() -> None:
    with World(1) as world:
        for replay in (world.replay((*WIDER, *WIDER_REFUSED), BOTH[:1]), other_promises(world, 2)):
            assert [found for audit in AUDITS.values() for found in audit(replay)] == []


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts_under_the_other_promises(crossed: Replay, audit: str) -> None:
    assert AUDITS[audit](crossed) == []


def test_every_template_is_answered_and_every_other_refused(replay: Replay) -> None:
    assert len(WIDER) >= 60
    for where, run in replay.all():
        assert (run.error is None) == (run.template in WIDER), where
        if run.error is not None:
            assert (run.statements, run.parts, run.charges) == ((), (), ())


def test_pairs_come_near_the_whole_sensitivity(replay: Replay) -> None:
    shares = list(tightness(replay).values())
    assert len([share for share in shares if share > 0.999]) >= 0.5 * len(shares)
