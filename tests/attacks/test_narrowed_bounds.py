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

from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Refusal, Request
from dpsql.mechanisms.laplace import Laplace
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.narrowing import facts_on
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


def _column(name: str, kind: Type, low: Any = None, high: Any = None, step: Fraction | None = None) -> ColumnInfo:
    return ColumnInfo(name, Facts(kind, low, high, step=step), stored_grid=kind is Type.REAL)


PERSON = ColumnInfo("person", Facts(Type.INTEGER, nullable=False), unit=True)
COLUMNS = (
    PERSON,
    _column("x", Type.INTEGER, Fraction(-3), Fraction(3), Fraction(1)),
    _column("big", Type.INTEGER, step=Fraction(1)),
    _column("y", Type.REAL, Fraction(-3), Fraction(3), Fraction(1, 4)),
    _column("d", Type.DATE, date(2024, 1, 1), date(2024, 12, 31)),
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
    database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?)", rows)


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
@settings(max_examples=20_000, deadline=None, database=None, suppress_health_check=CHECKS)
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


# --------------------------------------------------------------------------------------------------- what is narrowed

ENDS = {
    "x > 0": (1, 3),
    "x >= 0.5 AND x < 2": (1, 1),
    "0 < x": (1, 3),
    "x BETWEEN -1 AND 2": (-1, 2),
    "x IN (2, 0)": (0, 2),
    "x = 1 OR x = 2": (1, 2),
    "x = 1 OR y = 2": (-3, 3),  # a branch that does not name the column leaves all of it
    "NOT (x < 0 OR x > 1)": (0, 1),
    "NOT (x <> 2)": (2, 2),
    "x NOT BETWEEN -5 AND 1": (2, 3),
    "x < 2 AND (y > 1 OR x > -2)": (-3, 1),
    "x < 100": (-3, 3),
    # no row passes, or the column is NULL: nothing is narrowed
    "x > 100": (-3, 3),
    "x IN (NULL)": (-3, 3),
    "FALSE": (-3, 3),
    "x IS NULL": (-3, 3),
    "x + 1e16 <= 1e16 + 1": (-3, 3),
    "x < y": (-3, 3),
    # what holds for a partner does not hold for the row
    "EXISTS (SELECT 1 FROM t u WHERE u.person = t.person AND u.x > 1)": (-3, 3),
    "person IN (SELECT person FROM t u WHERE u.x > 1)": (-3, 3),
}


@pytest.mark.parametrize("where", ENDS)
def test_what_a_condition_says_of_a_column(where: str) -> None:
    assert ends(f"SELECT SUM(x) FROM t WHERE {where}") == ENDS[where]


SOURCES = {
    "SELECT SUM(a.x) FROM t a LEFT JOIN t b ON a.person = b.person AND a.x > 1 AND b.x > 1": (-3, 3),
    "SELECT SUM(b.x) FROM t a LEFT JOIN t b ON a.person = b.person AND a.x > 1 AND b.x > 1": (2, 3),
    "SELECT SUM(a.x) FROM t a LEFT JOIN (SELECT * FROM t WHERE x > 1) b ON a.person = b.person": (-3, 3),
    "SELECT SUM(COALESCE(b.x, -2)) FROM t a LEFT JOIN (SELECT * FROM t WHERE x > 1) b ON a.person = b.person": (-2, 3),
    "SELECT SUM(b.x) FROM t a JOIN (SELECT * FROM t WHERE x > 1) b ON a.person = b.person WHERE b.x < 3": (2, 2),
    "SELECT SUM(x) FROM (SELECT x FROM t WHERE x > 1 UNION ALL SELECT x FROM t WHERE x = 0) u": (0, 3),
    "SELECT SUM(x) FROM (SELECT x FROM t WHERE x > 1 UNION ALL SELECT x FROM t) u": (-3, 3),
    "SELECT SUM(x) FROM (SELECT DISTINCT person, x FROM t WHERE x > 1) u": (2, 3),
    "SELECT SUM(s) FROM (SELECT person, SUM(x) AS s FROM t WHERE x < 2 GROUP BY person) u": (-9, 3),
    "SELECT SUM(s) FROM (SELECT person, SUM(x) AS s FROM t GROUP BY person HAVING SUM(x) > 5) u": (6, 9),
    "SELECT SUM(s) FROM (SELECT person, MAX(x) AS s FROM t WHERE x > 0 GROUP BY person) u": (1, 3),
    # branches of CASE and FILTER: their own argument, and ELSE where a condition is FALSE or NULL
    "SELECT SUM(x) FILTER (WHERE x > 1) FROM t": (2, 3),
    "SELECT SUM(CASE WHEN x > 1 THEN x ELSE 0 END) FROM t": (0, 3),
    "SELECT SUM(CASE WHEN x > 1 THEN 0 ELSE x END) FROM t": (-3, 1),
    "SELECT SUM(CASE WHEN x < 0 THEN -1 WHEN x < 2 THEN x ELSE 0 END) FROM t": (-1, 1),
    # NULL reaches ELSE though no number does
    "SELECT SUM(CASE WHEN big > 5 THEN 1 WHEN big <= 5 THEN 2 ELSE x END) FROM t": (-3, 3),
    "SELECT SUM(CASE WHEN x IN (1, NULL) THEN 0 ELSE x END) FROM t": (-3, 3),
    "SELECT SUM(CASE WHEN NOT (x IN (1, NULL)) THEN x END) FROM t": (-3, 3),
    # integers are compared with reals as doubles
    "SELECT SUM(big) FROM t WHERE big >= 0 AND big <= 38.99999999999999999999": (0, 39),
    "SELECT SUM(big) FROM t WHERE big BETWEEN 1 AND 6": (1, 6),
    # an expression as it is written, and what is computed from it
    "SELECT SUM(CASE WHEN big // 7 BETWEEN 0 AND 60 THEN big // 7 END) FROM t": (0, 60),
    "SELECT SUM(CASE WHEN big // 7 BETWEEN 0 AND 60 THEN big // 8 END) FROM t": (None, None),
    "SELECT SUM(big // 7) FROM t WHERE big // 7 >= 0 AND 59.5 > big // 7": (0, 59),
    "SELECT SUM(abs(big // 7) + 1) FROM t WHERE big // 7 BETWEEN -2 AND 1": (1, 3),
    # what an argument is made of may lie beyond the places that are looked at: such a side says nothing
    "SELECT SUM(big) FROM t WHERE big + 1 >= 5": (4, None),
    "SELECT SUM(x) FROM t WHERE x * 9007199254740993 + 5 >= 0": (0, 3),
    "SELECT SUM(x) FROM t WHERE (x - 9007199254740993) + -7 <= 25": (-3, 3),
    "SELECT SUM(x) FROM t WHERE (x + 9007199254740993) + 7 > 25": (-3, 3),
    "SELECT SUM(q) FROM (SELECT big // 7 AS q FROM t) u WHERE q IN (3, 5)": (3, 5),
    "SELECT SUM(b.big // 7) FROM t a LEFT JOIN t b ON a.person = b.person AND b.big // 7 IN (3, 5)": (None, None),
}


