"""No composition of functions fails, is infinite, or is NULL unforeseen, on numbers at the ends of what may be."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import duckdb
import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.postgres.dialect import postgres
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.plan.intervals import LEAST, Interval
from dpsql.plan.nodes import Column
from dpsql.plan.rows.per_unit import unit_facts
from dpsql.plan.types import Facts, Grid, Type
from dpsql.plan.values.expressions import columns_of
from tests.extremes import COLUMNS, TYPES, drawn, resolved, rows_at_the_ends, selected, wrong

FEW, MANY = 300, 3_000


def hold(seed: int, count: int) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    with duckdb.connect(config={"threads": 1}) as engine:
        engine.execute(f"CREATE TABLE t ({columns})")
        engine.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(COLUMNS))})", rows_at_the_ends(seed))
        for text, expression in islice(drawn(seed, DUCKDB), count):
            asked = selected([expression], DUCKDB)
            names = ", ".join(column.name for column in columns_of(expression)) or "1"
            rows = engine.execute(f"SELECT {asked.sql}, {names} FROM t", asked.parameters or None).fetchall()
            for value, *row in rows:
                assert not wrong(expression, value), f"{text} of {names} = {row}: {value}: {wrong(expression, value)}"


def test_what_duckdb_computes_is_as_the_plan_knows_it() -> None:
    hold(1, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_thousands_of_compositions_are_as_the_plan_knows_them(seed: int) -> None:
    hold(seed, MANY)


@pytest.mark.parametrize(
    "text",
    ["ln(pow(part, 60))", "1 / pow(part, 60)", "1 / exp(-6 * n)", "log2(pow(part, 60))", "1 / (pow(part, 60) * 1e200)",
     "log(2.0, pow(part, 60))"],
)  # fmt: skip
def test_what_may_have_vanished_is_guarded_however_large_it_grows_again(text: str) -> None:
    assert resolved(text).facts.nullable


@pytest.mark.parametrize("text", ["pow(pow(part, 60), -0.01)", "sin(1e60 * 1e300)", "width_bucket(part, 0, 1e-200, 5)",
                                  "12345678901234567890123456789e300"])  # fmt: skip
def test_what_no_guard_can_save_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery):
        resolved(text)


def test_a_divisor_beyond_all_measure_counts_as_none() -> None:
    assert "1e150" in selected([resolved("part / pow(n, 100)")], DUCKDB).sql
    assert "1e150" not in selected([resolved("part / wide")], DUCKDB).sql
    assert "CASE" not in selected([resolved("wide / part")], DUCKDB).sql


def test_ends_near_0_move_outward() -> None:
    near = LEAST / 2
    assert Interval(near, Fraction(1)).settled == Interval(Fraction(0), Fraction(1))
    assert Interval(-near, near).settled == Interval(-LEAST, LEAST)
    assert Interval(Fraction(-1), -near).settled == Interval(Fraction(-1), Fraction(0))
    assert Interval(LEAST, None).settled == Interval(LEAST, None)


@pytest.mark.parametrize("function", ["sum", "avg"])
def test_what_is_summed_within_a_unit_may_be_0_on_its_grid(function: str) -> None:
    value = Column("t", "x", Facts(Type.REAL, Fraction(1, 10**8), Fraction(1), nullable=False))
    assert unit_facts(function, value, 1, None).low == 0


def test_what_vanishes_beside_a_step_is_0_steps_before_it_is_divided() -> None:
    for step, said in ((Fraction(10) ** 193, True), (Fraction(1, 100), False)):
        printed = Printer(postgres("bounded", "")).grid_integer(COLUMNS["huge"], Grid(step, 0, 10), "x", False)
        assert ("abs(" in printed) is said
