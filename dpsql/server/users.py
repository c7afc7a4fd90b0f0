"""Users and their tokens: who may come in, by a file beside the ledger that holds verifiers alone.

A token is its user's id, a hyphen and 256 bits of the kernel's. The file keeps, of each, what SCRAM-SHA-256 keeps
(RFC 5802: a salt, StoredKey, ServerKey): enough to check a token, or a proof that somebody knows it, and nothing from
which the token follows. The file is read again whenever it changed, so a server needs no restart.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from dpsql.errors import OperationalError, ProgrammingError
from dpsql.ledger.folders import held, write_whole
from dpsql.policy import Policy
from dpsql.policy.model import Analyst
from dpsql.policy.section import fold

__all__ = ["OWNER", "User", "Users", "Verifier", "users_file"]

OWNER = ""
"""The name of the owner's own entry: no analyst has it."""
ITERATIONS = 4096
"""Rounds of PBKDF2, as RFC 7677 asks for at least. A token holds 256 random bits, so more would guard nothing."""
SALT = 16  # Bytes of a salt, as PostgreSQL takes them.
ID = 5  # Random bytes of a user's id, which is no secret: some 10^12 ids.
SECRET = 32  # Random bytes of a token.
PATIENCE = 10.0  # Seconds to wait for another command that changes the file.


@dataclass(frozen=True, slots=True)
class Verifier:
    """What is kept of a token."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    @classmethod
    def of(cls, token: str) -> Self:
        """A new one, with a salt of its own."""
        salt = secrets.token_bytes(SALT)
        stored, server = _keys(token, salt, ITERATIONS)
        return cls(salt, ITERATIONS, stored, server)

    def fits(self, token: str) -> bool:
        """Whether it is that token's; the time it takes does not tell how much of it is right."""
        return hmac.compare_digest(_keys(token, self.salt, self.iterations)[0], self.stored_key)


@dataclass(frozen=True, slots=True)
class User:
    """One who may come in.

    Attributes:
        id: What their token begins with.
        name: The analyst; `OWNER` for the owner.
        since: When the token was made, UTC.
        verifier: What checks their token.
    """

    id: str
    name: str
    since: str
    verifier: Verifier


class Users:
    """The file of users. Threads may share it.

    Args:
        file: It; there may be none yet.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self._seen: tuple[int, ...] | None = None
        self._users: tuple[User, ...] = ()
        self._pepper = secrets.token_bytes(SECRET)

    def all(self) -> tuple[User, ...]:
        """Everybody, as the file says now.

        Raises:
            OperationalError: Others may read the file, or it is damaged.
        """
        with self._lock:
            try:
                state = self._file.stat()
            except FileNotFoundError:
                self._seen, self._users = None, ()
                return ()
            seen = (state.st_ino, state.st_size, state.st_mtime_ns, state.st_mode)
            if seen != self._seen:
                if state.st_mode & 0o077:
                    raise OperationalError(f"Others may read {self._file}. Write: chmod 600 {self._file}")
                self._users, self._seen = _read(self._file), seen
            return self._users

    def named(self, name: str) -> User | None:
        """The analyst of that name."""
        return next((user for user in self.all() if user.name == name and name != OWNER), None)

    def of_token(self, token: str) -> User | None:
        """Whose id a token begins with; whether the rest is right is not looked at."""
        own = token.partition("-")[0]
        return next((user for user in self.all() if user.id == own), None)

    def stands(self, user: User) -> bool:
        """Whether the user is still one, with the same token."""
        return user in self.all()

    def stranger(self, name: str) -> Verifier:
        """A verifier that nothing fits, always the same for a name: a stranger's salt tells nothing."""
        salt = hmac.digest(self._pepper, name.encode(errors="replace"), "sha256")[:SALT]
        return Verifier(salt, ITERATIONS, secrets.token_bytes(SECRET), secrets.token_bytes(SECRET))

    def add(self, name: str, policy: Policy) -> str:
        """A new analyst's token, which is kept nowhere.

        Raises:
            ProgrammingError: It is no analyst's name, has no account in the policy, or is there already.
        """
        _check(name, policy)

        def added(users: tuple[User, ...]) -> tuple[User, ...]:
            if twin := next((user.name for user in users if fold(user.name) == fold(name)), None):
                raise ProgrammingError(f"{twin} is a user already. Remove it first, for a new token.")
            return (*users, user)

        user, token = _new(name)
        self._change(added)
        return token

    def add_owner(self) -> str:
        """The owner's new token; one that was there is void."""
        user, token = _new(OWNER)
        self._change(lambda users: (*(one for one in users if one.name != OWNER), user))
        return token

    def remove(self, name: str) -> None:
        """Takes a user away, at once.

        Raises:
            ProgrammingError: There is none.
        """

        def removed(users: tuple[User, ...]) -> tuple[User, ...]:
            left = tuple(user for user in users if user.name != name)
            if left == users:
                raise ProgrammingError(f"There is no user {name}." if name else "The owner has no token.")
            return left

        self._change(removed)

    def _change(self, change: Callable[[tuple[User, ...]], tuple[User, ...]]) -> None:
        """Writes the file anew, whole or not at all."""
        try:
            with held(self._file.with_name(self._file.name + ".lock"), patience=PATIENCE):
                text = _FILE.dump_json(_File(users=[_entry(user) for user in change(self.all())]), indent=1)
                write_whole(self._file, text)
        except TimeoutError:
            raise OperationalError(f"Another command is changing {self._file}. Try again.") from None
        except OSError as error:
            raise OperationalError(
                f"{self._file} cannot be written: {error.strerror}. Its users stay as they are."
            ) from None


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    id: str
    name: str
    since: str
    salt: str
    iterations: int
    stored_key: str
    server_key: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    users: list[_Entry]


