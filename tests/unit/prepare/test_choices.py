"""Who decides the mechanism: the statement, then the owner's defaults, then the expected error; bans always hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.base import Mechanism
from dpsql.plan.options import Options, read_options
from dpsql.plan.plans import Plan
from dpsql.prepare import prepare
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement
from tests.connected import connected

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: zcdp
  total: {epsilon: 1000, delta: 1.0e-3}
  analysts: {"*": {epsilon: 1000, delta: 1.0e-3}}
  per_query: {epsilon: 1, delta: 1.0e-8}
mechanisms:
  visits.cost: {avg: gaussian, ban: [laplace, clamped]}
  visits.days: {sum: gaussian, median: laplace}
tables:
  visits:
    unit: pid
    rows_per_unit: 3
    columns:
      cost: {type: integer, bounds: [0, 100]}
      days: {type: integer, bounds: [0, 9]}
      free: {type: integer}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session over three rows."""
    home: Path = tmp_path_factory.mktemp("wishes")
    with connected(home / "clinic.duckdb") as database:
        database.execute(
            "CREATE TABLE visits AS "
            "FROM (VALUES (1, 10, 2, 30), (2, 20, 3, 40), (2, 30, 4, NULL)) AS t(pid, cost, days, free)"
        )
    (home / "clinic.yaml").write_text(POLICY)
    with dpsql.testing.open(home / "clinic.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def taken(session: Session, asked: str, relation: str = "visits", **options: Any) -> str:
    return session.explain(f"SELECT {asked} FROM {relation}", **options).columns[0].mechanism


def test_the_owners_default_answers_where_the_statement_names_none(session: Session) -> None:
    assert taken(session, "SUM(days)") == "gaussian"
    assert taken(session, "SUM(days)", mechanism="laplace") == "laplace"


def test_a_default_is_for_the_bare_column_and_its_own_aggregate(session: Session) -> None:
    assert taken(session, "SUM(days + 1)") == "laplace"
    assert taken(session, "COUNT(days)") == "laplace"
    assert taken(session, "AVG(total)", "(SELECT pid, SUM(days) AS total FROM visits GROUP BY pid)") == "located"
    assert taken(session, "SUM(d)", "(SELECT pid, days AS d FROM visits)") == "gaussian"


def test_a_default_that_makes_no_offer_gives_way(session: Session) -> None:
    assert taken(session, "MEDIAN(days)") == "exponential"


@pytest.mark.parametrize(
    ("asked", "relation"),
    [
        ("SUM(cost)", "visits"),
        ("SUM(cost * 2)", "visits"),
        ("SUM(c)", "(SELECT pid, cost + days AS c FROM visits)"),
        ("SUM(c)", "(SELECT pid, MAX(cost) AS c FROM visits GROUP BY pid)"),
        ("SUM(c)", "(SELECT pid, cost AS c FROM visits UNION ALL SELECT pid, days FROM visits)"),
        ("SUM(v.cost)", "visits v JOIN (SELECT pid, MAX(days) AS m FROM visits GROUP BY pid) w USING (pid)"),
    ],
)
def test_a_ban_holds_for_whatever_reads_the_column(session: Session, asked: str, relation: str) -> None:
    assert taken(session, asked, relation) == "gaussian"
    with pytest.raises(UnsupportedQuery, match="the policy bans it for this column"):
        taken(session, asked, relation, mechanism="laplace")


def test_an_option_of_a_mechanism_that_answers_nothing_is_refused(session: Session) -> None:
    with pytest.raises(ProgrammingError, match="gamma is an option of mechanism random_dp, and bears on nothing"):
        taken(session, "COUNT(*)", gamma=0.01)
    with pytest.raises(ProgrammingError, match="scale is an option of mechanism friendly_core, and bears on nothing"):
        session.explain(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, scale = (0.1, 100)) COUNT(*) FROM visits"
        )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"scale": (100, 0.1)}, r"scale is \(100, 0.1\); write the lower number first"),
        ({"scale": 3}, "scale is 3; write two numbers above 0"),
        ({"sensitivity": 0}, "sensitivity is 0; write a number above 0"),
        ({"centre": "x"}, "centre is 'x'; write a number"),
        ({"centre": 1e300}, "centre is 1e.300; write a number from -1e15 to 1e15"),
        ({"multiple": -1}, "multiple is -1; write a number above 0"),
        ({"gamma": 1}, "gamma is 1; write a number from 1e-18 to below 1"),
        ({"metric": 3}, "metric is 3; write a name"),
    ],
)
def test_values_out_of_range_are_refused(session: Session, option: dict[str, Any], message: str) -> None:
    with pytest.raises(ProgrammingError, match=message):
        taken(session, "COUNT(*)", **option)


