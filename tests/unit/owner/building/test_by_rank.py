"""What rows have in all by rank: of which columns says the policy, and what is stored the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from dpsql.owner.building.by_rank import MOST_RANKS, stored_ranks
from dpsql.owner.shape import shape_of
from dpsql.plan.catalog import StoredRanks
from dpsql.policy import load_policy
from tests.unit.owner.shop import bounded_tables, made_shop

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  orders:
    unit: customer
    rows_per_unit: 20
    columns:
      amount: {type: decimal, bounds: [-10, 10], grid: 0.1, nullable: true}
      level: {type: integer, bounds: [0, 9007199254740991]}
      day: {type: date}
      month: {type: integer, bounds: [1, 12]}
  people:
    unit: customer
    rows_per_unit: 1
    columns: {age: {type: integer, bounds: [0, 100]}}
"""
ROWS = (
    "SELECT i % 7 * (i % 2) AS customer, CASE WHEN i % 5 > 0 THEN i / 9 - 11 END AS amount, i AS level, "
    "DATE '2020-01-01' AS day, i % 12 + 1 AS month FROM range(200) AS t(i)"
)
PEOPLE = "SELECT i AS customer, i AS age FROM range(7) AS t(i)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_shop(tmp_path_factory.mktemp("ranks"), TABLES, {"orders": ROWS, "people": PEOPLE})


@pytest.fixture(scope="module")
def bounded(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with bounded_tables(folder) as connection:
        yield connection


def test_what_no_unit_has_too_much_of_is_added_up(folder: Path) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml"))
    orders = shape.table("orders")
    assert stored_ranks(orders) == StoredRanks("orders$ranks", ("amount", "month"))
    assert stored_ranks(shape.table("people")) is None
    assert stored_ranks(replace(orders, rows_per_unit=MOST_RANKS)) is not None
    assert stored_ranks(replace(orders, rows_per_unit=MOST_RANKS + 1)) is None


def test_each_rank_is_stored_with_its_rows_values_and_sums(bounded: duckdb.DuckDBPyConnection) -> None:
    known = (
        'SELECT "$rank", count(*), count("amount$grid"), sum("amount$grid"), count(month), sum(month) FROM orders '
        "GROUP BY ALL ORDER BY ALL"
    )
    stored = bounded.execute('SELECT * FROM "orders$ranks"').fetchall()
    assert stored == bounded.execute(known).fetchall()
    assert [rank for rank, *_ in stored] == list(range(1, 21))
    (units,) = bounded.execute("SELECT count(DISTINCT customer) FROM orders").fetchall()[0]
    assert stored[0][1] == units == 7
