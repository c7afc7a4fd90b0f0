"""What a worker is asked to verify before the charge: each text once, and no row is read."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dpsql.engine.base import EngineStatement
from dpsql.errors import InvariantBroken
from dpsql.worker import client
from dpsql.worker.client import Worker, WorkerFailed
from dpsql.worker.making import ByKey, Repeats, Way
from tests.unit.worker.conftest import COUNT, FOREVER, VISITS, pid, statement


def test_verifying_runs_nothing(worker: Worker) -> None:
    for _ in range(2):
        worker.verify(FOREVER, deadline=20)  # it would be killed
    assert list(worker.run(COUNT, deadline=20)["n"]) == [10_000]


def test_a_process_is_asked_once_to_verify_a_statement(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, exchange = list[object](), worker._exchange

    def noted(messages: object, *rest: object) -> object:
        asked.append(messages)
        return exchange(messages, *rest)  # type: ignore[arg-type]  # what came

    monkeypatch.setattr(worker, "_exchange", noted)
    other = statement(f"SELECT count(*) AS n FROM {VISITS} WHERE cost > ?", ("n", "BIGINT"), parameters=(1.0,))
    for _ in range(3):
        worker.verify(other, deadline=20)
    assert len(asked) == 1
    worker.verify(replace(other, parameters=(2.0,)), deadline=20)  # texts are verified for types
    assert len(asked) == 1
    worker.verify(replace(other, parameters=(2,)), deadline=20)
    assert len(asked) == 2
    os.kill(pid(worker), signal.SIGKILL)
    worker._child._process.wait()  # type: ignore[union-attr]  # it has one
    worker.verify(other, deadline=20)
    assert len(asked) == 3
    monkeypatch.setattr(client, "QUERIES", worker._asked)
    worker.verify(other, deadline=20)  # the next statement gets a fresh process
    assert len(asked) == 4
    wrong = statement("SELECT 1 AS n", ("n", "INTEGER"))
    for _ in range(2):
        with pytest.raises(InvariantBroken):
            worker.verify(wrong, deadline=20)
    assert len(asked) == 6


def test_verifying_starts_the_process_and_says_why_it_cannot(
    new_worker: Callable[..., Worker], bounded_file: Path, tmp_path: Path
) -> None:
    new_worker(bounded_file).verify(COUNT, deadline=20)
    with pytest.raises(WorkerFailed) as failure:
        new_worker(tmp_path / "bounded.duckdb").verify(COUNT, deadline=20)
    assert "bounded.duckdb" in failure.value.detail


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        (statement("SELECT 1 AS n", ("n", "INTEGER")), "visits"),
        (statement(f"SELECT hash(cost) AS n FROM {VISITS}", ("n", "UBIGINT")), "hash"),
        (statement(f"SELECT nothing AS n FROM {VISITS}", ("n", "BIGINT")), "cannot bind"),
        (statement(f"SELECT age + ? AS n FROM {VISITS}", ("n", "VARCHAR"), parameters=(1,)), "columns"),
    ],
)
def test_verifying_refuses_a_statement_that_is_read_otherwise(
    worker: Worker, meant: EngineStatement, words: str
) -> None:
    worker.run(COUNT, deadline=20)
    first = pid(worker)
    with pytest.raises(InvariantBroken, match=words):
        worker.verify(meant, deadline=20)
    assert pid(worker) == first


def test_a_value_that_does_not_travel_is_refused_whatever_was_verified(worker: Worker) -> None:
    sql = f"SELECT count(*) AS n FROM {VISITS} WHERE age > ?"
    worker.verify(statement(sql, ("n", "BIGINT"), parameters=(0.5,)), deadline=20)
    with pytest.raises(InvariantBroken, match="not finite"):
        worker.verify(statement(sql, ("n", "BIGINT"), parameters=(float("inf"),)), deadline=20)


GROUPS = f"SELECT age AS k0, count(*) AS n, hash(age) AS k FROM {VISITS} GROUP BY age"
ROWS = f"SELECT hash(age) AS k, CAST(0 AS INTEGER) AS u FROM {VISITS}"
WHOLE = f"SELECT CAST(0 AS INTEGER) AS u, age AS k FROM {VISITS}"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("repeats", "by_key", "words"),
    [
        ((GROUPS, ROWS), "", ""),
        ((GROUPS, ROWS), WHOLE, ""),
        ((GROUPS.replace("count(*)", "max(age)"), ROWS), "", "max"),
        ((GROUPS, ROWS.replace(VISITS, '"bounded"."main"."other"')), "", "other"),
        ((GROUPS.replace("hash(age)", "age"), ROWS), "", "columns"),
        ((GROUPS, ROWS.replace("INTEGER", "BIGINT")), "", "columns"),
        ((GROUPS, ROWS), WHOLE.replace("age", "abs(age)"), "abs"),
        ((), WHOLE.replace("age", "abs(age)"), "abs"),
        ((), WHOLE.replace("age", "CAST(age AS INTEGER)"), "columns"),
    ],
)
def test_all_texts_that_find_repeats_are_verified_and_run(
    worker: Worker, repeats: tuple[str, ...], by_key: str, words: str
) -> None:
    own = statement(f"SELECT age AS k0, count(*) AS n FROM {VISITS} GROUP BY age", ("k0", "BIGINT"), ("n", "BIGINT"))
    ways: list[Way] = [ByKey(by_key, (1,))] if by_key else []
    ways += [Repeats(repeats[0], repeats[1], (1,))] if repeats else []
    own = replace(own, functions=own.functions | {"hash"}, ways=tuple(ways))
    if not words:
        worker.verify(own, deadline=20)
        assert list(worker.run(own, deadline=20)["n"]) == [1, 1, 1]  # all rows are said to be of one unit
        return
    for ask in (worker.verify, worker.run):
        with pytest.raises(InvariantBroken, match=words):
            ask(own, deadline=20)
