"""Stored answers that are asked again: the same, and nobody's to change for others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpsql.answers.again import weight
from dpsql.answers.answer import Answer
from dpsql.errors import LedgerError
from dpsql.session import Session
from dpsql.shelf import MOST_WEIGHT
from tests.unit.server.clinic import Clinic, open_clinic

pytestmark = pytest.mark.chance(0, "only what is the same in every answer is compared")
BY = "SELECT sex, COUNT(*) AS n, SUM(age) / COUNT(*) AS mean FROM people GROUP BY sex ORDER BY n"


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Clinic]:
    with open_clinic(tmp_path) as found:
        yield found


@pytest.fixture
def session(clinic: Clinic) -> Session:
    return clinic.proxy.session(analyst="ana")


def all_of(answer: Answer) -> tuple[Any, ...]:
    """What a reader sees of an answer, but for its price."""
    ends = [answer.ends(column) + answer._intervals(column, 0.5) for column in range(len(answer.columns))]
    return answer.columns, answer.types, answer.rows, answer.notes, answer.roles, answer.measurements, ends


def kept(clinic: Clinic) -> tuple[int, int]:
    """How many answers are kept, and how many were made for that."""
    shelf = clinic.proxy._backend.replayed
    return len(shelf), shelf.made


def test_what_is_handed_out_again_is_the_first_answer(clinic: Clinic, session: Session) -> None:
    answers = [session.query(BY) for _ in range(4)]
    assert kept(clinic) == (1, 1)  # the second, which was the first to come from the store
    assert [all_of(answer) for answer in answers] == [all_of(answers[0])] * 4
    assert [answer.replayed for answer in answers] == [False, True, True, True]
    assert [answer.cost.epsilon for answer in answers[1:]] == [0] * 3
    assert str(answers[2]) == str(answers[3])


def test_who_changes_an_answer_changes_their_own(session: Session) -> None:
    rows = session.query(BY).rows
    for _ in range(3):
        answer = session.query(BY)
        assert answer.rows == rows
        ends = answer.interval("n")
        ends.clear()
        answer.rows.clear()
        assert len(session.query(BY).interval("n")) == len(rows)


def test_statements_that_look_alike_keep_answers_of_their_own(clinic: Clinic, session: Session) -> None:
    base = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    texts = [base, base + " ORDER BY sex DESC", base + " LIMIT 1", base.replace(" AS n", " AS m")]
    first = [session.query(text) for text in texts]
    for _ in range(2):
        again = [session.query(text) for text in texts]
        assert [(answer.columns, answer.rows) for answer in again] == [(a.columns, a.rows) for a in first]
    assert kept(clinic)[0] == len(texts)


def test_a_stored_answer_is_counted_each_time_it_is_served(clinic: Clinic, session: Session) -> None:
    for _ in range(5):
        session.query(BY)
    served = clinic.proxy._backend.served
    served.write()
    assert sum(served.all().values()) == 4


def test_nothing_is_handed_out_once_the_ledger_is_closed(clinic: Clinic, session: Session) -> None:
    for _ in range(3):
        session.query(BY)
    clinic.proxy._backend.ledger.close()
    with pytest.raises(LedgerError):
        session.query(BY)


def test_an_answer_whose_cells_could_be_changed_is_not_kept(session: Session) -> None:
    answer = session.query(BY)
    assert weight(answer) == 2 * len(answer.rows) * 3
    assert weight(replace(answer, rows=[("F", [1, 2], 3.0)])) == MOST_WEIGHT + 1
