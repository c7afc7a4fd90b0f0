"""The limits as the policy file says now, of doors and of accounts: new ones are taken up without a restart."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from dpsql.errors import Error
from dpsql.policy import Policy, load_policy
from dpsql.policy.server import ServerSection
from dpsql.server.events import tell

__all__ = ["CurrentLimits"]

PAUSE = 1.0  # Seconds between two looks at the file. It is a choice: a statement need not wait for a disk.


class CurrentLimits:
    """The section in force. Threads may share it.

    Args:
        policy: As it was opened.
        adopt: Told the policy when the file has changed: takes up the limits of accounts.
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(
        self, policy: Policy, adopt: Callable[[Policy], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._adopt = adopt
        self._section = policy.server
        self._file = policy.file
        self._clock = clock
        self._lock = Lock()
        self._looked = clock()
        self._seen = self._state()

    def now(self) -> ServerSection:
        """The section; the one before, where the file can no longer be used, which the owner's log then says."""
        with self._lock:
            if self._file is None or self._clock() < self._looked + PAUSE:
                return self._section
            self._looked, seen = self._clock(), self._state()
            if seen != self._seen:
                self._seen = seen
                self._taken_up(self._file)
            return self._section

    def _taken_up(self, file: Path) -> None:
        """Takes up what may be, and says in the owner's log what was."""
        try:
            policy = load_policy(file)
        except (Error, OSError) as problem:
            tell("limits stay", why=str(problem))
            return
        self._section = policy.server
        tell("limits", section=self._section.model_dump_json())
        try:
            self._adopt(policy)
            tell("budget", total=policy.budget.total.model_dump_json(), analysts=len(policy.budget.analysts))
        except Error as problem:
            tell("budget stays", why=str(problem))

    def _state(self) -> tuple[int, ...]:
        try:
            state = None if self._file is None else self._file.stat()
        except OSError:
            state = None
        return () if state is None else (state.st_ino, state.st_size, state.st_mtime_ns)
