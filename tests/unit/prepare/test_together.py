"""Means of several columns in one statement: when they are one vector, what it costs, and how it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.session import Session
from tests.connected import connected

POLICY = """
version: 1
name: places
engine: {kind: duckdb, database: places.duckdb}
neighbours: add_remove
budget:
  ledger: places.ledger.db
  composition: zcdp
  total: {epsilon: 100, delta: 1.0e-3}
  analysts: {ana: {epsilon: 100, delta: 1.0e-3}}
  per_query: {epsilon: 1, delta: 1.0e-6}
tables:
  places:
    unit: person
    rows_per_unit: 1
    rows_about: 6000
    columns:
      x: {type: real, scale: [0.01, 10000], grid: 0.01}
      y: {type: real, scale: [0.01, 10000], grid: 0.01}
      z: {type: real, scale: [0.01, 10000], grid: 0.01}
      side: {type: text, values: [east, west]}
mechanisms: {places.z: {ban: [friendly_core]}}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("places")
    with connected(folder / "places.duckdb") as data:
        data.execute(
            "CREATE TABLE places AS SELECT i AS person, 500 + (hash(i) % 1000) / 100 AS x, "
            "-300 + (hash(i + 7) % 1000) / 100 AS y, 1.0 AS z, CASE WHEN i % 2 = 0 THEN 'east' ELSE 'west' END AS side "
            "FROM range(6000) AS t(i)"
        )
    (folder / "places.yaml").write_text(POLICY)
    with dpsql.testing.open(folder / "places.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def test_two_means_are_one_vector_where_that_errs_less(session: Session) -> None:
    answer = session.query("SELECT AVG(x), COUNT(*) AS n, AVG(y) FROM places", rho=0.003, delta=1e-6)
    ((x, n, y),) = answer.rows
    assert (x, n, y) == (pytest.approx(505, abs=0.5), 6000, pytest.approx(-295, abs=0.5))
    assert answer.cost.rho == pytest.approx(0.003, rel=1e-6)  # the vector's loss counts once
    assert [m.name for m in answer.measurements if m.mechanism == "friendly_core"] == ["AVG(x), AVG(y)"]
    assert any("2 means are one vector" in note for note in answer.notes)
    for name in ("avg(x)", "avg(y)"):
        assert answer.interval(name) == [(None, None)]  # how far rows that are left out lie, nobody knows


def test_they_stay_apart_where_that_errs_less(session: Session) -> None:
    quote = session.explain("SELECT AVG(x), AVG(y) FROM places", epsilon=4)
    assert not any("one vector" in note for note in quote.notes)
    assert len(quote.sql.splitlines()) == 2


def test_avg_vector_makes_a_column_of_each_argument(session: Session) -> None:
    answer = session.query(
        "SELECT side, AVG_VECTOR(x, y) FROM places GROUP BY side", rho=0.02, mechanism="friendly_core"
    )
    assert answer.columns == ("side", "avg(x)", "avg(y)")
    assert [row[0] for row in answer.rows] == ["east", "west"]
    assert all(row[1] == pytest.approx(505, abs=0.6) and row[2] == pytest.approx(-295, abs=0.6) for row in answer.rows)


def test_the_same_vector_again_is_replayed_and_costs_nothing(session: Session) -> None:
    sql = "SELECT AVG_VECTOR(y, x) FROM places"
    first, again = session.query(sql, rho=0.004), session.query(sql, rho=0.004)
    assert again.replayed
    assert again.rows == first.rows


def test_a_column_for_which_the_mechanism_is_banned_is_in_no_vector(session: Session) -> None:
    with pytest.raises(dpsql.Error, match="the policy bans it"):
        session.query("SELECT AVG_VECTOR(x, z) FROM places", rho=0.01, mechanism="friendly_core")


def test_too_few_friends_are_null_for_every_mean_and_charged(session: Session) -> None:
    before = session.budget().spent
    sql = "SELECT AVG(x), AVG(y) FROM places WHERE x < 500.05"
    answer = session.query(sql, rho=0.002, delta=1e-6, mechanism="friendly_core")
    assert answer.rows == [(None, None)]
    assert any("too_few_friends" in note for note in answer.notes)
    assert session.budget().spent != before


def test_a_mean_that_only_a_scale_could_serve_says_the_one_reason(session: Session) -> None:
    with pytest.raises(UnsupportedQuery) as told:
        session.query("SELECT AVG(x) FROM places", epsilon=0.0001)
    assert "friendly_core alone could answer. There 6000 rows in a group" in str(told.value)
    assert "laplace" not in str(told.value)
