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
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol, TypeVar

from dpsql.errors import InvariantBroken
from dpsql.limits import MOST_IN_PARTS
from dpsql.plan.types import Awaited, Value
from dpsql.privacy.tables import Listed
from dpsql.worker import columns, wire
from dpsql.worker.making import Counted, Made, Way, told
from dpsql.worker.process import Child, WorkerFailed

__all__ = ["Worker", "WorkerFailed"]

T = TypeVar("T")

Table = Mapping[str, tuple[str, Sequence[Any]]]
"""Column name to (wire type, values)."""

Read = Callable[[memoryview, Sequence[tuple[str, str]], int | None], dict[str, Sequence[Any]] | None]
"""What makes columns of the bytes of a table, as `columns.read`."""

QUERIES = 10_000
"""Queries of one process, then comes a fresh one. It is a choice: whatever the engine keeps does not add up for
ever."""
MOST_VERIFIED = 1_000  # Statements that are remembered as verified, by hashes of 32 bytes. It is a choice.
PARTS = 4
"""Into so many parts a result that is too long is cut, and each of them that is still too long. It is a choice: for
ten million groups the rows are read five times."""
PACKED = 2  # Times as many rows as are read whole a part may have: packed they take less. It is a choice.
MOST_PARTS = 4**5  # More parts are no way out: rows that need them do not come apart. It is a choice.
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
    def parted(self) -> tuple[str, str] | None: ...
    @property
    def listed(self) -> tuple[tuple[str, tuple[Value, ...]], ...]: ...
    @property
    def made(self) -> Made | None: ...
    @property
    def ways(self) -> tuple[Way, ...]: ...
    @property
    def bins(self) -> tuple[tuple[int, int, tuple[int, ...]] | None, ...]: ...


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
        self._table: Read = columns.dated if database else columns.read
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
        ends = time.monotonic() + deadline
        messages = [_message(request, deadline, tables or {}), *map(wire.table, (tables or {}).values())]
        try:
            (found,) = self._exchange(messages, deadline, [partial(_at_once, request=request, read=self._table)])
        except WorkerFailed as failure:
            if request.parted is None or not failure.answered:
                raise
            found = None
        return self._in_parts(request, ends) if found is None else found

    def run_all(self, requests: Sequence[Statement], *, deadline: float) -> list[dict[str, Sequence[Any]]]:
        """As `run`, of several statements one after the other; behind one that fails none is run.

        They are sent together: while one's columns are read here, the next is at work there.

        Args:
            requests: The statements.
            deadline: For each of them.
        """
        message = wire.encode([_asked(request, deadline, {}) for request in requests])
        try:
            reads = [partial(_at_once, request=request, read=self._table) for request in requests]
            found = self._exchange([message], deadline, reads)
        except WorkerFailed as failure:
            if not failure.answered or all(request.parted is None for request in requests):
                raise
            return [self.run(request, deadline=deadline) for request in requests]
        return [
            self._in_parts(request, time.monotonic() + deadline) if own is None else own
            for request, own in zip(requests, found, strict=True)
        ]

    def _in_parts(self, request: Statement, ends: float) -> dict[str, Sequence[Any]]:
        """The columns of a result that is too long to be read whole, part after part: each of them is packed.

        Whatever else the process says that it failed of may be its memory, which has many names: parts need less.
        How many parts there are follows from the data, and nothing that is released follows from it: the rows are the
        same, and their order is none.

        Args:
            request: A statement with parts.
            ends: When it has taken too long.
        """
        found, left = list[dict[str, Sequence[Any]]](), [(PARTS, at) for at in range(PARTS)]
        rows = 0
        while left:
            parts, at = left.pop()
            try:
                own = self._part(request, parts, at, ends - time.monotonic())
            except WorkerFailed as failure:
                if not failure.answered or parts >= MOST_PARTS:
                    raise
                left += [(parts * PARTS, at + parts * more) for more in range(PARTS)]
                continue
            found.append(own)
            rows += len(next(iter(own.values())))
            if rows > MOST_IN_PARTS:
                raise WorkerFailed(f"it has more than {MOST_IN_PARTS:,} rows")
        return _named(columns.joined(found), request)

    def _part(self, request: Statement, parts: int, at: int, seconds: float) -> dict[str, Sequence[Any]]:
        """One part of a result.

        Raises:
            WorkerFailed: If it is not there in time, or `answered`: it has too many rows, or the process failed.
        """
        if seconds <= 0:
            raise WorkerFailed("no time is left for the other parts", overrun=True)
        most = None if request.most_rows is None else PACKED * request.most_rows
        message = wire.encode(_asked(request, seconds, {}) | {"part": (parts, at), "most_rows": most})
        (found,) = self._exchange([message], seconds, [lambda own: columns.packed(own[0], request.columns, most)])
        if found is None:
            raise _TooLong(f"a part of {parts:,} has more than {most:,} rows", answered=True)
        return found

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
        wire.encode(request.parameters)  # in any case: what does not travel costs nothing
        types = [type(value).__name__ for value in request.parameters]
        text = hashlib.sha256(wire.encode(asked | {"parameters": types})).digest()
        with self._lock:
            known = text in self._verified and self._child is not None and self._child.alive
            if known and self._ready and self._asked < QUERIES:
                return
        self._exchange([wire.encode(asked)], deadline, [lambda _: self._remember(text)])

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
        self, messages: Sequence[bytes], deadline: float, reads: Sequence[Callable[[list[memoryview]], T]]
    ) -> list[T]:
        """Sends what is asked, waits for each reply, and reads what follows a good one."""
        with self._lock:
            child = self._ready_child()
            try:
                self._asked += len(reads)
                return _replies(child.connection, messages, deadline, reads)
            except InvariantBroken:  # nothing ran, nothing is left in the pipe
                raise
            except BaseException:  # Ctrl-C included: never leave a process behind with half an answer in its pipe
                self._stop()
                raise


