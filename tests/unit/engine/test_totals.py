"""Which statements read what is stored of each unit; that they find the same is in `test_sized`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.prepare.prepared import Prepared, Reading
from dpsql.prepare.readings import readings_of
from dpsql.session import Session
from tests.unit.engine.test_sized import ORDERS
from tests.unit.mechanisms.shop import policy, prepared_for, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        "CREATE TABLE orders AS SELECT i % 50 AS customer, 'N' AS region, i AS amount, TRUE AS paid, 1 AS month, "
        "DATE '2024-01-01' AS placed FROM range(200) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("stored"), made, policy(ORDERS))


def tables(readings: Sequence[Reading]) -> set[str]:
    """All that some readings read."""
    return {name for reading in readings for name in reading.statement.tables}


def where_nothing_counts(prepared: Prepared) -> Sequence[Reading]:
    """What would be read where the database adds up, too."""
    needs = [measured.choice.release.need for measured in prepared.measured]
    return readings_of(needs, lowering(replace(DUCKDB, counts=False), b"a secret"))[0]


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        ("SELECT COUNT(*), SUM(amount), COUNT(amount) FROM orders", "orders$totals$sizes"),
        ("SELECT region, COUNT(*), COUNT(amount) FROM orders GROUP BY region", "orders$cells$sizes"),
        ("SELECT paid, region, SUM(amount), COUNT(*) FROM orders GROUP BY 2, 1", "orders$cells$sizes"),
        ("SELECT region, SUM(amount) FROM orders GROUP BY region", "orders$cells"),
        ("SELECT region, COUNT(*) FROM orders WHERE paid GROUP BY region", "orders$cells"),
        ("SELECT COUNT(*) FROM orders WHERE region = 'N' OR region IS NULL", "orders$cells"),
        ("SELECT month, SUM(amount) FROM orders GROUP BY month", "orders"),
        ("SELECT COUNT(*) FROM orders WHERE amount > 3", "orders"),
        ("SELECT SUM(amount * 2) FROM orders", "orders"),
        ("SELECT COUNT(placed) FROM orders", "orders"),
    ],
)
def test_what_is_stored_is_read_where_it_is_enough(session: Session, asked: str, table: str) -> None:
    prepared = prepared_for(session, asked, mechanism="clamped")
    assert tables(prepared.readings) == {table}
    assert all(reading.statement.bins for reading in prepared.readings)
    found = where_nothing_counts(prepared)
    assert tables(found) == {table.removesuffix("$sizes")}  # but for what is stored by size
    assert all(reading.statement.beside for reading in found)


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        ("SELECT placed, COUNT(*), SUM(month) FROM orders GROUP BY placed", "orders$days$placed"),
        ("SELECT month(placed), weekday(placed), COUNT(*) FROM orders GROUP BY 1, 2", "orders$days$placed"),
        ("SELECT year(placed), COUNT(*), SUM(month) FROM orders GROUP BY 1", "orders$days$placed"),
        ("SELECT placed, COUNT(*) FROM orders WHERE paid GROUP BY placed", "orders"),
        ("SELECT placed, COUNT(*) FROM orders WHERE placed > DATE '2024-02-01' GROUP BY placed", "orders"),
        ("SELECT placed, paid, COUNT(*) FROM orders GROUP BY placed, paid", "orders"),
        ("SELECT placed, SUM(amount) FROM orders GROUP BY placed", "orders"),
        ("SELECT placed, COUNT(month) FROM orders GROUP BY placed", "orders"),
    ],
)
def test_what_is_stored_by_day_is_read_where_days_alone_are_grouped(session: Session, asked: str, table: str) -> None:
    prepared = prepared_for(session, asked, mechanism="clamped")
    assert tables(prepared.readings) == {table}
    assert tables(where_nothing_counts(prepared)) == {"orders"}


def test_a_total_that_is_stored_is_read_beside_one_that_is_not(session: Session) -> None:
    prepared = prepared_for(session, "SELECT COUNT(*), COUNT(placed) FROM orders", mechanism="clamped")
    assert [set(reading.statement.tables) for reading in prepared.readings] == [{"orders$totals$sizes"}, {"orders"}]
