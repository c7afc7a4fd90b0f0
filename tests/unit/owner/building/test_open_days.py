"""How many units and rows each day has: which columns are counted says the policy, and what is stored the rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.owner.building.open_days import stored_days
from dpsql.owner.shape import shape_of
from dpsql.plan.catalog import StoredDays
from dpsql.policy import load_policy
from tests.unit.owner.shop import bounded_tables, made_shop

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  orders:
    unit: customer
    rows_per_unit: 60
    columns:
      placed: {type: date, nullable: true}
      sent: {type: date, nullable: true}
      paid: {type: date, bounds: [2020-01-01, 2020-12-31]}
      due: {type: date, values: [2020-01-01, 2020-07-01]}
      noted: {type: text}
  people:
    unit: customer
    rows_per_unit: 1
    columns: {born: {type: date}}
"""
ROWS = (
    "SELECT i % 7 AS customer, CASE WHEN i % 5 > 0 THEN DATE '2020-01-01' + (i // 9 % 4)::INTEGER END AS placed, "
    "CASE i % 3 WHEN 0 THEN DATE '9999-12-31' WHEN 1 THEN DATE '2020-01-01' END AS sent, "
    "DATE '2020-01-01' AS paid, DATE '2020-01-01' AS due, 'x' AS noted FROM range(200) AS t(i)"
)
PEOPLE = "SELECT i AS customer, DATE '2000-01-01' AS born FROM range(7) AS t(i)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_shop(tmp_path_factory.mktemp("days"), TABLES, {"orders": ROWS, "people": PEOPLE})


@pytest.fixture(scope="module")
def bounded(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with bounded_tables(folder) as connection:
        yield connection


def test_days_that_nobody_listed_are_counted(folder: Path) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml"))
    known = [StoredDays("orders$open$placed", "placed"), StoredDays("orders$open$sent", "sent")]
    assert stored_days(shape.table("orders")) == tuple(known)
    assert stored_days(shape.table("people")) == ()  # a group has as many rows as units, and these are counted as fast


@pytest.mark.parametrize("column", ["placed", "sent"])
def test_each_day_is_stored_with_its_units_and_rows_by_its_rank(
    bounded: duckdb.DuckDBPyConnection, column: str
) -> None:
    """The days of one column lie close together, and those of the other eight thousand years apart."""
    of_units = f'SELECT customer, "{column}" AS day, count(*) AS n, min("$rank") AS first FROM orders GROUP BY ALL'
    ranked = f"SELECT day, n, row_number() OVER (PARTITION BY customer ORDER BY first) AS place FROM ({of_units})"
    known = f"SELECT day, place, count(*), sum(n) FROM ({ranked}) GROUP BY ALL ORDER BY ALL"
    stored = bounded.execute(f'SELECT * FROM "orders$open${column}"').fetchall()
    assert stored == bounded.execute(known).fetchall()
    assert len({day for day, *_ in stored}) == (5 if column == "placed" else 3)
    assert max(place for _, place, *_ in stored) > 2
