"""All tests, doctests and examples: what chance may do to them, where they build their tables, and their order."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

MEMORY = Path("/dev/shm")
ROOM = 2 << 30  # Bytes that must be free there: several times what the tests of two processes hold at once.
YOUNG = 50_000
"""Objects made before the collector of garbage looks for circles among them: 700 is Python's choice. It is a choice of
ours: plans and offers are made a tenth faster with it, as measured, in as much memory."""

if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    # Ledgers and bounded tables wait for the disk at each step, thousands of times; that memory does what files do.
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell that puts a command into the background has it ignore Ctrl-C, and so would all that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

STATE = "XDG_STATE_HOME"
pytest_plugins = ["tests.false_alarms", "tests.building", "tests.turns"]

LONG = ("tests/unit/test_readme.py", "tests/unit/test_tour.py", "tests/attacks/")
"""Files that take long as one piece: they come first, so that all processes end together."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without Python's collector of garbage: what is found stays, and is not looked through again later.

    What the tests make is looked through less often than Python would.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(YOUNG)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Looks for doctests only in files that have some: it would go through all that each of them imports."""
    found = yield
    others = [collector for collector in found if not isinstance(collector, DoctestModule)]
    return found if len(others) == len(found) or b">>>" in file_path.read_bytes() else others


def pytest_configure(config: pytest.Config) -> None:
    """Marks of ledgers and other state of the user are of this run alone: paths come again, and so would old marks."""
    if not hasattr(config, "workerinput"):
        os.environ[STATE] = tempfile.mkdtemp(prefix="dpsql-state-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """What was found may be collected again, for libraries tell at the end what they still hold."""
    gc.unfreeze()
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[STATE], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, otherwise in the order in which they were found."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
