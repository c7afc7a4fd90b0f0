"""Most tests build their bounded tables in the test's own process: a fresh one for each takes longer than the work.

What the owner's process is (that it alone reads the source, and ends) is tested with real ones, in the tests of `REAL`.
So is how a worker starts and ends, in those of `FRESH`: elsewhere it is a fork of one that is loaded (`forking`). The
files of `APART` have a fork of the owner's process, too: what they test is on either side of it.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

__all__ = ["Here"]

REAL = (
    "tests/unit/owner/test_builder.py::test_the_bounded_file", "tests/unit/owner/test_builder.py::test_a_failed_build",
    "tests/unit/owner/test_builder.py::test_other_failures", "tests/unit/worker/",
    "tests/attacks/test_versions_at_once.py", "tests/attacks/test_worker_lockdown.py", "tests/faults/test_broken.py",
)  # fmt: skip
FRESH = (
    "tests/unit/worker/", "tests/unit/engine/test_duckdb.py::test_an_engine_that_does_not_stand",
    "tests/attacks/test_versions_at_once.py", "tests/attacks/test_worker_lockdown.py", "tests/faults/test_broken.py",
)  # fmt: skip
APART = (
    "tests/unit/owner/test_bounded.py",
    "tests/unit/owner/test_builder.py",
    "tests/unit/engine/",
    "tests/unit/cli/",
)


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
        from dpsql.owner.process import answered
        from dpsql.worker import wire

        def report(step: str, share: float) -> None:
            self._replies.append(wire.encode({"step": step, "share": share}))

        reply: dict[str, Any] = answered(wire.decode(message), report)
        self._replies.append(wire.encode(reply))

    def recv_bytes(self) -> bytes:
        """The next step, or the reply."""
        return self._replies.pop(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Takes the one or the other before the test's fixtures are made."""
    from dpsql.owner import jobs
    from dpsql.worker import client
    from dpsql.worker.process import Child
    from tests.forking import Forked

    forked = Forked if hasattr(os, "pidfd_open") else Child  # macOS has none
    apart = forked if item.nodeid.startswith(APART) else Here
    jobs.Child = Child if item.nodeid.startswith(REAL) else apart  # type: ignore[assignment,attr-defined]
    client.Child = Child if item.nodeid.startswith(FRESH) else forked  # type: ignore[attr-defined]
