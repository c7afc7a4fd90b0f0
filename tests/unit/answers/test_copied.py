"""Answers are copied and pickled, as caches and pools of processes do."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy

import pytest

from dpsql.answers.answer import Answer
from dpsql.errors import ProgrammingError
from dpsql.session import Session

STATEMENTS = [
    "SELECT COUNT(*) AS n FROM patients",
    "SELECT sex, COUNT(*) AS n, AVG(age) AS mean, SUM(age) / COUNT(*) AS ratio FROM patients GROUP BY sex",
    "SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM patients",
    "SELECT MIN(visited_on) AS first FROM visits",
    "SELECT state, COUNT(*) AS cities FROM cities GROUP BY state",
]


def travelled(answer: Answer) -> Answer:
    """The answer as another process gets it."""
    again = pickle.loads(pickle.dumps(answer))  # noqa: S301 - what this test wrote
    assert isinstance(again, Answer)
    return again


every_kind = pytest.mark.parametrize("sql", STATEMENTS)


@every_kind
def test_a_pickled_answer_has_its_rows_intervals_and_frames(session: Session, sql: str) -> None:
    answer = session.query(sql, epsilon=0.1)
    again = travelled(answer)
    assert again == answer
    assert [again.ends(i) for i in range(len(answer.columns))] == [answer.ends(i) for i in range(len(answer.columns))]
    assert again.to_arrow(intervals=True).equals(answer.to_arrow(intervals=True))
    assert str(again) == str(answer)
    assert travelled(answer.with_intervals()).rows == answer.with_intervals().rows


@every_kind
def test_a_copy_knows_what_the_answer_knows(session: Session, sql: str) -> None:
    answer = session.query(sql, epsilon=0.1)
    for again in (copy(answer), deepcopy(answer)):
        assert again == answer
        assert again.ends(0) == answer.ends(0)
    assert deepcopy(answer).rows is not answer.rows


def test_a_pickled_answer_refuses_another_confidence(session: Session) -> None:
    answer = session.query(STATEMENTS[0], epsilon=0.1)
    with pytest.raises(ProgrammingError, match="at 95% confidence alone"):
        travelled(answer).interval("n", confidence=0.5)
    assert deepcopy(answer).interval("n", confidence=0.5) == answer.interval("n", confidence=0.5)
