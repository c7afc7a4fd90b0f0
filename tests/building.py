"""Most tests build their bounded tables in the test's own process: a fresh one for each takes longer than the work.

What the owner's process is (that it alone reads the source, and ends) is tested with real ones, in the tests of `REAL`.
So is how a worker starts and ends, in those of `FRESH`: elsewhere it is a fork of one that is loaded (`forking`). The
files of `APART` have a fork of the owner's process, too: what they test is on either side of it.

Many tests open the same policy over the same data or a copy of its file, each with a ledger of its own in memory, and
the row choice is then the same. Such tables are copied where they were built just before, but for the tests of `ANEW`,
which ask whether a build is what it was.

To open DuckDB takes 20 ms of a processor, as long as many a build: builds here attach their files to one engine, that
of `Shared`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import pytest

__all__ = ["Here", "Shared"]

REAL = (
    "tests/unit/owner/building/test_builder.py::test_the_bounded_file",
    "tests/unit/owner/building/test_builder.py::test_a_failed_build",
    "tests/unit/owner/building/test_builder.py::test_other_failures", "tests/unit/worker/",
    "tests/attacks/test_versions_at_once.py", "tests/attacks/test_worker_lockdown.py", "tests/faults/test_broken.py",
)  # fmt: skip
FRESH = (
    "tests/unit/worker/", "tests/unit/engine/test_duckdb.py::test_an_engine_that_does_not_stand",
    "tests/attacks/test_versions_at_once.py", "tests/attacks/test_worker_lockdown.py", "tests/faults/test_broken.py",
)  # fmt: skip
APART = (
    "tests/unit/owner/building/test_bounded.py",
    "tests/unit/owner/building/test_builder.py",
    "tests/unit/engine/",
    "tests/unit/cli/",
)

ANEW = ("tests/unit/owner/", "tests/unit/audit/", "tests/attacks/", "tests/exhaustive/", "tests/faults/")
SPILLED = ("tests/unit/owner/test_scratch.py",)
"""Tests that ask what an engine of its own puts on the disk."""
KEPT = 8  # Versions that are kept: tests that open the same tables follow each other.


class Built:
    """Versions that were built here: what each is made of, where it is kept, what was told of it, and of which file."""

    off = False
    kept: dict[bytes, tuple[Path, Any, str]] = {}  # noqa: RUF012 - one for the process
    folder: Path | None = None

    @classmethod
    def answered(cls, request: dict[str, Any], report: Any) -> dict[str, Any]:
        """The reply of the owner's process; a version that was just built is copied."""
        from dpsql.owner.engines import sources
        from dpsql.owner.process import answered
        from dpsql.owner.shape import Shape
        from dpsql.worker import wire

        plain = request["job"] == "build" and not request["records"] and request["before"] is None
        if cls.off or not plain or request["shape"]["engine"] != "duckdb":
            return answered(request, report)
        shape, into = Shape.received(request["shape"]), Path(request["into"])
        file = shape.source.get("database", "")
        marks: Any = sources("duckdb").fingerprint(shape.source, shape.files)
        if set(shape.files.values()) == {None} and not Path(file + ".wal").exists():  # where it lies does not matter
            marks = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            request_of = {**request, "shape": {**request["shape"], "source": {**shape.source, "database": ""}}}
        else:
            request_of = request
        made_of = wire.encode([{**request_of, "into": ""}, marks])
        if made_of in cls.kept:
            place, reply, there = cls.kept[made_of] = cls.kept.pop(made_of)
            shutil.copytree(place, into, dirs_exist_ok=True)
            return dict(_moved(reply, there, file))
        reply = answered(request, report)
        if "result" in reply:
            cls.folder = cls.folder or Path(tempfile.mkdtemp(prefix="dpsql-built-"))
            place = Path(tempfile.mkdtemp(dir=cls.folder))
            shutil.copytree(into, place, dirs_exist_ok=True)
            cls.kept[made_of] = place, reply, file
            if len(cls.kept) > KEPT:
                shutil.rmtree(cls.kept.pop(next(iter(cls.kept)))[0])
        return reply


def _moved(told: Any, there: str, here: str) -> Any:
    """What is told of a build from a file, as of a build from its copy."""
    if isinstance(told, dict):
        return {name: _moved(value, there, here) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return [_moved(value, there, here) for value in told]
    return told.replace(there, here, 1) if isinstance(told, str) and there and told.startswith(there) else told


def pytest_unconfigure() -> None:
    """Nothing is left."""
    if Built.folder is not None:
        shutil.rmtree(Built.folder, ignore_errors=True)


class Shared:
    """One engine for what is built in a process of tests, one build after the other."""

    free = Lock()

    @staticmethod
    @cache
    def engine(process: int) -> duckdb.DuckDBPyConnection:
        """That of a process."""
        from dpsql.engine.duckdb.opened import SETTINGS

        return duckdb.connect(config=SETTINGS | {"temp_directory": ""})

    @classmethod
    @contextmanager
    def opened(cls, file: Path | None, spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
        """As `dpsql.engine.duckdb.opened.opened`; an engine of its own while another thread builds here."""
        from dpsql.engine.duckdb.opened import SETTINGS

        if not cls.free.acquire(blocking=False):
            with duckdb.connect(str(file or ":memory:"), config=SETTINGS | {"temp_directory": str(spill)}) as own:
                yield own
            return
        engine = cls.engine(os.getpid())
        try:
            with engine.cursor() as connection:
                connection.execute("SET preserve_insertion_order = false")
                if file is not None:
                    path = str(file).replace("'", "''")
                    connection.execute(f"ATTACH '{path}' AS {file.stem}")
                    connection.execute(f"USE {file.stem}")
                yield connection
        finally:
            attached = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"
            for (name,) in engine.execute(attached).fetchall():
                engine.execute(f'DETACH "{name}"')
            cls.free.release()


class Here:
    """To the builder it is the owner's process; it does the job where it is. Requests and replies go by the wire."""

    def __init__(self, module: str, options: object) -> None:
        self.connection = self
        self._replies: list[bytes] = []

    def wait_until_ready(self) -> None:
        """It is."""

    def stop(self) -> None:
        """There is nothing to stop."""

    def send_bytes(self, message: bytes) -> None:
        """Does the job."""
        from dpsql.worker import wire

        def report(step: str, share: float) -> None:
            self._replies.append(wire.encode({"step": step, "share": share}))

        self._replies.append(wire.encode(Built.answered(wire.decode(message), report)))

    def recv_bytes(self) -> bytes:
        """The next step, or the reply."""
        return self._replies.pop(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Takes the one or the other before the test's fixtures are made."""
    from dpsql.engine.duckdb import database
    from dpsql.engine.duckdb.opened import opened
    from dpsql.owner import jobs
    from dpsql.worker import client
    from dpsql.worker.process import Child
    from tests.forking import Forked

    database.opened = opened if item.nodeid.startswith(SPILLED) else Shared.opened  # type: ignore[attr-defined]
    Built.off = item.nodeid.startswith(ANEW)
    forked = Forked if hasattr(os, "pidfd_open") else Child  # macOS has none
    apart = forked if item.nodeid.startswith(APART) else Here
    jobs.Child = Child if item.nodeid.startswith(REAL) else apart  # type: ignore[assignment,attr-defined]
    client.Child = Child if item.nodeid.startswith(FRESH) else forked  # type: ignore[attr-defined]
