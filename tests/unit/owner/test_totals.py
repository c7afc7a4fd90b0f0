"""What is stored of each unit beside its rows: what the rows add up to, of what the policy says and nothing else."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.engine.duckdb import FILE
from dpsql.owner.shape import shape_of
from dpsql.owner.totals import stored_totals
from dpsql.plan.catalog import StoredTotals
from dpsql.policy import load_policy
from dpsql.testing_samplers import Noiseless

pytestmark = pytest.mark.chance(0, "no noise is drawn")

POLICY = """
version: 1
name: shop
engine: {kind: duckdb, database: shop.duckdb}
neighbours: add_remove
budget:
  ledger: shop.ledger.db
  composition: zcdp
  total: {epsilon: 100, delta: 1e-05}
  analysts: {ana: {epsilon: 100, delta: 1e-05}}
  per_query: {epsilon: 1, delta: 1e-09}
tables:
  orders:
    unit: customer
    rows_per_unit: 60
    columns:
      region: {type: text, values: [N, S]}
      paid: {type: boolean}
      kind: {type: text, values: [a, b, c, d, e, f, g]}
      amount: {type: decimal, bounds: [-10, 10], grid: 0.01}
      level: {type: integer, bounds: [0, 5]}
      free: {type: integer}
      grade: {type: integer, values: [1, 2]}
      noted: {type: text}
  people:
    unit: customer
    rows_per_unit: 1
    columns: {age: {type: integer, bounds: [0, 120]}}
"""
ROWS = (
    "SELECT i % 7 AS customer, ['N', 'S', 'X'][1 + i % 3] AS region, i % 4 = 0 AS paid, ['a', 'b'][1 + i % 2] AS kind, "
    "CASE WHEN i % 5 > 0 THEN i / 8 - 5 END AS amount, i % 9 - 2 AS level, i AS free, i % 4 AS grade, 'x' AS noted "
    "FROM range(200) AS t(i)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("totals")
    with duckdb.connect(str(made / "shop.duckdb")) as source:
        source.execute(f"CREATE TABLE orders AS {ROWS}")
        source.execute("CREATE TABLE people AS SELECT i AS customer, 30 + i AS age FROM range(7) AS t(i)")
    (made / "shop.yaml").write_text(POLICY)
    return made


@pytest.fixture(scope="module")
def bounded(folder: Path) -> Any:
    """The bounded tables, as they were built."""
    with dpsql.testing.open(folder / "shop.yaml", Noiseless()) as proxy:
        (file,) = Path(proxy._cache).rglob(FILE)
        yield duckdb.connect(str(file), read_only=True)


def test_what_is_stored_follows_from_the_policy(folder: Path) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml"))
    summed = ("amount", "level")  # not what has no bounds, of which a unit's sum has none; not what is listed
    by_unit, by_cell = stored_totals(shape.table("orders"))
    assert by_unit == StoredTotals("orders$totals", (), summed)
    assert by_cell == StoredTotals("orders$cells", ("region", "paid"), summed)  # 9 cells, and kind would make it 72
    assert stored_totals(shape.table("people")) == ()


@pytest.mark.parametrize("keys", [(), ("region", "paid")], ids=["by unit", "by cell"])
def test_it_is_what_the_rows_add_up_to(bounded: duckdb.DuckDBPyConnection, keys: tuple[str, ...]) -> None:
    by = ", ".join(("customer", *keys))
    found = defaultdict[tuple[Any, ...], list[Any]](lambda: [0, 0, None, 0, None])
    for *cell, amount, level in bounded.execute(f'SELECT {by}, "amount$grid", level FROM orders').fetchall():
        own = found[tuple(cell)]
        own[0] += 1
        for place, value in ((1, amount), (3, level)):
            if value is not None:
                own[place] += 1
                own[place + 1] = (own[place + 1] or 0) + value
    table = "cells" if keys else "totals"
    names = 'COLUMNS(["$rows", "amount$count", "amount$sum", "level$count", "level$sum"])'.replace('"', "'")
    stored = bounded.execute(f'SELECT {by}, {names} FROM "orders${table}"').fetchall()
    width = 1 + len(keys)
    assert {row[:width]: list(row[width:]) for row in stored} == dict(found)
    assert len(stored) == len(found)


def test_units_rise_in_it(bounded: duckdb.DuckDBPyConnection) -> None:
    for table in ("totals", "cells"):
        units = [unit for (unit,) in bounded.execute(f'SELECT customer FROM "orders${table}"').fetchall()]
        assert units == sorted(units)
        assert set(units) == set(range(7))


def test_cells_of_a_unit_rise_by_the_places_of_their_values(bounded: duckdb.DuckDBPyConnection) -> None:
    cells = bounded.execute('SELECT customer, "region$place", paid, region FROM "orders$cells"').fetchall()
    assert [cell[:3] for cell in cells] == sorted(cell[:3] for cell in cells)
    assert {(place, region) for _, place, _, region in cells} == {(0, "N"), (1, "S"), (2, None)}
    assert len(cells) > 7 * 3
