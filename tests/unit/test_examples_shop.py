"""The example shop opens under its policy, and its items are answered for through the orders that they name."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.engine.base import Engine
from dpsql.errors import OperationalError
from dpsql.owner.checking.check import check
from dpsql.policy import load_policy
from dpsql.proxy import Proxy
from dpsql.session import Session

ROOT = Path(__file__).parents[2]
CUSTOMERS, ORDERS = 2_000, 6_000


def build(path: Path, customers: int = CUSTOMERS, orders: int = ORDERS) -> None:
    """The shop's database."""
    runpy.run_path(str(ROOT / "examples" / "shop.py"))["build"](path, customers, orders)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the shop's policy and database."""
    folder = tmp_path_factory.mktemp("shop")
    shutil.copy(ROOT / "policies" / "shop.yaml", folder)
    build(folder / "shop.duckdb")
    return folder


@pytest.fixture(scope="module")
def proxy(folder: Path) -> Iterator[Proxy]:
    """The shop without noise."""
    with dpsql.testing.open(folder / "shop.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy


def truth(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """What the source itself says."""
    with duckdb.connect(str(folder / "shop.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_a_second_build_is_identical(tmp_path: Path) -> None:
    contents = []
    for name in ("a.duckdb", "b.duckdb"):
        build(tmp_path / name, 50, 200)
        with duckdb.connect(str(tmp_path / name), read_only=True) as connection:
            tables = ("products", "customers", "orders", "lineitems")
            contents.append([connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables])
    assert contents[0] == contents[1]
    assert [len(rows) for rows in contents[0]][:3] == [12, 50, 200]


def test_a_shop_of_nobody_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give at least 1 and 0"):
        build(tmp_path / "shop.duckdb", customers=0)


def test_the_shop_breaks_the_promises_that_it_says_it_breaks(folder: Path) -> None:
    findings = check(load_policy(folder / "shop.yaml"))
    found = {(finding.table, finding.column, finding.what.split(".")[0]) for finding in findings}
    for broken in [
        ("orders", "customer_id", "rows have no unit"),
        ("orders", "customer_id", "units have more than rows_per_unit: 10 rows"),
        ("orders", "order_id", "rows share their key with another unit"),
        ("lineitems", "order_id", "rows refer to a row of orders that is not there, or has no unit"),
        ("lineitems", "order_id", "rows belong to several units through orders"),
        ("lineitems", "price", "values are outside the bounds"),
    ]:
        assert broken in found


def test_keys_are_for_joins_and_no_answer(proxy: Proxy) -> None:
    tables = proxy._backend.catalog.tables
    links = {
        name: {column.name: "unit" if column.unit else column.link for column in table.columns.values()}
        for name, table in tables.items()
        if not table.public
    }
    assert {name: {key: link for key, link in found.items() if link} for name, found in links.items()} == {
        "customers": {"customer_id": "unit"},
        "orders": {"customer_id": "unit", "order_id": "orders.order_id"},
        "lineitems": {"customer_id": "unit", "order_id": "orders.order_id", "item_id": "lineitems.item_id"},
    }
    assert tables["lineitems"].unit == "customer_id"
    described = {row[0]: row[1] for row in proxy.session(analyst="ana").describe("lineitems").rows}
    assert (described["customer_id"], described["order_id"], described["price"]) == ("privacy unit", "key", "real")


def test_items_are_counted_for_the_customers_of_their_orders(folder: Path, proxy: Proxy) -> None:
    answer = proxy.session(analyst="ana").query(
        "SELECT product, COUNT(*) AS n FROM lineitems GROUP BY product", epsilon=0.1, mechanism="laplace"
    )
    (owned,) = truth(
        folder,
        "SELECT sum(least(n, 40)) FROM (SELECT customer_id, count(*) AS n FROM lineitems JOIN (SELECT DISTINCT "
        "order_id, customer_id FROM orders WHERE customer_id IS NOT NULL) USING (order_id) GROUP BY customer_id)",
    )
    assert sum(row[1] for row in answer.rows) == owned[0]
    assert {row[0] for row in answer.rows} == {name for (name,) in truth(folder, "SELECT name FROM products")}


def test_a_query_that_the_engine_cannot_take_costs_nothing(folder: Path, proxy: Proxy) -> None:
    class Broken:
        """An engine whose worker does not start."""

        version = proxy._backend.engine.version
        public = proxy._backend.engine.public
        dialect = proxy._backend.engine.dialect

        def verify(self, statement: object) -> None:
            raise OperationalError("The engine is not ready.")

        def stand(self) -> None:
            raise OperationalError("The engine is not ready.")

        def run(self, statement: object) -> Any:
            raise AssertionError("it was asked all the same")

        def run_all(self, statements: object) -> Any:
            raise AssertionError("it was asked all the same")

        def close(self) -> None:
            """Nothing to close."""

    engine: Engine = Broken()
    session = proxy.session(analyst="ana")
    spent = session.budget().spent
    broken = Session(replace(proxy._backend, engine=engine), "ana")
    with pytest.raises(OperationalError, match="not ready"):
        broken.query("SELECT COUNT(*) FROM orders WHERE shipping > 7", epsilon=0.1)
    with pytest.raises(OperationalError, match="not ready"):  # and not that too much was asked
        broken.query("SELECT COUNT(*) FROM products")
    assert session.budget().spent == spent
