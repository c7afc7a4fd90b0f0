"""IN and EXISTS as values are refused with a join that means the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.session import Session
from tests.unit.mechanisms.shop import policy, sessions

TABLES = """
  people:
    unit: pid
    key: pid
    rows_per_unit: 1
    columns: {age: {type: integer, bounds: [0, 100]}}
  stays:
    unit: pid
    key: stay
    rows_per_unit: 3
    columns:
      ward: {type: text, values: [a, b]}
      day: {type: integer, bounds: [0, 9]}
  labs:
    unit: pid
    rows_per_unit: 9
    columns:
      stay: {type: integer}
      value: {type: integer, bounds: [0, 9]}
"""
MADE = """
CREATE TABLE people AS FROM (VALUES (1, 30), (2, 40), (3, 50), (4, 60)) AS t(pid, age);
CREATE TABLE stays AS
    FROM (VALUES (1, 10, 'a', 1), (1, 11, 'a', 5), (2, 20, 'b', 2), (3, 30, 'a', 9)) AS t(pid, stay, ward, day);
CREATE TABLE labs AS FROM (VALUES (1, 10, 3), (2, 20, 4)) AS t(pid, stay, value);
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session over four people, three of whom were in wards."""
    yield from sessions(tmp_path_factory.mktemp("partners"), MADE, policy(TABLES))


def refused(session: Session, sql: str) -> str:
    with pytest.raises(UnsupportedQuery) as caught:
        session.query(sql, mechanism="laplace")
    return str(caught.value)


CONDITIONS = {
    "pid IN (SELECT pid FROM stays WHERE ward = 'a')": {1, 3},
    "pid NOT IN (SELECT s.pid FROM stays AS s WHERE ward = 'a' AND day > 1)": {2, 4},
    "pid IN (SELECT DISTINCT pid FROM stays JOIN labs USING (pid) WHERE value = 3)": {1},
    "EXISTS (SELECT 1 FROM stays s WHERE s.pid = p.pid AND s.ward = 'b')": {2},
    "NOT EXISTS (SELECT * FROM stays AS s WHERE p.pid = s.pid AND ward = 'a' AND (day < 3 OR day = 9))": {2, 4},
    "EXISTS (SELECT 1 FROM stays s WHERE s.pid = p.pid)": {1, 2, 3},
}
"""Conditions, and for whom each is true."""
QUESTIONS = (
    "SELECT SUM({}) FROM people p",
    "SELECT COUNT(*) FILTER (WHERE {}) FROM people p",
    "SELECT SUM(CASE WHEN {} THEN 1 ELSE 0 END) FROM people p",
    "SELECT COUNT(*) FROM people p WHERE {} OR age < 0",
)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_join_that_is_recommended_means_the_same(session: Session, condition: str, question: str) -> None:
    message = refused(session, question.format(condition))
    found = re.search(r"one row a unit: (LEFT JOIN .*)\. Then write here: (found\.pid IS (?:NOT )?NULL)\.$", message)
    assert found is not None, message
    asked = question.format(found[2]).replace("FROM people p", f"FROM people p {found[1]}")
    assert session.query(asked, mechanism="laplace").rows == [(len(CONDITIONS[condition]),)]


@pytest.mark.parametrize(
    "condition",
    [
        "EXISTS (SELECT 1 FROM stays s WHERE s.pid = p.pid AND s.day > p.age)",  # reads more from outside
        "EXISTS (SELECT 1 FROM stays s WHERE s.pid = p.pid AND age > 3)",  # perhaps, too
        "p.pid IN (SELECT pid FROM stays GROUP BY pid HAVING COUNT(*) > 1)",
        "age IN (SELECT day FROM stays)",
        f"pid IN (SELECT pid FROM stays WHERE {' OR '.join(f'day = {at}' for at in range(40))})",
    ],
)
def test_where_no_text_surely_means_the_same_the_ways_are_named(session: Session, condition: str) -> None:
    message = refused(session, f"SELECT COUNT(*) FILTER (WHERE {condition}) FROM people p")
    assert "IN and EXISTS with a sub-query choose rows in WHERE, and are no values." in message
    assert "For a share, divide" in message
    assert "LEFT JOIN (SELECT unit FROM .. GROUP BY unit) AS found USING (unit), and found.unit IS NOT NULL." in message


# ------------------------------------------------------------------------------------------------- units and keys

TELLING = {
    "SELECT COUNT(*) FROM stays a JOIN stays b USING (pid) WHERE a.stay <> b.stay": 2,
    "SELECT COUNT(*) FROM stays a JOIN stays b ON a.pid = b.pid AND NOT (a.stay = b.stay)": 2,
    "SELECT SUM(a.stay <> b.stay) FROM stays a JOIN stays b USING (pid)": 2,
    "SELECT COUNT(*) FROM stays a LEFT JOIN stays b ON a.pid = b.pid AND a.stay <> b.stay WHERE b.stay IS NULL": 2,
    "SELECT COUNT(*) FROM stays a WHERE EXISTS "
    "(SELECT 1 FROM stays b WHERE b.pid = a.pid AND b.stay <> a.stay AND b.day > a.day)": 1,
    "SELECT COUNT(*) FROM people p LEFT JOIN (SELECT pid FROM stays GROUP BY pid) s USING (pid) WHERE s.pid IS NULL": 1,
}


@pytest.mark.parametrize("sql", TELLING)
def test_two_rows_of_one_unit_are_told_apart_by_their_keys(session: Session, sql: str) -> None:
    assert session.query(sql, mechanism="laplace").rows == [(TELLING[sql],)]


REFUSED = {
    "SELECT COUNT(*) FROM stays a JOIN labs l ON a.pid = l.pid AND a.stay = l.stay": (
        "stay at 1:63: it is a key, stays.stay, and the stay beside it is a mere integer to the policy",
        "unit: {via: stays, on: stay} in place of its unit and of its column stay; then the two join.",
    ),
    "SELECT COUNT(*) FROM stays WHERE stay IN (SELECT stay FROM labs)": ("unit: {via: stays, on: stay}",),
    "SELECT COUNT(*) FROM stays WHERE stay = 10": ("it is a key, stays.stay, and stands beside nothing but that key",),
    "SELECT COUNT(*) FROM stays WHERE stay <> 10": ("it is a key, stays.stay", "another row of the same unit",),
    "SELECT COUNT(*) FROM stays a JOIN stays b USING (pid) WHERE a.stay < b.stay": ("it also takes <>",),
    "SELECT COUNT(*) FROM stays WHERE stay <> pid": ("it is a key, stays.stay",),
    "SELECT COUNT(*) FROM people p JOIN stays s ON p.pid = s.pid AND p.pid <> s.pid": ("the privacy unit stands",),
    "SELECT COUNT(*) FROM stays WHERE stay IS NULL": ("it may not stand in WHERE",),
    "SELECT COUNT(*) FROM people p LEFT JOIN (SELECT pid AS who FROM stays GROUP BY pid) s ON p.pid = s.who "
    "WHERE s.who = 3": ("who at 1:", "COUNT(DISTINCT who)"),
    "SELECT SUM(s.who) FROM people p LEFT JOIN (SELECT pid AS who FROM stays GROUP BY pid) s ON p.pid = s.who": (
        "who at 1:8", "COUNT(DISTINCT who) counts people",
    ),
}  # fmt: skip
"""Questions, and words of what refuses each."""


@pytest.mark.parametrize("sql", REFUSED)
def test_a_refusal_says_what_a_key_is_and_names_what_was_written(session: Session, sql: str) -> None:
    message = refused(session, sql)
    for words in REFUSED[sql]:
        assert words in message
