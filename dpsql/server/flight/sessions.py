"""Who asks: sessions of this door, found by the header ``authorization`` that comes with every call.

A login by user and token (Handshake) makes a session of its own, with a bearer of its own, and SET holds in it. A
user's token as bearer, or user and token with each call, opens one session for all who send the same: SET is refused
there, for it would change what others of them ask. What a header opened is found again by a digest under a secret key.
"""

from __future__ import annotations

import binascii
import hmac
import secrets
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from dpsql.answers.answer import Answer
from dpsql.plan.outline import Outline
from dpsql.server.core import Guest, Server
from dpsql.server.refusals import NotAdmitted, TooMuch
from dpsql.server.users import User

__all__ = ["PreparedSql", "Sessions", "Visit"]

DOOR = "flight"
BEARER = 32  # Random bytes of a session's bearer.
OWN = "session-"  # What it begins with: no user's id does.
STATEMENTS = 64
"""PreparedSql statements of one session. It is a choice: dashboards keep some ten."""


@dataclass(slots=True)
class PreparedSql:
    """A prepared statement.

    Attributes:
        sql: Its text.
        parameters: The record batch that was bound, as an Arrow stream; or nothing.
        outline: What it returns, where that is known.
    """

    sql: str
    parameters: bytes = b""
    outline: Outline | None = None


@dataclass(slots=True)
class Visit:
    """A session.

    Attributes:
        guest: The analyst.
        own: Whether one login made it, so that SET holds in it.
        used: When it was last used, in seconds that only grow.
        prepared: Its prepared statements by handle.
        told: What was told of its last answer: cost, what is left.
        was_set: What its last SETs returned, by their text: they hold since they were described.
    """

    guest: Guest
    own: bool
    used: float
    prepared: dict[bytes, PreparedSql] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    was_set: dict[str, Answer] = field(default_factory=dict)

    def remember(self, sql: str, answer: Answer) -> None:
        """Keeps what a SET returned, for who fetches it."""
        self.was_set[sql] = answer
        while len(self.was_set) > STATEMENTS:
            del self.was_set[next(iter(self.was_set))]

    def prepare(self, own: PreparedSql) -> bytes:
        """The handle of a new prepared statement.

        Raises:
            TooMuch: There are too many.
        """
        if len(self.prepared) >= STATEMENTS:
            raise TooMuch(f"{STATEMENTS} prepared statements of a session are the most. Close some.")
        handle = secrets.token_bytes(16)
        self.prepared[handle] = own
        return handle


class Sessions:
    """All sessions of this door. Threads may share it.

    Args:
        server: Who may come in.
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(self, server: Server, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._clock = clock
        self._lock = Lock()
        self._key = secrets.token_bytes(BEARER)
        self._kept: OrderedDict[bytes, Visit] = OrderedDict()

    def find(self, header: str) -> Visit | None:
        """The session that a header opened before."""
        digest = self._digest(header)
        with self._lock:
            kept = self._kept.get(digest)
            if kept is not None:
                kept.used = self._clock()
                self._kept.move_to_end(digest)
            return kept

    def open(self, header: str, address: str) -> Visit:
        """The session that a header opens, by a user's own token. It takes some milliseconds.

        Raises:
            NotAdmitted: It opens none.
            TooMuch: There are too many.
        """
        user = self._user(header, address)
        return self._keep(header, user, address, own=False)

    def login(self, header: str, address: str) -> str:
        """A new session's bearer.

        Raises:
            NotAdmitted, TooMuch: As `open`.
        """
        user, bearer = self._user(header, address), OWN + secrets.token_urlsafe(BEARER)
        self._keep(f"Bearer {bearer}", user, address, own=True)
        return bearer

    def end(self, kept: Visit) -> None:
        """Ends a session."""
        with self._lock:
            for digest in [digest for digest, one in self._kept.items() if one is kept]:
                del self._kept[digest]
        kept.guest.close()

    def sweep(self) -> None:
        """Ends the sessions that were silent for too long, and those of users who were removed."""
        since = self._clock() - self._server.limits.idle_seconds
        with self._lock:
            silent = [kept for kept in self._kept.values() if kept.used < since or not kept.guest.stands]
        for kept in silent:
            self.end(kept)

    def close(self) -> None:
        """Ends them all."""
        for kept in list(self._kept.values()):
            self.end(kept)

    def _user(self, header: str, address: str) -> User:
        kind, _, value = header.partition(" ")
        if kind.lower() == "bearer" and value.startswith(OWN):
            raise NotAdmitted("This session has ended. Log in again.")
        if kind.lower() == "bearer":
            return self._server.bearer(value.strip(), DOOR, address)
        if kind.lower() != "basic":
            raise NotAdmitted("Log in with the user's name and token, or send the token as bearer.")
        try:
            name, _, token = b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise NotAdmitted("The header authorization is broken.") from None
        return self._server.attempt(name, DOOR, address).by_token(token)

    def _keep(self, header: str, user: User, address: str, *, own: bool) -> Visit:
        self._make_room(user)
        try:
            guest = self._server.guest(user, DOOR, address)
        except TooMuch:
            if not self._end_oldest(user):
                raise
            guest = self._server.guest(user, DOOR, address)
        kept, digest = Visit(guest, own, self._clock()), self._digest(header)
        with self._lock:
            twin = self._kept.get(digest)  # of two first calls at once, one session stays
            if twin is None:
                self._kept[digest] = kept
        if twin is not None:
            guest.close()
        return twin or kept

    def _make_room(self, user: User) -> None:
        """Clients that vanish do not say so: one analyst has a quarter of all places, and loses the most silent."""
        with self._lock:
            own = sum(kept.guest.analyst == user.name for kept in self._kept.values())
        if own >= max(1, self._server.limits.connections // 4):
            self._end_oldest(user)

    def _end_oldest(self, user: User) -> bool:
        with self._lock:
            oldest = next((kept for kept in self._kept.values() if kept.guest.analyst == user.name), None)
        if oldest is not None:
            self.end(oldest)
        return oldest is not None

    def _digest(self, header: str) -> bytes:
        return hmac.digest(self._key, header.encode(errors="replace"), "sha256")
