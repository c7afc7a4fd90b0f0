"""A made-up shop in a DuckDB file: products (public), customers, their orders, and the items of each order.

    python examples/shop.py [PATH] [--customers N] [--orders N]

The same arguments give the same rows, whatever the machine's number of threads: every "random" number is a hash of
the row's number. Nobody in it is real.

An item names its order, and the order its customer: policies/shop.yaml says so with `unit: {via: orders, on:
order_id}`. As real data do, they break some promises: orders of nobody, items of no order, numbers of orders that two
customers share, prices above 500, and customers with more than 10 orders. `dpsql check` finds them, and the proxy's
answers stay private all the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

__all__ = ["build"]

# hashed(row, salt) is 128 bits; u(bits, k) is the k-th number between 0 and 1 in it, k from 0 to 3.
_MACROS = """
CREATE TEMP MACRO hashed(i, salt) AS md5_number(salt || i::VARCHAR);
CREATE TEMP MACRO u(bits, k) AS (((bits >> (32 * k)::UHUGEINT) & 4294967295)::DOUBLE + 0.5) / 4294967296;
"""

_PRODUCTS = """
CREATE TABLE products AS
SELECT name, category, list_price::DECIMAL(9, 2) AS list_price
FROM (VALUES ('pen', 'paper', 2.5), ('notebook', 'paper', 4), ('folder', 'paper', 3), ('stapler', 'tools', 12),
             ('scissors', 'tools', 9), ('lamp', 'furniture', 45), ('chair', 'furniture', 160),
             ('desk', 'furniture', 320), ('keyboard', 'devices', 55), ('mouse', 'devices', 25),
             ('screen', 'devices', 210), ('cable', 'devices', 8)) AS known(name, category, list_price)
ORDER BY name
"""

_CUSTOMERS = """
CREATE TABLE customers AS
WITH drawn AS (SELECT i AS customer_id, hashed(i, 'customer') AS a FROM range(1, $customers + 1) AS numbers(i))
SELECT customer_id,
       ['north', 'east', 'south', 'west'][1 + floor(4 * pow(u(a, 0), 1.3))::INTEGER] AS region,
       ['household', 'office', 'school'][1 + floor(3 * pow(u(a, 1), 2))::INTEGER] AS segment,
       1935 + floor(72 * u(a, 2))::INTEGER AS born
FROM drawn ORDER BY customer_id
"""

# A customer of rank r among n orders in proportion to (r/n)^(-1/3): a few far more often than the rest.
_ORDERS = """
CREATE TABLE orders AS
WITH drawn AS (SELECT i, hashed(i, 'order') AS a, hashed(i, 'sale') AS b FROM range(1, $orders + 1) AS numbers(i))
SELECT CASE WHEN u(b, 3) < 0.0005 THEN greatest(i - 1, 1) ELSE i END AS order_id,      -- a number given twice
       CASE WHEN u(a, 1) >= 0.001 THEN 1 + floor($customers * pow(u(a, 0), 1.5))::BIGINT END AS customer_id,
       DATE '2023-01-01' + floor(1096 * u(a, 2))::INTEGER AS ordered_on,
       ['web', 'phone', 'store'][1 + floor(3 * pow(u(a, 3), 2))::INTEGER] AS channel,
       CASE WHEN u(b, 0) < 0.3 THEN 0 ELSE round(3 + 20 * pow(u(b, 1), 3), 2) END::DECIMAL(9, 2) AS shipping
FROM drawn ORDER BY i
"""

# Every order has one to four items; one item in five hundred names an order that is not there.
_LINEITEMS = """
CREATE TABLE lineitems AS
WITH drawn AS (
    SELECT 10 * i + j AS item_id, i, hashed(10 * i + j, 'item') AS a, hashed(10 * i + j, 'piece') AS b
    FROM range(1, $orders + 1) AS numbers(i), range(1, 5) AS places(j)
    WHERE j <= 1 + floor(4 * pow(u(hashed(i, 'items'), 0), 1.6))
), chosen AS (
    SELECT *, 1 + floor((SELECT count(*) FROM products) * u(a, 0))::INTEGER AS choice FROM drawn
)
SELECT item_id,
       CASE WHEN u(b, 0) < 0.002 THEN -i ELSE i END AS order_id,
       p.name AS product,
       1 + floor(12 * pow(u(a, 1), 4))::INTEGER AS quantity,
       (list_price * (CASE WHEN u(a, 3) < 0.002 THEN 4 ELSE 0.8 + 0.3 * u(a, 2) END))::DECIMAL(9, 2) AS price,
       u(b, 1) < 0.06 AS returned
FROM chosen JOIN (SELECT *, row_number() OVER (ORDER BY name) AS choice FROM products) AS p USING (choice)
ORDER BY item_id
"""


def build(path: str | Path, customers: int = 20_000, orders: int = 60_000) -> None:
    """Writes the database, in place of any that is there.

    Args:
        path: The DuckDB file.
        customers: Rows of ``customers``, >= 1.
        orders: Rows of ``orders``, >= 0; ``lineitems`` has about two and a half times as many.

    Raises:
        ValueError: If there are no customers, or fewer than no orders.
    """
    if customers < 1 or orders < 0:
        raise ValueError(f"a shop of {customers} customers and {orders} orders; give at least 1 and 0")
    finished = Path(path)
    started = finished.with_name(finished.name + ".part")
    started.unlink(missing_ok=True)
    with duckdb.connect(str(started)) as connection:
        connection.execute(_MACROS)
        connection.execute(_PRODUCTS)
        connection.execute(_CUSTOMERS, {"customers": customers})
        connection.execute(_ORDERS, {"customers": customers, "orders": orders})
        connection.execute(_LINEITEMS, {"orders": orders})
    started.replace(finished)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Makes a shop's database, the same one every time.")
    arguments.add_argument("path", nargs="?", default="shop.duckdb", metavar="PATH")
    arguments.add_argument("--customers", type=int, default=20_000, metavar="N")
    arguments.add_argument("--orders", type=int, default=60_000, metavar="N")
    chosen = arguments.parse_args()
    build(chosen.path, chosen.customers, chosen.orders)
    print(f"{chosen.path}: {chosen.customers:,} customers, {chosen.orders:,} orders")
