"""A row is found to be its unit's through a chain of keys: of every owner, of nobody else, whatever others own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsql.engine.database import SourceTable
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.duckdb.types import source_type
from dpsql.errors import PolicyError
from dpsql.owner.building.bounded import identity
from dpsql.owner.building.views import build_tables
from dpsql.owner.shape import Shape, TableShape, shape_of
from dpsql.plan import catalog
from tests.connected import fill
from tests.unit.owner.clinic import policy

Row = tuple[Any, ...]
NUMBER = st.one_of(st.none(), st.integers(0, 4))
ORDERS = st.lists(st.tuples(NUMBER, NUMBER, st.integers(0, 9)), max_size=12)  # order_id, customer, cost
ITEMS = st.lists(st.tuples(NUMBER, NUMBER, st.integers(0, 9)), max_size=12)  # item_id, order_no, price
RETURNS = st.lists(st.tuples(NUMBER, st.integers(0, 9)), max_size=12)  # item_no, weight
WHOLE = {"type": "integer", "bounds": [0, 9]}
CAP = 2
CAPPED = {"rows_per_unit": CAP}


def shop(**changes: Any) -> Shape:
    """Orders with a unit, items of orders, returns of items; no table is capped unless a change says so."""
    tables: dict[str, Any] = {
        "orders": {"unit": "customer", "key": "order_id", "rows_per_unit": 999, "columns": {"cost": WHOLE}},
        "items": {
            "unit": {"via": "orders", "on": "order_no"},
            "key": "item_id",
            "rows_per_unit": 999,
            "columns": {"price": WHOLE},
        },
        "returns": {"unit": {"via": "items", "on": "item_no"}, "rows_per_unit": 999, "columns": {"weight": WHOLE}},
    }
    tables = {name: table | changes.get(name, {}) for name, table in tables.items()}
    built = policy(Path("/nowhere"))
    built = type(built).model_validate(built.model_dump(exclude={"tables"}) | {"tables": tables})
    return Shape("duckdb", {}, shape_of(built).tables)


SOURCE = {
    "orders": "order_id BIGINT, customer INTEGER, cost INTEGER",
    "items": "item_id INTEGER, order_no INTEGER, price INTEGER",
    "returns": "item_no BIGINT, weight INTEGER",
}


def views(
    engine: duckdb.DuckDBPyConnection, shape: Shape, types: dict[str, str] = SOURCE, **rows: list[Row]
) -> dict[str, list[Row]]:
    """The rows of every bounded table that is built from these, sorted."""
    built = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'bounded'"
    for (name,) in engine.execute(built).fetchall():
        engine.execute(f'DROP TABLE bounded.main."{name}"')
    for name, columns in types.items():
        engine.execute(f"CREATE OR REPLACE TABLE source.main.{name} ({columns})")
        fill(engine, f"source.main.{name}", rows.get(name, ()))
    build_tables(DuckDBDatabase(engine, "the key"), shape, lambda *_: None)
    said = f"SELECT COLUMNS(lambda name: name NOT IN ('{catalog.RANK}', '{catalog.NUMBER}', '{catalog.ROW}'))"
    return {
        table.name: engine.execute(f"{said} FROM bounded.main.{table.name} ORDER BY ALL").fetchall()
        for table in shape.tables
    }


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(orders=ORDERS, items=ITEMS, returns=RETURNS)
def test_every_row_is_once_in_the_view_for_each_of_its_owners(
    engine: duckdb.DuckDBPyConnection, orders: list[Row], items: list[Row], returns: list[Row]
) -> None:
    got = views(engine, shop(), orders=orders, items=items, returns=returns)
    of_order = {(order, customer) for order, customer, _ in orders if order is not None and customer is not None}
    owned = [(customer, *item) for item in items for order, customer in of_order if item[1] == order]
    of_item = {(item, customer) for customer, item, _, _ in owned if item is not None}
    expected = [(customer, *row) for row in returns for item, customer in of_item if row[0] == item]
    assert Counter(got["returns"]) == Counter(expected)
    keys = {(customer, item) for customer, item, *_ in owned if item is not None}
    assert Counter((customer, item) for customer, _, item, _ in got["items"]) == Counter(keys)
    assert {(customer, item, order, price) for customer, order, item, price in got["items"]} <= set(owned)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(orders=ORDERS, items=ITEMS, returns=RETURNS, unit=st.integers(0, 4))
def test_removing_a_unit_changes_no_other_units_rows_even_where_keys_are_shared(
    engine: duckdb.DuckDBPyConnection, orders: list[Row], items: list[Row], returns: list[Row], unit: int
) -> None:
    shape = shop(orders=CAPPED, items=CAPPED, returns=CAPPED)
    whole = views(engine, shape, orders=orders, items=items, returns=returns)
    rest = views(engine, shape, orders=[row for row in orders if row[1] != unit], items=items, returns=returns)
    assert rest == {name: [row for row in rows if row[0] != unit] for name, rows in whole.items()}
    assert all(count <= CAP for rows in whole.values() for count in Counter(row[0] for row in rows).values())


def test_a_row_of_two_owners_is_each_ones_own_and_a_row_of_none_is_nowhere(engine: duckdb.DuckDBPyConnection) -> None:
    got = views(engine, shop(), orders=[(1, 7, 0), (1, 8, 0), (2, None, 0)], items=[(5, 1, 3), (6, 2, 3), (7, 9, 3)])
    assert got["items"] == [(7, 1, 5, 3), (8, 1, 5, 3)]


def test_rows_above_the_targets_cap_still_own_what_refers_to_them(engine: duckdb.DuckDBPyConnection) -> None:
    orders = [(number, 1, 0) for number in range(5)]
    got = views(engine, shop(orders={"rows_per_unit": 1}), orders=orders, items=[(n, n, 0) for n in range(5)])
    assert (len(got["orders"]), len(got["items"])) == (1, 5)


def test_a_reference_to_the_unit_itself_asks_that_the_unit_be_there(engine: duckdb.DuckDBPyConnection) -> None:
    shape = shop(orders={"key": "customer"})
    got = views(engine, shape, orders=[(1, 7, 0)], items=[(5, 7, 3), (6, 8, 3)])
    assert got["items"] == [(7, 7, 5, 3)]
    assert shape.table("items").identities == {"order_no": None, "item_id": "items.item_id"}


def test_a_declared_key_or_reference_keeps_its_declared_values(engine: duckdb.DuckDBPyConnection) -> None:
    declared = {"order_no": WHOLE, "price": WHOLE}
    got = views(engine, shop(items={"columns": declared, "key": None}, returns={"unit": "item_no"}),
                orders=[(77, 1, 0)], items=[(5, 77, 3)])  # fmt: skip
    assert got["items"] == [(1, 9, 3)]  # 77 found its owner, and then was moved to the bound


def test_keys_are_text_on_both_sides_where_the_sources_differ(engine: duckdb.DuckDBPyConnection) -> None:
    types = SOURCE | {"items": "item_id INTEGER, order_no VARCHAR, price INTEGER"}
    got = views(engine, shop(), types, orders=[(1, 7, 0)], items=[(5, "1", 3), (6, "01", 3)])
    assert got["orders"] == [(7, "1", 0)]
    assert got["items"] == [(7, "1", 5, 3)]


@pytest.mark.parametrize("wide", ["UBIGINT", "HUGEINT", "UHUGEINT"])
def test_whole_numbers_beyond_64_bits_are_people_of_their_own(engine: duckdb.DuckDBPyConnection, wide: str) -> None:
    far, farther = 2**63, 2**64 - 1
    types = {
        "orders": f"order_id {wide}, customer {wide}, cost INTEGER",
        "items": f"item_id BIGINT, order_no {wide}, price INTEGER",
        "returns": "item_no BIGINT, weight INTEGER",
    }
    orders = [(far, far, 0), (farther, farther, 1), (3, 3, 2)]
    got = views(engine, shop(), types, orders=orders, items=[(5, far, 3), (6, farther, 4), (7, 3, 5)], returns=[(5, 2)])
    assert got["orders"] == [
        (str(own), str(key), cost) for key, own, cost in sorted(orders, key=lambda row: str(row[0]))
    ]
    owned = [(str(far), str(far), 5, 3), (str(farther), str(farther), 6, 4), ("3", "3", 7, 5)]
    assert got["items"] == sorted(owned)
    assert got["returns"] == [(str(far), 5, 2)]


def test_a_wide_number_is_who_the_same_number_of_64_bits_is(engine: duckdb.DuckDBPyConnection) -> None:
    types = SOURCE | {"items": "item_id INTEGER, order_no UBIGINT, price INTEGER"}
    got = views(engine, shop(), types, orders=[(1, 7, 0)], items=[(5, 1, 3), (6, 2**63, 3)])
    assert got["items"] == [(7, "1", 5, 3)]


def test_a_file_without_types_refers_as_the_keys_are(engine: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    file.write_text("item_id,order_no,price\n5,1,3\n6,one,3\n")
    got = views(engine, shop(items={"source": file}), orders=[(1, 7, 0)], returns=[(5, 2)])
    assert got["items"] == [(7, 1, 5, 3)]
    assert got["returns"] == [(7, 5, 2)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"items": {"unit": {"via": "orders", "on": "lost"}}}, r"items\.lost is in the policy but not in the data"),
        ({"orders": {"key": "lost"}}, r"orders\.lost is in the policy but not in the data"),
        ({"orders": {"unit": "lost"}}, r"orders\.lost is in the policy but not in the data"),
    ],
)
def test_a_chain_that_the_data_do_not_have_is_named(
    engine: duckdb.DuckDBPyConnection, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(PolicyError, match=message):
        views(engine, shop(**changes))


def test_the_shape_survives_its_journey_and_a_changed_chain_is_another() -> None:
    assert Shape.received(shop().message()) == shop()
    assert shop().digest != shop(returns={"unit": {"via": "orders", "on": "item_no"}}).digest


@pytest.mark.parametrize(("kind", "names"), [("DECIMAL(10,2)", False), ("DECIMAL(18,0)", True), ("BIGINT", True)])
def test_a_decimal_with_places_names_nobody(kind: str, names: bool) -> None:
    # As texts 1.0 and 1.00 would be two people.
    table = TableShape("visits", None, False, "patient", None, 1, (), identities={"patient": None})
    source = SourceTable("visits", {"patient": source_type(kind)}, True, DUCKDB)
    if names:
        assert "TRY_CAST" in identity(table, "patient", source, integer=False)
    else:
        with pytest.raises(PolicyError, match="Make it an integer, a UUID or a text"):
            identity(table, "patient", source, integer=False)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("VARCHAR COLLATE NOCASE", "holds VARCHAR whose values can be equal .* decode\\(encode\\(lower\\(x\\)\\)\\)"),
        ("VARCHAR COLLATE NOACCENT", "one person would be several"),
        ("VARCHAR COLLATE NFC", "one person would be several"),
        ("VARCHAR COLLATE de", "one person would be several"),
        ("INTERVAL", "holds INTERVAL whose values .* Write epoch_us"),
        ("TIMETZ", "an integer or a text of it"),
    ],
)
@pytest.mark.parametrize("place", ["unit", "key", "reference"])
def test_what_the_database_takes_for_equal_in_several_texts_names_nobody(
    engine: duckdb.DuckDBPyConnection, kind: str, told: str, place: str
) -> None:
    """Where the database says that ann and Ann are one, they must not count for two."""
    held = {"unit": "customer INTEGER", "key": "order_id BIGINT", "reference": "order_no INTEGER"}[place]
    types = {name: columns.replace(held, f"{held.split()[0]} {kind}") for name, columns in SOURCE.items()}
    with pytest.raises(PolicyError, match=told):
        views(engine, shop(), types)
    views(engine, shop())


def test_one_form_in_a_view_names_somebody(engine: duckdb.DuckDBPyConnection) -> None:
    engine.execute(
        "CREATE OR REPLACE TABLE source.main.held (order_id BIGINT, person VARCHAR COLLATE NOCASE, cost INTEGER)"
    )
    engine.execute("INSERT INTO source.main.held VALUES (1, 'ann', 5), (2, 'Ann', 5)")
    engine.execute("DROP TABLE IF EXISTS source.main.orders")
    form = "decode(encode(lower(person))) AS customer"
    engine.execute(f"CREATE VIEW source.main.orders AS SELECT order_id, {form}, cost FROM source.main.held")
    try:
        rows = views(engine, shop(), {name: SOURCE[name] for name in ("items", "returns")})["orders"]
        assert {row[0] for row in rows} == {"ann"}
    finally:
        engine.execute("DROP VIEW source.main.orders")
