"""How many rows have each value: which columns are counted says the policy, and what is stored the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.owner.building.by_size import sizes_of_rows
from dpsql.owner.building.totals import stored_totals
from dpsql.owner.building.value_counts import stored_counts
from dpsql.owner.shape import shape_of
from dpsql.plan.catalog import StoredCounts
from dpsql.policy import load_policy
from tests.unit.owner.shop import bounded_tables, made_shop

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  orders:
    unit: customer
    rows_per_unit: 60
    rows_about: 1000
    columns:
      amount: {type: decimal, bounds: [-10, 10], grid: 0.1, nullable: true}
      level: {type: integer, bounds: [0, 249]}
      many: {type: integer, bounds: [0, 2097152]}
      free: {type: integer}
      noted: {type: text}
  people:
    unit: customer
    rows_per_unit: 1
    columns: {name: {type: text}}
"""
ROWS = (
    "SELECT i % 7 AS customer, CASE WHEN i % 5 > 0 THEN i / 9 - 11 END AS amount, i % 300 AS level, i AS many, "
    "i AS free, 'x' AS noted FROM range(200) AS t(i)"
)
PEOPLE = "SELECT i AS customer, 'x' AS name FROM range(7) AS t(i)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_shop(tmp_path_factory.mktemp("counts"), TABLES, {"orders": ROWS, "people": PEOPLE})


@pytest.fixture(scope="module")
def bounded(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with bounded_tables(folder) as connection:
        yield connection


def test_columns_of_few_values_beside_the_rows_are_counted(folder: Path) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml"))
    assert stored_counts(shape.table("orders")) == StoredCounts("orders$counts", ("amount", "level"))
    assert stored_counts(shape.table("people")) is None


@pytest.mark.parametrize("name", ["orders", "people"])
def test_what_is_stored_follows_from_what_asks_for_a_refresh_when_it_changes(folder: Path, name: str) -> None:
    """Statements go by the policy of today, and the version may be older: else they would read other columns."""
    shape = shape_of(load_policy(folder / "shop.yaml"))
    table = shape.table(name)
    guesses: dict[str, Any] = {"rows_about": 10**9, "rows_at_least": 10**7, "min_units": 50, "units_at_least": 10**6}
    others = [replace(table, **{field: value}) for field, value in {**guesses, "rows_about": 1}.items()]
    others += [replace(table, **guesses)]
    others += [replace(table, columns=tuple(replace(own, nullable=not own.nullable) for own in table.columns))]
    for other in others:
        assert replace(shape, tables=(other,)).digest == replace(shape, tables=(table,)).digest
        assert (stored_totals(other), sizes_of_rows(other), stored_counts(other)) == (
            stored_totals(table),
            sizes_of_rows(table),
            stored_counts(table),
        )


@pytest.mark.parametrize(("of", "column"), [(0, "amount$grid"), (1, "level")])
def test_each_value_is_stored_with_its_rows_in_order(bounded: duckdb.DuckDBPyConnection, of: int, column: str) -> None:
    known = bounded.execute(f'SELECT "{column}" FROM orders WHERE "{column}" IS NOT NULL').fetchall()
    stored = bounded.execute(f'SELECT "$value", "$rows" FROM "orders$counts" WHERE "$of" = {of}').fetchall()
    assert stored == sorted(Counter(value for (value,) in known).items())
