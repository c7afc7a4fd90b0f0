"""Counts and sums over a whole table are read where they are stored by rank, and are those of its rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.plan.needs import Aggregates
from dpsql.session import Session
from tests.unit.engine.both_ways import both_ways
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  orders:
    unit: customer
    rows_per_unit: 50
    rows_about: 9000
    columns:
      region: {type: text, values: [S, N, E], nullable: true}
      amount: {type: decimal, bounds: [-10, 10], grid: 0.01, nullable: true}
      month: {type: integer, bounds: [1, 12]}
  empty:
    unit: customer
    rows_per_unit: 50
    columns:
      amount: {type: integer, bounds: [0, 10]}
  members:
    unit: customer
    rows_per_unit: 1
    rows_about: 2000
    columns:
      spent: {type: integer, bounds: [0, 450]}
"""

CAPPED = "WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = {})"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        "CREATE TABLE orders AS SELECT i * i % 700 AS customer, ['N', 'S', 'E', NULL][1 + i % 4] AS region, "
        "1 + i % 12 AS month, CASE WHEN i % 13 > 0 THEN (i % 97) / 4 - (i % 11) END AS amount FROM range(9000) t(i); "
        "CREATE TABLE empty AS SELECT 1 AS customer, 1 AS amount LIMIT 0; "
        "CREATE TABLE members AS SELECT i AS customer, i % 450 AS spent FROM range(2000) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("ranks"), made, policy(TABLES))


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        ("SELECT COUNT(*) FROM orders", "orders$ranks"),
        ("SELECT COUNT(amount), SUM(amount), COUNT(*), AVG(amount), SUM(month) FROM orders", "orders$ranks"),
        ("SELECT COUNT(DISTINCT customer) FROM orders", "orders$ranks"),
        (f"SELECT {CAPPED.format(3)} COUNT(*), SUM(amount), AVG(month) FROM orders", "orders$ranks"),
        (f"SELECT {CAPPED.format(1)} SUM(amount), COUNT(DISTINCT customer) FROM orders", "orders$ranks"),
        ("SELECT COUNT(*), SUM(amount), COUNT(DISTINCT customer) FROM empty", "empty$ranks"),
        ("SELECT SUM(amount * 2) FROM orders", "orders"),
        ("SELECT COUNT(region) FROM orders", "orders"),
        ("SELECT SUM(LEAST(amount, 2)) FROM orders", "orders"),
        ("SELECT VAR_POP(amount) FROM orders", "orders"),
        ("SELECT COUNT(*) FROM orders WHERE month > 3", "orders"),
        ("SELECT COUNT(*) FROM orders AS a JOIN members AS b USING (customer)", "orders"),
        (f"SELECT {CAPPED.format(3)} region, COUNT(*) FROM orders GROUP BY region", "orders"),
        ("SELECT SUM(spent) FROM members", "members"),
    ],
)
def test_what_is_stored_is_read_where_it_is_enough(session: Session, asked: str, table: str) -> None:
    found = list(both_ways(session, asked, {"epsilon": 20, "mechanism": "laplace"}, Aggregates))
    assert found
    for _, stored, rows in found:
        assert table in stored.tables
        assert table.partition("$")[0] in rows.tables
        assert any("$ranks" in name for name in stored.tables) == ("$ranks" in table)
        assert stored.rows == rows.rows
        assert table.startswith("empty") or any(any(row) for row in stored.rows)
