"""The version of the tables that statements are asked of: after a refresh the new one, without a restart.

A statement begins at the version that is in force then, and ends at it. The engine of a version before ends with the
last statement at it; from then on the version itself may be removed by a later refresh.

Tests: tests/unit/server/test_tables.py.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Protocol, TypeVar

from dpsql.backend import Backend
from dpsql.errors import Error, LedgerError
from dpsql.proxy import Proxy
from dpsql.server.events import tell

__all__ = ["CurrentTables"]

AGAIN = 60.0
"""Seconds until a version that could not be taken up is tried again. It is a choice: a try may read all data."""


class _Versioned(Protocol):
    @property
    def version(self) -> int: ...


Own = TypeVar("Own", bound=_Versioned)


class CurrentTables:
    """The version in force, and those before that are at work still. Threads may share it; one of them looks.

    Args:
        proxy: Open; its owner closes it.
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(self, proxy: Proxy, clock: Callable[[], float] = time.monotonic) -> None:
        self._proxy, self._clock = proxy, clock
        self._lock = Lock()
        self._at_work = Counter[int]()
        self._before: list[Backend] = []
        self._again = 0.0
        """When to try again."""
        self._said = ""
        """Why a version was not taken up, as the owner's log says already."""

    @contextmanager
    def used(self, found: Callable[[], Own]) -> Iterator[Own]:
        """Around all that is asked of a version: what was found, which is of the one in force now."""
        with self._lock:
            own = found()
            self._at_work[own.version] += 1
        try:
            yield own
        finally:
            with self._lock:
                self._at_work[own.version] -= 1
            self._end_idle()

    def stand(self) -> None:
        """Returns if the engine stands, as `Engine.stand`."""
        with self.used(lambda: self._proxy.backend) as backend:
            backend.engine.stand()

    def look(self) -> None:
        """Takes up a newer version where there is one; what cannot be opened changes nothing, and is tried again."""
        if self._clock() < self._again:
            return
        try:
            before = self._proxy.renew()
        except LedgerError as problem:
            self._stays(str(problem))
            return
        except Error as problem:
            self._again = self._clock() + AGAIN
            self._stays(f"{str(problem).rstrip('.')}. Where the policy's tables were changed, start the server again.")
            return
        self._said = ""
        if before is None:
            return
        tell("tables", version=self._proxy.backend.version)
        with self._lock:
            self._before.append(before)
        self._end_idle()

    def end(self) -> None:
        """Ends what is left of versions before."""
        with self._lock:
            before, self._before = self._before, []
        for one in before:
            one.close()

    def _stays(self, why: str) -> None:
        if why != self._said:
            self._said = why
            tell("tables stay", why=why)

    def _end_idle(self) -> None:
        with self._lock:
            idle = [one for one in self._before if not self._at_work[one.version]]
            self._before = [one for one in self._before if self._at_work[one.version]]
            self._at_work = +self._at_work  # without those at 0
        for one in idle:
            one.close()
