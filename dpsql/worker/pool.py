"""Several workers over one file: statements of different analysts need not wait for each other.

Nothing is held while a worker runs a statement but that worker. How many there are follows from the machine and the
policy alone. A worker is only started before a charge, by `Pool.verify`: what is charged runs on one that stands.

Tests: tests/unit/worker/test_pool.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any

from dpsql.worker.client import Statement, Worker

__all__ = ["Pool", "at_once"]

MOST_AT_ONCE = 8
"""Workers over one file. It is a choice: each has as many threads as there are processors, for whoever asks alone."""


def at_once(memory: int) -> int:
    """How many statements run at the same time: one a processor, as long as half of the machine's memory holds them.

    Args:
        memory: Bytes that one may take.

    >>> at_once(1 << 60)
    1
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, MOST_AT_ONCE, machine // 2 // memory))


class Pool:
    """Workers that start when they are needed. Safe to share between threads.

    Args:
        database: The bounded file.
        memory: Bytes of address space that each of them may take.
        most: How many there may be.

    Attributes:
        workers: All of them, started or not.
    """

    def __init__(self, database: Path, memory: int, most: int) -> None:
        self.workers = tuple(Worker(database, memory) for _ in range(most))
        self._idle = list(reversed(self.workers))
        self._changed = Condition()

    def warm(self) -> None:
        """Starts the first worker without waiting for it."""
        self.workers[0].warm()

    def verify(self, request: Statement, *, deadline: float) -> None:
        """As `Worker.verify`; another worker is started where all that stand are at work."""
        with self._one(new=True) as worker:
            worker.verify(request, deadline=deadline)

    def run(self, request: Statement, *, deadline: float) -> dict[str, Sequence[Any]]:
        """As `Worker.run`, on a worker that stands; the time until one is free does not count."""
        with self._one(new=False) as worker:
            return worker.run(request, deadline=deadline)

    def close(self) -> None:
        """Ends all processes. A later `run` starts another."""
        for worker in self.workers:
            worker.close()

    @contextmanager
    def _one(self, *, new: bool) -> Iterator[Worker]:
        """A worker for one statement alone: one that stands, rather than a new one."""
        with self._changed:
            while (worker := self._found(new)) is None:
                self._changed.wait()
            self._idle.remove(worker)
        try:
            yield worker
        finally:
            with self._changed:
                self._idle.append(worker)
                self._changed.notify_all()

    def _found(self, new: bool) -> Worker | None:
        standing = [worker for worker in self._idle if worker.standing]
        if standing:
            return standing[-1]
        may_start = new or not any(worker.standing for worker in self.workers)
        return self._idle[-1] if self._idle and may_start else None