@pytest.mark.parametrize("name", [option.name for option in fields(Options)])
def test_an_option_from_set_holds_where_it_is_read_and_nowhere_else(session: Session, name: str) -> None:
    values = {
        "mechanism": "laplace", "group_selection_strategy": "PUBLIC_GROUPS", "privacy_unit_column": "pid",
        "confidence": 0.9, "scale": (1, 2), "delta": 1e-8, "gamma": 0.01, "metric": None, "multiple": None,
        "max_rows_per_group": 3, "max_rows_contributed": 3, "interval": "none", "rest": True,
    }  # fmt: skip
    session._set = read_options({name: values.get(name, 1)})
    try:
        assert session.query("SELECT COUNT(*) FROM visits").rows == [(3,)]
    finally:
        session._set = Options()


OWN_TO_MECHANISMS: dict[str, Any] = {
    "sensitivity": Fraction(7),
    "centre": Fraction(3),
    "scale": (Fraction(1), Fraction(9)),
    "gamma": Fraction(1, 9),
}


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_an_option_that_a_mechanism_does_not_name_never_changes_its_offer(
    session: Session, mechanism: Mechanism
) -> None:
    options = Options(epsilon=Fraction(1), delta=Fraction(1, 10**8))
    for sql in ("SUM(cost)", "AVG(cost)", "MEDIAN(cost)", "COUNT(*)", "MAX(days)", "VARIANCE(days)"):
        statement = parse(f"SELECT {sql} FROM visits")
        assert isinstance(statement, QueryStatement)
        plan = session._plan(statement.select, ())
        assert isinstance(plan, Plan)
        for wanted in (None, mechanism.name):
            prepared = prepare(plan, options, session._backend.catalog, lowering(DUCKDB, b""))
            request = replace(prepared.measured[0].request, options=replace(options, mechanism=wanted))
            for name, value in OWN_TO_MECHANISMS.items():
                if name not in mechanism.options:
                    with_it = replace(request, options=replace(request.options, **{name: value}))
                    assert mechanism.offer(with_it) == mechanism.offer(request), name


def test_statements_that_differ_in_a_fact_that_matters_differ_in_identity(session: Session) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        (sql, options)
        for sql in (
            "SUM(days)", "AVG(days)", "AVG(days, contribution_bounds_per_row => (0, 8))",
            "SUM(days, contribution_bounds_per_row => (0, 8))", "SUM(days, contribution_bounds_per_group => (0, 8))",
            "SUM(days) FILTER (WHERE days > 1)", "SUM(days) FILTER (WHERE days > 2)", "VARIANCE(days)", "STDDEV(days)",
            "QUANTILE_CONT(days, 0.25)", "QUANTILE_CONT(days, 0.26)", "MAX(days)", "MIN(days)", "COUNT(*)",
            "COUNT(days)",
        )
        for options in ({}, {"epsilon": 2}, {"max_rows_contributed": 2})
        if not ("per_group" in sql and "max_rows_contributed" in options)  # a unit's total is one row
    ] + [
        ("AVG(days)", {"mechanism": "preprocessing", **more})
        for more in ({}, {"sensitivity": 1}, {"sensitivity": 2}, {"sensitivity": 1, "centre": 3})
    ]  # fmt: skip
    found: dict[str, str] = {}
    for sql, options in asked:
        statement = parse(f"SELECT {sql} AS x FROM visits")
        assert isinstance(statement, QueryStatement)
        plan = session._plan(statement.select, ())
        assert isinstance(plan, Plan)
        identity = session._prepare(plan, options).fingerprint("ana", 1)
        assert found.setdefault(identity, f"{sql} {options}") == f"{sql} {options}"


