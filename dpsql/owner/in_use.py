"""Which versions of the bounded tables somebody uses: those are not removed.

Whoever opens a version shares a lock on a file in its directory, and a build takes that lock alone before it removes an
old version. It falls with the process that opened, however that ends; worker processes, whenever they start, need none
of their own. Where a folder has no locks, versions are opened without, and a build, which needs them itself, removes
none.

Tests: tests/unit/owner/test_in_use.py.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path

from dpsql.closing import Closing

__all__ = ["LOCK", "InUse", "to_remove", "use"]

LOCK = "in-use"
"""The file in a version's directory. It is empty, and stays where it is: a lock is on a file, not on its name."""


class InUse(Closing):
    """That this process uses a version; until it is closed, or nothing has it any more.

    Args:
        handle: The open file that is locked; None where there are no locks.
    """

    def __init__(self, handle: int | None) -> None:
        self._ends = None if handle is None else weakref.finalize(self, os.close, handle)

    def close(self) -> None:
        """Uses it no more. Harmless when repeated."""
        if self._ends is not None:
            self._ends()


def use(place: Path) -> InUse:
    """That a version is used from now on.

    Args:
        place: Its directory.

    Raises:
        FileNotFoundError: It is not there, or is just being removed.
    """
    try:
        held = _locked(place, os.O_RDONLY, fcntl.LOCK_SH)
        there = place.is_dir()
    except BlockingIOError:
        there = False
    except FileNotFoundError:
        raise
    except OSError:  # a folder without locks, or one where no file can be made
        return InUse(None)
    if not there:
        raise FileNotFoundError(place)
    return held


def to_remove(place: Path) -> InUse | None:
    """A version that nobody uses, held so that nobody begins to; None where somebody does, or that is not known.

    Args:
        place: Its directory.
    """
    try:
        return _locked(place, os.O_RDWR, fcntl.LOCK_EX)
    except OSError:
        return None


def _locked(place: Path, how: int, lock: int) -> InUse:
    """A lock that nobody is in the way of; its file is made in a version of before, which has none.

    Raises:
        BlockingIOError: Somebody is in the way.
        OSError: There is no such place, or there are no locks.
    """
    handle = os.open(place / LOCK, how | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, lock | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return InUse(handle)
