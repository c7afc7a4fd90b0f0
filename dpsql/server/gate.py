"""The limits of the policy's ``server`` section: connections of all and of each, statements, sizes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from threading import Lock

from dpsql.policy.server import ServerSection
from dpsql.server.refusals import TooMuch

__all__ = ["Gate"]

MINUTE = 60.0  # In seconds.
FREE = 10  # Times as many questions about the catalogue as statements: tools ask many of them by themselves.


class Gate:
    """Counts who is in and what they ask. Threads may share it.

    Args:
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._inside = Counter[str]()
        self._asked: dict[tuple[str, bool], deque[float]] = defaultdict(deque)

    @property
    def inside(self) -> int:
        """Connections now."""
        return self._inside.total()

    def enter(self, analyst: str, limits: ServerSection) -> None:
        """Counts one more connection of an analyst; to be followed by `leave`.

        Raises:
            TooMuch: There are as many as the policy allows, of all or of this analyst.
        """
        with self._lock:
            if self.inside >= limits.connections:
                raise TooMuch(f"The server has {limits.connections} connections, which is the most. Try again later.")
            if self._inside[analyst] >= limits.own_connections:
                own = f"{limits.own_connections} connection{'s' * (limits.own_connections > 1)}"
                raise TooMuch(f"You have {own}, which is your most. Close one.")
            self._inside[analyst] += 1

    def leave(self, analyst: str) -> None:
        """Counts one connection less."""
        with self._lock:
            self._inside[analyst] -= 1
            self._inside += Counter()  # forgets who has none

    def statement(
        self, analyst: str, size: int, limits: ServerSection, *, free: bool = False, together: int = 1
    ) -> None:
        """Counts a statement, or several that are asked together: all of them, or none.

        Args:
            analyst: Whose.
            size: In bytes.
            limits: Those in force.
            free: Whether it asks about the catalogue, or another thing that costs nothing.
            together: How many there are.

        Raises:
            TooMuch: It is too long, or with the last minute's there are more than the policy allows. Nothing was
                charged.
        """
        if size > limits.statement_bytes:
            raise TooMuch(f"The statement has {size} bytes, and {limits.statement_bytes} are the most. Ask for less.")
        most = limits.statements_per_minute * (FREE if free else 1)
        with self._lock:
            now, asked = self._clock(), self._asked[analyst, free]
            while asked and asked[0] <= now - MINUTE:
                asked.popleft()
            if together > most:
                raise TooMuch(
                    f"These are {together} statements, and {most} in a minute are the most. Nothing was charged. Ask "
                    "for fewer at once."
                )
            if (over := len(asked) + together - most) > 0:
                wait = asked[over - 1] + MINUTE - now
                raise TooMuch(
                    f"{most} statements in a minute are the most. Nothing was charged. Ask again in {wait:.0f} s."
                )
            asked.extend([now] * together)
