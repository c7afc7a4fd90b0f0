"""Each class of units for itself: who is removed loses no more than their class agreed to, in exact integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import pytest

from dpsql.audit.shares import lost
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.mechanisms.preprocessing import personalised
from dpsql.mechanisms.preprocessing.personalised_release import ClippedTotal, PersonalisedExtreme
from tests.attacks.consenting import EPSILON, PATIENTS, QUESTIONS, Clinic, Seen, write

UNIT = Fraction(1, 10**12)
SHARES = {"strict": Fraction(1, 4), "normal": Fraction(1), "open": Fraction(333333333333, 10**12)}
REMOVED = {
    "strict, heaviest": "strict",
    "normal, heaviest": "normal",
    "open, in all groups": "open",
    "of no class": "strict",
    "of an unknown class": "strict",
}
"""Who is removed, and of which class they are."""

Answers = dict[str, dict[str, Seen]]


@pytest.fixture(scope="module")
def everybody() -> Iterator[Clinic]:
    with Clinic() as clinic:
        yield clinic


@pytest.fixture(scope="module")
def answers(everybody: Clinic) -> Answers:
    """Question to database to what was seen; the database is named after who is missing."""
    found: Answers = {name: {"": everybody.ask(sql)} for name, sql in QUESTIONS.items()}
    for gone in REMOVED:
        with Clinic(gone=[gone]) as without:
            for name, sql in QUESTIONS.items():
                found[name][gone] = without.ask(sql)
    return found


@pytest.mark.every(2)
@pytest.mark.parametrize("gone", REMOVED)
@pytest.mark.parametrize("name", QUESTIONS)
def test_who_is_removed_loses_no_more_than_the_share_of_their_class(answers: Answers, name: str, gone: str) -> None:
    one, two = answers[name][""], answers[name][gone]
    assert one.parts
    real = sum((lost(a, b) for a, b in zip(one.parts, two.parts, strict=True)), Fraction(0))
    (charge,) = one.charges
    charged = charge.account("basic").of_class(REMOVED[gone]).epsilon
    assert charged is not None
    assert real <= charged * UNIT <= SHARES[REMOVED[gone]] * EPSILON


@pytest.mark.parametrize("gone", REMOVED)
@pytest.mark.parametrize("name", QUESTIONS)
def test_nothing_but_noised_numbers_tells_who_is_there(answers: Answers, name: str, gone: str) -> None:
    assert answers[name][""].visible == answers[name][gone].visible


def test_the_audit_reaches_the_whole_loss_of_each_class(answers: Answers) -> None:
    # An audit that never sees the worst case proves nothing.
    for gone, of in list(REMOVED.items())[:4]:
        most = max(
            sum(lost(a, b) for a, b in zip(seen[""].parts, seen[gone].parts, strict=True)) for seen in answers.values()
        )
        assert most > Fraction(99, 100) * SHARES[of] * EPSILON, gone


def test_the_questions_are_answered_by_class_and_alike(answers: Answers) -> None:
    kinds = {name: [type(part.release) for part in seen[""].parts] for name, seen in answers.items()}
    assert kinds["extremes"] == [PersonalisedExtreme] * 2
    assert kinds["sum by ward"] == [ClippedTotal] * 2
    assert kinds["groups of an open domain"] == [ThresholdRelease, ClippedTotal]
    assert ClippedTotal not in kinds["for everybody alike"]


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["clipped as the least strict class", "half the noise"])
def test_the_audit_convicts_what_costs_a_class_more_than_its_share(answers: Answers, bug: str) -> None:
    release = answers["count"][""].parts[0].release
    assert isinstance(release, ClippedTotal)
    right = release.sensitivities
    alike = replace(right, clips=dict.fromkeys(right.clips, max(right.clips.values())))
    halved = replace(right, moved={name: moved // 2 for name, moved in right.moved.items()})
    planted = alike if bug.startswith("clipped") else halved
    with (
        patch.object(personalised, "sensitivities_of", lambda *_, **__: planted),
        Clinic() as everybody,
        Clinic(gone=["strict, heaviest"]) as without,
    ):
        one, two = (clinic.ask(QUESTIONS["count"]).parts[0] for clinic in (everybody, without))
    assert lost(one, two) > SHARES["strict"] * EPSILON


@pytest.mark.parametrize("name", list(PATIENTS)[:1])
def test_a_class_shows_in_nothing_but_noised_numbers(everybody: Clinic, answers: Answers, name: str) -> None:
    of = {"strict": "normal", "normal": "open", "open": None}[str(PATIENTS[name][0])]
    with Clinic(reclassed={name: of}) as other:
        for question, sql in QUESTIONS.items():
            assert other.ask(sql).visible == answers[question][""].visible
        for budget in ("SHOW BUDGET", "SHOW TABLES", "DESCRIBE patients"):
            rows = [clinic.proxy.session(analyst="ana").query(budget).rows for clinic in (everybody, other)]
            assert budget == "SHOW BUDGET" or rows[0] == rows[1]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT consent, COUNT(*) FROM patients GROUP BY consent",
        "SELECT COUNT(*) FROM patients WHERE consent = 'strict'",
        'SELECT COUNT(*) FROM "$classes"',
        'SELECT COUNT(*) FROM patients JOIN "$classes" ON unit = patient',
        'SELECT "class", COUNT(*) FROM patients GROUP BY "class"',
        'SELECT COUNT(*) FROM bounded.main."$classes"',
        "SELECT COUNT(*) FROM patients WHERE class_a0.class = 'strict'",
        "SELECT COUNT(*) FROM patients WHERE of_a0.v0 > 0",
    ],
)
def test_no_statement_names_the_class_of_a_unit(everybody: Clinic, sql: str) -> None:
    before = len(everybody.proxy.ledger.log())
    with pytest.raises((UnsupportedQuery, ProgrammingError)):
        everybody.proxy.session(analyst="ana").query(sql)
    assert len(everybody.proxy.ledger.log()) == before
    assert "class" not in str(everybody.proxy.session(analyst="ana").query("DESCRIBE patients"))


def test_a_class_that_changes_between_versions_weakens_nobodys_protection() -> None:
    name, sql = "strict, heaviest", QUESTIONS["sum"]
    counted = []
    for gone in ([], [name]):
        with Clinic(gone=gone) as clinic:
            for state in ({name: None}, {name: "normal"}):
                write(clinic.folder, gone, state)
                clinic.proxy.refresh()
            counted.append(clinic.ask(sql).parts[0])
    assert 0 < lost(*counted) <= SHARES["strict"] * EPSILON


@pytest.mark.slow
def test_a_lost_record_leaves_everybody_as_protected_as_the_strictest() -> None:
    name, sql = "normal, heaviest", QUESTIONS["sum"]
    counted = []
    for gone in ([], [name]):
        with Clinic(gone=gone) as clinic:
            for record in clinic.folder.rglob("classes.parquet"):
                record.unlink()
            clinic.proxy.refresh()
            counted.append(clinic.ask(sql).parts[0])
    assert 0 < lost(*counted) <= SHARES["strict"] * EPSILON
