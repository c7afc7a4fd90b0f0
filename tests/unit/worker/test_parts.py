"""A result that is too long to be read whole is read in parts: the same rows, and Python's values where one looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from dpsql.engine.base import EngineStatement
from dpsql.privacy.packed import Packed
from dpsql.privacy.tables import GroupColumns, RawTable
from dpsql.worker import client, columns, wire
from dpsql.worker.client import Worker, WorkerFailed
from tests.unit.worker.conftest import VISITS

CITIES = f"SELECT city, CAST(count(*) AS BIGINT) AS m0 FROM {VISITS}"
COSTS = f"SELECT CAST(cost AS DOUBLE) AS cost, CAST(count(*) AS BIGINT) AS m0 FROM {VISITS}"
FUNCTIONS = frozenset({"count", "hash", "%"})
KEYS = {
    "BIGINT": "CASE WHEN i > 3 THEN i - 5 END",
    "DOUBLE": "CASE WHEN i > 3 THEN (i - 5) / 2 END",
    "VARCHAR": "CASE WHEN i > 3 THEN repeat('ä€x', i % 4) || i END",
    "DATE": "CASE WHEN i > 3 THEN DATE '1960-01-01' + CAST(i * 90 AS INTEGER) END",
    "TIMESTAMP": "CASE WHEN i > 3 THEN TIMESTAMP '1969-12-31 23:59:59.999999' + to_microseconds(i * 77777) END",
    "BOOLEAN": "CASE WHEN i > 3 THEN i % 2 = 0 END",
    "HUGEINT": "CASE WHEN i > 3 THEN CAST(i AS HUGEINT) * 170141183460469231731687303715 END",
}


def cut(sql: str, key: str, wire_type: str, most: int, **more: Any) -> EngineStatement:
    """Rows by a key, of which so many are read at once."""
    grouped, found = f" GROUP BY {key}", ((key, wire_type), ("m0", "BIGINT"))
    parted = (f"{sql} WHERE hash({key}) % ", grouped)
    own = EngineStatement(sql + grouped, (), found, frozenset({"visits"}), FUNCTIONS)
    return replace(own, most_rows=most, parted=parted, **more)


def table(wire_type: str, value: str, first: int, size: int) -> bytes:
    """Some rows as a worker sends them."""
    rows = f"range({first}, {first + size}) AS t(i)"
    return wire.pack(duckdb.sql(f"SELECT CAST({value} AS {wire_type}) AS k FROM {rows}"))


@pytest.mark.every(2)
@pytest.mark.parametrize("wire_type", KEYS)
@pytest.mark.parametrize("first", [0, 4])
@pytest.mark.parametrize("sizes", [(9,), (3, 0, 7), (2, 5000)])
def test_packed_values_are_those_that_are_read(wire_type: str, first: int, sizes: Sequence[int]) -> None:
    starts = [first + sum(sizes[:at]) for at in range(len(sizes))]
    parts = [table(wire_type, KEYS[wire_type], *own) for own in zip(starts, sizes, strict=True)]
    expected = [("k", wire_type)]
    plain = [value for part in parts for value in listed(columns.read(part, expected)["k"])]
    packed = columns.joined([own for part in parts if (own := columns.packed(part, expected, None)) is not None])["k"]
    assert listed(packed) == plain
    assert len(packed) == len(plain)
    some = np.array([len(plain) - 1, 0, 1])
    if isinstance(packed, Packed):
        assert list(packed.at(some)) == [plain[row] for row in some.tolist()]
        assert [packed[0], packed[-1]] == [plain[0], plain[-1]]
        assert packed[1:3] == plain[1:3]
        assert list(packed) == plain
    else:
        assert first == 4 or wire_type == "HUGEINT"
    assert columns.packed(parts[0], expected, sizes[0] - 1) is None
    assert columns.read(parts[0], expected, sizes[0] - 1) is None


@pytest.mark.parametrize("wire_type", KEYS)
@pytest.mark.parametrize("first", [0, 4])
def test_of_exact_results_days_and_moments_alone_are_packed(wire_type: str, first: int) -> None:
    sent, expected = table(wire_type, KEYS[wire_type], first, 9), [("k", wire_type)]
    found = columns.dated(sent, expected, 9)
    assert found is not None
    assert isinstance(found["k"], Packed) == (wire_type in ("DATE", "TIMESTAMP"))
    assert listed(found["k"]) == listed(columns.read(sent, expected)["k"])
    assert columns.dated(sent, expected, 8) is None


def listed(column: Any) -> list[Any]:
    return list(column.tolist() if hasattr(column, "tolist") else column)


@pytest.mark.parametrize(("wire_type", "value"), [("DATE", "'9999-12-31'::DATE + 1"), ("TIMESTAMP", "'infinity'")])
def test_a_day_outside_of_the_calendar_is_seen_at_once(wire_type: str, value: str) -> None:
    with pytest.raises(ValueError, match="outside of the calendar"):
        columns.packed(table(wire_type, value, 0, 1), [("k", wire_type)], None)


def test_the_two_zeros_are_one_in_parts_too() -> None:
    found = columns.packed(table("DOUBLE", "-0.0", 0, 1), [("k", "DOUBLE")], None)
    assert found is not None
    assert str(found["k"][0]) == "0.0"


@pytest.mark.parametrize("most", [1, 3, 6, 7, 1000])
def test_parts_have_the_rows_of_the_whole(worker: Worker, most: int) -> None:
    whole = worker.run(cut(CITIES, "city", "VARCHAR", 1000), deadline=20)
    parts = worker.run(cut(CITIES, "city", "VARCHAR", most), deadline=20)
    assert (
        sorted(pairs(parts))
        == sorted(pairs(whole))
        == sorted((f"city {i}", len(range(i, 10_000, 7))) for i in range(7))
    )
    assert isinstance(parts["city"], Packed) is (most < 7)


def pairs(found: dict[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*map(listed, found.values()), strict=True))


def test_statements_that_go_together_come_in_parts_each_by_itself(worker: Worker) -> None:
    few, many = cut(CITIES, "city", "VARCHAR", 100), cut(COSTS, "cost", "DOUBLE", 100)
    first, second, third = worker.run_all([few, many, few], deadline=20)
    assert pairs(first) == pairs(third)
    assert sorted(pairs(second)) == [(i * 0.5, 1) for i in range(10_000)]


def test_a_result_without_parts_still_fails(worker: Worker) -> None:
    with pytest.raises(WorkerFailed) as failure:
        worker.run(replace(cut(CITIES, "city", "VARCHAR", 3), parted=None), deadline=20)
    assert failure.value.detail == "it has more than 3 rows"


def test_rows_that_do_not_come_apart_are_no_endless_work(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_PARTS", 16)
    same = replace(cut(CITIES, "city", "VARCHAR", 1), parted=(f"{CITIES} WHERE hash(1) % ", " GROUP BY city"))
    with pytest.raises(WorkerFailed) as failure:
        worker.run(same, deadline=20)
    assert failure.value.detail == "a part of 16 has more than 2 rows"


def test_a_statement_that_fails_of_itself_fails_in_parts_too(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_PARTS", 16)
    sql = f"SELECT CAST(city AS BIGINT) AS city, CAST(count(*) AS BIGINT) AS m0 FROM {VISITS}"
    with pytest.raises(WorkerFailed) as failure:
        worker.run(cut(sql, "city", "BIGINT", 100), deadline=20)
    assert "Could not convert" in failure.value.detail
    assert not failure.value.overrun


def test_parts_have_a_limit_and_a_deadline_together(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    many = cut(COSTS, "cost", "DOUBLE", 100)
    with pytest.raises(WorkerFailed) as late:
        worker._in_parts(many, 0.0)
    assert late.value.overrun
    monkeypatch.setattr(client, "MOST_IN_PARTS", 1000)
    with pytest.raises(WorkerFailed) as failure:
        worker.run(many, deadline=20)
    assert failure.value.detail == "it has more than 1,000 rows"


@pytest.fixture
def small(tmp_path: Path, new_worker: Callable[..., Worker]) -> Iterator[Worker]:
    """A worker with too little memory for so many long texts at once."""
    file = tmp_path / "bounded.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS city FROM range(250000) AS t(i)")
    yield new_worker(file, 700 << 20, threads=1)


@pytest.mark.slow
@pytest.mark.parametrize("together", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_is_too_much_for_the_process_comes_in_parts(small: Worker, together: bool) -> None:
    sql = f"SELECT repeat('x', 1000) || city AS k, CAST(count(*) AS BIGINT) AS m0 FROM {VISITS}"
    functions = FUNCTIONS | {"repeat", "||"}
    expected = (("k", "VARCHAR"), ("m0", "BIGINT"))
    whole = EngineStatement(f"{sql} GROUP BY k", (), expected, frozenset({"visits"}), functions, most_rows=10_000_000)

    def run(own: EngineStatement) -> dict[str, Sequence[Any]]:
        return small.run_all([own], deadline=60)[0] if together else small.run(own, deadline=60)

    with pytest.raises(WorkerFailed) as failure:
        run(whole)
    assert failure.value.answered
    found = run(replace(whole, parted=(f"{sql} WHERE hash(k) % ", " GROUP BY k")))
    assert len(found["k"]) == len(set(found["k"])) == 250_000


def test_groups_in_parts_are_found_and_looked_up_as_others_are() -> None:
    texts = columns.packed(table("VARCHAR", KEYS["VARCHAR"], 0, 9), [("k", "VARCHAR")], None)
    assert texts is not None
    plain = list(texts["k"])
    numbers: Any = np.arange(9)
    packed, own = (RawTable({"k0": k, "m0": numbers, "value": numbers}) for k in (texts["k"], plain))
    wanted = [(plain[7],), ("none",), (None,)]
    for table_ in (packed, own):
        assert listed(table_.aligned(["k0"], wanted, {"x": "m0"}).column("x")) == [7, 0, 3]
        assert table_.total(["k0"], wanted, {"x": "m0"}).column("x") == [0 + 1 + 2 + 3 + 7]
        by_group = table_.by_group(["k0"], wanted, ["value"])
        assert listed(by_group.column("group")) == [2, 2, 2, 2, 0]
    groups = GroupColumns([texts["k"]], 9, packed, numbers)
    some = groups.take([7, 5])
    assert list(some) == [(plain[7],), (plain[5],)] == list(some.alone())
    assert packed.total(["k0"], some, {"x": "m0"}).column("x") == [12]
    assert isinstance(some.alone().columns[0], list)
