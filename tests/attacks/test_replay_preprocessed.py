"""The replay audit over preprocessed statistics: every statistic, every way to set its sensitivity, bounds or none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.audit.audits import AUDITS, tightness
from dpsql.audit.replay import BOTH, CROSSED, Replay
from tests.attacks.templates import OPEN, Template
from tests.attacks.world import World

NAMED = {"mechanism": "preprocessing", "sensitivity": 12, "centre": 3}
RULED = {"mechanism": "preprocessing", "epsilon": 40}
BY_RHO = {"mechanism": "preprocessing", "rho": 15, "centre": 6}

QUESTIONS = (
    # a sensitivity that the statement names, columns without bounds at their wildest
    Template("SELECT MEDIAN(amount) FROM notes", options=NAMED),
    Template("SELECT AVG(reading), VAR_POP(reading) FROM notes", options=NAMED),
    Template("SELECT TRIMMED_MEAN(amount, 0.2), STDDEV(amount) FROM notes", options=NAMED),
    Template("SELECT MIN(amount), MAX(reading), SUM(amount) FROM notes", options=NAMED),
    Template("SELECT VAR_SAMP(amount * 2 + 1) FROM notes", options=NAMED),
    # columns with bounds, with groups
    Template("SELECT ward, MEDIAN(cost), MAX(score) FROM visits GROUP BY ward", options=NAMED),
    Template("SELECT ward, AVG(score), MIN(cost), SUM(score) FROM visits GROUP BY ward", options=NAMED),
    Template("SELECT sex, AVG(age), MEDIAN(weight), VAR_POP(age) FROM patients GROUP BY sex", options=NAMED),
    Template("SELECT ward, MEDIAN(score) FROM visits GROUP BY ward", options={**NAMED, "max_groups_per_unit": 1}),
    Template("SELECT AVG(score), MEDIAN(cost) FROM visits", options={**NAMED, "max_rows_contributed": 2}),
    # a sensitivity that follows from centre, spread, bounds and a noised number of rows
    Template("SELECT MEDIAN(cost), AVG(cost) FROM visits", options=RULED),
    Template("SELECT VAR_SAMP(cost), STDDEV_POP(cost), TRIMMED_MEAN(cost, 0.1) FROM visits", options=RULED),
    Template("SELECT ward, AVG(cost) FROM visits GROUP BY ward", options=RULED),
    Template("SELECT ward, MEDIAN(cost) FROM visits GROUP BY ROLLUP (ward)", options={**RULED, "epsilon": 90}),
    Template("SELECT AVG(age), VAR_POP(age) FROM patients", options=RULED),
    Template("SELECT AVG(cost) FILTER (WHERE score > 5) FROM visits", options=RULED),
    Template("SELECT AVG(cost), VAR_POP(cost) FROM visits", options=BY_RHO),
    # over units, and where groups are discovered
    Template(
        "SELECT MEDIAN(s), AVG(s), MAX(s) FROM "
        "(SELECT patient_id, SUM(amount) AS s, COUNT(*) AS n FROM notes GROUP BY patient_id) AS t",
        options=NAMED,
    ),
    Template(
        "SELECT diagnosis, MEDIAN(cost), AVG(score) FROM visits GROUP BY diagnosis",
        options={**NAMED, "delta": OPEN["delta"], "epsilon": 12},
    ),
    Template("SELECT diagnosis, AVG(cost) FROM visits GROUP BY 1", options={**RULED, "delta": 1e-3, "epsilon": 900}),
)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(2, removed=["the heaviest", "NaN and infinities", "alone in its group", "in all groups"]) as world:
        yield world


@pytest.fixture(scope="module")
def replay(world: World) -> Replay:
    """Of those who lose the most; all promises on fewer questions, and all neighbours where slow tests run."""
    most = ("everybody", "without the heaviest", "without NaN and infinities", "without alone in its group")
    runs = world.replay(QUESTIONS, BOTH[:1], most).runs, world.replay(QUESTIONS[::6], (BOTH[1], *CROSSED), most).runs
    return Replay({**runs[0], **runs[1]})


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts(replay: Replay, audit: str) -> None:
    assert AUDITS[audit](replay) == []


@pytest.mark.slow
def test_no_audit_convicts_under_any_promise(world: World) -> None:
    replay = world.replay(QUESTIONS, (*BOTH, *CROSSED))
    assert [found for audit in AUDITS.values() for found in audit(replay)] == []


def test_every_question_is_answered_by_preprocessing(replay: Replay) -> None:
    for where, run in replay.all():
        if run.promise.composition == "basic" and "rho" in run.template.options:
            continue
        assert run.error is None, where
        assert {part.release.mechanism for part in run.parts} <= {"preprocessing", "threshold", "gaussian_threshold"}, (
            where
        )


def test_pairs_come_near_the_whole_sensitivity(replay: Replay) -> None:
    shares = {name: share for name, share in tightness(replay).items() if name.startswith("add_remove")}
    assert len([share for share in shares.values() if share > 0.99]) >= 0.5 * len(shares)
