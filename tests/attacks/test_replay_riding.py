"""The replay audit of means and counts that ride along with totals of units, which nobody has asked to be clamped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.audit.audits import AUDITS, tightness
from dpsql.audit.replay import BOTH, Promise, Replay
from dpsql.policy import Policy, load_policy
from tests.attacks.neighbours import policy_text
from tests.attacks.templates import Template
from tests.attacks.world import World

REMOVED = ("the heaviest", "in all groups", "NULLs alone", "NaN and infinities")
MANY = {"epsilon": 40}
QUESTIONS = (
    Template("SELECT COUNT(*, epsilon => 38), AVG(score) FROM visits WHERE cost > 10", options=MANY),
    Template("SELECT SUM(score, epsilon => 38), AVG(age), COUNT(DISTINCT patient_id) FROM visits "
             "JOIN patients USING (patient_id)", options=MANY),
    Template("SELECT ward, SUM(cost, epsilon => 38), AVG(cost / (score + 6)), COUNT(weight) FROM visits "
             "JOIN patients USING (patient_id) GROUP BY ward", options=MANY),
    Template("SELECT COUNT(*, epsilon => 38), AVG(cost) FROM visits", options=MANY),
)  # fmt: skip


class ManyRows(World):
    """The clinic, thought to have many visits of each patient."""

    def _policy(self, folder: Path, promise: Promise) -> Policy:
        text = policy_text(promise.neighbours, promise.composition)
        few = "rows_per_unit: 4\n    max_groups_per_unit: 3\n    rows_about: 60\n"
        assert few in text
        file = folder / "clinic.yaml"
        file.write_text(text.replace(few, "rows_per_unit: 100\n    rows_about: 100000\n"))
        return load_policy(file)


@pytest.fixture(scope="module")
def replay() -> Iterator[Replay]:
    with ManyRows(5, removed=REMOVED) as world:
        yield world.replay(QUESTIONS, BOTH)


def test_each_question_is_one_statement_with_plain_totals_and_clamped_ones(replay: Replay) -> None:
    """Where a unit is exchanged for another, some counts have much shorter intervals by laplace."""
    both = dict[str, bool]()
    for where, run in replay.all():
        assert run.error is None, where
        assert len(run.statements) == 1, (where, [part.release.mechanism for part in run.parts])
        question = where.rpartition("; ")[2]
        both[question] = both.get(question, False) or len({part.release.mechanism for part in run.parts}) == 2
    assert len(both) == len(QUESTIONS)
    assert all(both.values()), both


@pytest.mark.parametrize("audit", AUDITS)
def test_no_audit_convicts(replay: Replay, audit: str) -> None:
    assert AUDITS[audit](replay) == []


def test_pairs_reach_the_whole_sensitivity(replay: Replay) -> None:
    shares = {name: share for name, share in tightness(replay).items() if name.startswith("add_remove")}
    assert len(shares) == len(QUESTIONS)
    assert min(shares.values()) > 0.999
