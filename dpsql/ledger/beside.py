"""A small file of the owner's beside the ledger: what waits for a word of the owner's, and what was served for nothing.

It holds no charge, no answer and no key, so nothing of a guarantee rests on it: without it, statements wait anew.

Tests: tests/unit/ledger/test_waiting.py.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from dpsql.errors import LedgerError
from dpsql.ledger.sqlite_opening import connected

__all__ = ["Beside", "beside"]

PATIENCE = 10.0  # Seconds to wait for another process's change. It is a choice: one takes milliseconds.

SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    id        TEXT PRIMARY KEY,
    identity  TEXT NOT NULL,   -- a hash of all that an approval is for
    analyst   TEXT NOT NULL,
    version   INTEGER NOT NULL, -- of the tables
    statement TEXT NOT NULL,
    options   TEXT NOT NULL,
    price     TEXT NOT NULL,
    asked     REAL NOT NULL,   -- times are seconds since the epoch
    approved  REAL,
    used      REAL
) STRICT;
CREATE TABLE IF NOT EXISTS served (
    day         TEXT NOT NULL,
    analyst     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    times       INTEGER NOT NULL,
    PRIMARY KEY (day, analyst, fingerprint)
) STRICT;
"""


def beside(ledger: Path) -> Path:
    """Where the file of a ledger lies."""
    return ledger.with_name(ledger.name + ".owner")


class Beside:
    """The file, made with mode 0600 at the first change; threads share it, and processes may.

    Args:
        path: Where it is, or None for one in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = RLock()
        self._sql: sqlite3.Connection | None = None

    def rows(self, sql: str, *parameters: object) -> list[tuple[object, ...]]:
        """What a SELECT finds; nothing where there is no file yet.

        Raises:
            LedgerError: The file cannot be read.
        """
        with self._lock:
            if self._sql is None and self._path is not None and not self._path.exists():
                return []
            with self._errors():
                return self._opened().execute(sql, parameters).fetchall()

    @contextmanager
    def changing(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """One transaction.

        Args:
            durable: Whether it must be on the disk afterwards, also after a power cut.

        Raises:
            LedgerError: The file cannot be written.
        """
        with self._lock, self._errors():
            sql = self._opened()
            sql.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            sql.execute("BEGIN IMMEDIATE")
            try:
                yield sql
                sql.execute("COMMIT")
            except BaseException:
                if sql.in_transaction:  # a commit for which there is no room leaves it open, or ends it
                    sql.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Lets go of the file. Harmless when repeated."""
        with self._lock:
            if self._sql is not None:
                self._sql.close()
                self._sql = None

    def _opened(self) -> sqlite3.Connection:
        if self._sql is None:
            if self._path is not None:
                self._made(self._path)
            sql = connected(":memory:" if self._path is None else str(self._path.absolute()), PATIENCE)
            try:
                sql.executescript(SCHEMA)
            except BaseException:  # the next one who asks tries again
                sql.close()
                raise
            self._sql = sql
        return self._sql

    @staticmethod
    def _made(path: Path) -> None:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        if path.stat().st_mode & 0o077:
            raise LedgerError(f"Others may read {path}, where statements wait. Write: chmod 600 {path}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(
                f"{self._path}, where statements wait for the owner, cannot be used: {error}. Nothing was read. "
                "See that its disk and its folder can be written; a damaged one may be removed."
            ) from None
