"""Counted values of a whole table are read where they are stored, and are those of its rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.plan.needs import Values
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
  members:
    unit: customer
    rows_per_unit: 1
    rows_about: 2000
    columns:
      spent: {type: real, bounds: [0, 450], grid: 1}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        "CREATE TABLE orders AS SELECT i % 2000 AS customer, ['N', 'S', 'E', NULL][1 + i % 4] AS region, 1 + i % 12 AS "
        "month, CASE WHEN i % 13 > 0 THEN (i % 97) / 4 - (i % 11) END AS amount FROM range(9000) AS t(i); "
        "CREATE TABLE members AS SELECT i AS customer, i * 0.3 AS spent FROM range(2000) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("counts"), made, policy(TABLES))


@pytest.mark.parametrize(
    ("asked", "mechanism", "table"),
    [
        ("SELECT AVG(amount) FROM orders", "located", "orders$counts"),
        ("SELECT VAR_POP(month) FROM orders", "located", "orders$counts"),
        ("SELECT MEDIAN(spent) FROM members", "exponential", "members$counts"),
        ("SELECT MEDIAN(spent) FROM members WHERE spent > 3", "exponential", "members"),
        ("SELECT AVG(amount * 2) FROM orders", "located", "orders"),
        ("SELECT region, AVG(amount) FROM orders GROUP BY region", "located", "orders"),
        ("SELECT MEDIAN(amount) FROM orders", "capped", "orders"),
    ],
)
def test_what_is_stored_is_read_where_it_is_enough(session: Session, asked: str, mechanism: str, table: str) -> None:
    found = list(both_ways(session, asked, {"mechanism": mechanism, "epsilon": 20}, Values))
    assert found
    for need, stored, rows in found:
        assert stored.tables == {table}
        assert rows.tables == {table.removesuffix("$counts")}
        if isinstance(need, Values) and not need.ranks and not need.source.keys:
            assert stored.rows == rows.rows
            assert len(stored.rows) > 9
