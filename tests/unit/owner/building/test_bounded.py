"""The bounded view equals its plain Python twin, depends on content alone, and on each unit's own rows alone."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.owner.building.bounded import grid_limits
from dpsql.owner.building.owners import Owners
from dpsql.owner.building.views import build_private
from dpsql.owner.shape import ColumnShape, Shape, TableShape
from dpsql.plan.catalog import NUMBER, RANK, ROW, place_name, rank_digits
from tests.connected import fill
from tests.unit.owner.reference_view import Row, among, bounded_view, integer, real

KEY = bytes(range(32))
CAP = 3
FIRST, LAST = date(2020, 1, 1), date(2020, 12, 31)
SEXES = ("F", "M", "it's")

SOURCE = {
    "patient": "BIGINT",
    "visit": "INTEGER",
    "age": "DOUBLE",
    "serial": "HUGEINT",
    "cost": "DECIMAL(12, 3)",
    "paid": "DECIMAL(38, 2)",
    "weight": "DOUBLE",
    "share": "DOUBLE",
    "sex": "VARCHAR",
    "day": "DATE",
    "seen": "TIMESTAMP",
    "alive": "BOOLEAN",
}
CENT, TENTH, FIFTH, QUARTER = Fraction(1, 100), Fraction(1, 10), Fraction(1, 5), Fraction(1, 4)
COLUMNS = (
    ColumnShape("age", "integer", Fraction(0), Fraction(110)),
    ColumnShape("serial", "integer"),
    ColumnShape("cost", "real", Fraction(1, 20), Fraction(200), step=FIFTH),
    ColumnShape("paid", "decimal", step=CENT),
    ColumnShape("weight", "real", step=TENTH),
    ColumnShape("share", "real", Fraction(-1), Fraction(1, 3), step=QUARTER),
    ColumnShape("sex", "text", values=SEXES),
    ColumnShape("day", "date", FIRST, LAST),
    ColumnShape("seen", "timestamp"),
    ColumnShape("alive", "boolean"),
)
READERS = {
    "age": integer(0, 110),
    "serial": integer(None, None),
    "cost": real(Fraction(1, 20), Fraction(200), FIFTH),
    "paid": real(None, None, CENT),
    "weight": real(None, None, TENTH),
    "share": real(Fraction(-1), Fraction(1, 3), QUARTER),
    "sex": among(SEXES.__contains__),
    "day": among(lambda day: FIRST <= day <= LAST),
    "seen": among(lambda _: True),
    "alive": among(lambda _: True),
}
IDENTITIES = {"patient": None, "visit": "visits.visit"}
VISITS = TableShape(
    name="visits",
    source=None,
    public=False,
    unit="patient",
    key="visit",
    rows_per_unit=CAP,
    columns=COLUMNS,
    identities=IDENTITIES,
)

WHOLE = st.one_of(st.none(), st.sampled_from([float("nan"), float("inf"), float("-inf"), 1e30, -1e30, -0.0]))
REALS = st.one_of(
    st.none(),
    st.sampled_from([float("nan"), float("inf"), float("-inf"), -0.0, 0.05, 0.15, 1e300, 5e-324]),
    st.floats(),
)


def decimals(digits: int, places: int) -> st.SearchStrategy[Decimal | None]:
    """NULL or a decimal that fits."""
    farthest = 10**digits - 1
    return st.one_of(st.none(), st.integers(-farthest, farthest).map(lambda n: Decimal(n).scaleb(-places)))


ROWS = st.fixed_dictionaries(
    {
        "patient": st.one_of(st.none(), st.integers(0, 3)),
        "visit": st.one_of(st.none(), st.integers(0, 9)),
        "age": st.one_of(WHOLE, st.integers(-5, 120).map(float)),
        "serial": st.one_of(st.none(), st.integers(-(2**126), 2**126), st.integers(-5, 5)),
        "cost": st.one_of(decimals(12, 3), decimals(4, 3)),
        "paid": st.one_of(decimals(28, 2), decimals(5, 2)),
        "weight": REALS,
        "share": REALS,
        "sex": st.sampled_from([None, *SEXES, "f", "", "other"]),
        "day": st.one_of(st.none(), st.dates(), st.dates(FIRST, LAST)),
        "seen": st.one_of(st.none(), st.datetimes().map(lambda moment: moment.replace(fold=0))),
        "alive": st.sampled_from([None, True, False]),
    }
)
TABLES = st.lists(ROWS, max_size=25).flatmap(
    lambda rows: st.lists(st.sampled_from(rows), max_size=5).map(lambda more: rows + more) if rows else st.just(rows)
)


def bound(engine: duckdb.DuckDBPyConnection, table: TableShape, key: bytes = KEY) -> None:
    """Builds the bounded table anew."""
    engine.execute("DROP TABLE IF EXISTS bounded.main.visits")
    database = DuckDBDatabase(engine, key.hex())
    source = database.table("visits", None)
    build_private(database, table, source, Owners(Shape("duckdb", {}, (table,)), {"visits": source}))


def view(engine: duckdb.DuckDBPyConnection, rows: list[Row], table: TableShape = VISITS, key: bytes = KEY) -> list[Row]:
    """The rows of the bounded table that is built from these."""
    columns = ", ".join(f"{name} {kind}" for name, kind in SOURCE.items())
    engine.execute(f"CREATE OR REPLACE TABLE source.main.visits ({columns})")
    fill(engine, "source.main.visits", [[row[name] for name in SOURCE] for row in rows])
    bound(engine, table, key)
    found = engine.execute("SELECT * FROM bounded.main.visits")
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, values, strict=True)) for values in found.fetchall()]


def twin(rows: list[Row], table: TableShape = VISITS) -> list[Row]:
    """What the view should hold."""
    return bounded_view(
        rows, READERS, unit="patient", key_column=table.key, cap=table.rows_per_unit, key=KEY, rank=RANK
    )


def counted(rows: list[Row]) -> Counter[str]:
    """The rows as a bag, without the small numbers beside them (test_numbered.py); 0.0 and -0.0 are different here."""
    beside = (NUMBER, ROW, place_name("sex"))
    return Counter(repr(sorted(own for own in row.items() if own[0] not in beside)) for row in rows)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=TABLES)
def test_the_view_is_its_plain_python_twin(engine: duckdb.DuckDBPyConnection, rows: list[Row]) -> None:
    got = view(engine, rows)
    assert counted(got) == counted(twin(rows))
    units = [row["patient"] for row in got]
    assert units == sorted(units), "the rows do not lie in the order of their units"
    assert [row[RANK] for row in got] == [units[:place].count(unit) + 1 for place, unit in enumerate(units)]
    assert [row[NUMBER] for row in got] == [sorted(set(units)).index(unit) for unit in units]
    assert [row[ROW] for row in got] == [(row[NUMBER] << rank_digits(CAP)) + row[RANK] for row in got]
    assert [row[place_name("sex")] for row in got] == [[*sorted(SEXES), None].index(row["sex"]) for row in got]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=TABLES, unit=st.integers(0, 3), seed=st.integers(0, 99))
def test_removing_a_unit_removes_its_rows_and_changes_no_others(
    engine: duckdb.DuckDBPyConnection, rows: list[Row], unit: int, seed: int
) -> None:
    whole = view(engine, rows)
    rest = [row for row in rows if row["patient"] != unit]
    random.Random(seed).shuffle(rest)
    assert counted(view(engine, rest)) == counted([row for row in whole if row["patient"] != unit])


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=TABLES, seed=st.integers(0, 99))
def test_the_order_of_the_source_does_not_matter(engine: duckdb.DuckDBPyConnection, rows: list[Row], seed: int) -> None:
    before = view(engine, rows)
    random.Random(seed).shuffle(rows)
    assert counted(view(engine, rows)) == counted(before)


def visit(patient: int | None, number: int | None, **values: Any) -> Row:
    """A row; what is not given is NULL."""
    return dict.fromkeys(SOURCE) | {"patient": patient, "visit": number} | values


def test_a_unit_above_the_cap_keeps_as_many_rows_as_the_cap(engine: duckdb.DuckDBPyConnection) -> None:
    rows = [visit(1, number) for number in range(10)] + [visit(2, 100), visit(2, 101)]
    assert Counter(row["patient"] for row in view(engine, rows)) == {1: CAP, 2: 2}


def test_equal_rows_count_one_by_one_up_to_the_cap_where_there_is_no_key(engine: duckdb.DuckDBPyConnection) -> None:
    table = TableShape("visits", None, False, "patient", None, CAP, COLUMNS, identities=IDENTITIES)
    rows = [visit(1, None, age=40.0)] * 2 + [visit(2, None, age=40.0)] * 5
    assert Counter(row["patient"] for row in view(engine, rows, table)) == {1: 2, 2: CAP}


def test_a_key_keeps_one_row_within_each_unit(engine: duckdb.DuckDBPyConnection) -> None:
    rows = [visit(1, 7, age=1.0), visit(1, 7, age=2.0), visit(2, 7, age=3.0)]
    assert Counter(row["patient"] for row in view(engine, rows)) == {1: 1, 2: 1}


def test_a_key_that_is_the_unit_keeps_one_row_of_each_unit(engine: duckdb.DuckDBPyConnection) -> None:
    table = TableShape("visits", None, False, "patient", "patient", CAP, COLUMNS, identities={"patient": None})
    rows = [visit(1, 7, age=1.0), visit(1, 8, age=2.0), visit(2, 7, age=3.0), visit(None, 7)]
    assert Counter(row["patient"] for row in view(engine, rows, table)) == {1: 1, 2: 1}


def test_rows_without_unit_or_key_are_in_no_view(engine: duckdb.DuckDBPyConnection) -> None:
    assert view(engine, [visit(None, 1), visit(1, None)]) == []


def test_another_secret_chooses_other_rows(engine: duckdb.DuckDBPyConnection) -> None:
    rows = [visit(1, number) for number in range(100)]
    kept, others = ({row["visit"] for row in view(engine, rows, key=key)} for key in (KEY, b"another"))
    assert kept != others
    assert kept == {row["visit"] for row in twin(rows)}


@pytest.mark.every(2, 1)
@pytest.mark.parametrize("cap", [1, CAP])
def test_without_a_key_rows_stand_in_the_order_of_a_hash_of_what_they_say(
    engine: duckdb.DuckDBPyConnection, cap: int
) -> None:
    table = replace(VISITS, key=None, identities={"patient": None}, rows_per_unit=cap)
    rows = [visit(unit, None, age=float(age % 50)) for unit in range(3) for age in range(60)]
    assert counted(view(engine, rows, table)) == counted(twin(rows, table))


def test_of_rows_with_one_key_the_hash_of_what_they_say_chooses(engine: duckdb.DuckDBPyConnection) -> None:
    """Neither the least nor the first: what is kept says nothing of the others."""
    rows = [visit(unit, 7, age=float(age)) for unit in range(20) for age in (30, 20, 40)]
    got = view(engine, rows)
    assert counted(got) == counted(twin(rows))
    assert {row["age"] for row in got} == {20, 30, 40}


def test_a_zero_has_no_sign(engine: duckdb.DuckDBPyConnection) -> None:
    (row,) = view(engine, [visit(1, 1, age=-0.0, weight=-0.0, share=-0.0)])
    assert not any(math.copysign(1, value) < 0 for value in row.values() if isinstance(value, float))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("cost", "grid"),
    [
        ("0.050", 0),  # the low bound: 0.05 is a quarter of a step
        ("-5", 0),
        ("0.099", 0),
        ("0.100", 1),  # halves go away from zero
        ("0.299", 1),
        ("0.300", 2),
        ("199.999", 1000),
        ("999999999.999", 1000),
    ],
)
def test_a_decimal_reaches_its_grid_integer_exactly(engine: duckdb.DuckDBPyConnection, cost: str, grid: int) -> None:
    assert view(engine, [visit(1, 1, cost=Decimal(cost))])[0]["cost$grid"] == grid


def test_numbers_outside_are_moved_and_other_values_outside_read_as_null(engine: duckdb.DuckDBPyConnection) -> None:
    row = visit(
        1, 1, age=float("inf"), weight=float("-inf"), share=float("nan"), sex="x", day=date(1999, 1, 1), serial=2**100
    )
    got = view(engine, [row])[0]
    assert (got["age"], got["weight"], got["weight$grid"]) == (110, -(2**53) / 10, -(2**53))
    assert (got["serial"], got["serial$grid"]) == (2**53, 2**53)
    assert [got[name] for name in ("share", "share$grid", "sex", "day")] == [None] * 4


def test_infinite_days_read_as_null(engine: duckdb.DuckDBPyConnection) -> None:
    table = TableShape(
        "visits",
        None,
        False,
        "patient",
        None,
        5,
        (ColumnShape("day", "date"), ColumnShape("seen", "timestamp")),
        identities={"patient": None},
    )
    engine.execute("CREATE OR REPLACE TABLE source.main.visits (patient BIGINT, day DATE, seen TIMESTAMP)")
    engine.execute(
        "INSERT INTO source.main.visits VALUES (1, 'infinity', '-infinity'), (2, '10000-01-01', '5877641-06-24 (BC)'), "
        "(3, '9999-12-31', '0001-01-01')".replace("5877641-06-24 (BC)", "0044-03-15 (BC)")
    )
    bound(engine, table)
    assert engine.execute("SELECT patient, day, seen FROM bounded.main.visits ORDER BY patient").fetchall() == [
        (1, None, None),
        (2, None, None),
        (3, date(9999, 12, 31), datetime(1, 1, 1)),
    ]


def test_a_collation_of_the_source_is_left_behind(engine: duckdb.DuckDBPyConnection) -> None:
    sex = ColumnShape("sex", "text", values=("F", "M"))
    engine.execute("CREATE OR REPLACE TABLE source.main.visits (patient VARCHAR, sex VARCHAR COLLATE nocase)")
    engine.execute("INSERT INTO source.main.visits VALUES ('a', 'F'), ('A', 'f'), ('A', 'M')")
    table = TableShape("visits", None, False, "patient", None, 1, (sex,), identities={"patient": None})
    bound(engine, table)
    units = engine.execute("SELECT patient, count(*) FROM bounded.main.visits GROUP BY patient ORDER BY patient")
    assert units.fetchall() == [("A", 1), ("a", 1)]
    assert engine.execute("SELECT count(*) FROM bounded.main.visits WHERE sex = 'f'").fetchall() == [(0,)]


def test_text_is_read_as_the_declared_type_where_it_can_be(engine: duckdb.DuckDBPyConnection) -> None:
    kinds = ("integer", "real", "decimal", "boolean", "date", "timestamp")
    table = TableShape(
        "visits",
        None,
        False,
        "patient",
        None,
        9,
        tuple(ColumnShape(kind, kind, step=Fraction(1) if kind == "integer" else CENT) for kind in kinds),
        identities={"patient": None},
    )
    columns = ", ".join(f'"{kind}" VARCHAR' for kind in kinds)
    engine.execute(f"CREATE OR REPLACE TABLE source.main.visits (patient BIGINT, {columns})")
    engine.execute(
        "INSERT INTO source.main.visits VALUES "
        "(1, '12', '0.125', '0.125', 'true', '2024-02-29', '2024-02-29 12:00:00'), "
        "(2, 'twelve', 'nan', 'much', 'maybe', '2024-02-30', 'noon'), "
        "(3, '1e30', '-inf', '99999999999999999999999999999999999999999', 'f', '', ''), "
        "(4, '1.0', '1', '1', '1.0', NULL, NULL), (5, '0.0', '0', '0', '0.0', NULL, NULL), "
        "(6, '2', '0', '0', '2.0', NULL, NULL)"
    )
    bound(engine, table)
    names = ", ".join(f'"{name}"' for name in ("integer", "real$grid", "decimal$grid", "boolean", "date", "timestamp"))
    assert engine.execute(f"SELECT {names} FROM bounded.main.visits ORDER BY patient").fetchall() == [
        (12, 13, 13, True, date(2024, 2, 29), datetime(2024, 2, 29, 12)),
        (None, None, None, None, None, None),
        (2**53, -(2**53), 2**53, False, None, None),
        (1, 100, 100, True, None, None),
        (0, 0, 0, False, None, None),
        (2, 0, 0, None, None, None),
    ]


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("VARCHAR", ["0x10", "0xFF", "0b11", "0o17", "2.5", "-2.5", "3.5", "1e3", "1_000", " 7 ", "1e30", "nan", ""]),
        ("DOUBLE", [0.5, 1.5, 2.5, -0.5, -2.5, 3.5, 2.4999, 1e30, -1e30, float("nan")]),
        ("FLOAT", [0.5, 1.5, 2.5, -2.5]),
        ("DECIMAL(9, 2)", [Decimal("0.5"), Decimal("2.5"), Decimal("-2.5"), Decimal("2.49")]),
        ("UBIGINT", [0, 7, 2**64 - 1]),
    ],
)
def test_a_whole_number_without_bounds_and_its_grid_are_one(
    engine: duckdb.DuckDBPyConnection, kind: str, written: list[Any]
) -> None:
    """Or both are NULL: what a condition reads is what a sum adds."""
    engine.execute(f"CREATE OR REPLACE TABLE source.main.visits (patient BIGINT, age {kind})")
    fill(engine, "source.main.visits", list(enumerate(written)))
    age = (ColumnShape("age", "integer"),)
    bound(engine, TableShape("visits", None, False, "patient", None, 1, age, identities={"patient": None}))
    found = engine.execute('SELECT patient, age, "age$grid" FROM bounded.main.visits ORDER BY patient').fetchall()
    assert [value for _, value, _ in found] == [grid for *_, grid in found]
    assert [value for place, value, _ in found if str(written[place])[:2] in ("0x", "0b", "0o")] in ([None] * 4, [])


def test_a_text_is_cut_and_a_name_that_is_too_long_is_none(engine: duckdb.DuckDBPyConnection) -> None:
    note = ColumnShape("note", "text", max_length=3)
    table = TableShape("visits", None, False, "patient", "visit", 9, (note,), identities=IDENTITIES)
    engine.execute("CREATE OR REPLACE TABLE source.main.visits (patient VARCHAR, visit VARCHAR, note VARCHAR)")
    longest = "p" * 256
    engine.executemany(
        "INSERT INTO source.main.visits VALUES (?, ?, ?)",
        [
            [longest, "a", "abc"], [longest, "b", "éöü🤦"], [longest, "c", ""], [longest, "d", None],
            [longest + "1", "a", "nobody's"], [longest + "2", "a", "nobody's"], ["p", "v" * 257, "no key"],
        ],
    )  # fmt: skip
    bound(engine, table)
    found = engine.execute("SELECT patient, visit, note FROM bounded.main.visits ORDER BY visit").fetchall()
    assert found == [(longest, "a", "abc"), (longest, "b", "éöü"), (longest, "c", ""), (longest, "d", None)]


def test_grid_limits_round_outward_and_end_at_2_to_the_53() -> None:
    assert grid_limits(ColumnShape("x", "real", Fraction(1, 20), Fraction(199, 1000), step=TENTH)) == (0, 2)
    assert grid_limits(ColumnShape("x", "real", step=TENTH)) == (-(2**53), 2**53)
