"""Intervals hold the numbers of the data, not of their multiples of a step that nobody declared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
import dpsql.testing

POLICY = """\
version: 1
name: amounts
engine: {kind: duckdb, database: amounts.duckdb}
neighbours: add_remove
budget:
  ledger: amounts.ledger.db
  composition: basic
  total: {epsilon: 1.0e+6}
  analysts: {ana: {epsilon: 1.0e+6}}
  per_query: {epsilon: 1000}
tables:
  sales:
    unit: buyer
    key: buyer
    rows_per_unit: 1
    rows_about: 5000
    columns:
      amount: {type: real, bounds: [0, 1.0e+8]}  # in steps of 0.01, half of which most amounts are below
      price: {type: real, bounds: [0, 1.0e+8]}
      hundredths: {type: real, bounds: [0, 100]}
      cents: {type: real, bounds: [0, 1000], grid: 0.01}
      pieces: {type: integer, bounds: [0, 100]}
"""
ROWS = """
    CREATE TABLE sales AS SELECT i AS buyer, -0.02 * ln((i + 0.5) / 5000) AS amount, (i % 100) / 100.0 AS cents,
    i / 50.0 AS hundredths, i % 7 AS pieces, 19.96 AS price FROM range(5000) AS t(i)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("rounding")
    with duckdb.connect(home / "amounts.duckdb") as connection:
        connection.execute(ROWS)
    (home / "amounts.yaml").write_text(POLICY)
    return home


@pytest.fixture(scope="module")
def session(home: Path) -> Iterator[dpsql.Session]:
    with dpsql.testing.open(home / "amounts.yaml", dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "value",
    [
        "MEDIAN(amount)",
        "QUANTILE_CONT(amount, 0.9)",
        "AVG(amount)",
        "STDDEV(amount)",
        "VAR_POP(amount)",
        "MEDIAN(amount / 3)",
        "AVG(amount / 3)",
    ],
)
def test_the_truth_is_in_the_interval_though_values_are_rounded_to_hundredths(
    value: str, session: dpsql.Session, home: Path
) -> None:
    with duckdb.connect(home / "amounts.duckdb", read_only=True) as connection:
        ((truth,),) = connection.execute(f"SELECT {value} FROM sales").fetchall()
    answer = session.query(f"SELECT {value} AS v FROM sales")
    ((low, high),) = answer.interval("v")
    assert low is not None and high is not None
    assert low <= truth <= high


@pytest.mark.parametrize(("column", "step"), [("cents", 0.01), ("pieces", 1), ("floor(amount)", 1)])
def test_whole_numbers_and_steps_that_are_known_widen_nothing(column: str, step: float, session: dpsql.Session) -> None:
    ((low, high),) = session.query(f"SELECT MEDIAN({column}) AS v FROM sales").interval("v")
    assert low is not None and high is not None
    assert [low / step, high / step] == pytest.approx([round(low / step), round(high / step)])


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("MIN(amount)", 0, 1e8),
        ("AVG(hundredths)", 0, 100),
        ("MEDIAN(hundredths)", 0, 100),
        ("STDDEV_POP(hundredths)", 0, 50),
        ("VAR_POP(hundredths)", 0, 2500),
    ],
)
def test_no_interval_reaches_beyond_the_bounds(value: str, least: float, most: float, session: dpsql.Session) -> None:
    for where in ("TRUE", "pieces > 99"):  # nobody has so many
        ((low, high),) = session.query(f"SELECT {value} AS v FROM sales WHERE {where}", epsilon=0.1).interval("v")
        assert low is not None and high is not None
        assert least <= low <= high <= most


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(price) AS v FROM sales",
        "SELECT SUM(price) AS v FROM sales WHERE price < 100",
        "SELECT SUM(price, contribution_bounds_per_row => (0, 50)) AS v FROM sales",
        "SELECT AVG(price, contribution_bounds_per_group => (0, 50)) AS v FROM sales",
        "SELECT COUNT(*) AS v FROM (SELECT buyer, SUM(price) AS t FROM sales GROUP BY buyer HAVING SUM(price) < 20)",
        "SELECT COUNT(*) AS v FROM (SELECT buyer, AVG(price) AS t FROM sales GROUP BY buyer) AS own WHERE t = 19.96",
    ],
)
def test_prices_in_hundredths_are_added_up_exactly_beside_wide_bounds(sql: str, session: dpsql.Session) -> None:
    ((value,),) = session.query(sql, mechanism="laplace").rows
    assert value == pytest.approx(5000 if "COUNT" in sql else 19.96 if "AVG" in sql else 19.96 * 5000, rel=1e-9)
