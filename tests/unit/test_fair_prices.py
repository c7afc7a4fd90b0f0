"""Nothing is charged for what cannot happen: the sensitivities that statements are priced by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.answer import Quote
from dpsql.session import Session

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: NEIGHBOURS
budget:
  ledger: clinic.ledger.db
  composition: zcdp
  total: {epsilon: 1000, delta: 1.0e-3}
  analysts: {"*": {epsilon: 1000, delta: 1.0e-3}}
  per_query: {epsilon: 1, delta: 1.0e-8}
tables:
  patients:
    unit: pid
    key: pid
    rows_per_unit: 1
    columns:
      region: {type: text, values: [north, south]}
      town:   {type: text}
      age:    {type: integer, bounds: [0, 110]}
  twice:
    unit: pid
    rows_per_unit: 2
    columns:
      region: {type: text, values: [north, south, east]}
  visits:
    unit: pid
    key: visit
    rows_per_unit: 180
    columns:
      mode: {type: text, values: [a, b, c, d, e, f, g]}
      kind: {type: text, values: [x, y], nullable: true}
      done: {type: boolean}
      ill:  {type: text}
      cost: {type: integer, bounds: [0, 50]}
      town: {type: text}
  bills:
    unit: {via: visits, on: visit}
    rows_per_unit: 20
    columns:
      paid: {type: integer, bounds: [0, 9]}
  towns: {public: true, key: name}
"""
TABLES = (
    "patients AS FROM (VALUES (1, 'north', 't', 30), (2, 'south', 'u', 40)) AS t(pid, region, town, age)",
    "twice AS FROM (VALUES (1, 'north'), (1, 'south'), (2, 'east')) AS t(pid, region)",
    "visits AS FROM (VALUES (1, 11, 'a', 'x', true, 'flu', 3, 't'), (2, 21, 'b', 'y', false, 'flu', 4, 'u')) "
    "AS t(pid, visit, mode, kind, done, ill, cost, town)",
    "bills AS FROM (VALUES (11, 3), (21, 4)) AS t(visit, paid)",
    "towns AS FROM (VALUES ('t', 1, 'A', 1.0::DOUBLE), ('u', 2, 'B', 2.0), ('v', 2, 'B', 2.5)) "
    "AS t(name, size, zone, number)",
)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Session]]:
    """A session over a few rows for each kind of neighbours."""
    made: dict[str, Session] = {}
    home: Path = tmp_path_factory.mktemp("prices")
    with duckdb.connect(str(home / "clinic.duckdb")) as database:
        for table in TABLES:
            database.execute(f"CREATE TABLE {table}")
    opened = []
    for neighbours in ("add_remove", "replace_one"):
        policy = home / f"{neighbours}.yaml"
        policy.write_text(POLICY.replace("NEIGHBOURS", neighbours).replace("clinic.ledger", f"{neighbours}.ledger"))
        opened.append(dpsql.testing.open(policy, sampler=dpsql.testing.Noiseless()))
        made[neighbours] = opened[-1].session(analyst="ana")
    yield made
    for proxy in opened:
        proxy.close()


@pytest.fixture(scope="module")
def session(sessions: dict[str, Session]) -> Session:
    return sessions["add_remove"]


def quoted(session: Session, sql: str, **options: Any) -> Quote:
    return session.explain(sql, **{"mechanism": "laplace", **options})


# ------------------------------------------------------------------------------------------------- groups of one unit

TOTAL = "SUM(v.cost, contribution_bounds_per_group => (0, 300))"
JOINED = "visits v JOIN patients p USING (pid)"
LEFT = "visits v LEFT JOIN patients p ON v.pid = p.pid AND v.cost > 5"

GROUPS = {
    # listed values, once each; whatever one row a unit says is one group
    f"SELECT mode, {TOTAL} FROM visits v GROUP BY mode": 7,
    f"SELECT mode, kind, {TOTAL} FROM visits v GROUP BY mode, kind": 21,
    f"SELECT p.region, {TOTAL} FROM {JOINED} GROUP BY p.region": 1,
    f"SELECT p.region, p.age, {TOTAL} FROM {JOINED} GROUP BY 1, 2": 1,
    f"SELECT p.region, mode, {TOTAL} FROM {JOINED} GROUP BY 1, 2": 7,
    f"SELECT mode, {TOTAL} FROM visits v WHERE mode IN ('a', 'b') GROUP BY mode": 2,
    # a left join that only some rows of a unit satisfy shows the value, and NULL
    f"SELECT p.region, {TOTAL} FROM {LEFT} GROUP BY p.region": 2,
    f"SELECT p.region, {TOTAL} FROM visits v LEFT JOIN patients p ON v.pid = p.pid AND p.age > 5 GROUP BY 1": 1,
    # two rows a unit may differ
    f"SELECT t.region, {TOTAL} FROM visits v JOIN twice t ON v.pid = t.pid GROUP BY 1": 3,
    # public tables: one partner at most, by what a unit determines
    f"SELECT t.zone, {TOTAL} FROM {JOINED} JOIN towns t ON p.town = t.name GROUP BY 1": 1,
    f"SELECT t.zone, {TOTAL} FROM visits v JOIN towns t ON v.town = t.name GROUP BY 1": 2,
    f"SELECT t.zone, {TOTAL} FROM {JOINED} JOIN towns t ON p.age = t.size GROUP BY 1": 2,
    # each grouping set by its own keys
    f"SELECT p.region, mode, {TOTAL} FROM {JOINED} GROUP BY GROUPING SETS ((p.region), (mode))": 1,
    f"SELECT p.region, mode, {TOTAL} FROM {JOINED} GROUP BY GROUPING SETS ((mode), (p.region))": 7,
    f"SELECT p.region, mode, {TOTAL} FROM {JOINED} GROUP BY ROLLUP (p.region, mode)": 7,
    # a table whose people are another's
    "SELECT mode, COUNT(DISTINCT v.pid) FROM bills b JOIN visits v USING (visit) GROUP BY mode": 7,
    "SELECT mode, COUNT(DISTINCT pid) FROM visits GROUP BY mode": 7,
}


