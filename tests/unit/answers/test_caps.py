"""Answers say how many rows of each unit the policy uses, once, and only where that bears on them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.session import Session
from tests.connected import connected

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: basic
  total: {epsilon: 1000}
  analysts: {"*": {epsilon: 1000}}
  per_query: {epsilon: 1}
tables:
  people:
    unit: pid
    key: pid
    rows_per_unit: 5
    rows_about: 300
    columns:
      age: {type: integer, bounds: [0, 100]}
  visits:
    unit: pid
    rows_per_unit: 4
    columns:
      cost: {type: real, bounds: [0, 50], grid: 1}
      kind: {type: text, values: [x, y]}
  letters:
    unit: pid
    rows_per_unit: 2
    columns:
      kind: {type: text, values: [x, y]}
"""
VISITS = "Of each unit at most 4 rows of visits are used (rows_per_unit): rows beyond do not count."
BOTH = "Of each unit at most 4 rows of visits and 2 rows of letters are used (rows_per_unit): rows beyond do not count."


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("caps")
    with connected(home / "clinic.duckdb") as data:
        data.execute("CREATE TABLE people AS SELECT i AS pid, i % 90 AS age FROM range(300) AS t(i)")
        data.execute("CREATE TABLE visits AS SELECT i % 300 AS pid, 9.0 AS cost, 'x' AS kind FROM range(1800) AS t(i)")
        data.execute("CREATE TABLE letters AS SELECT i % 300 AS pid, 'y' AS kind FROM range(900) AS t(i)")
    (home / "clinic.yaml").write_text(POLICY)
    with dpsql.testing.open(home / "clinic.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sql", "cap"),
    [
        ("SELECT COUNT(*) FROM visits", VISITS),
        ("SELECT COUNT(*), SUM(cost), AVG(cost) FROM visits", VISITS),
        ("SELECT kind, COUNT(DISTINCT pid) FROM visits GROUP BY kind", VISITS),
        ("SELECT COUNT(DISTINCT pid) FROM visits WHERE kind = 'y'", VISITS),
        ("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)", VISITS),
        ("SELECT AVG(age) FROM people WHERE pid IN (SELECT pid FROM visits WHERE cost > 3)", VISITS),
        ("SELECT COUNT(*) FROM visits JOIN people USING (pid)", VISITS),
        ("SELECT COUNT(*) FROM visits JOIN letters USING (pid)", BOTH),
        ("SELECT a.n / b.n FROM (SELECT COUNT(*) AS n FROM visits) a, (SELECT SUM(cost) AS n FROM visits) b", VISITS),
    ],
)
def test_a_cap_stands_once_in_the_quote_and_once_beside_the_answer(session: Session, sql: str, cap: str) -> None:
    assert [note for note in session.explain(sql).notes if "do not count" in note] == [cap]
    for answer in (session.query(sql), session.query(sql)):  # the second one is replayed
        assert [note for note in answer.notes if "do not count" in note] == [cap]
        assert f"Note: {cap}" in str(answer)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(DISTINCT pid) FROM visits",
        "SELECT COUNT(DISTINCT pid) FROM (SELECT pid, SUM(cost) AS c FROM visits GROUP BY pid)",
        "SELECT COUNT(*), AVG(age) FROM people",
    ],
)
def test_a_cap_that_does_not_matter_is_not_said(session: Session, sql: str) -> None:
    assert not any("do not count" in note for note in (*session.explain(sql).notes, *session.query(sql).notes))


def test_nothing_is_said_to_be_clipped_but_by_the_policy(session: Session) -> None:
    notes = session.query("SELECT COUNT(*) FROM visits", mechanism="clamped").notes
    told = "each unit counts with at most 4, which is all that the policy lets it have: nothing else is clipped."
    assert f"COUNT(*): {told}" in notes


def test_a_quote_says_for_how_many_rows_the_error_of_a_mean_is(session: Session) -> None:
    of_units = "SELECT AVG(n) FROM (SELECT pid, kind, COUNT(*) AS n FROM visits GROUP BY pid, kind)"
    for sql, told in (
        ("SELECT AVG(cost) FROM visits", "10,000 rows, by the number that the policy guesses (rows_about)."),
        ("SELECT kind, AVG(cost) FROM visits GROUP BY ROLLUP (kind)", "5,000 to 10,000 rows in a group, by the number"),
        (of_units, "7,071 rows, by the number that rows_about and rows_per_unit make likely."),
        ("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)", "5,000 rows, by the number"),
    ):
        assert f"The error of a mean is for {told}" in " ".join(session.explain(sql).notes)
