"""What conditions on two values say of their difference: it holds for every row that is let through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from typing import Any

import duckdb
import pytest

import tests.connected
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.intervals import Interval
from dpsql.plan.known.narrowing import facts_on, is_empty
from dpsql.plan.types import Facts, Type
from tests.attacks.test_narrowed_bounds import plan_of

FEW = (-2, 0, 1, 3, None)
REALS = (-0.5, 0.1, 0.30000000000000004, 2.0, None)
MOMENTS = (
    datetime(2023, 12, 31, 23, 59, 59, 999999), datetime(2024, 1, 1), datetime(2024, 1, 31, 12), datetime(2024, 2, 29),
    datetime(2024, 3, 1, 0, 0, 1), datetime(2024, 3, 30, 23), datetime(2025, 2, 28, 23, 59), datetime(2026, 1, 1), None,
)  # fmt: skip
DAYS = tuple(dict.fromkeys(None if moment is None else moment.date() for moment in MOMENTS))
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")


def _info(name: str, kind: Type, low: Any, high: Any, step: Fraction | None = None) -> ColumnInfo:
    return ColumnInfo(name, Facts(kind, low, high, step=step), stored_grid=kind is Type.REAL)


def _pairs() -> list[ColumnInfo]:
    first, last = datetime(2023, 1, 1), datetime(2026, 12, 31)
    whole = [_info(name, Type.INTEGER, Fraction(-2), Fraction(3), Fraction(1)) for name in ("a", "b")]
    reals = [_info(name, Type.REAL, Fraction(-1), Fraction(2), Fraction(1, 2**20)) for name in ("p", "q")]
    days = [_info(name, Type.DATE, first.date(), last.date()) for name in ("d", "e")]
    return [*whole, *reals, *days, *(_info(name, Type.TIMESTAMP, first, last) for name in ("s", "t"))]


PERSON = ColumnInfo("person", Facts(Type.INTEGER, nullable=False), unit=True)
TABLE = TableInfo("t", {own.name: own for own in (PERSON, *_pairs())}, unit="person", rows_per_unit=3)
CATALOG = Catalog({"t": TABLE}, "add_remove", "tests.yaml", 1)

CONDITIONS = {
    ("a", "b"): (
        "a >= b", "b < a", "NOT a >= b", "a = b", "a - b BETWEEN 1 AND 2", "b - a > 1", "a + 1 <= b - 1",
        "a >= b OR a = 0",
        "a > b OR b < a - 1", "NOT (a <= b OR a > 2)", "(a - b) * 2 >= 3", "a > b AND b > a", "a <> b",
    ),
    ("p", "q"): ("p >= q", "q < p", "p - q >= 0.2", "NOT q - p BETWEEN 0.1 AND 3", "p = q", "p >= q + 0.2"),
    ("d", "e"): (
        "e >= d", "d < e", "e - d BETWEEN 1 AND 31", "e >= d + INTERVAL 1 DAY", "e > d + INTERVAL 36 HOUR",
        "e < d + 30",
        "e = d", "e <= d - 1", "e > d + INTERVAL 1 MONTH",
    ),
    ("s", "t"): (
        "t >= s", "t > s", "NOT t >= s", "t <= s + INTERVAL 30 DAY", "t - s > INTERVAL 36 HOUR", "s = t",
        "t BETWEEN s AND s + INTERVAL 61 DAY", "t >= s AND t < s + INTERVAL 90 MINUTE",
    ),
    ("d", "t"): ("t >= d", "t > d", "t < d + INTERVAL 1 DAY", "d <= t - INTERVAL 31 DAY"),
}  # fmt: skip
COUNTS = (
    "{name}('{unit}', {0}, {1}) >= 0", "{name}('{unit}', {0}, {1}) BETWEEN 1 AND 2", "{name}('{unit}', {1}, {0}) > 1",
    "{name}('{unit}', {0}, {1}) <= -1", "{name}('{unit}', {0}, {1}) = 0",
)  # fmt: skip
"""Conditions on the time between two values."""


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    found = duckdb.connect(config={"threads": 1})
    found.execute("ATTACH ':memory:' AS bounded")
    found.execute(
        'CREATE TABLE bounded.main.t (person BIGINT, a BIGINT, b BIGINT, p DOUBLE, "p$grid" BIGINT, q DOUBLE, '
        '"q$grid" BIGINT, d DATE, e DATE, s TIMESTAMP, t TIMESTAMP)'
    )
    of_numbers: list[Any] = [itertools.product(values, repeat=2) for values in (FEW, REALS)]
    of_days: list[Any] = [itertools.product(DAYS, repeat=2), itertools.product(MOMENTS, repeat=2)]
    rows: list[Any] = []
    for at, ((a, b), (p, q), (d, e), (s, t)) in enumerate(
        itertools.zip_longest(*of_numbers, *of_days, fillvalue=2 * (None,))
    ):
        grid = [None if own is None else round(own * 2**20) for own in (p, q)]
        rows.append((at, a, b, p, grid[0], q, grid[1], d, e, s, t))
    rows += [(1000 + at, *[None] * 6, d, None, None, t) for at, (d, t) in enumerate(itertools.product(DAYS, MOMENTS))]
    tests.connected.fill(found, "bounded.main.t", rows)
    yield found
    found.close()


def _narrowed(sql: str) -> tuple[Facts, Facts, Any]:
    """What is known of the sum's argument before, and within the conditions; and its plan."""
    plan = plan_of(sql, CATALOG)
    (aggregate,) = plan.aggregates
    assert aggregate.argument is not None
    return aggregate.argument.facts, facts_on(aggregate.argument, plan.relation), plan


