"""What one unit's rows take is counted in the words of the engine in force, which may say an argument many times."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.postgres.dialect import postgres
from dpsql.engine.spark.dialect import spark
from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.functions import FUNCTIONS, overloads
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Facts, Type
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement

POSTGRES, SPARK = postgres("bounded", ""), spark("b")
COLUMNS = {
    "id": ColumnInfo("id", Facts(Type.TEXT, nullable=False), unit=True),
    "x": ColumnInfo("x", Facts(Type.REAL, Fraction(0), Fraction(1_000), False)),
    "c": ColumnInfo("c", Facts(Type.INTEGER, Fraction(0), Fraction(9), False, Fraction(1))),
    "t": ColumnInfo("t", Facts(Type.TEXT, nullable=False)),
}
VISITS = TableInfo("visits", COLUMNS, unit="id", rows_per_unit=1_000, rows_about=10_000)


def plan(condition: str, dialect: Dialect, rows: int = 1_000) -> None:
    statement = parse(f"SELECT COUNT(*) FROM visits WHERE {condition}")
    assert isinstance(statement, QueryStatement)
    catalog = Catalog({"visits": replace(VISITS, rows_per_unit=rows)}, "add_remove", "t.yaml", 1, spelt=dialect.spelt)
    resolve_query(statement.select, catalog, (), lambda *_: ())


def nested(form: str, depth: int, of: str) -> str:
    for _ in range(depth):
        of = form.format(of)
    return of


def test_duckdb_says_each_argument_as_often_as_the_row_of_the_table() -> None:
    for function in FUNCTIONS:
        if not function.variadic:
            assert tuple(DUCKDB.spelt(function).copies) == function.copies, function.name
        assert DUCKDB.spelt(function).calls == 1, function.name


def test_what_a_dialect_says_again_is_counted() -> None:
    cut = next(own for own in overloads("substr") if len(own.parameters) == 3)
    assert [POSTGRES.spelt(cut).copies[0], SPARK.spelt(cut).copies[0], DUCKDB.spelt(cut).copies[0]] == [7, 9, 1]
    (moment,) = overloads("try:timestamp")
    assert POSTGRES.spelt(moment).calls > 100
    joined = overloads("concat")[0]
    assert min(SPARK.spelt(joined).copies) == 1


@pytest.mark.parametrize(
    ("form", "depth", "column", "reason"),
    [
        ("round({} + 0.5)", 9, "x", "say their arguments several times"),
        ("substr({}, -1 - c + c, -900)", 3, "t", "one privacy unit may have 1,000 rows"),
        ("substr({}, -1 - c + c, -900)", 4, "t", "several times"),
    ],
)
def test_functions_inside_functions_are_refused_where_the_engine_repeats_them(
    form: str, depth: int, column: str, reason: str
) -> None:
    condition = nested(form, depth, column) + (" > 3" if column == "x" else " > 'x'")
    plan(condition, DUCKDB)
    with pytest.raises(UnsupportedQuery, match=reason):
        plan(condition, POSTGRES)


def test_a_text_that_is_taken_apart_by_many_calls_costs_as_many() -> None:
    many = " OR ".join(f"TRY_CAST(t AS TIMESTAMP) = TIMESTAMP '2020-01-{day:02} 00:00:00'" for day in range(1, 22))
    plan(many, DUCKDB)
    with pytest.raises(UnsupportedQuery, match="one privacy unit"):
        plan(many, POSTGRES)


@pytest.mark.parametrize("dialect", [POSTGRES, SPARK, DUCKDB], ids=lambda own: own.name)
@pytest.mark.parametrize(
    "condition",
    [
        "round(round(x / 7, 2) * 100, 1) > 3", "upper(trim(substr(t, 2, 5))) = 'ABC'",
        "substr(substr(t, 2), 1, 3) LIKE 'a%'", "TRY_CAST(split_part(t, '-', 2) AS INTEGER) > 3",
    ],
)  # fmt: skip
def test_what_people_write_is_planned_on_every_engine(condition: str, dialect: Dialect) -> None:
    plan(condition, dialect, rows=100)