@pytest.mark.parametrize("sql", GROUPS)
def test_a_unit_is_in_as_many_groups_as_are_listed_or_undetermined(sessions: dict[str, Session], sql: str) -> None:
    each = 1 if "DISTINCT" in sql else 300
    for neighbours, swap in (("add_remove", 1), ("replace_one", 2)):
        quote = quoted(sessions[neighbours], sql)
        assert quote.columns[-1].sensitivity == GROUPS[sql] * each * swap, neighbours


def test_means_and_moments_are_scaled_to_the_groups(session: Session) -> None:
    one = session.explain(
        "SELECT p.region, AVG(v.cost), VAR_POP(v.cost) FROM visits v JOIN patients p USING (pid) GROUP BY p.region",
        max_rows_per_group=1,
    )
    many = session.explain(
        "SELECT v.ill, AVG(v.cost), VAR_POP(v.cost) FROM visits v JOIN patients p USING (pid) "
        "WHERE v.ill IN ('flu', 'cold') GROUP BY v.ill",
        max_rows_per_group=1,
    )
    for column, other in zip(one.columns[-2:], many.columns[-2:], strict=True):
        assert column.half_width < other.half_width


def test_groups_that_are_chosen_from_a_list_are_at_most_the_listed_ones(session: Session) -> None:
    sql = "SELECT mode, COUNT(DISTINCT pid) FROM visits GROUP BY mode"
    chosen = session.explain(sql, group_selection_strategy="LAPLACE_THRESHOLD", mechanism=None)
    assert chosen.columns[-1].sensitivity == 7


def test_an_open_key_that_the_unit_determines_has_one_group_a_unit(session: Session) -> None:
    sql = f"SELECT p.town, COUNT(DISTINCT v.pid) FROM {JOINED} GROUP BY p.town"
    assert session.explain(sql).columns[-1].sensitivity == 1
    sql = "SELECT ill, COUNT(DISTINCT pid) FROM visits GROUP BY ill"
    assert session.explain(sql).columns[-1].sensitivity == 180


def test_a_cap_that_cannot_cut_is_left_out(session: Session) -> None:
    sql = "SELECT mode, COUNT(*) FROM visits GROUP BY mode"
    assert session.explain(sql, max_groups_per_unit=7).sql == session.explain(sql).sql
    assert session.explain(sql, max_groups_per_unit=6).sql != session.explain(sql).sql


# -------------------------------------------------------------------------------------------------- different values

DISTINCT = {
    "SELECT COUNT(*) FROM (SELECT DISTINCT pid FROM visits)": 1,
    "SELECT COUNT(*) FROM (SELECT pid FROM visits GROUP BY 1)": 1,
    "SELECT COUNT(*) FROM patients p LEFT JOIN (SELECT DISTINCT pid FROM visits) v ON p.pid = v.pid": 1,
    "SELECT COUNT(*) FROM (SELECT DISTINCT kind FROM visits)": 3,
    "SELECT COUNT(*) FROM (SELECT DISTINCT pid, kind, mode FROM visits)": 24,
    "SELECT COUNT(*) FROM (SELECT DISTINCT pid, ill FROM visits)": 180,
    "SELECT COUNT(*) FROM (SELECT DISTINCT pid, done, cost > 9 AS dear FROM visits)": 9,
    "SELECT COUNT(*) FROM (SELECT DISTINCT v.pid, p.town FROM visits v JOIN patients p USING (pid))": 1,
    "SELECT COUNT(*) FROM (SELECT pid, mode, SUM(cost) AS s FROM visits GROUP BY pid, mode)": 8,
    "SELECT mode, COUNT(*) FROM (SELECT DISTINCT pid, mode FROM visits) GROUP BY mode": 7,
    "SELECT mode, COUNT(*) FROM (SELECT DISTINCT pid, mode, kind FROM visits) GROUP BY mode": 21,
    "SELECT COUNT(DISTINCT v.pid) FROM patients p LEFT JOIN visits v ON p.pid = v.pid": 1,
    "SELECT mode, COUNT(DISTINCT p.pid) FROM visits v LEFT JOIN patients p ON p.pid = v.pid GROUP BY mode": 7,
    "SELECT COUNT(DISTINCT ill) FROM visits WHERE ill IN ('flu', 'cold')": 2,
    "SELECT COUNT(DISTINCT CASE WHEN cost > 9 THEN mode WHEN done THEN 'none' END) FROM visits": 8,
    "SELECT COUNT(DISTINCT p.town) FROM visits v JOIN patients p USING (pid)": 1,
    "SELECT COUNT(DISTINCT ill) FROM visits": 180,
    "SELECT COUNT(DISTINCT CAST(cost > 9 AS INTEGER)) FROM visits": 2,
}


@pytest.mark.parametrize("sql", DISTINCT)
def test_different_values_count_as_often_as_a_unit_can_have_them(session: Session, sql: str) -> None:
    assert quoted(session, sql).columns[-1].sensitivity == DISTINCT[sql]
