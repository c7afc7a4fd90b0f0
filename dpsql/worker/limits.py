"""What a worker forbids itself before it sees any data. Python's own tools only, so that it runs everywhere.

Tests: tests/unit/worker.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import threading

__all__ = ["LOCKED", "confine", "expire", "leave_with"]

LOCKED = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
"""DuckDB's settings in every worker: no file but its own, no network, no code that is not built in."""


def confine(memory: int | None, *, writes: bool) -> None:
    """Takes away from this process what it does not need. None of it can be had back.

    Args:
        memory: Bytes of address space at most; None for no limit.
        writes: Whether files may be written; without, every write to a file fails.

    macOS knows no working limit on address space: there the deadline alone stops a statement that takes too much.
    """
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it kills this process
    _limit(resource.RLIMIT_CORE, 0)  # a core dump would be a copy of the data
    if not writes:
        _limit(resource.RLIMIT_FSIZE, 0)
    if memory is not None:
        _limit(resource.RLIMIT_AS, memory)


def _limit(what: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (most, most))


def expire(seconds: float) -> None:
    """Lets the kernel kill this process after so many seconds, whatever it is doing then; 0 takes that back.

    The parent kills at the deadline itself: this holds when the parent is gone, and needs no thread of ours to run.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)


def leave_with(connection: int) -> None:
    """Ends this process as soon as the parent is gone: it closed its end, or died.

    Not PR_SET_PDEATHSIG: that also fires when the parent's *thread* that started the worker ends.
    """
    parent = os.getppid()

    def watch() -> None:
        poll = select.poll()
        poll.register(connection, 0)  # 0: only hang-up and errors, never the messages themselves
        while not poll.poll(1000):
            if os.getppid() != parent:  # a fork of the parent may still hold the other end open
                break
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
