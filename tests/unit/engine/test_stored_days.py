"""The groups of an open day are read where they are stored, and are those of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.plan.needs import Aggregates, Histogram
from dpsql.privacy.tables import listed
from dpsql.session import Session
from dpsql.sql.parse import parse
from tests.unit.engine.both_ways import both_ways
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  orders:
    unit: customer
    rows_per_unit: 50
    rows_about: 9000
    columns:
      ordered: {type: date, nullable: true}
      paid: {type: date, bounds: [2020-01-01, 2020-03-31]}
      amount: {type: integer, bounds: [0, 10]}
  members:
    unit: customer
    rows_per_unit: 1
    rows_about: 2000
    columns:
      since: {type: date}
"""

CAPPED = "WITH DIFFERENTIAL_PRIVACY OPTIONS (max_{}_contributed = {})"
BY_UNITS = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'threshold')"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        "CREATE TABLE orders AS SELECT i % 700 AS customer, CASE WHEN i % 13 > 0 THEN DATE '1990-01-01' + "
        "(i % 97 * (i % 3))::INTEGER END AS ordered, DATE '2020-01-01' + (i % 90)::INTEGER AS paid, i % 11 AS amount "
        "FROM range(9000) AS t(i); "
        "CREATE TABLE members AS SELECT i AS customer, DATE '2000-01-01' + (i % 50)::INTEGER AS since "
        "FROM range(2000) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("days"), made, policy(TABLES))


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        ("SELECT ordered, COUNT(*) FROM orders GROUP BY ordered", "orders$open$ordered"),
        (f"SELECT {BY_UNITS} ordered AS d, COUNT(DISTINCT customer) FROM orders GROUP BY 1", "orders$open$ordered"),
        ("SELECT ordered, SUM(amount) FROM orders GROUP BY ordered", "orders"),
        ("SELECT ordered, COUNT(*) FROM orders WHERE amount > 3 GROUP BY ordered", "orders"),
        ("SELECT ordered, paid, COUNT(*) FROM orders GROUP BY ordered, paid", "orders"),
        ("SELECT date_trunc('month', ordered), COUNT(*) FROM orders GROUP BY 1", "orders"),
        (f"SELECT {CAPPED.format('rows', 2)} ordered, COUNT(*) FROM orders GROUP BY ordered", "orders"),
        (f"SELECT {CAPPED.format('groups', 2)} ordered, COUNT(*) FROM orders GROUP BY ordered", "orders$open$ordered"),
        (f"SELECT {CAPPED.format('groups', 1)} ordered, COUNT(*) FROM orders GROUP BY ordered", "orders$open$ordered"),
        (f"SELECT {CAPPED.format('groups', 9)} ordered, COUNT(*) FROM orders GROUP BY ordered", "orders"),
        ("SELECT since, COUNT(*) FROM members GROUP BY since", "members"),
    ],
)
def test_what_is_stored_is_read_where_it_is_enough(session: Session, asked: str, table: str) -> None:
    found = list(both_ways(session, asked, {"epsilon": 20, "delta": 1e-7}, Aggregates, Histogram))
    assert found
    for _, stored, rows in found:
        assert stored.tables == {table}
        assert rows.tables == {table.partition("$")[0]}
        assert stored.rows == rows.rows
        assert len(stored.rows) > 7


def test_days_may_come_in_parts(session: Session) -> None:
    """Where a calendar has more of them than are read at once."""
    parsed: Any = parse("SELECT ordered, COUNT(*) FROM orders GROUP BY ordered")
    prepared: Any = session._prepare(session._plan(parsed.select, ()), {"epsilon": 20, "delta": 1e-7})  # type: ignore[arg-type]
    statement = lowering(DUCKDB, b"a secret")(prepared.measured[0].choice.release.need)
    whole = session._backend.engine.run(statement)
    parts = session._backend.engine.run(replace(statement, most_rows=60))
    assert sorted(map(str, listed(parts.column("k0")))) == sorted(map(str, listed(whole.column("k0"))))
