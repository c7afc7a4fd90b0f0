"""A comparison with a number beyond a column's bounds is noted: values there count as the nearer bound."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.session import Session
from tests.sql.databases import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("hospital", tmp_path_factory.mktemp("beyond")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def said(session: Session, sql: str) -> list[str]:
    """The notes on such comparisons, which stand beside the quote and beside the answer."""
    found = [note for note in session.explain(sql, epsilon=0.1).notes if "beyond its bounds" in note]
    assert [note for note in session.query(sql, epsilon=0.1).caps if "beyond its bounds" in note] == found
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(age) AS m FROM patients WHERE age <> 999",
        "SELECT AVG(age) AS m FROM patients WHERE 999 > age",
        "SELECT AVG(age) AS m FROM patients WHERE age BETWEEN 0 AND 999",
        "SELECT AVG(age) AS m FROM patients WHERE age NOT IN (0, 999)",
        "SELECT AVG(age) AS m FROM patients WHERE age < CAST(999 AS DOUBLE) AND sex = 'F'",
        "SELECT AVG(NULLIF(NULLIF(age, 0), 999)) AS m FROM patients",
        "SELECT AVG(CASE age WHEN 999 THEN NULL ELSE age END) AS m FROM patients",
        "SELECT AVG(age) FILTER (WHERE COALESCE(age, 0) <> 999) AS m FROM patients",
        "SELECT COUNT(*) AS n FROM visits v JOIN patients p USING (patient_id) WHERE p.age <> 999",
        "SELECT COUNT(*) AS n FROM visits WHERE patient_id IN (SELECT patient_id FROM patients WHERE age <> 999)",
        "SELECT AVG(n) AS m FROM (SELECT patient_id, MAX(age) AS n FROM patients WHERE age <> 999 GROUP BY patient_id)",
        "SELECT age <> 999 AS known, COUNT(*) AS n FROM patients GROUP BY known",
    ],
)
def test_a_number_beyond_the_bounds_is_told(session: Session, sql: str) -> None:
    assert said(session, sql) == [
        "age is compared with 999, beyond its bounds [0, 110]: larger values count as 110, so that it tells none of "
        "them apart. age < 110 leaves them out."
    ]


def test_one_below_them_is_told_by_the_name_that_the_analyst_gave(session: Session) -> None:
    sql = "SELECT AVG(years) AS m FROM (SELECT age AS years FROM patients) WHERE years <> -1"
    (note,) = said(session, sql)
    assert note.startswith("years is compared with -1, beyond its bounds [0, 110]: smaller values count as 0, ")
    assert note.endswith("years > 0 leaves them out.")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(age) AS m FROM patients WHERE age <> 0 AND age <= 110",
        "SELECT AVG(n) AS m FROM (SELECT patient_id, SUM(age) AS n FROM patients GROUP BY patient_id) WHERE n < 999",
        "SELECT COUNT(*) AS n FROM visits WHERE visited_on < DATE '2050-01-01'",  # days beyond read as NULL
        "SELECT SUM(population) AS n FROM cities WHERE population <> -1",
        "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > -1",
        "SELECT COUNT(*) AS n FROM patients WHERE age + 1 < 999",
    ],
)
def test_other_comparisons_are_not(session: Session, sql: str) -> None:
    assert said(session, sql) == []
