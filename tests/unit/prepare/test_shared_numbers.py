"""Statistics of the same columns, from SQL: measured together, once, with DuckDB's values where there is no noise."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql.testing
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
  visits:
    unit: pid
    rows_per_unit: 3
    rows_about: 300000
    columns:
      sex: {type: text, values: [F, M]}
      day: {type: integer, bounds: [0, 40]}
      a:   {type: real, bounds: [0, 100], grid: 0.25, nullable: true}
      b:   {type: real, bounds: [-50, 50], grid: 0.5, nullable: true}
"""
ROWS = """
CREATE TABLE visits AS SELECT i // 3 AS pid, CASE WHEN i % 5 < 2 THEN 'F' ELSE 'M' END AS sex, i % 37 AS day,
  CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 7919 % 300) * 0.25::DOUBLE END AS a,
  CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 7919 % 300) * 0.1::DOUBLE - (i * 104729 % 60) * 0.5 END AS b
  FROM range(3000) AS t(i)
"""
BOUNDED = "(SELECT sex, day, a, round(b * 2) / 2 AS b FROM visits)"
"""The values that dpsql sees: b on its grid."""

PAIR = "CORR(b, a), COVAR_POP(b, a), COVAR_SAMP(a, b), REGR_SLOPE(b, a), REGR_SLOPE(a, b)"
ON_A, ON_B = "FILTER (WHERE a IS NOT NULL)", "FILTER (WHERE b IS NOT NULL)"
TOGETHER = (
    PAIR,
    f"{PAIR}, VAR_POP(a) {ON_B} AS v, STDDEV(b) {ON_A} AS s",
    f"REGR_SLOPE(b, a), AVG(b) {ON_A} AS y, AVG(a) {ON_B} AS x, COUNT(a) {ON_B} AS n",
    "VAR_POP(a), STDDEV(a), AVG(a), SUM(a), COUNT(a)",
    f"AVG(b) {ON_A} - REGR_SLOPE(b, a) * AVG(a) {ON_B} AS intercept, POWER(CORR(b, a), 2) AS r2, CORR(a, b)",
)
"""What one measurement answers where laplace or gaussian is named."""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Session]]:
    home: Path = tmp_path_factory.mktemp("shared")
    with connected(home / "clinic.duckdb") as database:
        database.execute(ROWS)
    opened, made = [], {}
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


@pytest.fixture(scope="module")
def beside() -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with the same rows."""
    with connected() as database:
        database.execute(ROWS)
        yield database


@pytest.mark.every(2)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("columns", TOGETHER)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_without_noise_they_are_duckdbs_from_one_measurement_at_the_price_of_the_statement(
    sessions: dict[str, Session], beside: duckdb.DuckDBPyConnection, columns: str, mechanism: str, neighbours: str
) -> None:
    for where in ("", "WHERE day > 5", "WHERE sex = 'F'"):
        answer = sessions[neighbours].query(f"SELECT {columns} FROM visits {where}", mechanism=mechanism)
        (wanted,) = beside.sql(f"SELECT {columns} FROM {BOUNDED} {where}").fetchall()
        assert answer.rows[0] == pytest.approx(wanted, rel=1e-9)
        assert len(answer.measurements) == 1
        assert answer.cost.epsilon == pytest.approx(1, abs=1e-5)
        assert answer.cost.epsilon <= 1


def test_r_squared_and_the_intercept_are_duckdbs_functions(session: Session, beside: duckdb.DuckDBPyConnection) -> None:
    answer = session.query(f"SELECT {TOGETHER[-1]} FROM visits", mechanism="laplace")
    (wanted,) = beside.sql(f"SELECT REGR_INTERCEPT(b, a), REGR_R2(b, a), CORR(a, b) FROM {BOUNDED}").fetchall()
    assert answer.rows[0] == pytest.approx(wanted, rel=1e-9)


def test_groups_have_their_own(session: Session, beside: duckdb.DuckDBPyConnection) -> None:
    answer = session.query(f"SELECT sex, {PAIR} FROM visits GROUP BY sex ORDER BY sex")
    wanted = beside.sql(f"SELECT sex, {PAIR} FROM {BOUNDED} GROUP BY sex ORDER BY sex").fetchall()
    for own, theirs in zip(answer.rows, wanted, strict=True):
        assert own[0] == theirs[0]
        assert own[1:] == pytest.approx(theirs[1:], rel=1e-9)
    assert len(answer.measurements) == 1


@pytest.mark.parametrize(
    ("columns", "measured"),
    [
        (f"CORR(b, a), COVAR_POP(b, a), REGR_SLOPE(b, a), AVG(a) {ON_B} AS x", 2),  # a mean finds its own place
        ("CORR(b, a), COVAR_POP(b, a) FILTER (WHERE sex = 'F')", 2),
        ("CORR(b, a), COVAR_POP(b, a + 1)", 2),
        ("CORR(b, a), AVG(a), AVG(b)", 3),  # of other rows: those where the other column is NULL, too
        ("CORR(b, a) FILTER (WHERE day > 5), COVAR_POP(a, b) FILTER (WHERE day > 5)", 1),
        ("CORR(b, day), COVAR_POP(b, a)", 2),
        ("REGR_SLOPE(b, a), STDDEV(a), STDDEV(b)", 3),
    ],
)
def test_only_what_is_the_same_is_measured_together(session: Session, columns: str, measured: int) -> None:
    assert len(session.query(f"SELECT {columns} FROM visits").measurements) == measured


@pytest.mark.parametrize("mechanism", [None, "gaussian"])
def test_what_is_together_is_quoted_as_more_precise_than_apart(session: Session, mechanism: str | None) -> None:
    names = ("CORR(b, a)", "COVAR_POP(b, a)", "REGR_SLOPE(b, a)")
    quote = session.explain(f"SELECT {', '.join(names)} FROM visits", mechanism=mechanism, epsilon=3, delta=3e-8)
    assert {column.loss.epsilon for column in quote.columns} == {quote.cost.epsilon}
    for name, column in zip(names, quote.columns, strict=True):
        apart = session.explain(f"SELECT {name} FROM visits", mechanism=mechanism, epsilon=1, delta=Fraction(1, 10**8))
        assert column.half_width < 0.75 * apart.columns[0].half_width, name
