"""What SQLite could not do with a ledger's file, as errors of dpsql's: of a disk that is full, or of the file itself.

Tests: tests/unit/ledger/test_ledger.py, tests/attacks/test_ledger_tampering.py.
"""

from __future__ import annotations

import sqlite3

from dpsql.errors import LedgerError
from dpsql.ledger.mark import UnusableLedgerError

__all__ = ["SqliteErrors"]

CIRCUMSTANCES = {  # SQLite's primary result codes that say nothing about the file's content.
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


class SqliteErrors:
    """Around what SQLite does: turns its errors into a LedgerError, an UnusableLedgerError where the file is at fault.

    Args:
        doing: What could not be done then.
    """

    __slots__ = ("_doing",)  # one is made for every statement

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        """Nothing to begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, sqlite3.Error):
            return
        problem = f"The ledger could not be {self._doing}: {error}."
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in CIRCUMSTANCES:
            raise LedgerError(f"{problem} Nothing was read. See that its disk and its folder can be written.") from None
        raise UnusableLedgerError(problem) from None
