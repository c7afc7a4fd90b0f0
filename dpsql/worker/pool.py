"""Several workers over one file: statements of different analysts need not wait for each other.

Nothing is held while a worker runs a statement but that worker. How many there are follows from the machine and the
policy alone. A worker is only started before a charge, by `Pool.verify`: what is charged runs on one that stands.

Where all are at work, analysts take turns: who has fewer workers comes first, and of two with as many whoever came
first. So nobody waits behind all that another asked for. What is public costs nothing, so that no budget ends it: it
never holds all workers, and an analyst whose public statement ran past the deadline waits before the next one.

Tests: tests/unit/worker/test_pool.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import Any

from dpsql.asking import who
from dpsql.worker.client import Statement, Table, Worker
from dpsql.worker.process import WorkerFailed

__all__ = ["Pool", "at_once"]

MOST_AT_ONCE = 8
"""Workers over one file. It is a choice: each has as many threads as there are processors, for whoever asks alone."""
MOST_IN_A_TURN = 4
"""Statements of one question that run one after the other, while others wait. It is a choice: most have fewer."""
ALONE = 3
"""Where there is one worker, what is public has the deadline over this number. It is a choice: all wait for it then."""


def at_once(memory: int) -> int:
    """How many statements run at the same time: one a processor, as long as half of the machine's memory holds them.

    Args:
        memory: Bytes that one may take.

    >>> at_once(1 << 60)
    1
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, MOST_AT_ONCE, machine // 2 // memory))


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """A statement that waits for a worker, or has one.

    Attributes:
        analyst: Whose it is.
        public: Whether it reads nothing but what is public.
        new: Whether a worker may be started for it.
    """

    analyst: str
    public: bool
    new: bool


class Pool:
    """Workers that start when they are needed. Safe to share between threads.

    Args:
        database: The bounded file; None for workers that hold no data.
        memory: Bytes of address space that each of them may take.
        most: How many there may be.
        threads: How many each of them may use; by default as many as `Worker` takes.

    Attributes:
        workers: All of them, started or not.
    """

    def __init__(self, database: Path | None, memory: int, most: int, threads: int | None = None) -> None:
        self.workers = tuple(Worker(database, memory, threads) for _ in range(most))
        self._idle = list(reversed(self.workers))
        self._at_work: dict[Worker, _Turn] = {}
        self._waiting: list[_Turn] = []  # the first who came first
        self._seen: set[str] = set()  # who ever asked
        self._rests: dict[str, float] = {}  # until when an analyst's public statements wait, in seconds that only grow
        self._changed = Condition()

    def warm(self) -> None:
        """Starts the first worker without waiting for it."""
        self.workers[0].warm()

    def stand(self) -> None:
        """Returns when a worker is ready, once one is idle; a new one is started where none stands."""
        with self._one(_Turn(who(), public=False, new=True)) as worker:
            worker.stand()

    def verify(self, request: Statement, *, deadline: float, public: bool = False) -> None:
        """As `Worker.verify`; another worker is started where all that stand are at work."""
        with self._one(_Turn(who(), public, new=True)) as worker:
            worker.verify(request, deadline=deadline)

    def run(
        self,
        request: Statement,
        *,
        deadline: float,
        tables: Mapping[str, Table] | None = None,
        public: bool = False,
    ) -> dict[str, Sequence[Any]]:
        """As `Worker.run`, on a worker that stands; the time until one is free does not count.

        Args:
            request: The statement.
            deadline: Seconds; what is public has a part of them where there is one worker alone.
            tables: As for `Worker.run`.
            public: Whether it reads nothing but what is public: it is free, and may start a worker.
        """
        if public and len(self.workers) == 1:
            deadline /= ALONE
        with self._one(_Turn(who(), public, new=public)) as worker:
            try:
                return worker.run(request, deadline=deadline, tables=tables)
            except WorkerFailed as failure:
                if public and failure.overrun:
                    self._rest(who(), deadline)
                raise

    def run_all(self, requests: Sequence[Statement], *, deadline: float) -> list[dict[str, Sequence[Any]]]:
        """As `Worker.run_all`, of statements that read private data; others have their turn after `MOST_IN_A_TURN`."""
        found = list[dict[str, Sequence[Any]]]()
        for first in range(0, len(requests), MOST_IN_A_TURN):
            with self._one(_Turn(who(), public=False, new=False)) as worker:
                found += worker.run_all(requests[first : first + MOST_IN_A_TURN], deadline=deadline)
        return found

    def close(self) -> None:
        """Ends all processes. A later `run` starts another."""
        for worker in self.workers:
            worker.close()

    @contextmanager
    def _one(self, turn: _Turn) -> Iterator[Worker]:
        """A worker for one statement alone: one that stands, rather than a new one."""
        worker = self._taken(turn)
        try:
            yield worker
        finally:
            with self._changed:
                del self._at_work[worker]
                self._idle.append(worker)
                self._changed.notify_all()

    def _taken(self, turn: _Turn) -> Worker:
        """The worker for a statement, as soon as it is its turn; whoever is interrupted before then waits no more."""
        with self._changed:
            if turn.analyst:  # the owner is at work before anybody asks
                self._seen.add(turn.analyst)
            self._waiting.append(turn)
            try:
                while True:
                    rest = self._rest_left(turn)  # before the next line: what ends meanwhile is not waited for
                    worker = self._granted(turn)
                    if worker is not None:
                        break
                    self._changed.wait(rest)
                self._idle.remove(worker)
                self._at_work[worker] = turn
                return worker
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()  # another one may be the next now

    def _granted(self, turn: _Turn) -> Worker | None:
        """The worker for a statement, if no other that could have one comes before it."""
        held = [own.analyst for own in self._at_work.values()]
        for own in sorted(self._waiting, key=lambda own: held.count(own.analyst)):  # the order is kept among equals
            worker = self._found(own)
            if worker is not None:
                return worker if own is turn else None
        return None

    def _found(self, turn: _Turn) -> Worker | None:
        """A worker that may do this now, whoever else waits."""
        if turn.public and (self._is_full_of_public() or self._rest_left(turn) is not None):
            return None
        standing = [worker for worker in self._idle if worker.standing]
        if standing:
            return standing[-1]
        private = [w for w in self.workers if w.standing and not (w in self._at_work and self._at_work[w].public)]
        may_start = turn.new or not private
        return self._idle[-1] if self._idle and may_start else None

    def _is_full_of_public(self) -> bool:
        return sum(own.public for own in self._at_work.values()) >= max(1, len(self.workers) - 1)

    def _rest(self, analyst: str, seconds: float) -> None:
        """Lets an analyst's public statements wait for as long as the last one ran. Nobody else asks: none waits."""
        with self._changed:
            if len(self._seen) > 1:
                self._rests[analyst] = time.monotonic() + seconds

    def _rest_left(self, turn: _Turn) -> float | None:
        """Seconds that a statement waits in any case; None where it need not."""
        left = self._rests.get(turn.analyst, 0.0) - time.monotonic() if turn.public else 0.0
        return left if left > 0 else None
