"""The replay audit: the same questions with the same noise on neighbouring databases (see `replay`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.audit.audits import AUDITS, tightness
from dpsql.audit.replay import BOTH, CROSSED, Replay
from tests.attacks.templates import REFUSED, TEMPLATES, named
from tests.attacks.world import SOME, World

FEW = ("exactly at the caps",)
"""Beside those of `SOME`, who is left out one at a time; all are in `make test-slow`."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(0, [*(name.removeprefix("without ") for name in SOME[1:]), *FEW]) as world:
        yield world


@pytest.fixture(scope="module")
def replays(world: World) -> list[Replay]:
    """Under the second promise every ninth template."""
    return world.in_turns((*TEMPLATES, *REFUSED), BOTH[:1]) + world.in_turns(TEMPLATES[::9], BOTH[1:])


@pytest.fixture(scope="module")
def crossed(world: World) -> Replay:
    """The other two promises, on fewer databases and questions."""
    return world.replay(TEMPLATES[::12], CROSSED, SOME)


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts(replays: list[Replay], audit: str) -> None:
    assert [found for replay in replays for found in AUDITS[audit](replay)] == []


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts_under_the_other_promises(crossed: Replay, audit: str) -> None:
    assert AUDITS[audit](crossed) == []


def test_every_template_is_answered(replays: list[Replay]) -> None:
    assert len(TEMPLATES) >= 40
    for where, run in (found for replay in replays for found in replay.all()):
        # A ledger that adds up epsilon and delta has no room for a Gaussian priced by rho.
        if run.template in TEMPLATES and not (run.promise.composition == "basic" and "rho =" in run.template.sql):
            assert run.error is None, where


def test_pairs_reach_the_whole_sensitivity(replays: list[Replay]) -> None:
    # An audit that never sees the worst case proves nothing: most templates lose all that they are charged for.
    shares = [share for replay in replays for share in tightness(replay).values()]
    assert len([share for share in shares if share > 0.999]) >= 50


@pytest.mark.slow
def test_no_audit_convicts_on_any_neighbour_and_pairs_reach_the_whole_sensitivity() -> None:
    with World(0) as world:
        replay = world.replay((*TEMPLATES, *REFUSED))
        for runs in (replay, world.replay(TEMPLATES[::3], CROSSED, SOME)):
            assert [found for audit in AUDITS.values() for found in audit(runs)] == []
    shares = {name: share for name, share in tightness(replay).items() if name.startswith("add_remove")}
    assert len([name for name, share in shares.items() if share > 0.999]) >= 50
    # What a unit's rows differ by from those before adds up to little, and is priced as if each were at its most.
    assert min(share for name, share in shares.items() if "LAG(" not in name) > 0.7


def test_refused_statements_read_and_cost_nothing(replays: list[Replay]) -> None:
    refused = [run for replay in replays for _, run in replay.all() if run.template in REFUSED]
    assert refused
    for run in refused:
        assert run.error is not None
        assert (run.statements, run.parts, run.charges) == ((), (), ())


def test_the_same_statement_again_is_free_and_the_same(world: World) -> None:
    asked = named("SELECT COUNT(*) FROM visits", "SELECT ward, COUNT(*) AS n, SUM", "SELECT diagnosis, COUNT(*)")
    again = world.replay((*asked, *asked), BOTH[:1], ("everybody", "without in all groups"))
    for runs in again.runs.values():
        for first, second in zip(runs[: len(asked)], runs[len(asked) :], strict=True):
            assert first.answer is not None
            assert second.answer is not None
            assert (first.answer.replayed, second.answer.replayed) == (False, True)
            assert second.answer.rows == first.answer.rows
            assert (second.statements, second.parts, second.charges) == ((), (), ())


def test_other_analysts_get_noise_of_their_own(world: World) -> None:
    template = named("SELECT COUNT(*) FROM patients")[0]
    answers = [
        run.answer.rows
        for seed in range(3)
        for _, run in world.replay([template], BOTH[:1], ["everybody"], seed=seed).all()
        if run.answer is not None
    ]
    assert len({str(rows) for rows in answers}) > 1