def _differences(one: str, other: str) -> list[str]:
    if one in ("a", "p"):
        return [f"{one} - {other}", f"{other} - {one}", f"abs({one} - {other})", f"({one} - {other}) / 2.0"]
    names = ("date_diff", "date_sub")
    counts = [f"{name}('{unit}', {one}, {other})" for name in names for unit in UNITS]
    return [
        *counts,
        f"datediff('hour', {other}, {one})",
        *([f"{other} - {one}", f"{one} - {other}"] if other == "e" else []),
    ]


def _conditions(pair: tuple[str, str]) -> list[str]:
    if pair[0] in ("a", "p"):
        return [*CONDITIONS[pair]]
    names = ("date_diff", "date_sub")
    counted = itertools.product(COUNTS, names, UNITS)
    return [*CONDITIONS[pair], *(text.format(*pair, name=name, unit=unit) for text, name, unit in counted)]


@pytest.mark.parametrize("pair", CONDITIONS, ids=" and ".join)
def test_no_difference_lies_outside_of_what_a_condition_on_its_sides_says(
    engine: duckdb.DuckDBPyConnection, pair: tuple[str, str]
) -> None:
    _all_inside(engine, pair, one_of=29 if pair[0] in ("d", "s") else 1)


@pytest.mark.slow
@pytest.mark.parametrize("pair", CONDITIONS, ids=" and ".join)
def test_none_of_many_more_does(engine: duckdb.DuckDBPyConnection, pair: tuple[str, str]) -> None:
    _all_inside(engine, pair, one_of=1)


