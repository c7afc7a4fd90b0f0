"""The parent's side of the locked process.

Tests: tests/unit/worker/test_process.py.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol, TypeVar

from dpsql.errors import InvariantBroken
from dpsql.plan.types import Awaited, Value
from dpsql.privacy.tables import Listed
from dpsql.worker import columns, wire
from dpsql.worker.process import Child, WorkerFailed

__all__ = ["Worker", "WorkerFailed"]

T = TypeVar("T")

Table = Mapping[str, tuple[str, Sequence[Any]]]
"""Column name to (wire type, values)."""

QUERIES = 10_000
"""Queries of one process, then comes a fresh one. It is a choice: whatever the engine keeps does not add up for
ever."""
MOST_VERIFIED = 1_000  # Statements that are remembered as verified, by hashes of 32 bytes. It is a choice.
MOST_THREADS = 16  # Threads of one engine. It is a choice: each reserves address space, which is limited.


class Statement(Protocol):
    """What a worker is asked; `dpsql.engine.base.EngineStatement` says what each part means."""

    @property
    def sql(self) -> str: ...
    @property
    def parameters(self) -> tuple[Value | Awaited, ...]: ...  # what is awaited does not travel: `wire` refuses it
    @property
    def columns(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def tables(self) -> frozenset[str]: ...
    @property
    def functions(self) -> frozenset[str]: ...
    @property
    def most_rows(self) -> int | None: ...
    @property
    def words(self) -> tuple[tuple[tuple[int, int], ...], ...]: ...
    @property
    def edges(self) -> tuple[int, ...]: ...
    @property
    def marked(self) -> bool: ...
    @property
    def bins(self) -> tuple[tuple[int, int, tuple[int, ...]] | None, ...]: ...
    @property
    def alone(self) -> bool: ...
    @property
    def first_rows(self) -> int: ...
    @property
    def most_groups(self) -> int: ...
    @property
    def adds(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def clamps(self) -> tuple[tuple[int, int] | None, ...]: ...
    @property
    def listed(self) -> tuple[tuple[str, tuple[Value, ...]], ...]: ...
    @property
    def repeats(self) -> tuple[str, ...]: ...
    @property
    def by_key(self) -> str: ...
    @property
    def of_units(self) -> tuple[int, ...]: ...
    @property
    def rank_digits(self) -> int: ...


class Worker:
    """A locked process that runs one statement at a time, kept warm and replaced when it fails.

    Safe to share between threads: they take turns.

    Args:
        database: The bounded file, opened read-only; its stem is the catalog's name. None for a worker that holds no
            data and works on the tables that come with each request.
        memory: Bytes of address space that the process may take (enforced on Linux).
        threads: How many threads the engine may use; by default one per processor, at most 16.
    """

    def __init__(self, database: Path | None, memory: int = 2 << 30, threads: int | None = None) -> None:
        threads = threads or min(os.cpu_count() or 1, MOST_THREADS)
        self._options = {"database": str(database) if database else None, "memory": memory, "threads": threads}
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._ready = False
        self._asked = 0
        self._verified: set[bytes] = set()  # hashes of what this process was asked to verify
        self._finalizer: weakref.finalize[[Child], Worker] | None = None

    @property
    def standing(self) -> bool:
        """Whether it has a process; that one may have ended by itself: then the next statement starts another."""
        return self._child is not None

    def warm(self) -> None:
        """Starts the process without waiting for it, so that the first statement finds it ready."""
        with self._lock:
            self._start()

    def stand(self) -> None:
        """Returns when the process is ready; it is started, or replaced, where it is not there.

        Raises:
            WorkerFailed: If it does not start. The next call gets a fresh process.
        """
        with self._lock:
            self._ready_child()

    def run(
        self,
        request: Statement,
        *,
        deadline: float,
        tables: Mapping[str, Table] | None = None,
    ) -> dict[str, Sequence[Any]]:
        """The statement's columns, as `columns.read` describes them.

        Args:
            request: The statement; its tables are checked by DuckDB's own parser before it runs.
            deadline: Seconds after which the process is killed; starting it does not count.
            tables: For a worker without data: the columns (wire type, values) of each table, by its name.

        Raises:
            WorkerFailed: If there is no answer; `.overrun` tells whether because of the deadline. The next call
                gets a fresh process.
            InvariantBroken: If DuckDB reads another statement than was meant. Nothing was run.
        """
        messages = [_message(request, deadline, tables or {}), *map(wire.table, (tables or {}).values())]
        return self._exchange(messages, deadline, lambda parts: _read(parts, request))

    def verify(self, request: Statement, *, deadline: float) -> None:
        """Returns if the process stands, and DuckDB reads the statement as it was meant. Nothing is run.

        What the same process has verified before, with parameters of the same types, it is not asked again: its file
        never changes, and it verifies a text for types.

        Args:
            request: The statement.
            deadline: As for `run`.

        Raises:
            WorkerFailed: If the process does not start, or does not answer.
            InvariantBroken: If DuckDB reads another statement than was meant.
        """
        asked = _asked(request, deadline, {}, run=False)
        message = wire.encode(asked)  # in any case: what does not travel costs nothing
        types = [type(value).__name__ for value in request.parameters]
        text = hashlib.sha256(wire.encode(asked | {"parameters": types})).digest()
        with self._lock:
            known = text in self._verified and self._child is not None and self._child.alive
            if known and self._ready and self._asked < QUERIES:
                return
        self._exchange([message], deadline, lambda _: self._remember(text))

    def _remember(self, text: bytes) -> None:
        if len(self._verified) >= MOST_VERIFIED:
            self._verified.clear()
        self._verified.add(text)

    def close(self) -> None:
        """Ends the process. A later `run` starts another."""
        with self._lock:
            self._stop()

    def _start(self) -> Child:
        if self._child is not None and (self._asked >= QUERIES or not self._child.alive):
            self._stop()
        if self._child is None:
            self._child = Child("dpsql.worker", self._options)
            self._finalizer = weakref.finalize(self, Child.stop, self._child)
            self._ready, self._asked = False, 0
            self._verified.clear()
        return self._child

    def _stop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._child = self._finalizer = None

    def _ready_child(self) -> Child:
        """The process, once it is ready. Whoever calls this holds the lock."""
        child = self._start()
        try:
            if not self._ready:
                child.wait_until_ready()
                self._ready = True
        except BaseException:
            self._stop()
            raise
        return child

    def _exchange(
        self, messages: Sequence[bytes | memoryview], deadline: float, read: Callable[[list[memoryview]], T]
    ) -> T:
        """Sends a request, waits for the reply, and reads what follows a good one."""
        with self._lock:
            child = self._ready_child()
            try:
                self._asked += 1
                return _reply(child.connection, messages, deadline, read)
            except InvariantBroken:  # nothing ran, nothing is left in the pipe
                raise
            except BaseException:  # Ctrl-C included: never leave a process behind with half an answer in its pipe
                self._stop()
                raise


def _reply(
    child: Connection, messages: Sequence[bytes | memoryview], deadline: float, read: Callable[[list[memoryview]], T]
) -> T:
    ends = time.monotonic() + deadline
    try:
        for message in messages:
            child.send_bytes(message)
        if not child.poll(max(0.0, ends - time.monotonic())):
            raise WorkerFailed(f"no answer within {deadline} s", overrun=True)
        reply = wire.decode(child.recv_bytes())
        if "failed" in reply:
            raise WorkerFailed(reply["failed"], answered=True)
        if "refused" in reply:
            raise InvariantBroken(f"DuckDB reads the statement otherwise: {reply['refused']}")
        return read([wire.read(child.fileno(), size) for size in reply["bytes"]])
    except (WorkerFailed, InvariantBroken):
        raise
    except Exception as error:  # a broken pipe, or bytes that are no table of the expected columns
        late = time.monotonic() >= ends
        raise WorkerFailed(f"no table arrived: {type(error).__name__}: {error}", overrun=late) from error


def _read(parts: Sequence[memoryview], request: Statement) -> dict[str, Sequence[Any]]:
    """The columns of a result that is no longer than it may be; the worker sends one row more than that at most."""
    if request.words:
        names = [name for name, _ in request.columns]
        found: dict[str, Sequence[Any]] = columns.counted(parts, names, request.words, request.marked)
    else:
        (table,) = parts
        found = columns.read(table, request.columns)
    if request.most_rows is not None and len(next(iter(found.values()))) > request.most_rows:
        raise WorkerFailed(f"it has more than {request.most_rows:,} rows")
    return found | {name: Listed(found[name], values) for name, values in request.listed}


def _message(request: Statement, deadline: float, tables: Mapping[str, Table]) -> bytes | memoryview:
    return wire.encode(_asked(request, deadline, tables))


def _asked(request: Statement, deadline: float, tables: Mapping[str, Table], *, run: bool = True) -> dict[str, Any]:
    return {
        "sql": request.sql,
        "parameters": request.parameters,
        "columns": request.columns,
        "tables": sorted(request.tables),
        "functions": sorted(request.functions),
        "most_rows": request.most_rows,
        "words": request.words,
        "edges": request.edges,
        "bins": request.bins,
        "alone": request.alone,
        "first_rows": request.first_rows,
        "most_groups": request.most_groups,
        "adds": request.adds,
        "clamps": request.clamps,
        "repeats": request.repeats,
        "by_key": request.by_key,
        "of_units": request.of_units,
        "rank_digits": request.rank_digits,
        "places": [len(values) + 1 for _, values in request.listed],
        "deadline": deadline,
        "run": run,
        "held": [[name, [[own, kind] for own, (kind, _) in table.items()]] for name, table in tables.items()],
    }
