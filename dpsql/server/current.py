"""The limits as the policy file says now, of doors and of accounts: new ones are taken up without a restart.

Nobody who asks waits for it: a policy of many tables takes seconds to read, and another process may hold the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from dpsql.errors import Error, PolicyError
from dpsql.policy import Policy, load_policy
from dpsql.policy.server import ServerSection
from dpsql.server.events import tell
from dpsql.server.watch import Watch

__all__ = ["CurrentLimits"]

PAUSE = 1.0  # Seconds between two looks at the file. It is a choice: an owner who lowers a limit waits no longer.


class CurrentLimits:
    """The section in force. Threads may share it.

    Args:
        policy: As it was opened.
        adopt: Told the policy when the file has changed: takes up the limits of accounts. It may take long.
        then: Called after each look: what else may have changed, and rests on the limits.
        pause: Seconds between two looks of `watch`; tests give their own.
    """

    def __init__(
        self,
        policy: Policy,
        adopt: Callable[[Policy], None],
        then: Callable[[], None] = lambda: None,
        *,
        pause: float = PAUSE,
    ) -> None:
        self._adopt, self._then = adopt, then
        self._section = policy.server
        self._file = policy.file
        self._looking = Lock()
        self._seen = self._state()
        self._left: Policy | None = None
        """Whose limits of accounts are to be taken up still."""
        self._said = ""
        """Why not, as the owner's log says already."""
        self._watch = Watch("limits", self.look, pause)

    def now(self) -> ServerSection:
        """The section, at once; the one before, where the file cannot be used, which the owner's log then says."""
        return self._section

    def watch(self) -> None:
        """Looks at the file again and again, in a thread of its own, until `end`."""
        self._watch.begin()

    def end(self) -> None:
        """Looks no more; returns when what is being taken up was, or takes too long. Harmless when repeated."""
        self._watch.end()

    def look(self) -> None:
        """Takes up what the file says where it has changed, and again what could not be taken up before."""
        with self._looking:
            seen = self._state()
            if self._file is not None and seen != self._seen:
                self._seen, self._said = seen, ""
                self._read(self._file)
            if self._left is not None:
                self._take_up(self._left)
            self._then()

    def _read(self, file: Path) -> None:
        try:
            policy = load_policy(file, waits=False)
        except (Error, OSError) as problem:
            tell("limits stay", why=str(problem))
            return
        self._section, self._left = policy.server, policy
        tell("limits", section=self._section.model_dump_json())

    def _take_up(self, policy: Policy) -> None:
        """Takes up the limits of accounts. What hangs on the file alone is tried once, the rest until it succeeds."""
        self._left = None
        try:
            self._adopt(policy)
        except Error as problem:
            self._left = None if isinstance(problem, PolicyError) else policy
            if str(problem) != self._said:
                self._said = str(problem)
                tell("budget stays", why=self._said)
            return
        tell("budget", total=policy.budget.total.model_dump_json(), analysts=len(policy.budget.analysts))

    def _state(self) -> tuple[int, ...]:
        try:
            state = None if self._file is None else self._file.stat()
        except OSError:
            state = None
        return () if state is None else (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