def _all_inside(engine: duckdb.DuckDBPyConnection, pair: tuple[str, str], one_of: int) -> None:
    """Tries one of so many questions, which are in no step with the units."""
    forms = ("SELECT SUM({1}) FROM t WHERE {0}", "SELECT SUM(CASE WHEN {0} THEN 0 ELSE {1} END) FROM t")
    questions = list(itertools.product(forms, _conditions(pair), _differences(*pair)))[::one_of]
    narrowed = 0
    for form, where, argument in questions:
        sql = form.format(where, argument)
        try:
            before, facts, plan = _narrowed(sql)
        except UnsupportedQuery:
            continue
        narrowed += facts != before
        printer = Printer(DUCKDB)
        value = printer.expression(plan.aggregates[0].argument)
        rows = f"(SELECT {value} AS value {printer.rows(plan.relation)})"
        ((low, high),) = engine.execute(f"SELECT min(value), max(value) FROM {rows}", printer.parameters).fetchall()
        if low is not None:
            known = Interval(facts.low, facts.high)  # type: ignore[arg-type]  # they are numbers
            assert Fraction(low) in known, sql
            assert Fraction(high) in known, sql
            assert not is_empty(plan.relation), sql
    assert narrowed > len(questions) // 4


BOUNDS = {
    "SELECT SUM(date_diff('hour', s, t) / 24.0) FROM t WHERE t >= s": (0, None),
    "SELECT SUM(date_diff('hour', s, t)) FROM t WHERE date_diff('minute', s, t) BETWEEN 0 AND 60": (-1, 2),
    "SELECT SUM(date_diff('minute', s, t)) FROM t WHERE t BETWEEN s AND s + INTERVAL 30 DAY": (0, 43_200),
    "SELECT SUM(date_diff('day', s, t)) FROM t WHERE t - s <= INTERVAL 30 DAY AND t > s": (0, 30),
    "SELECT SUM(date_diff('day', s, t)) FILTER (WHERE t >= s) FROM t": (0, None),
    "SELECT SUM(CASE WHEN t >= s THEN date_diff('day', s, t) END) FROM t": (0, None),
    "SELECT SUM(CASE WHEN t < s THEN 0 ELSE date_diff('day', s, t) END) FROM t": (0, None),
    "SELECT SUM(date_diff('month', s, t)) FROM t WHERE t >= s AND t < s + INTERVAL 28 DAY": (0, 1),
    "SELECT SUM(date_diff('day', d, t)) FROM t WHERE t >= d": (0, None),
    "SELECT SUM(e - d) FROM t WHERE e > d": (1, None),
    "SELECT SUM(e - d) FROM t WHERE date_diff('day', d, e) BETWEEN 0 AND 7": (0, 7),
    "SELECT SUM(date_diff('week', d, e)) FROM t WHERE e >= d + 14": (2, None),
    "SELECT SUM(b - a) FROM t WHERE a > b": (-5, -1),
    "SELECT SUM(p - q) FROM t WHERE p > q": (0, 3),
    "SELECT SUM(p - q) FROM t WHERE q - p BETWEEN -1 AND 0.5": (Fraction(-1, 2), 1),
    "SELECT SUM(los) FROM (SELECT person, date_diff('day', s, t) AS los, s, t FROM t) u WHERE t >= s": (0, None),
    "SELECT SUM(date_diff('day', von, bis)) FROM (SELECT person, s AS von, t AS bis FROM t WHERE t >= s) u": (0, None),
    "SELECT SUM(date_diff('day', prev, s)) FROM (SELECT person, s, LAG(t) OVER (PARTITION BY person ORDER BY s) "
    "AS prev FROM t) u WHERE s BETWEEN prev AND prev + INTERVAL 30 DAY": (0, 30),
}  # fmt: skip


@pytest.mark.parametrize("sql", BOUNDS)
def test_a_condition_on_two_values_is_one_on_their_difference(sql: str) -> None:
    before, facts, _ = _narrowed(sql)
    low, high = BOUNDS[sql]
    assert facts.low == (before.low if low is None else low)
    assert facts.high == (before.high if high is None else high)


@pytest.mark.parametrize(
    "where", ["a > b AND b > a", "a > a", "t > s AND t < s", "e - d > 3 AND e <= d", "a = b AND b = a + 1"]
)
def test_where_values_would_lie_apart_both_ways_there_is_no_row(where: str) -> None:
    assert is_empty(plan_of(f"SELECT COUNT(*) FROM t WHERE {where}", CATALOG).relation)
