"""Whether a server takes statements, for whoever watches over it: looked at again and again, though nobody asks.

Tests: tests/unit/server/test_health.py.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.errors import Error
from dpsql.server.events import tell
from dpsql.server.watch import Watch

__all__ = ["Health"]

PAUSE = 5.0  # Seconds between two looks at the engine. It is a choice: a look at one on a server is one question to it.


class Health:
    """Whether the engine stands.

    Args:
        stand: Returns if it does, or raises an `Error`. It may take long.
        pause: Seconds between two looks; tests give their own.
    """

    def __init__(self, stand: Callable[[], None], pause: float = PAUSE) -> None:
        self._stand = stand
        self._ready = True
        self._watch = Watch("health", self.look, pause)

    @property
    def ready(self) -> bool:
        """Whether it stood when it was looked at last."""
        return self._ready

    def watch(self) -> None:
        """Looks again and again, in a thread of its own, until `end`."""
        self._watch.begin()

    def end(self) -> None:
        """Looks no more. Harmless when repeated."""
        self._watch.end()

    def look(self) -> None:
        """Looks once; the owner's log says what changed."""
        was = self._ready
        try:
            self._stand()
            self._ready = True
        except Error as problem:
            self._ready = False
            if was:
                tell("not ready", why=str(problem))
        else:
            if not was:
                tell("ready")
