"""Private folders, and the locks in them by which processes take turns.

Tests: tests/unit/ledger/test_opening.py.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["held", "make_private"]

PAUSES = (0.001, 0.05)
"""Seconds between two looks at a lock that another process holds: the first pause, and the longest. It is a choice
between an early answer and a busy processor."""


def make_private(folder: Path) -> None:
    """Makes a folder, and every level above it that is missing, with mode 0700 whatever the umask says.

    A level that others may write would let them put another folder in the place of the private one.
    """
    for level in [*reversed(folder.parents), folder]:
        if not level.exists():
            try:
                level.mkdir(mode=0o700)
            except FileExistsError:  # another process was faster
                continue
            level.chmod(0o700)


@contextmanager
def held(lock: Path, *, patience: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds a lock; it falls with the process, however that ends.

    Args:
        lock: Its file; made with mode 0600 where there is none.
        patience: Seconds to wait for another process.
        waiting: Called before each pause.

    Raises:
        TimeoutError: If another process holds it for longer.
    """
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        ends, pause = time.monotonic() + patience, PAUSES[0]
        while not _taken(handle):
            if time.monotonic() >= ends:
                raise TimeoutError
            waiting()
            time.sleep(pause)
            pause = min(2 * pause, PAUSES[1])
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
