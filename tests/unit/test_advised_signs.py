"""`dpsql advise` over numbers of both signs: bounds reach as far below 0 as they do above."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.advising import AdviceReport, advise
from dpsql.policy import load_policy
from dpsql.testing_samplers import FixedSampler, Noiseless

POLICY = """\
version: 1
name: homes
engine: {kind: duckdb, cache: cache}
neighbours: add_remove
budget:
  ledger: homes.ledger.db
  mark: marks
  composition: basic
  total: {epsilon: 10}
  analysts: {"*": {epsilon: 10}}
  per_query: {epsilon: 0.5}
tables:
  readings:
    source: readings.parquet
    unit: home
    rows_per_unit: 16
    rows_about: 60000
    columns:
      degrees: {type: real, bounds: auto, grid: 0.01}
"""
HOMES, READINGS = 6_000, 10
SCATTERED = f"(o * {HOMES} + p) * 7919 % 10007 / 10007.0"
"""A number from 0 to 1 for each reading o of a home p, as if drawn."""
WEATHER = {
    "16% of the readings below 0": f"-11 + 70 * ({SCATTERED})",
    "a frost in one home of twenty": f"CASE WHEN p % 20 = 0 AND o = 3 THEN -11 ELSE 1 + 58 * ({SCATTERED}) END",
    "hardly a day above 0": f"11 - 70 * ({SCATTERED})",
}


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "homes.yaml"
    path.write_text(POLICY)
    return path


def measured(policy: Path, degrees: str) -> None:
    """Writes the readings of all homes."""
    rows = f"SELECT p AS home, round({degrees}, 2) AS degrees FROM range({HOMES}) AS a(p), range({READINGS}) AS b(o)"
    duckdb.execute(f"COPY ({rows}) TO '{policy.parent / 'readings.parquet'}' (FORMAT parquet)")


def advised(policy: Path, **options: object) -> AdviceReport:
    return advise(policy, **{"epsilon": Fraction(1), "write": True, "sampler": Noiseless()} | options)  # type: ignore[arg-type]


def cut(policy: Path) -> int:
    """How many readings lie outside the bounds that were written."""
    bounds = load_policy(policy).tables["readings"].columns["degrees"].bounds
    assert bounds is not None
    low, high = bounds
    sql = f"SELECT count(*) FROM '{policy.parent / 'readings.parquet'}' WHERE degrees NOT BETWEEN {low} AND {high}"
    ((outside,),) = duckdb.execute(sql).fetchall()
    return int(outside)


@pytest.mark.every(2)
@pytest.mark.parametrize("weather", list(WEATHER))
@pytest.mark.parametrize("sampler", [Noiseless(), FixedSampler("frost")], ids=["noiseless", "noised"])
def test_bounds_cut_no_value_of_either_sign(policy: Path, weather: str, sampler: object) -> None:
    """A unit's value furthest from 0 is above 0 nearly always: it says nothing of the others below."""
    measured(policy, WEATHER[weather])
    report = advised(policy, sampler=sampler)
    assert cut(policy) == 0, report.changes
    assert any("of the units have a value outside [" in line for line in report.lines)


def test_one_histogram_more_is_paid_for_where_a_unit_may_have_both_signs(policy: Path) -> None:
    measured(policy, WEATHER["hardly a day above 0"])
    one_row = POLICY.replace("rows_per_unit: 16", "rows_per_unit: 1")
    told = []
    for text in (POLICY, POLICY.replace("bounds: auto", "bounds: [0, 100]"), one_row):
        policy.write_text(text)
        told.append(advised(policy, quote=True).quote.split("off by up to ")[1])
    both, above, single = (int(quote.split(":")[0].replace(",", "")) for quote in told)
    assert both > single
    assert both > above


def test_a_column_with_one_value_a_unit_is_told_by_its_value_furthest_from_0(policy: Path) -> None:
    policy.write_text(POLICY.replace("rows_per_unit: 16", "rows_per_unit: 1"))
    duckdb.execute(
        f"COPY (SELECT p AS home, CASE WHEN p % 4 = 0 THEN -9.5 ELSE 30.0 END AS degrees FROM range({HOMES}) AS a(p)) "
        f"TO '{policy.parent / 'readings.parquet'}' (FORMAT parquet)"
    )
    report = advised(policy)
    assert cut(policy) == 0
    assert any("the value furthest from 0 of " in line for line in report.lines)
