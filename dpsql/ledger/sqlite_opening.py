"""How a SQLite file that several processes write is opened: with a write-ahead log, and trusting nothing that it holds.

Tests: tests/unit/ledger/test_sqlite_opening.py.
"""

from __future__ import annotations

import sqlite3
import time

__all__ = ["connected"]

PAUSE = 0.005  # Seconds between two attempts. It is a choice: turning a file to a write-ahead log takes milliseconds.


def connected(source: str, patience: float) -> sqlite3.Connection:
    """A connection without transactions of its own, which threads may share.

    Args:
        source: A path, a URI that begins with ``file:``, or ``:memory:``.
        patience: Seconds to wait for what another one does with the file.

    Raises:
        sqlite3.Error: It cannot be opened, is no database, or another one held it for longer.
    """
    sql = sqlite3.connect(
        source,
        uri=source.startswith("file:"),
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        factory=_ClosedAtLast,
    )
    try:
        _write_ahead(sql, time.monotonic() + patience)
        sql.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        sql.close()
        raise
    return sql


class _ClosedAtLast(sqlite3.Connection):
    """A connection that ends with who holds it: Python 3.13 warns of those that are never closed."""

    def __del__(self) -> None:
        self.close()


def _write_ahead(sql: sqlite3.Connection, until: float) -> None:
    """Turns the file to a write-ahead log, which SQLite does not wait for where two do so at the same moment."""
    while True:
        try:
            sql.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(PAUSE)
