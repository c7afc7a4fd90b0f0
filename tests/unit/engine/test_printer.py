"""Joins by the key through which the policy finds units: DuckDB looks rows up by it alone where that is faster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.session import Session
from dpsql.sql.parse import parse
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  orders:
    unit: customer
    key: number
    rows_per_unit: 100
    columns:
      urgent: {type: boolean}
      region: {type: text, values: [S, N]}
  items:
    unit: {via: orders, on: number}
    rows_per_unit: 500
    columns:
      pieces: {type: integer, bounds: [0, 9]}
"""
BY_KEY = "SELECT {} FROM items JOIN orders ON items.number = orders.number"


@pytest.fixture(scope="module", params=["i % 70", "'\u00e9' || (i % 70)"], ids=["numbers", "texts"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (  # some orders are of two customers
        f"CREATE TABLE orders AS SELECT {request.param} AS customer, i % 500 AS number, i % 3 = 0 AS urgent, "
        "['N', 'S'][1 + i % 2] AS region FROM range(530) AS t(i); "
        "CREATE TABLE items AS SELECT i % 499 AS number, i % 10 AS pieces FROM range(3000) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("joined"), made, policy(TABLES))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("asked", "alone"),
    [
        (BY_KEY.format("COUNT(*), SUM(pieces)") + " WHERE urgent", True),
        (BY_KEY.format("region, SUM(pieces)") + " WHERE urgent AND pieces > 2 GROUP BY region", True),
        (BY_KEY.format("COUNT(DISTINCT orders.customer)") + " AND urgent", True),
        (BY_KEY.format("COUNT(*), SUM(pieces)"), False),
        (BY_KEY.format("COUNT(*)") + " WHERE pieces > 2", False),
        (BY_KEY.replace(" JOIN", " LEFT JOIN").format("COUNT(*)") + " WHERE urgent", False),
        ("SELECT COUNT(*) FROM orders a JOIN orders b ON a.number = b.number WHERE a.urgent", False),
        ("SELECT COUNT(*) FROM items JOIN orders ON items.customer = orders.customer WHERE urgent", False),
    ],
)
def test_rows_that_meet_by_a_key_are_those_of_the_same_unit(session: Session, asked: str, alone: bool) -> None:
    parsed: Any = parse(asked)
    plan: Any = session._plan(parsed.select, ())
    prepared: Any = session._prepare(plan, {"epsilon": 20})
    engine, looked = session._backend.engine, set[bool]()
    for need in [reading.need for reading in prepared.readings]:
        both = [lowering(dialect, b"a secret")(need) for dialect in (DUCKDB, replace(DUCKDB, counts=False))]
        looked.add('."customer" <= "' in both[0].sql)
        assert '."customer" <= "' not in both[1].sql
        tables = [engine.run(own) for own in both]
        names = [name for name, _ in both[0].columns]
        found = [sorted(map(repr, zip(*(table.column(name) for name in names), strict=True))) for table in tables]
        assert found[0] == found[1]
        assert found[0]
    assert looked == {alone}
