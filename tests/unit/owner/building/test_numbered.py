"""Numbers beside the rows of a bounded table say what its units and listed values say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.owner.building.bounded import wire_of
from dpsql.owner.building.numbered import MOST_COMPARED, listed_place
from dpsql.owner.shape import MOST_PLACED, ColumnShape
from tests.connected import connected
from tests.unit.engine.test_sized import ORDERS
from tests.unit.mechanisms.shop import policy, sessions

PLAIN = replace(DUCKDB, spellings={name: own for name, own in DUCKDB.spellings.items() if name != "place_among"})
"""DuckDB as an engine that finds no value in a list."""


@pytest.mark.parametrize("unit", ["(i * 7919 + 5) % 301 - 100", "['', 'é', 'Z', 'a', '😀'][1 + i % 5] || (i % 7)"])
def test_units_are_numbered_in_their_order_and_values_by_their_places(tmp_path: Path, unit: str) -> None:
    made = (
        f"CREATE TABLE orders AS SELECT {unit} AS customer, ['N', 'S', 'E', NULL, 'X'][1 + i % 5] AS region, "
        "i / 4 AS amount, i % 5 <> 0 AS paid, 1 + i % 12 AS month, DATE '2024-01-01' AS placed FROM range(900) AS t(i)"
    )
    for session in sessions(tmp_path, made, policy(ORDERS)):
        file = session._backend.engine._workers.workers[0]._options["database"]  # type: ignore[attr-defined]  # DuckDB's
        with connected(file, read_only=True) as bounded:
            for table in ("orders", "orders$totals", "orders$cells"):
                rows = bounded.execute(f'SELECT customer, "$number" FROM "{table}"').fetchall()
                order = {
                    customer: number for number, customer in enumerate(sorted({own for own, _ in rows}, key=_bytes))
                }
                assert [number for _, number in rows] == [order[own] for own, _ in rows]
                assert [number for _, number in rows] == sorted(number for _, number in rows)
            for table in ("orders", "orders$cells"):
                places = bounded.execute(f'SELECT DISTINCT region, "region$place" FROM "{table}"').fetchall()
                assert set(places) == {("E", 0), ("N", 1), ("S", 2), (None, 3)}


def _bytes(own: int | str) -> int | bytes:
    return own.encode() if isinstance(own, str) else own


def test_only_short_lists_have_places() -> None:
    assert ColumnShape("a", "text", values=("b", "a")).places == ("a", "b")
    assert ColumnShape("a", "integer", values=tuple(range(MOST_PLACED))).places == tuple(range(MOST_PLACED))
    assert ColumnShape("a", "integer", values=tuple(range(MOST_PLACED + 1))).places == ()
    assert ColumnShape("a", "text").places == ()


@pytest.mark.every(3)
@pytest.mark.parametrize("many", [1, MOST_COMPARED, MOST_COMPARED + 1, MOST_PLACED])
@pytest.mark.parametrize("kind", ["text", "integer", "date"])
def test_a_value_has_its_place_in_a_list_however_long(many: int, kind: str) -> None:
    made: dict[str, Callable[[int], Any]] = {
        "text": lambda i: f"it's {i}",
        "integer": lambda i: 7 * i - 50,
        "date": lambda i: date(2024, 2, 27) + timedelta(days=i),
    }
    values = [made[kind](i) for i in range(many)]
    column = ColumnShape("a", kind, values=tuple(reversed(values)))
    places = list(column.places)
    assert sorted(values) == places
    rows = f"FROM (SELECT CAST($1 AS {wire_of(column)}) AS v)"
    with connected() as connection:
        for value in (*values, made[kind](many), None):
            expected = places.index(value) if value in places else many
            for words in (DUCKDB, PLAIN):
                sql = f"SELECT {listed_place(column, 'v', words)} {rows}"
                assert connection.execute(sql, [value]).fetchall() == [(expected,)]
