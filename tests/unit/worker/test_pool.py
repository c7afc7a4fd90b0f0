"""Statements run beside each other, each on a worker of its own; none is started after a charge."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.worker.client import WorkerFailed
from dpsql.worker.pool import MOST_AT_ONCE, Pool, at_once
from tests.unit.worker.conftest import COUNT, FOREVER

MEMORY = 1 << 30  # Bytes of address space of each worker: little.


@pytest.fixture
def pool(bounded_file: Path) -> Iterator[Pool]:
    """Two workers, of which none is started."""
    pool = Pool(bounded_file, MEMORY, 2)
    yield pool
    pool.close()


def standing(pool: Pool) -> int:
    """How many of its workers have a process."""
    return sum(worker.standing for worker in pool.workers)


def test_one_after_the_other_takes_one_worker(pool: Pool) -> None:
    for _ in range(3):
        pool.verify(COUNT, deadline=20)
        assert list(pool.run(COUNT, deadline=20)["n"]) == [10_000]
    assert standing(pool) == 1


def test_a_statement_is_answered_while_another_runs(pool: Pool) -> None:
    ended = threading.Event()

    def forever() -> None:
        with pytest.raises(WorkerFailed):
            pool.run(FOREVER, deadline=60)
        ended.set()

    pool.verify(COUNT, deadline=20)
    busy = next(worker for worker in pool.workers if worker.standing)
    thread = threading.Thread(target=forever)
    thread.start()
    while not busy._lock.locked():
        pass
    pool.verify(COUNT, deadline=20)
    assert list(pool.run(COUNT, deadline=20)["n"]) == [10_000]
    assert not ended.is_set()
    assert standing(pool) == 2
    child = busy._child
    assert child is not None
    child._process.kill()
    thread.join(20)
    assert ended.is_set()


def test_what_is_charged_starts_no_worker_while_another_stands(pool: Pool) -> None:
    pool.verify(COUNT, deadline=20)
    with pool._one(new=False):
        assert pool._found(new=False) is None
        assert pool._found(new=True) is not None


def test_a_worker_that_failed_is_replaced_by_the_next_statement(pool: Pool) -> None:
    pool.verify(COUNT, deadline=20)
    with pytest.raises(WorkerFailed):
        pool.run(FOREVER, deadline=0.1)
    assert standing(pool) == 0
    assert list(pool.run(COUNT, deadline=20)["n"]) == [10_000]


def test_how_many_follows_from_the_machine_and_the_policy() -> None:
    assert at_once(1) <= MOST_AT_ONCE
    assert at_once(1 << 30) >= at_once(1 << 34) >= at_once(1 << 50) == 1