UNBOUNDED = {
    "AVG(free)": "AVG(free, contribution_bounds_per_row => (0, 500))",
    "SUM(free + 1) FILTER (WHERE days > 3)": "SUM(free + 1, contribution_bounds_per_row => (0, 500))",
    "MEDIAN(cost * free)": "MEDIAN(cost * free, contribution_bounds_per_row => (0, 500))",
    "QUANTILE_CONT(free, 0.9)": "QUANTILE_CONT(free, 0.9, contribution_bounds_per_row => (0, 500))",
    "APPROX_QUANTILES(free, 2) AS q": "APPROX_QUANTILES(free, 2, contribution_bounds_per_row => (0, 500))",
    "APPROX_QUANTILES(free, 2)[OFFSET(1)]": "APPROX_QUANTILES(free, 2, contribution_bounds_per_row => (0, 500))",
    "STDDEV(free)": "STDDEV(free, contribution_bounds_per_row => (0, 500))",
    "PERCENTILE_CONT(1) WITHIN GROUP (ORDER BY free)": "PERCENTILE_CONT(1, contribution_bounds_per_row => (0, 500))",
    "TRIMMED_MEAN(free, 0.1)": "TRIMMED_MEAN(free, 0.1, contribution_bounds_per_row => (0, 500))",
}
"""Aggregates without bounds, and what is to be written in place of their calls; what stands behind a call stays."""
BEHIND = (" FILTER", " WITHIN", "[OFFSET", " AS ")


@pytest.mark.parametrize("asked", UNBOUNDED)
def test_a_call_without_bounds_is_told_in_its_own_words_how_to_name_them(session: Session, asked: str) -> None:
    with pytest.raises(UnsupportedQuery, match="the bounds of its argument are not known") as refused:
        session.query(f"SELECT {asked} FROM visits")
    assert f"or name bounds in the call: {UNBOUNDED[asked]}" in str(refused.value)
    options: dict[str, Any] = {"mechanism": "preprocessing"} if asked.startswith("TRIMMED") else {}
    assert ("with OPTIONS (mechanism = 'preprocessing')" in str(refused.value)) is bool(options)
    behind = "".join(asked[asked.index(word) :] for word in BEHIND if word in asked)
    assert session.query(f"SELECT {UNBOUNDED[asked]}{behind} FROM visits", **options).rows


@pytest.mark.parametrize("asked", ["CORR(free, cost)", "COVAR_POP(days, free)", "AVG_VECTOR(free, cost)"])
def test_a_call_of_several_arguments_is_told_to_keep_each_within_constants(session: Session, asked: str) -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        session.query(f"SELECT {asked} FROM visits")
    form = str(refused.value).partition("keep each argument within constants: ")[2].removesuffix(".")
    assert session.query(f"SELECT {asked.replace('free', form.replace('x', 'free'))} FROM visits").rows


@pytest.mark.parametrize("asked", ["AVG(free, epsilon => 0.1)", "AVG(NULLIF(free, 0))"])
def test_a_call_that_cannot_be_shown_as_it_was_written_is_not_spelled_otherwise(session: Session, asked: str) -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        session.query(f"SELECT {asked} FROM visits")
    assert f"{asked.partition('(')[0]}(..., contribution_bounds_per_row => (0, 500))." in str(refused.value)


def test_what_a_refusal_recommends_leaves_null_out(session: Session) -> None:
    asked = "AVG(free, contribution_bounds_per_row => (0, 500))"
    assert session.query(f"SELECT {asked} FROM visits", mechanism="laplace").rows == [(35.0,)]
    form = "CASE WHEN free IS NOT NULL THEN GREATEST(0, LEAST(free, 500)) END"
    assert session.query(f"SELECT AVG({form}) FROM visits", mechanism="laplace").rows == [(35.0,)]
