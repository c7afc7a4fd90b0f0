"""Something that is looked at again and again, in a thread of its own.

Tests: tests/unit/server/test_watch.py.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from dpsql.errors import place_of
from dpsql.server.events import tell

__all__ = ["Watch"]

PATIENCE = 5.0
"""Seconds to wait at the end for a look that is under way. It is a choice: a disk that hangs may hold one for ever, and
a server that is told to stop stops all the same."""


class Watch:
    """Looks from `begin` to `end`; a look that fails is not the last.

    Args:
        name: Of the thread, and in the owner's log where a look fails.
        look: What is done.
        pause: Seconds between two looks.
        patience: Seconds to wait at the end; tests give their own.
    """

    def __init__(self, name: str, look: Callable[[], None], pause: float, patience: float = PATIENCE) -> None:
        self._name, self._look, self._pause, self._patience = name, look, pause, patience
        self._ends = Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Looks after a pause, again and again."""
        self._thread = Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Looks no more; returns when the look under way is done, or has taken too long. Harmless when repeated."""
        self._ends.set()
        if self._thread is None:
            return
        self._thread.join(self._patience)
        if self._thread.is_alive():
            tell("left behind", of=self._name)
        self._thread = None

    def _run(self) -> None:
        while not self._ends.wait(self._pause):
            try:
                self._look()
            except Exception as bug:  # noqa: BLE001 - the next look is to be made all the same
                tell("bug", of=self._name, kind=type(bug).__name__, where=place_of(bug))
