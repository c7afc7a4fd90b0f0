"""Statements run beside each other, each on a worker of its own; none is started after a charge, and all take turns."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dpsql.asking import in_turn
from dpsql.worker.client import Statement, Worker, WorkerFailed
from dpsql.worker.pool import ALONE, MOST_AT_ONCE, MOST_IN_A_TURN, Pool, _Turn, at_once
from tests.unit.worker.conftest import COUNT, FOREVER

pytestmark = pytest.mark.chance(0, "no noise is drawn")

MEMORY = 1 << 30  # Bytes of address space of each worker: little.


@pytest.fixture
def pool(bounded_file: Path) -> Iterator[Pool]:
    """Two workers, of which none is started."""
    pool = Pool(bounded_file, MEMORY, 2)
    yield pool
    pool.close()


class Asking:
    """An analyst at the door of a pool.

    Args:
        pool: Where they ask.
        analyst: Who they are.
    """

    def __init__(self, pool: Pool, analyst: str) -> None:
        self.pool, self.analyst = pool, analyst

    @in_turn
    def run(self, statement: Statement, deadline: float, *, public: bool = False) -> None:
        """Has a statement run."""
        self.pool.run(statement, deadline=deadline, public=public)


class Queue:
    """Statements that ask for a worker, each in a thread of its own, and who had one.

    Args:
        pool: Where they ask.

    Attributes:
        served: Whose turn it was, the first first.
    """

    def __init__(self, pool: Pool) -> None:
        self.served: list[str] = []
        self._pool = pool
        self._threads: list[threading.Thread] = []

    def ask(self, name: str, turn: _Turn) -> None:
        """Returns when the statement waits; it gives its worker back at once when it has had it."""

        def asks() -> None:
            with self._pool._one(turn):
                self.served.append(name)

        waiting = len(self._pool._waiting)
        self._threads.append(threading.Thread(target=asks))
        self._threads[-1].start()
        while len(self._pool._waiting) == waiting:
            time.sleep(0.001)

    def end(self) -> None:
        """Returns when all were served."""
        for thread in self._threads:
            thread.join()


def asked(analyst: str) -> _Turn:
    """A statement before its charge."""
    return _Turn(analyst, public=False, new=True)


def charged(analyst: str) -> _Turn:
    """A statement after its charge."""
    return _Turn(analyst, public=False, new=False)


def public(analyst: str) -> _Turn:
    """A statement over public tables."""
    return _Turn(analyst, public=True, new=True)


def standing(pool: Pool) -> int:
    """How many of its workers have a process."""
    return sum(worker.standing for worker in pool.workers)


def test_one_after_the_other_takes_one_worker(pool: Pool) -> None:
    for _ in range(3):
        pool.verify(COUNT, deadline=20)
        assert list(pool.run(COUNT, deadline=20)["n"]) == [10_000]
    assert standing(pool) == 1


def test_others_have_their_turn_between_the_statements_of_one(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    turns, run_all = list[int](), Worker.run_all

    def noted(self: Worker, requests: Sequence[Statement], *, deadline: float) -> list[dict[str, Sequence[Any]]]:
        turns.append(len(requests))
        return run_all(self, requests, deadline=deadline)

    monkeypatch.setattr(Worker, "run_all", noted)
    pool.verify(COUNT, deadline=20)
    found = pool.run_all([COUNT] * (MOST_IN_A_TURN + 1), deadline=20)
    assert [list(own["n"]) for own in found] == [[10_000]] * (MOST_IN_A_TURN + 1)
    assert turns == [MOST_IN_A_TURN, 1]


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
    with pool._one(charged("ana")):
        assert pool._found(charged("bob")) is None
        assert pool._found(asked("bob")) is not None


def test_what_is_charged_waits_for_no_public_statement(pool: Pool) -> None:
    pool.verify(COUNT, deadline=20)
    with pool._one(public("ana")):
        assert pool._found(charged("bob")) is not None


def test_a_worker_that_failed_is_replaced_by_the_next_statement(pool: Pool) -> None:
    pool.verify(COUNT, deadline=20)
    with pytest.raises(WorkerFailed):
        pool.run(FOREVER, deadline=0.1)
    assert standing(pool) == 0
    assert list(pool.run(COUNT, deadline=20)["n"]) == [10_000]


def test_the_first_who_came_is_the_first_who_is_served(bounded_file: Path) -> None:
    pool = Pool(bounded_file, MEMORY, 1)
    queue = Queue(pool)
    with pool._one(asked("somebody")):
        for name in "fbdace":
            queue.ask(name, asked(name))
    queue.end()
    assert queue.served == list("fbdace")
    assert pool._waiting == []
    assert pool._at_work == {}


def test_who_has_a_worker_comes_behind_who_has_none(pool: Pool) -> None:
    queue = Queue(pool)
    with pool._one(asked("ana")):
        with pool._one(asked("ana")):
            for name in ("ana's third", "ana's fourth", "ana's fifth"):
                queue.ask(name, asked("ana"))
            queue.ask("bob's first", asked("bob"))
        while len(queue.served) < 4:
            time.sleep(0.001)
    queue.end()
    assert queue.served == ["bob's first", "ana's third", "ana's fourth", "ana's fifth"]


def test_an_analyst_alone_has_all_workers(pool: Pool) -> None:
    with pool._one(asked("ana")), pool._one(asked("ana")):
        assert len(pool._at_work) == 2


def test_what_is_public_never_holds_the_last_worker(pool: Pool) -> None:
    with pool._one(public("ana")):
        assert pool._found(public("ana")) is None
        assert pool._found(public("bob")) is None
        with pool._one(asked("bob")):
            assert len(pool._at_work) == 2


def test_one_worker_alone_serves_what_is_public_for_a_part_of_the_deadline(bounded_file: Path) -> None:
    pool = Pool(bounded_file, MEMORY, 1)
    pool.verify(COUNT, deadline=20)
    with pytest.raises(WorkerFailed) as failed:
        pool.run(FOREVER, deadline=0.75, public=True)
    assert failed.value.overrun
    assert failed.value.detail == f"no answer within {0.75 / ALONE} s"
    pool.close()


@pytest.mark.slow
def test_who_ran_past_the_deadline_with_what_is_public_waits_before_the_next(pool: Pool) -> None:
    ana, bob, deadline = Asking(pool, "ana"), Asking(pool, "bob"), 0.5
    bob.run(COUNT, 20)
    began = time.monotonic()
    with pytest.raises(WorkerFailed):
        ana.run(FOREVER, deadline, public=True)
    late = time.monotonic()
    ana.run(COUNT, 20)
    ana.run(COUNT, 20, public=True)
    assert time.monotonic() - began >= 2 * deadline
    pool._rests["ana"] = late + 3600
    assert pool._found(public("ana")) is None
    assert pool._found(charged("ana")) is not None
    assert pool._found(public("bob")) is not None


def test_nobody_waits_for_their_own_sake(pool: Pool) -> None:
    ana = Asking(pool, "ana")
    with pytest.raises(WorkerFailed):
        ana.run(FOREVER, 0.1, public=True)
    assert pool._rests == {}


def test_who_is_interrupted_waits_no_more(pool: Pool) -> None:
    main = threading.get_ident()

    def interrupt() -> None:
        while not pool._waiting:
            time.sleep(0.001)
        signal.pthread_kill(main, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pool._one(asked("ana")), pool._one(asked("ana")):
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(KeyboardInterrupt), pool._one(asked("bob")):
                pass
            thread.join()
            assert pool._waiting == []
            assert len(pool._at_work) == 2
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(pool._idle) == 2


def test_many_at_once_are_all_served(pool: Pool) -> None:
    at_work, most, served = set[int](), list[int](), list[str]()
    lock = threading.Lock()

    def asks(analyst: str, *, free: bool) -> None:
        for _ in range(20):
            with pool._one(_Turn(analyst, free, new=True)) as worker:
                with lock:
                    assert id(worker) not in at_work
                    at_work.add(id(worker))
                    most.append(len(at_work))
                with lock:
                    at_work.remove(id(worker))
                    served.append(analyst)

    threads = [
        threading.Thread(target=asks, args=(f"{number % 3}",), kwargs={"free": number % 2 == 0}) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(served) == 8 * 20
    assert max(most) <= 2
    assert pool._at_work == {}


def test_a_pool_stands_when_a_worker_is_ready(pool: Pool, tmp_path: Path) -> None:
    for _ in range(2):
        pool.stand()
        assert standing(pool) == 1
    assert list(pool.run(COUNT, deadline=20)["n"]) == [10_000]
    child = pool.workers[0]._child or pool.workers[1]._child
    assert child is not None
    child._process.kill()
    child._process.wait()
    pool.stand()
    assert list(pool.run(COUNT, deadline=20)["n"]) == [10_000]
    with pytest.raises(WorkerFailed):
        Pool(tmp_path / "none.duckdb", 1 << 30, 1).stand()


def test_how_many_follows_from_the_machine_and_the_policy() -> None:
    assert at_once(1) <= MOST_AT_ONCE
    assert at_once(1 << 30) >= at_once(1 << 34) >= at_once(1 << 50) == 1
