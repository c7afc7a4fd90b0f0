"""A small bounded file, and workers that end with their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.engine.base import EngineStatement
from dpsql.worker.client import Worker

VISITS = '"bounded"."main"."visits"'
FUNCTIONS = frozenset({"count", "sum", "+", "*", "/", "||", "repeat", "length", "range", "len", "!="})


def statement(sql: str, *columns: tuple[str, str], parameters: tuple[Any, ...] = (), **meant: Any) -> EngineStatement:
    """A statement over the table visits, unless something else is meant."""
    return EngineStatement(
        sql, parameters, columns, meant.get("tables", frozenset({"visits"})), meant.get("functions", FUNCTIONS)
    )


COUNT = statement(f"SELECT count(*) AS n FROM {VISITS}", ("n", "BIGINT"))
FOREVER = statement(
    f"SELECT CAST(sum(a.cost * b.cost * c.cost) AS DOUBLE) AS n FROM {VISITS} AS a, {VISITS} AS b, {VISITS} AS c",
    ("n", "DOUBLE"),
)


@pytest.fixture(scope="session")
def bounded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """10,000 visits of 1,000 patients, and a table that no statement here may read."""
    file = tmp_path_factory.mktemp("worker") / "bounded.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i % 1000 AS patient_id, i * 0.5::DOUBLE AS cost, 'city ' || i % 7 AS city, "
            "i % 3 AS age FROM range(10000) AS t(i)"
        )
        connection.execute("CREATE TABLE secret AS SELECT 42 AS x")
    return file


@pytest.fixture
def new_worker() -> Iterator[Callable[..., Worker]]:
    """Makes workers, and closes them after the test."""
    made: list[Worker] = []

    def make(*arguments: Any, **options: Any) -> Worker:
        made.append(Worker(*arguments, **options))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


@pytest.fixture(scope="module")
def worker(bounded_file: Path) -> Iterator[Worker]:
    """A worker over the bounded file, shared by a module's tests: it mends itself."""
    worker = Worker(bounded_file)
    yield worker
    worker.close()


def pid(worker: Worker) -> int:
    """The process of a worker that runs."""
    child = worker._child
    if child is None:
        raise AssertionError("no process")
    return child._process.pid