_FILE = TypeAdapter(_File)


def users_file(policy: Policy) -> Path:
    """Where a policy's users are kept: beside its ledger."""
    ledger = policy.resolve(policy.budget.ledger)
    return ledger.with_name(ledger.name + ".users")


def _check(name: str, policy: Policy) -> None:
    try:
        TypeAdapter[str](Analyst).validate_python(name)
    except ValidationError:
        raise ProgrammingError(f"{name!a} is no analyst's name. Write letters, digits and _ . @ + - .") from None
    accounts = policy.budget.analysts
    if name == "*" or (name not in accounts and "*" not in accounts):
        raise ProgrammingError(
            f"{name} has no account in {policy.file or policy.name}. Write one below budget, analysts; there are: "
            f"{', '.join(accounts)}."
        )


def _new(name: str) -> tuple[User, str]:
    own = secrets.token_hex(ID)
    token = f"{own}-{secrets.token_urlsafe(SECRET)}"
    return User(own, name, datetime.now(UTC).isoformat(timespec="seconds"), Verifier.of(token)), token


def _keys(token: str, salt: bytes, iterations: int) -> tuple[bytes, bytes]:
    """StoredKey and ServerKey, RFC 5802 section 3. Tokens are ASCII, which SASLprep leaves as it is."""
    salted = hashlib.pbkdf2_hmac("sha256", token.encode(errors="replace"), salt, iterations)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    return stored, hmac.digest(salted, b"Server Key", "sha256")


def _entry(user: User) -> _Entry:
    own = user.verifier
    return _Entry(
        id=user.id, name=user.name, since=user.since, salt=own.salt.hex(), iterations=own.iterations,
        stored_key=own.stored_key.hex(), server_key=own.server_key.hex(),
    )  # fmt: skip


def _read(file: Path) -> tuple[User, ...]:
    try:
        entries = _FILE.validate_python(json.loads(file.read_bytes())).users
        return tuple(
            User(
                entry.id, entry.name, entry.since,
                Verifier(
                    bytes.fromhex(entry.salt), entry.iterations,
                    bytes.fromhex(entry.stored_key), bytes.fromhex(entry.server_key),
                ),
            )
            for entry in entries
        )  # fmt: skip
    except ValueError:
        raise OperationalError(f"{file} is damaged. Remove it, and add the users again.") from None
