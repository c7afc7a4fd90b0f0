"""Turns of processes that do the same at the same moment: whoever is second finds what the first has stored.

Each name is one byte of an empty file beside the ledger, which the system lets one process lock at a time and frees
when that process ends, however it ends. No guarantee rests on it: without turns both pay for what each of them reads.

Tests: tests/attacks/test_asked_at_once.py.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from dpsql.ledger.folders import PAUSES

__all__ = ["ProcessTurns"]

PATIENCE = 60.0
"""Seconds to wait for another process; then the same is paid for twice. It is a choice: engines answer sooner."""
DIGITS = 15  # Hexadecimal digits of a name's place in the file: 60 bits, for a place has 63 at most.


class ProcessTurns:
    """Turns of all processes over one ledger. The threads of a process share it, and take turns by themselves.

    Args:
        ledger: Where the ledger is, or None for one in memory, which no other process has.
        patience: Seconds to wait for another process; tests give their own.
    """

    def __init__(self, ledger: Path | None, patience: float = PATIENCE) -> None:
        self._path = None if ledger is None else ledger.with_name(ledger.name + ".turns")
        self._patience = patience
        self._lock = Lock()
        self._file: int | None = None

    @contextmanager
    def of(self, name: str) -> Iterator[bool]:
        """Around what is done for a name, told whether another process was waited for; who asks meanwhile waits."""
        place = int(hashlib.sha256(name.encode()).hexdigest()[:DIGITS], 16)
        file = None
        with suppress(OSError):  # no such locks on this disk: then there are no turns
            file = self._opened()
        if file is None or not (tries := self._taken(file, place)):
            yield file is not None
            return
        try:
            yield tries > 1
        finally:
            with suppress(OSError):  # closed meanwhile, which frees it, too
                fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

    def close(self) -> None:
        """Lets go of the file, and of all turns."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = self._path = None

    def _opened(self) -> int | None:
        with self._lock:
            if self._file is None and self._path is not None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            return self._file

    def _taken(self, file: int, place: int) -> int:
        """At which try it is our turn; 0 where another process has it for too long, or there are no such locks."""
        ends, pause, tries = time.monotonic() + self._patience, PAUSES[0], 0
        while time.monotonic() < ends:
            tries += 1
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            except (BlockingIOError, PermissionError):  # as systems say that another process has it
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])
            except OSError:
                return 0
            else:
                return tries
        return 0
