"""From SQL text to typed expressions: bounds that enclose, the engine's own values, refusals that say what to write."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import FUNCTIONS, Function
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.expressions import Resolver, range_of
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.effort import few_calls

SMALL = Facts(Type.INTEGER, Fraction(-5), Fraction(110))
COLUMNS = {
    column.name: column
    for column in (
        Column("t", "i", SMALL),
        Column("t", "big", Facts(Type.INTEGER)),
        Column("t", "x", Facts(Type.REAL, Fraction(-1, 10), Fraction(20_000))),
        Column("t", "wide", Facts(Type.REAL)),
        Column("t", "s", Facts(Type.TEXT)),
        Column("t", "b", Facts(Type.BOOLEAN)),
        Column("t", "d", Facts(Type.DATE, date(2020, 1, 1), date(2025, 12, 31))),
        Column("t", "any_day", Facts(Type.DATE)),
        Column("t", "moment", Facts(Type.TIMESTAMP, datetime(2020, 1, 1), datetime(2025, 12, 31, 23, 59))),
        Column("t", "person", Facts(Type.INTEGER), unit=True),
    )
}
ENGINE = "i BIGINT, big BIGINT, x DOUBLE, wide DOUBLE, s VARCHAR, b BOOLEAN, d DATE, any_day DATE, moment TIMESTAMP"
FAR = 2**53  # where columns without bounds end
ROWS: Sequence[tuple[Any, ...]] = [
    (0, 0, 0.0, 0.0, "", True, date(2020, 1, 1), date(1, 1, 1), datetime(2020, 1, 1)),
    (-5, -FAR, -0.1, -float(FAR), "abc", False, date(2024, 2, 29), date(9999, 12, 31), datetime(2024, 2, 29, 12, 30)),
    (110, FAR, 20_000.0, float(FAR), "12", True, date(2025, 12, 31), date(1970, 1, 1), datetime(2025, 12, 31, 23, 59)),
    (7, 10**9 + 7, 0.3, 1e-300, "2024-05-31", False, date(2021, 12, 27), date(2000, 2, 29), datetime(2021, 1, 3, 0, 1)),
    (1, -1, 1.1, -1e-9, "straße é", None, date(2022, 6, 15), date(1582, 10, 15), datetime(2022, 6, 15, 6)),
    (None, None, None, None, None, None, None, None, None),
]  # fmt: skip


def resolved(text: str, parameters: tuple[Value, ...] = ()) -> Expression:
    """The expression that a text means over the columns above."""
    statement = parse(f"SELECT {text} FROM t")
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)

    def lookup(node: syntax.Expr) -> Expression | None:
        return COLUMNS.get(node.parts[-1]) if isinstance(node, syntax.Name) else None

    return Resolver(lookup, parameters).resolve(statement.select.items[0].expression)


def refusal(text: str) -> str:
    with pytest.raises(UnsupportedQuery) as caught:
        resolved(text)
    assert caught.value.hint, "a refusal says what to write instead"
    return str(caught.value)


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE t (row BIGINT, {ENGINE})")
        for index, row in enumerate(ROWS):
            connection.execute(f"INSERT INTO t VALUES (?, {', '.join('?' * len(row))})", [index, *row])
        yield connection


def computed(engine: duckdb.DuckDBPyConnection, expression: Expression) -> list[Any]:
    printer = Printer(DUCKDB)
    sql = f'SELECT {printer.expression(expression)} FROM "t" ORDER BY row'
    return [value for (value,) in engine.execute(sql, printer.parameters or None).fetchall()]


# ------------------------------------------------------------------------------ random expressions

LEAVES = {
    Type.INTEGER: ["i", "big", "0", "3", "-7", "100"],
    Type.REAL: ["x", "wide", "5e-1", "1e2", "0e0"],
    Type.TEXT: ["s", "'a'", "'1'"],
    Type.BOOLEAN: ["b", "true"],
    Type.DATE: ["d", "any_day", "DATE '2024-02-29'"],
    Type.TIMESTAMP: ["moment", "TIMESTAMP '2024-02-29 10:00:00'"],
}
CONSTANTS = {
    Type.TEXT: ["'a'", "'%'", "'-'", "'year'", "'i'"],
    Type.INTEGER: ["0", "2", "-1"],
    Type.REAL: ["1e0", "9e0"],
}
# DuckDB has no words for these, keeps their numbers in 32 bits, or goes on in decimals where we have reals
AVOIDED = {"cast:decimal", "try:decimal", "width_bucket", "chr", "add:months", "add:days", "add:seconds"}
CHOICES = [f for f in FUNCTIONS if f.name not in AVOIDED and not f.texts]


def texts(kind: Type, depth: int) -> st.SearchStrategy[str]:
    """SQL of one type, nested at most so deep."""
    leaf = st.sampled_from(LEAVES[kind])
    found = [function for function in CHOICES if function.result is kind]
    if depth == 0:
        return leaf
    return leaf | st.sampled_from(found).flatmap(lambda function: calls(function, depth - 1))


def calls(function: Function, depth: int) -> st.SearchStrategy[str]:
    parts = []
    for index, kind in enumerate(function.parameters):
        check = function.constants.get(index)
        if check is None:
            parts.append(texts(kind, depth))
        elif callable(check):
            parts.append(st.sampled_from(CONSTANTS[kind]))
        else:
            parts.append(st.sampled_from([f"'{choice}'" for choice in check]))
    return st.tuples(*parts).map(lambda arguments: filled(function.spelling, arguments))


def filled(template: str, arguments: Sequence[str]) -> str:
    text = template.replace("{*}", ", ".join(arguments)).replace("{rest}", ", ".join(arguments[1:]))
    for index, argument in enumerate(arguments):
        text = text.replace(f"{{{index}}}", argument)
    return text


NARROW = ("tinyint", "smallint", "integer", "utinyint", "usmallint", "uinteger")  # DuckDB adds in these, we in 64 bits


def departs(expression: Expression) -> bool:
    """Whether some part is NULL, or computed as a real, where DuckDB has an error or something else."""
    match expression:
        case Apply(function=function, arguments=arguments):
            widened = function.name == "cast:real" and arguments[0].facts.type is Type.INTEGER
            narrow = function.name.partition(":")[2] in NARROW
            single = any(isinstance(a, Apply) and a.function.name.partition(":")[2] == "float" for a in arguments)
            return bool(function.departs) or widened or narrow or single or any(map(departs, arguments))
        case Case():
            return any(departs(part) for branch in expression.branches for part in branch) or departs(
                expression.default
            )
        case _:
            return False


ANY = st.sampled_from(list(LEAVES)).flatmap(lambda kind: texts(kind, 3))
PATIENT = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(PATIENT, max_examples=2 * settings().max_examples)
@given(text=ANY)
def test_a_random_expression_is_duckdbs_own_value_inside_its_bounds(
    engine: duckdb.DuckDBPyConnection, text: str
) -> None:
    agrees(engine, text)


@pytest.mark.slow
@settings(PATIENT, max_examples=10_000)
@given(text=ANY)
def test_ten_thousand_random_expressions_are_too(engine: duckdb.DuckDBPyConnection, text: str) -> None:
    agrees(engine, text)


def agrees(engine: duckdb.DuckDBPyConnection, text: str) -> None:
    try:
        expression = resolved(text)
    except UnsupportedQuery:
        assume(False)
    ours = computed(engine, expression)
    soft, hard = range_of(expression, hard=False), range_of(expression, hard=True)
    for value in ours:
        assert value is None or not isinstance(value, float) or math.isfinite(value), (text, value)
        assert inside(value, soft), (text, value, soft)
        assert inside(value, hard), (text, value, hard)
    if not departs(expression):
        theirs = read_by_duckdb(engine, text)
        assert theirs in (None, ours), text


def read_by_duckdb(engine: duckdb.DuckDBPyConnection, text: str) -> list[Any] | None:
    """The analyst's own text, row by row; None where DuckDB wants a cast, such as from BIGINT to INTEGER.

    Nor is there one of what is unsigned there, and has no opposite: here it is an integer as others are.
    """
    if "-CAST(" in text and " AS U" in text:
        return None
    try:
        return [value for (value,) in engine.execute(f"SELECT TRY({text}) FROM t ORDER BY row").fetchall()]
    except duckdb.BinderException:
        return None


def inside(value: Any, bounds: Any) -> bool:
    if value is None or isinstance(value, str | bool) or isinstance(bounds, str):
        return True
    low, high = bounds if isinstance(bounds, tuple) else (bounds.low, bounds.high)
    if isinstance(value, float):
        low, high = (None if end is None else float(end) for end in (low, high))
    return (low is None or low <= value) and (high is None or value <= high)


# --------------------------------------------------------------------------------- what is inferred


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("floor(i / 10)", -1, 11),
        ("CASE WHEN b THEN i ELSE 200 END", -5, 200),
        ("coalesce(i, 0)", -5, 110),
        ("round(x / 1000)", 0, 20),
        ("x::DECIMAL(10, 1)", Fraction(-1, 10), 20_000),
        ("year(d + INTERVAL 1 YEAR)", 2021, 2026),
        ("date_diff('month', d, DATE '2026-01-01')", 1, 72),
        ("abs(i) % 10", 0, 10),
        ("pow(i, 2)", 0, 12_100),
        ("length(s)", 0, 2**32),
        ("least(greatest(wide, 0), 500)", 0, 500),
        ("TRY_CAST(s AS TINYINT)", -128, 127),
        ("width_bucket(x, 0, 100, 10)", 0, 11),
    ],
)
def test_bounds_follow_through_functions(text: str, low: Fraction | int, high: Fraction | int) -> None:
    facts = resolved(text).facts
    assert (facts.low, facts.high) == (low, high)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("CASE WHEN b THEN 1.0 ELSE 0.0 END", 1),
        ("CASE WHEN b THEN 1.0 END", 1),
        ("CASE WHEN b THEN 100 ELSE 0 END", 100),
        ("CASE WHEN b THEN 0.1 ELSE 0.3 END", Fraction(1, 10)),
        ("CASE WHEN b THEN 6 WHEN i > 3 THEN -4 ELSE NULL END", 2),
        ("CAST(b AS DOUBLE)", 1),
        ("CAST(b AS FLOAT)", 1),
        ("CAST(b AS INTEGER) * 100", 100),
        ("100.0 * CAST(b AS INTEGER)", 100),
        ("1.0 - CASE WHEN b THEN 1.0 ELSE 0.0 END", 1),
        ("-(CASE WHEN b THEN 2.5 ELSE 0 END)", Fraction(5, 2)),
        ("(CAST(b AS INTEGER) + CAST(i > 3 AS INTEGER)) / 2.0", Fraction(1, 2)),
        ("CAST(i AS DOUBLE)", 1),
        ("i", None),
        ("x * 2", None),
        ("CASE WHEN b THEN x ELSE 0 END", None),
        ("CASE WHEN b THEN 3.141592653589793 ELSE 1 END", None),
        ("CAST(b AS INTEGER) / 0.0", None),
    ],
)
def test_what_has_few_values_is_known_to_be_multiples_of_their_distance(text: str, step: Fraction | None) -> None:
    assert resolved(text).facts.step == step


def test_dates_keep_their_bounds() -> None:
    facts = resolved("date_trunc('quarter', d)").facts
    assert (facts.low, facts.high) == (datetime(2020, 1, 1), datetime(2025, 10, 1))


@pytest.mark.parametrize("text", ["i / 2", "sqrt(abs(x))", "100 // 7", "d + 1", "x::BIGINT", "pow(i, 2)"])
def test_what_cannot_fail_needs_no_guard(text: str) -> None:
    printer = Printer(DUCKDB)
    assert "CASE" not in printer.expression(resolved(text))


@pytest.mark.parametrize("text", ["1 / i", "ln(x)", "sqrt(x)", "i % i", "any_day + 1", "big::TINYINT", "acos(x)"])
def test_what_could_fail_is_guarded(text: str) -> None:
    printer = Printer(DUCKDB)
    sql = printer.expression(resolved(text))
    assert "CASE WHEN" in sql or "TRY_CAST" in sql


def test_a_sum_that_could_overflow_64_bits_is_a_real() -> None:
    assert resolved("i + 1").facts.type is Type.INTEGER
    assert resolved("big * big").facts.type is Type.REAL


def test_nothing_of_null_could_be_too_large() -> None:
    for text in ("big * big * NULL", "-NULL", "exp(NULL + big)", "abs(NULL)"):
        found = resolved(text)
        assert isinstance(found, Constant)
        assert found.value is None


def test_a_sign_before_a_constant_belongs_to_it() -> None:
    assert resolved("round(x, -2)") == resolved("round(x, $1)", (-2,))


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lenght(s)", "Did you mean length"),
        ("sqroot(x)", "Did you mean sqrt"),
        ("md5(s)", "look anonymous"),
        ("age(d, d)", "date_diff"),
        ("upper(i)", "it does not take (integer). It takes (text)."),
        ("substr(s)", "It takes (text, integer) or (text, integer, integer)."),
        ("substr(s, big, 2)", "Declare or narrow the bounds"),
        ("i = 'seven'", "it compares integer with text"),
        ("s LIKE s", "argument 2 must be a constant"),
        ("regexp_matches(s, 'a(')", "leaves a parenthesis open"),
        ("regexp_matches(s, '(?=a)')", "kind of group"),
        ("regexp_matches(s, '(a{50}){50}')", "repeats a part more than 100 times"),
        ("regexp_replace(s, 'a', '\\1')", "its arguments could lie where it fails"),
        ("lpad(s, 100000, ' ')", "must lie between 0 and 1000"),
        ("lpad(s, 5, '')", "must be a text of 1 to 100 characters"),
        ("strftime(d, '%Q')", "must be a format"),
        ("date_trunc('fortnight', d)", "must be one of year, quarter"),
        ("EXTRACT(fortnight FROM d)", "no such part of a date"),
        ("moment - d", "date_diff"),
        ("CAST(s AS BIGINT)", "Write TRY_CAST"),
        ("CAST(x AS VARCHAR)", "or cast to BIGINT"),
        ("CAST(x AS DECIMAL(50, 2))", "at most 38 digits"),
        ("CAST(d AS DOUBLE)", "could fail on some row"),
        ("CAST(x AS TIMESTAMP(3))", "dpsql has no type timestamp(3)"),
        ("exp(x)", "could be too large"),
        ("pow(wide, 40)", "could be too large"),
        ("person + 1", "the privacy unit stands beside nothing but itself"),
        ("CAST(person AS VARCHAR)", "the privacy unit stands beside nothing but itself"),
        ("concat(x)", "it does not take (real)"),
    ],
)
def test_a_refusal_says_what_is_taken(text: str, said: str) -> None:
    assert said in refusal(text)


@pytest.mark.parametrize("name", ["ln", "acos"])
def test_guards_in_guards_are_refused_before_they_multiply(name: str) -> None:
    assert "too large once everything in it is written out" in refusal(f"{name}(" * 20 + "x" + ")" * 20)


def test_texts_may_not_multiply() -> None:
    assert "the text could become too long" in refusal("replace(" * 4 + "s" + ", 'a', 'aaaaaaaa')" * 4)


def test_sub_queries_in_terms_of_each_other_may_not_multiply() -> None:
    node = syntax.Name(("y",))
    stands_for: dict[syntax.Expr, Expression] = {node: COLUMNS["x"]}
    with few_calls(500_000), pytest.raises(UnsupportedQuery, match="too large once everything"):
        for _ in range(60):
            stands_for[node] = Resolver(stands_for.get, ()).resolve(syntax.Call("greatest", (node, node)))


# ------------------------------------------------------------------------------------ what it costs


def test_a_tpch_expression_is_resolved_in_few_calls() -> None:
    statement = parse(
        "SELECT CASE WHEN d >= DATE '2024-01-01' AND d < DATE '2024-01-01' + INTERVAL 1 YEAR AND i BETWEEN 5 AND 7 "
        "AND s LIKE '%PROMO%' THEN x * (1 - i / 100) * (1 + i / 100) ELSE 0 END FROM t"
    )
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    node = statement.select.items[0].expression
    resolver = Resolver(lambda n: COLUMNS.get(n.parts[-1]) if isinstance(n, syntax.Name) else None, ())
    resolver.resolve(node)
    with few_calls(10_000):
        resolver.resolve(node)