def _replies(
    child: Connection,
    messages: Sequence[bytes],
    deadline: float,
    reads: Sequence[Callable[[list[memoryview]], T]],
) -> list[T]:
    ends, found = time.monotonic() + deadline, list[T]()
    try:
        for message in messages:
            child.send_bytes(message)
        for read in reads:
            ends = time.monotonic() + deadline
            found.append(_reply(child, ends, deadline, read))
    except (WorkerFailed, InvariantBroken):
        raise
    except Exception as error:  # a broken pipe, or bytes that are no table of the expected columns
        late = time.monotonic() >= ends
        raise WorkerFailed(f"no table arrived: {type(error).__name__}: {error}", overrun=late) from error
    return found


def _reply(child: Connection, ends: float, deadline: float, read: Callable[[list[memoryview]], T]) -> T:
    if not child.poll(max(0.0, ends - time.monotonic())):
        raise WorkerFailed(f"no answer within {deadline} s", overrun=True)
    reply = wire.decode(child.recv_bytes())
    if "failed" in reply:
        raise WorkerFailed(reply["failed"], answered=True)
    if "refused" in reply:
        raise InvariantBroken(f"DuckDB reads the statement otherwise: {reply['refused']}")
    return read([wire.read(child.fileno(), size) for size in reply["bytes"]])


class _TooLong(WorkerFailed):
    """A result has more rows than it may have at once."""


def _at_once(parts: Sequence[memoryview], request: Statement, read: Read) -> dict[str, Sequence[Any]] | None:
    """As `_read`; None where the result is too long, and may be read in parts."""
    try:
        return _read(parts, request, read)
    except _TooLong:
        if request.parted is None:
            raise
        return None


def _read(parts: Sequence[memoryview], request: Statement, read: Read = columns.read) -> dict[str, Sequence[Any]]:
    """The columns of a result that is no longer than it may be; the worker sends one row more than that at most."""
    found: dict[str, Sequence[Any]] | None
    if isinstance(request.made, Counted):
        names = [name for name, _ in request.columns]
        found = columns.counted(parts, names, request.made.words, request.made.marked)
    else:
        (table,) = parts
        found = read(table, request.columns, request.most_rows)
    if found is None or (request.most_rows is not None and len(next(iter(found.values()))) > request.most_rows):
        raise _TooLong(f"it has more than {request.most_rows:,} rows")
    return _named(found, request)


def _named(found: dict[str, Sequence[Any]], request: Statement) -> dict[str, Sequence[Any]]:
    """The columns, those with a list as its values."""
    return found | {name: Listed(found[name], values) for name, values in request.listed}


def _message(request: Statement, deadline: float, tables: Mapping[str, Table]) -> bytes:
    return wire.encode(_asked(request, deadline, tables))


def _asked(request: Statement, deadline: float, tables: Mapping[str, Table], *, run: bool = True) -> dict[str, Any]:
    return {
        "sql": request.sql,
        "parameters": request.parameters,
        "columns": request.columns,
        "tables": sorted(request.tables),
        "functions": sorted(request.functions),
        "most_rows": request.most_rows,
        "parted": request.parted,
        "part": None,
        "made": None if request.made is None else told(request.made),
        "ways": [told(way) for way in request.ways],
        "bins": request.bins,
        "places": [len(values) + 1 for _, values in request.listed],
        "deadline": deadline,
        "run": run,
        "held": [[name, [[own, kind] for own, (kind, _) in table.items()]] for name, table in tables.items()],
    }
