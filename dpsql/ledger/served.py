"""How often stored answers were served again, for nothing: by day, analyst and what was asked.

Tests: tests/unit/ledger/test_waiting.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from threading import Lock
from time import monotonic
from typing import Any

from dpsql.errors import LedgerError
from dpsql.ledger.beside import Beside

__all__ = ["Served"]

PAUSE = 2.0
"""Seconds between two writings: a dashboard that refreshes is not held up by the count. It is a choice."""


class Served:
    """Counts answers that came from the store. Threads may share it; what a lost process counted last is lost.

    Args:
        file: Where the counts are kept.
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(self, file: Beside, clock: Callable[[], float] = monotonic) -> None:
        self._file, self._clock = file, clock
        self._lock = Lock()
        self._new = Counter[tuple[str, str, str]]()
        self._written = -PAUSE

    def count(self, analyst: str, fingerprint: str) -> None:
        """One more."""
        with self._lock:
            self._new[datetime.now(UTC).date().isoformat(), analyst, fingerprint] += 1
            due = self._clock() - self._written >= PAUSE
        if due:
            self.write()

    def write(self) -> None:
        """Keeps what was counted. A file that cannot be written loses a count, and refuses nobody."""
        with self._lock:
            new, self._new = self._new, Counter()
            self._written = self._clock()
        if not new:
            return
        try:
            with self._file.changing(durable=False) as sql:
                sql.executemany(
                    "INSERT INTO served VALUES (?, ?, ?, ?) "
                    "ON CONFLICT (day, analyst, fingerprint) DO UPDATE SET times = times + excluded.times",
                    [(*key, times) for key, times in new.items()],
                )
        except LedgerError:
            return

    def all(self) -> dict[tuple[date, str, str], int]:
        """Day, analyst and fingerprint to how often."""
        rows: list[tuple[Any, ...]] = self._file.rows("SELECT day, analyst, fingerprint, times FROM served")
        return {(date.fromisoformat(day), analyst, print_): times for day, analyst, print_, times in rows}