@pytest.mark.parametrize("sql", SOURCES)
def test_what_is_known_of_an_argument(sql: str) -> None:
    assert ends(sql) == SOURCES[sql]


MILLISECONDS = {
    "k * 1000 + 5 > 1600000000000000000": (1600000000000000, 4 * 10**15),
    "year(make_timestamp(k * 1000)) >= 2020": (1577836800000, 4 * 10**15),
    "year(make_timestamp(k * 1000)) = 2020": (1577836800000, 1609459199999),
    "make_timestamp(k * 1000) < TIMESTAMP '1970-01-01 00:00:01'": (0, 999),
}


@pytest.mark.parametrize("where", MILLISECONDS)
def test_what_a_condition_says_of_numbers_of_which_more_is_made_than_is_looked_at(where: str) -> None:
    column = _column("k", Type.INTEGER, Fraction(0), Fraction(4 * 10**15), Fraction(1))
    table = TableInfo("t", {"person": PERSON, "k": column}, unit="person", rows_per_unit=1)
    catalog = Catalog({"t": table}, "add_remove", "p.yaml", 1)
    assert ends(f"SELECT SUM(k) FROM t WHERE {where}", catalog) == MILLISECONDS[where]


def ends(sql: str, catalog: Catalog = CATALOG) -> tuple[Any, Any]:
    plan = plan_of(sql, catalog)
    argument = plan.aggregates[0].argument
    assert argument is not None
    facts = facts_on(argument, plan.relation)
    return facts.low, facts.high


def test_a_comparison_with_a_real_number_that_no_integer_meets_exactly_narrows_nothing() -> None:
    assert ends("SELECT SUM(big) FROM t WHERE big >= 0 AND big <= 9007199254740992.0") == (0, None)


def test_a_centre_lies_within_the_narrowed_bounds_and_a_spread_is_no_wider() -> None:
    hinted = Facts(Type.REAL, Fraction(-3), Fraction(3), step=Fraction(1, 4), centre=Fraction(1), spread=Fraction(2))
    table = TableInfo("t", {"person": PERSON, "y": ColumnInfo("y", hinted)}, unit="person", rows_per_unit=1)
    plan = plan_of("SELECT AVG(y) FROM t WHERE y > 1.5 AND y < 2.5", Catalog({"t": table}, "add_remove", "p.yaml", 1))
    argument = plan.aggregates[0].argument
    assert argument is not None
    facts = facts_on(argument, plan.relation)
    assert (facts.low, facts.high, facts.centre, facts.spread) == (
        Fraction(3, 2),
        Fraction(5, 2),
        Fraction(3, 2),
        Fraction(1),
    )


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
