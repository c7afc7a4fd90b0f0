"""Bounds narrowed by conditions hold for every row that the engine lets through, and are the clamp of the query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, NoReturn

import duckdb
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import tests.connected
from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Refusal, Request
from dpsql.mechanisms.laplace import Laplace
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.known.narrowing import facts_on
from dpsql.plan.options import Options
from dpsql.plan.plans import Plan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Facts, Type
from dpsql.prepare import prepare
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.attacks.random_rows import Drawn, sub_queries
from tests.attacks.relations import WORLDS, Tables, columns_of, planned

CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]
WHOLE, REALS = (-3, -1, 0, 2, 3, None), (-2.5, -0.5, 0.0, 0.25, 3.0, None)
DAYS = (date(2024, 1, 1), date(2024, 6, 30), None)
MANY = 3
Ask = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


def column_info(name: str, kind: Type, low: Any = None, high: Any = None, step: Fraction | None = None) -> ColumnInfo:
    return ColumnInfo(name, Facts(kind, low, high, step=step), stored_grid=kind is Type.REAL)


PERSON = ColumnInfo("person", Facts(Type.INTEGER, nullable=False), unit=True)
COLUMNS = (
    PERSON,
    column_info("x", Type.INTEGER, Fraction(-3), Fraction(3), Fraction(1)),
    column_info("big", Type.INTEGER, step=Fraction(1)),
    column_info("y", Type.REAL, Fraction(-3), Fraction(3), Fraction(1, 4)),
    column_info("d", Type.DATE, date(2024, 1, 1), date(2024, 12, 31)),
)
TABLE = TableInfo("t", {column.name: column for column in COLUMNS}, unit="person", rows_per_unit=MANY)
CATALOG = Catalog({"t": TABLE}, "add_remove", "tests.yaml", 1)


def plan_of(sql: str, catalog: Catalog = CATALOG) -> Plan:
    statement = parse(sql)
    assert isinstance(statement, syntax.QueryStatement)
    plan = resolve_query(statement.select, catalog, (), _no_cells)
    assert isinstance(plan, Plan)
    return plan


def _no_cells(*_: object) -> NoReturn:
    raise AssertionError("there are no keys")


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    found = duckdb.connect(config={"threads": 1})
    found.execute("ATTACH ':memory:' AS bounded")
    fill(found, "bounded.main.t")
    yield found
    found.close()


def fill(database: duckdb.DuckDBPyConnection, name: str) -> None:
    """Makes the table, with every combination of its values."""
    database.execute(f'CREATE TABLE {name} (person BIGINT, x BIGINT, big BIGINT, y DOUBLE, "y$grid" BIGINT, d DATE)')
    rows = [
        (at, x, None if x is None else x * 2**52 + 1, y, None if y is None else int(y * 4), d)
        for at, (x, y, d) in enumerate((x, y, d) for x in WHOLE for y in REALS for d in DAYS)
    ]
    tests.connected.fill(database, name, rows)


# ------------------------------------------------------------------------------------ conditions against the engine


def conditions() -> st.SearchStrategy[str]:
    number = st.sampled_from(
        ("-3", "-1", "0", "0.25", "1.5", "2", "3", "NULL", "9007199254740993", "-9007199254740992.0")
    )
    day = st.sampled_from(("'2024-01-01'", "'2024-03-01'", "TIMESTAMP '2024-06-30 12:00'", "NULL"))
    sign = st.sampled_from(("<", "<=", ">", ">=", "=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
    of_day = st.sampled_from(("d", "d + 60", "d + x", "last_day(d)", "date_trunc('month', d)", "d + INTERVAL 1 MONTH"))
    name = st.sampled_from(("x", "y", "big", "x * 2 + y", "abs(big)", "GREATEST(x, y)", "x + 1", "big // 2"))
    atom = st.one_of(
        st.builds("{} {} {}".format, name, sign, number),
        st.builds("{} {} {}".format, number.filter(lambda n: n != "NULL"), sign, name),
        st.builds("{} BETWEEN {} AND {}".format, name, number, number),
        st.builds("{} IN ({}, {})".format, name, number, number),
        st.builds("{} NOT IN ({}, {})".format, name, number, number),
        st.builds("{} {} {}".format, of_day, sign, day),
        st.sampled_from(
            ("x IS NULL", "x = y", "x < y", "y + 1 > 2", "TRUE", "FALSE", "x > -y", "2 IN (x, 3)", "-x < 1")
        ),
    )
    return st.recursive(
        atom,
        lambda inner: st.one_of(
            st.builds("({} AND {})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("NOT ({})".format, inner),
        ),
        max_leaves=6,
    )


def arguments() -> st.SearchStrategy[str]:
    plain = st.sampled_from(("x", "y", "x * 2 + y", "COALESCE(x, y)", "d - DATE '2024-01-01'", "abs(big)"))
    cases = st.builds(
        "CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END".format, conditions(), plain, conditions(), plain, plain
    )
    return st.one_of(plain, cases, st.builds("CASE WHEN {} THEN {} END + 1".format, conditions(), plain))


@given(arguments(), conditions(), conditions())
@settings(max_examples=50, deadline=None, derandomize=True, database=None, suppress_health_check=CHECKS)
def test_no_row_that_passes_lies_outside_the_narrowed_bounds(
    engine: duckdb.DuckDBPyConnection, argument: str, where: str, kept: str
) -> None:
    _check(engine, argument, where, kept)


@pytest.mark.slow
@given(arguments(), conditions(), conditions())
@settings(max_examples=5_000, deadline=None, database=None, suppress_health_check=CHECKS)
def test_no_row_that_passes_lies_outside_the_narrowed_bounds_of_many_more(
    engine: duckdb.DuckDBPyConnection, argument: str, where: str, kept: str
) -> None:
    _check(engine, argument, where, kept)


def _check(engine: duckdb.DuckDBPyConnection, argument: str, where: str, kept: str) -> None:
    assert_inside(DUCKDB, lambda sql, values: engine.execute(sql, values).fetchall(), argument, where, kept)


def assert_inside(words: Dialect, ask: Ask, argument: str, where: str, kept: str) -> None:
    """No row that a database lets through lies outside of the narrowed bounds, where the statement is planned at all.

    Args:
        words: The database's.
        ask: What gives it SQL with parameters, and has rows back.
        argument: What is summed.
        where: A condition on all rows.
        kept: And one on the rows of the sum.
    """
    try:
        plan = plan_of(f"SELECT SUM({argument}) FILTER (WHERE {kept}) FROM t WHERE {where}")
    except UnsupportedQuery as refused:
        event(f"refused: {refused.construct}")
        return
    (aggregate,) = plan.aggregates
    assert aggregate.argument is not None
    facts = facts_on(aggregate.argument, plan.relation)
    event("narrowed" if facts != aggregate.argument.facts else "as it was")
    printer = Printer(words)
    value = printer.expression(aggregate.argument)
    rows = ask(f"SELECT {value} AS value {printer.rows(plan.relation)}", printer.parameters)
    _all_inside(facts, [value for (value,) in rows])


def _all_inside(facts: Facts, values: list[Any]) -> None:
    for value in values:
        if value is None:
            continue
        if not isinstance(value, date | datetime):
            value = Fraction(value)
        assert facts.low is None or facts.low <= value
        assert facts.high is None or value <= facts.high


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    found = Tables()
    yield found
    found.close()


@given(sub_queries(), st.integers(1, WORLDS - 1))
@settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=CHECKS)
def test_no_row_of_random_relations_lies_outside_them(tables: Tables, drawn: Drawn, world: int) -> None:
    try:
        relation = planned(drawn.sql)
    except UnsupportedQuery:
        return
    columns = columns_of(relation)
    for at in (0, world):
        rows = list(tables.rows(relation, at))
        for column, values in zip(columns[::-1], zip(*(row[::-1] for row in rows), strict=True), strict=False):
            if column.facts.type is Type.INTEGER and not column.identifies:
                unbounded = replace(column, facts=replace(column.facts, low=None, high=None))
                _all_inside(facts_on(unbounded, relation), list(values))


# --------------------------------------------------------------------------------------------- clamp and sensitivity


def requests_of(sql: str, neighbours: str = "add_remove", **options: Any) -> list[Request]:
    catalog = Catalog({"t": TABLE}, neighbours, "tests.yaml", 1)
    prepared = prepare(
        plan_of(sql, catalog), Options(epsilon=Fraction(1), **options), catalog, lowering(DUCKDB, b"key")
    )
    return [one.request for one in prepared.measured]


CLAMPED = {
    "SELECT SUM(x) FROM t WHERE x BETWEEN 0 AND 2": (0, 2),
    "SELECT SUM(y) FROM t WHERE y BETWEEN 0.3 AND 1.3": (Fraction(1, 4), Fraction(3, 2)),  # outward on the grid
    "SELECT SUM(y) FROM t WHERE y < 1.24": (-3, Fraction(5, 4)),  # 1.2 becomes 1.25 on the grid
    "SELECT SUM(x * 2) FROM t WHERE x > 1": (4, 6),
    "SELECT SUM(x) FILTER (WHERE x > 1) FROM t": (2, 3),
    "SELECT SUM(big) FROM t WHERE big BETWEEN 0 AND 6": (0, 6),
    "SELECT SUM(big // 7) FROM t WHERE big // 7 BETWEEN 0 AND 6": (0, 6),
    "SELECT SUM(CASE WHEN big // 7 BETWEEN 0 AND 6 THEN big // 7 END) FROM t": (0, 6),
    "SELECT SUM(s) FROM (SELECT person, SUM(x) AS s FROM t WHERE x IN (0, 1) GROUP BY person) u": (0, 3),
}


@pytest.mark.parametrize("sql", CLAMPED)
def test_the_engine_clamps_to_the_narrowed_bounds_whatever_it_makes_of_the_condition(
    engine: duckdb.DuckDBPyConnection, sql: str
) -> None:
    plan = plan_of(sql)
    (one,) = prepare(plan, Options(epsilon=Fraction(1)), CATALOG, lowering(DUCKDB, b"key")).readings
    assert one.statement.columns == (("m0", "HUGEINT"),)
    (request,) = requests_of(sql)
    assert request.grid is not None
    low, high, step = request.grid.low, request.grid.high, request.grid.step
    assert (low * step, high * step) == CLAMPED[sql]
    # Every condition is made true: a sum of one row's values then still lies within the clamp.
    values = [value for _, value in _without_conditions(engine, one.statement.sql, one.statement.parameters)]
    assert values
    assert all(min(low, 0) <= value <= max(high, 0) for value in values)


def _without_conditions(engine: duckdb.DuckDBPyConnection, sql: str, parameters: tuple[Any, ...]) -> list[Any]:
    """The clamped sum of each person alone, where every comparison with a column, or of a quotient, is true."""
    of = r'(?:"t0"\."\w+"|\("t0"\."\w+" // CAST\(\$\d+ AS BIGINT\)\))'
    lawless = re.sub(rf"\({of} (<|<=|>|>=|=) (CAST\(\$\d+ AS \w+\)|[^()]*?)\)", "TRUE", sql)
    lawless = re.sub(r'\("t0"\."\w+" IN \([^()]*(\([^()]*\)[^()]*)*\)\)', "TRUE", lawless)
    assert lawless != sql
    found = []
    (people,) = zip(*engine.execute("SELECT person FROM bounded.main.t").fetchall(), strict=True)
    for person in people[::7]:
        one = lawless.replace('"bounded"."main"."t"', f"(SELECT * FROM bounded.main.t WHERE person = {int(person)})")
        used = sorted({int(number) for number in re.findall(r"\$(\d+)", one)})
        for at, number in enumerate(used, 1):
            one = one.replace(f"${number} ", f"${at} ")
        (row,) = engine.execute(one, [parameters[number - 1] for number in used]).fetchall()
        found.append((person, row[0]))
    return found


SENSITIVITIES = {
    # (add_remove, replace_one), of three rows a unit: a swap can leave the filter, so it is never high - low
    "SELECT SUM(x) FROM t WHERE x > 1": (9, 9),
    "SELECT SUM(x) FROM t WHERE x BETWEEN -1 AND 2": (6, 9),
    "SELECT SUM(x) FROM t WHERE x < -1": (9, 9),
    "SELECT SUM(x) FROM t WHERE x BETWEEN -2 AND -1": (6, 6),
    "SELECT SUM(x) FILTER (WHERE x = 2) FROM t": (6, 6),
}


@pytest.mark.parametrize("sql", SENSITIVITIES)
@pytest.mark.parametrize("at", [0, 1])
def test_how_far_a_unit_moves_a_sum_of_narrowed_values(sql: str, at: int) -> None:
    (request,) = requests_of(sql, ("add_remove", "replace_one")[at])
    offer = Laplace().offer(request)
    assert not isinstance(offer, Refusal)
    assert offer.sensitivity == SENSITIVITIES[sql][at]


FUNCTIONS = ("sum", "avg", "var_samp", "stddev_pop", "min", "max", "quantile_cont", "corr", "covar_pop")


@pytest.mark.every(3)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("where", ["x = 2", "y = 0.25", "x > 100", "y BETWEEN 0.24 AND 0.26", "x * 3 > 1"])
def test_every_mechanism_makes_an_offer_or_says_why_not_however_narrow_the_bounds(function: str, where: str) -> None:
    called = {"quantile_cont": "QUANTILE_CONT({}, 0.5)"}.get(
        function, f"{function}({{}}, y)" if function in ("corr", "covar_pop") else f"{function}({{}})"
    )
    for argument in ("x", "y", "x * 2 + y", "y / 7"):
        try:
            requests_of(f"SELECT {called.format(argument)} FROM t WHERE {where}")
        except UnsupportedQuery as refused:
            assert "one value only" in str(refused)
