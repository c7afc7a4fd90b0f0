"""Nothing is charged for what cannot happen: the sensitivities that statements are priced by."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql.testing
from dpsql.answers.quotes.quoted import Quote
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law
from dpsql.mechanisms.shared import _of_two
from dpsql.session import Session
from tests.connected import connected

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
    with connected(home / "clinic.duckdb") as database:
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
    assert session.explain(sql, mechanism="threshold").columns[-1].sensitivity == 180
    assert session.explain(sql, mechanism="gaussian_threshold").columns[-1].sensitivity == pytest.approx(180**0.5)
    assert session.explain(sql).columns[-1].mechanism == "capped"  # a cap that is found has less


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


# ------------------------------------------------------------------------------------ what a statement's price is for

SHARED = (
    "SELECT COUNT(*), SUM(cost), COUNT(DISTINCT mode) FROM visits",
    "SELECT mode, SUM(cost, epsilon => 0.4), COUNT(*), MEDIAN(cost) FROM visits GROUP BY mode",
    "SELECT mode, kind, COUNT(*) FROM visits GROUP BY ROLLUP (mode, kind)",
    "SELECT mode, kind, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY CUBE (mode, kind)",
    "SELECT mode, kind, VAR_POP(cost), COUNT(*) FROM visits GROUP BY GROUPING SETS ((mode), (kind))",
)
OPEN = (
    "SELECT ill, SUM(cost) FROM visits GROUP BY ill",
    "SELECT ill, COUNT(DISTINCT pid), SUM(cost), AVG(cost) FROM visits GROUP BY ill",
)


@pytest.mark.parametrize("sql", SHARED)
def test_what_a_statement_asks_for_shares_its_price(session: Session, sql: str) -> None:
    for mechanism in (None, "laplace", "gaussian"):
        cost = session.explain(sql, mechanism=mechanism).cost
        assert cost.epsilon is not None
        assert 0.99 < cost.epsilon <= 1
    if "epsilon =>" not in sql:
        for mechanism in (None, "laplace", "gaussian"):
            cost = session.explain(sql, rho=0.1, mechanism=mechanism).cost
            assert cost.rho is not None
            assert cost.rho <= 0.1


@pytest.mark.parametrize("sql", [*SHARED, *OPEN])
def test_what_a_statement_asks_for_shares_its_delta(session: Session, sql: str) -> None:
    for mechanism in ("gaussian", "gaussian_threshold") if sql in OPEN else ("gaussian",):
        assert 0 < session.explain(sql, mechanism=mechanism).cost.delta <= 1e-8


# ---------------------------------------------------------------------------------- the same noised numbers, once

ALL_MOMENTS = "VARIANCE(age), STDDEV(age), VAR_POP(age), STDDEV_POP(age), VAR_SAMP(age)"
PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"rho": 0.1}, {"mechanism": "gaussian"})


@pytest.mark.parametrize("price", PRICES)
def test_statistics_of_the_same_moments_cost_what_one_costs(session: Session, price: dict[str, Any]) -> None:
    together = session.explain(f"SELECT {ALL_MOMENTS} FROM patients", **price)
    for column in together.columns:
        alone = session.explain(f"SELECT {column.name.split('(')[0]}(age) FROM patients", **price)
        assert column.half_width <= alone.columns[0].half_width * (1 + 1e-6)
    assert together.cost.epsilon <= alone.cost.epsilon * (1 + 1e-6)


@pytest.mark.parametrize("price", [{**price, "mechanism": price.get("mechanism", "laplace")} for price in PRICES])
def test_a_sum_a_count_and_a_mean_are_two_numbers(session: Session, price: dict[str, Any]) -> None:
    together = session.explain("SELECT SUM(age), COUNT(age), AVG(age) FROM patients", **price)
    third = {name: part if name == "mechanism" else part / 3 for name, part in price.items()}
    third |= {"epsilon": 1 / 3, "delta": 1e-8 / 3} if price["mechanism"] == "gaussian" else {}
    for column in together.columns:
        alone = session.explain(f"SELECT {column.name} FROM patients", **third)
        assert column.half_width <= 0.75 * alone.columns[0].half_width, column.name


def test_each_value_is_the_function_of_its_numbers_wherever_it_is_asked(session: Session) -> None:
    asked = "SELECT AVG(age) AS m, SUM(age) / COUNT(age) AS ratio FROM patients HAVING COUNT(age) > 0 ORDER BY SUM(age)"
    answer = session.query(asked)
    assert answer.rows == [(35.0, 35.0)]
    assert [m.name for m in answer.measurements] == ["AVG(age), SUM(age), COUNT(age)"]
    assert answer.cost.epsilon == pytest.approx(1)
    answer = session.query(f"SELECT {ALL_MOMENTS} FROM patients")
    assert answer.rows == [(50.0, pytest.approx(50**0.5), 25.0, 5.0, 50.0)]
    assert answer.cost.epsilon == pytest.approx(1)


def test_numbers_of_other_rows_values_or_bounds_are_not_shared(session: Session) -> None:
    for columns in (
        "SUM(cost), COUNT(*)",
        "VAR_POP(cost), VAR_POP(cost + 1)",
        "AVG(cost), SUM(cost, contribution_bounds_per_row => (0, 5))",
        "AVG(cost), SUM(cost, contribution_bounds_per_group => (0, 5))",
        "AVG(cost), SUM(cost) FILTER (WHERE done)",
        "SUM(cost), COUNT(cost)",
    ):
        assert len(session.query(f"SELECT {columns} FROM visits").measurements) == 2, columns


def test_statistics_of_the_same_numbers_and_one_of_others_stand_beside_each_other(session: Session) -> None:
    sql = "SELECT VAR_POP(cost), STDDEV(cost), VAR_POP(cost + 1), AVG(cost), SUM(cost) FROM visits"
    names = [measured.name for measured in session.query(sql, mechanism="laplace").measurements]
    assert names == ["VAR_POP(cost), STDDEV(cost), AVG(cost), SUM(cost)", "VAR_POP(cost + 1)"]
    names = [measured.name for measured in session.query(sql).measurements]
    assert names[0] == "VAR_POP(cost), STDDEV(cost)"  # at one place, for one price


def test_what_was_priced_by_itself_adds_its_price(session: Session) -> None:
    quote = session.explain("SELECT VAR_POP(age, epsilon => 0.7), STDDEV(age), COUNT(*) FROM patients", epsilon=1)
    assert [round(column.loss.epsilon, 6) for column in quote.columns] == [0.85, 0.85, 0.15]


def chance_beyond(first: Law, second: Law, times: int, reach: float) -> float:
    """P(|X + times Y| > reach), summed over the discrete laws."""
    wide = np.arange(-4000, 4001)
    chances = []
    for law in (first, second):
        shape = -np.abs(wide) / law.spread if isinstance(law, LaplaceLaw) else -(wide**2) / (2 * law.spread**2)
        weight = np.exp(shape)
        chances.append(weight / weight.sum())
    below = np.concatenate([[0.0], np.cumsum(chances[0])])

    def at_most(x: Any) -> Any:
        return below[np.clip(np.floor(x) + 4001, 0, 8001).astype(int)]

    inside = at_most(reach - times * wide) - at_most(np.ceil(-reach - times * wide) - 1)
    return 1 - float(np.dot(chances[1], inside))


@pytest.mark.parametrize("law", [LaplaceLaw, GaussianLaw])
@pytest.mark.parametrize("centre", [0, 1, 55, -20])
def test_the_interval_of_a_shared_sum_holds_by_the_exact_laws(law: Any, centre: int) -> None:
    for spread in (3, 40):
        first, second = law(Fraction(spread * 9)), law(Fraction(spread))
        for confidence in (0.5, 0.95):
            reach = _of_two(first, second, centre, confidence)
            assert chance_beyond(first, second, centre, reach) <= 1 - confidence + 1e-3
    assert chance_beyond(first, second, centre, 0.8 * reach) > 1 - confidence  # no wider than it must be
