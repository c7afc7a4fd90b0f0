"""What is stored of each unit beside its rows: what the rows add up to, of what the policy says and nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.owner.building.by_size import sizes_by_day, sizes_of_rows
from dpsql.owner.building.totals import stored_totals
from dpsql.owner.shape import ColumnShape, shape_of
from dpsql.plan.catalog import StoredSizes, StoredTotals
from dpsql.policy import load_policy
from tests.unit.owner.shop import bounded_tables, made_shop

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
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
      placed: {type: date, bounds: [2024-02-26, 2024-03-20], nullable: true}
      due: {type: date}
      listed: {type: date, values: [2024-01-01, 2024-01-02]}
      later: {type: date, bounds: [1900-01-01, 2024-03-20]}
  logins:
    unit: customer
    rows_per_unit: 60
    columns:
      placed: {type: date, bounds: [2024-02-26, 2024-03-20]}
  people:
    unit: customer
    rows_per_unit: 1
    columns:
      age: {type: integer, bounds: [0, 120]}
      debt: {type: real, bounds: [-100, 100], grid: 0.1, nullable: true}
      sex: {type: text, values: [M, F], nullable: true}
"""
ROWS = (
    "SELECT i % 7 AS customer, ['N', 'S', 'X'][1 + i % 3] AS region, i % 4 = 0 AS paid, ['a', 'b'][1 + i % 2] AS kind, "
    "CASE WHEN i % 5 > 0 THEN i / 8 - 5 END AS amount, i % 9 - 2 AS level, i AS free, i % 4 AS grade, 'x' AS noted, "
    "CASE WHEN i % 10 > 0 THEN DATE '2024-02-25' + (i % 27)::INTEGER END AS placed, "
    "DATE '2024-01-01' AS due, due AS listed, due AS later "
    "FROM range(200) AS t(i)"
)
PEOPLE = (
    "SELECT i AS customer, i % 121 AS age, ['F', 'M', NULL][1 + i % 3] AS sex, "
    "CASE WHEN i % 6 > 0 THEN i / 3 - 40 END AS debt FROM range(300) AS t(i)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_shop(tmp_path_factory.mktemp("totals"), TABLES, {"orders": ROWS, "logins": ROWS, "people": PEOPLE})


@pytest.fixture(scope="module")
def bounded(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with bounded_tables(folder) as connection:
        yield connection


def test_what_is_stored_follows_from_the_policy(folder: Path) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml"))
    summed = ("amount", "level")  # not what has no bounds, of which a unit's sum has none; not what is listed
    by_unit, by_cell = stored_totals(shape.table("orders"))
    assert replace(by_unit, sizes=None) == StoredTotals("orders$totals", (), summed)
    cells = StoredTotals("orders$cells", ("region", "paid"), summed)  # 9 of them, and kind would make it 72
    assert replace(by_cell, sizes=None) == cells
    assert stored_totals(shape.table("people")) == ()


def test_what_is_stored_by_size_follows_from_the_policy(folder: Path) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml"))
    by_unit, by_cell = (totals.sizes for totals in stored_totals(shape.table("orders")))
    assert by_unit is not None
    assert by_cell is not None
    names = ["$rows", "amount$count", "amount$sum", "level$count", "level$sum"]
    assert (by_unit.name, by_unit.keys, [name for name, _ in by_unit.kinds]) == ("orders$totals$sizes", (), names)
    keys = (("region", ("N", "S")), ("paid", (False, True)))
    assert (by_cell.name, by_cell.keys, by_cell.kinds) == ("orders$cells$sizes", keys, by_unit.kinds)
    assert dict(by_unit.kinds)["level$sum"][:2] == (0, 60 * 5)
    assert sizes_of_rows(shape.table("orders")) is None
    people = sizes_of_rows(shape.table("people"))
    assert people is not None
    assert (people.name, people.keys) == ("people$sizes", (("sex", ("F", "M")),))
    assert [(name, low, high) for name, (low, high, _) in people.kinds] == [("age", 0, 120), ("debt", -1000, 1000)]


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


def by_size(
    found: dict[tuple[Any, ...], dict[tuple[int, ...], int]], edges: tuple[int, ...]
) -> dict[tuple[Any, ...], list[int]]:
    """Of each cell and bin: how many units, the signs of their totals, and the sum of all totals.

    Args:
        found: Of each unit its totals, by the places of its cells.
        edges: Of the bins.
    """
    numbers = defaultdict[tuple[Any, ...], list[int]](lambda: [0, 0, 0])
    for cells in found.values():
        some = {cell: total for cell, total in cells.items() if total}
        bin_ = bisect_left(edges, sum(map(abs, some.values())))
        for cell, total in some.items():
            numbers[(*cell, bin_)][2] += total
        if some:
            first = min(some)
            numbers[(*first, bin_)][0] += 1
            numbers[(*first, bin_)][1] += 1 if some[first] > 0 else -1
    return dict(numbers)


def places(shape: Any) -> Any:
    """The place of a value in the list of a column; NULL is behind all."""
    listed = {column.name: (False, True) if column.type == "boolean" else column.places for column in shape.columns}
    return lambda name, value: len(listed[name]) if value is None else listed[name].index(value)


@pytest.mark.parametrize("at", [0, 1], ids=["in all", "by cell"])
def test_what_is_stored_by_size_is_what_the_units_add_up_to(
    folder: Path, bounded: duckdb.DuckDBPyConnection, at: int
) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml")).table("orders")
    totals = stored_totals(shape)[at]
    assert totals.sizes is not None
    place = places(shape)
    for of, (name, (_, _, edges)) in enumerate(totals.sizes.kinds):
        found = defaultdict[tuple[Any, ...], dict[tuple[int, ...], int]](dict)
        shown = ", ".join(["customer", *totals.keys, f'"{name}"'])
        for unit, *cell, total in bounded.execute(f'SELECT {shown} FROM "{totals.name}"').fetchall():
            own = tuple(place(key, value) for key, value in zip(totals.keys, cell, strict=True))
            found[(unit,)][own] = total or 0
        assert read(bounded, totals.sizes, of) == by_size(found, edges)
    by = ", ".join(totals.keys) or "true"
    cells = bounded.execute(f'SELECT {by}, count(*) FROM "{totals.name}" GROUP BY {by}').fetchall()
    held = {tuple(map(place, totals.keys, cell)): many for *cell, many in cells}
    units = read(bounded, totals.sizes, len(totals.sizes.kinds))
    assert units == {(*cell, 0): [0, 0, many] for cell, many in held.items()}


def test_what_is_stored_by_day_is_what_the_rows_add_up_to(folder: Path, bounded: duckdb.DuckDBPyConnection) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml")).table("orders")
    (stored,) = sizes_by_day(shape)  # not of days without bounds, in a list, or of a hundred years
    ((name, days),) = stored.keys
    assert (stored.name, name, days[0], days[-1], len(days)) == (
        "orders$days$placed",
        "placed",
        date(2024, 2, 26),
        date(2024, 3, 20),
        24,
    )
    assert [own for own, _ in stored.kinds] == ["$rows", "level$sum"]  # amounts have two signs
    assert stored.plain == ("level$count",)
    for of, added in enumerate(["1", "level", "CASE WHEN level IS NULL THEN 0 ELSE 1 END"]):
        found = defaultdict[tuple[Any, ...], dict[tuple[int, ...], int]](lambda: defaultdict(int))
        for unit, day, value in bounded.execute(f"SELECT customer, placed, {added} FROM orders").fetchall():
            found[(unit,)][(len(days) if day is None else days.index(day),)] += value or 0
        edges = stored.kinds[of][1][2] if of < len(stored.kinds) else ()
        expected = by_size(found, edges)
        if of == len(stored.kinds):  # of what is plain nobody is counted
            expected = {cell: [0, 0, total] for cell, (_, _, total) in expected.items()}
        totals = {cell: own[2] for cell, own in read(bounded, stored, of).items() if own[2]}
        assert totals == {cell: own[2] for cell, own in expected.items()}
        units = [
            sum(own[at] for own in numbers.values())
            for numbers in (expected, read(bounded, stored, of))
            for at in (0, 1)
        ]
        assert units[:2] == units[2:]  # in whichever group each is counted
    known = bounded.execute('SELECT DISTINCT "placed$place", placed FROM "orders$days$placed"').fetchall()
    assert all(day == (days[place] if place < len(days) else None) for place, day in known)
    assert len(known) > 20


def test_rows_alone_are_stored_by_day(bounded: duckdb.DuckDBPyConnection) -> None:
    by_day = 'SELECT placed, sum("$total")::BIGINT FROM "logins$days$placed" WHERE "$of" = 0 GROUP BY placed ORDER BY 1'
    rows = "SELECT placed, count(*) FROM logins GROUP BY placed ORDER BY 1"
    assert bounded.execute(by_day).fetchall() == bounded.execute(rows).fetchall()


def test_rows_of_units_that_have_one_are_stored_by_size(folder: Path, bounded: duckdb.DuckDBPyConnection) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml")).table("people")
    stored = sizes_of_rows(shape)
    assert stored is not None
    place = places(shape)
    for of, (column, name) in enumerate([("age", "age"), ("debt", '"debt$grid"')]):
        rows = bounded.execute(f"SELECT customer, sex, {name} FROM people").fetchall()
        found: Any = {(unit,): {(place("sex", sex),): value or 0} for unit, sex, value in rows}
        assert read(bounded, stored, of) == by_size(found, dict(stored.kinds)[column][2])


def test_what_would_have_many_cells_is_not_stored_by_size(folder: Path) -> None:
    shape = shape_of(load_policy(folder / "shop.yaml"))
    listed = tuple(ColumnShape(name, "integer", values=tuple(range(40))) for name in ("a", "b", "c"))
    people, orders = (
        replace(table, columns=(*table.columns, *listed)) for table in map(shape.table, ("people", "orders"))
    )
    stored = sizes_of_rows(people)
    assert stored is not None
    assert [key for key, _ in stored.keys] == ["sex", "a"]  # 3 * 41 cells; b would make them 5,043
    by_unit, by_cell = stored_totals(replace(orders, rows_per_unit=1_000_000))
    assert by_unit.sizes is not None
    assert (len(by_cell.keys) > 2, by_cell.sizes) == (True, None)


def read(bounded: duckdb.DuckDBPyConnection, sizes: StoredSizes, of: int) -> dict[tuple[Any, ...], list[int]]:
    """What is stored of one kind of total: by cell and bin."""
    shown = ", ".join([*(f'"{key}$place"' for key, _ in sizes.keys), '"$bin"', '"$units"', '"$signs"', '"$total"'])
    rows = bounded.execute(f'SELECT {shown} FROM "{sizes.name}" WHERE "$of" = {of}').fetchall()
    found = {row[:-3]: list(row[-3:]) for row in rows}
    assert len(found) == len(rows) > 0
    return found
