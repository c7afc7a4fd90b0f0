"""ORDER BY with LIMIT over listed groups: the first chosen before they are measured, where that errs less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.session import Session
from tests.connected import connected

POLICY = """
version: 1
name: towns
engine: {kind: duckdb, database: towns.duckdb}
neighbours: add_remove
budget:
  ledger: towns.ledger.db
  composition: zcdp
  total: {epsilon: 10000, delta: 1.0e-1}
  analysts: {"*": {epsilon: 10000, delta: 1.0e-1}}
  per_query: {epsilon: 1, delta: 1.0e-6}
tables:
  visits:
    unit: pid
    rows_per_unit: 50
    columns:
      town: {type: integer, bounds: [0, 499]}
      ward: {type: integer, values: [1, 2, 3]}
      cost: {type: integer, bounds: [0, 100]}
      kind: {type: integer, values: [0, 1, 2, 3, 4, 5, 6, 7]}
      loss: {type: integer, bounds: [-1000, 1000000]}
"""
ROWS = (
    "SELECT i % 400 AS pid, (i * i) % 499 % (1 + i % 50) AS town, 1 + i % 3 AS ward, i % 100 AS cost, i % 3 AS kind, "
    "i % 90 AS loss"
)
PEOPLE = "SELECT town, COUNT(DISTINCT pid) AS n FROM visits GROUP BY town"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("towns")
    with connected(folder / "towns.duckdb") as database:
        database.execute(f"CREATE TABLE visits AS {ROWS} FROM range(20000) t(i)")
    (folder / "towns.yaml").write_text(POLICY)
    with dpsql.testing.open(folder / "towns.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def mechanisms(session: Session, sql: str, **options: Any) -> list[str]:
    return [column.mechanism for column in session.explain(sql, **options).columns]


def test_the_largest_are_chosen_where_a_person_is_in_many_groups(session: Session) -> None:
    sql = f"{PEOPLE} ORDER BY n DESC LIMIT 5"
    quote = session.explain(sql)
    assert [column.mechanism for column in quote.columns] == ["laplace", "top_k"]
    assert quote.columns[1].name == "choice of the 5 largest of 500 groups"
    assert quote.columns[0].sensitivity == 5 and quote.columns[1].loss.epsilon == 0.5
    assert any("then cut" in reason for _, reason in quote.columns[1].others)
    with connected() as database:
        database.execute(f"CREATE TABLE visits AS {ROWS} FROM range(20000) t(i)")
        truth = database.execute(f"{PEOPLE} ORDER BY n DESC, town LIMIT 5").fetchall()
    answer = session.query(sql)
    assert answer.rows == truth
    assert session.query(sql).replayed and not session.query(f"{PEOPLE} ORDER BY n DESC LIMIT 4").replayed
    assert not session.query(f"{PEOPLE} ORDER BY n LIMIT 5").replayed
    low, high = answer.interval("n")[0]
    assert low == answer.rows[0][1] - 30 and high == answer.rows[0][1] + 30  # scale 10, no wider for the choice


def test_offset_pays_for_what_it_skips(session: Session) -> None:
    sql = f"{PEOPLE} ORDER BY n DESC LIMIT 2"
    five, seven = (session.explain(f"{sql} OFFSET {skipped}", mechanism="top_k") for skipped in (3, 5))
    assert [quote.columns[0].sensitivity for quote in (five, seven)] == [5, 7]
    whole = session.query(f"{PEOPLE} ORDER BY n DESC LIMIT 5").rows
    assert session.query(f"{sql} OFFSET 3", mechanism="top_k").rows == whole[3:]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, COUNT(DISTINCT pid) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 2",  # few groups
        "SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY n DESC LIMIT 5",  # 50 rows may be in one group
        f"{PEOPLE} ORDER BY n DESC LIMIT 500",  # all of them
        f"{PEOPLE} ORDER BY town LIMIT 5",
        f"{PEOPLE} HAVING COUNT(DISTINCT pid) > 3 ORDER BY n DESC LIMIT 5",
        "SELECT town, AVG(cost) AS n FROM visits GROUP BY town ORDER BY n DESC LIMIT 5",
        "SELECT town, COUNT(DISTINCT pid) AS n, SUM(COUNT(DISTINCT pid)) OVER () AS all FROM visits GROUP BY town "
        "ORDER BY n DESC LIMIT 5",
    ],
)
def test_all_groups_are_measured_elsewhere(session: Session, sql: str) -> None:
    assert "top_k" not in mechanisms(session, sql.replace(" AS all", " AS whole"))


def test_totals_with_a_clamp_are_ordered_by_how_far_they_are_off_not_by_what_their_intervals_allow_for(
    session: Session,
) -> None:
    sql = "SELECT kind, SUM(loss) AS x FROM visits GROUP BY kind ORDER BY x LIMIT 2"
    (column,) = session.explain(sql).columns
    assert column.mechanism == "clamped"


def test_which_way_errs_less_is_said(session: Session) -> None:
    quote = session.explain("SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY n DESC LIMIT 5")
    assert any(name == "top_k" and "choosing the groups first" in reason for name, reason in quote.columns[0].others)


def test_a_cap_on_groups_cuts_as_it_does_elsewhere(session: Session) -> None:
    sql = f"{PEOPLE} ORDER BY n DESC LIMIT 2"
    assert "top_k" not in mechanisms(session, sql, max_groups_per_unit=1)
    capped = session.explain(sql, max_groups_per_unit=3, mechanism="top_k")
    assert capped.columns[0].sensitivity == 2
    assert capped.sql == session.explain(sql, max_groups_per_unit=3, mechanism="laplace").sql


def test_named_where_it_does_not_answer_it_is_refused(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="ORDER BY a count or a sum with LIMIT"):
        session.query(f"{PEOPLE} ORDER BY town LIMIT 5", mechanism="top_k")


def test_the_share_of_the_choice_may_be_named(session: Session) -> None:
    sql = f"{PEOPLE} ORDER BY n DESC LIMIT 5"
    losses = [c.loss.epsilon for c in session.explain(sql, group_selection_epsilon=0.3, mechanism="top_k").columns]
    assert losses == [pytest.approx(0.7), pytest.approx(0.3)]


def test_a_wanted_half_width_is_reached(session: Session) -> None:
    quote = session.explain(f"{PEOPLE} ORDER BY n DESC LIMIT 5", half_width={"n": 10})
    assert quote.columns[0].half_width <= 10


def test_two_of_them_bought_together(session: Session) -> None:
    answers = session.query_all([f"{PEOPLE} ORDER BY n DESC LIMIT {k}" for k in (2, 3)], epsilon=2)
    assert [len(answer.rows) for answer in answers] == [2, 3]
