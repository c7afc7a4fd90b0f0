"""The public-domain DB-API 2.0 compliance suite, run on dpsql's connection and cursor.

The suite creates and fills tables, which dpsql never does; a session over SQLite stands in behind the cursor.
"""

from __future__ import annotations

import sqlite3

import dbapi20
import pytest

from dpsql import dbapi
from dpsql.answers.answer import Answer, public
from dpsql.errors import NotSupportedError, ProgrammingError
from dpsql.ledger.sqlite_opening import connected
from dpsql.plan.types import Parameters, Type


class SqliteSession:
    """Answers from an empty SQLite database in memory."""

    def __init__(self) -> None:
        self.database = connected(":memory:", 1)

    def query(self, sql: str, parameters: Parameters = ()) -> Answer:
        """The rows of one statement; columns are text, as all of the suite's are."""
        try:
            cursor = self.database.execute(sql, tuple(parameters))
        except sqlite3.Error as error:
            raise ProgrammingError(str(error)) from None
        names = tuple(column[0] for column in cursor.description or ())
        return public(names, (Type.TEXT,) * len(names), cursor.fetchall())


class TestDatabaseApi20(dbapi20.DatabaseAPI20Test):  # type: ignore[misc]  # the suite has no types
    """Each inherited test is one of the suite's; those below differ, and say why."""

    driver = dbapi

    def _connect(self) -> dbapi.Connection:
        session = SqliteSession()
        return dbapi.Connection(session, close=session.database.close)

    def test_connect(self) -> None:
        self._connect().close()
        with pytest.raises(TypeError, match="analyst"):
            dbapi.connect("policy.yaml")  # type: ignore[call-arg]  # the missing argument is the test

    def test_non_idempotent_close(self) -> None:
        """Closing twice is fine; the suite itself says that reasonable persons differ."""
        connection = self._connect()
        connection.close()
        connection.close()

    def test_executemany(self) -> None:
        """Refused: each set of parameters would be charged, and all answers but the last lost."""
        with self._connect() as connection, pytest.raises(NotSupportedError, match="Call execute once for each"):
            connection.cursor().executemany("select ?", [(1,), (2,)])

    def test_nextset(self) -> None:
        """One statement has one answer, so the optional method is absent."""
        with self._connect() as connection:
            assert not hasattr(connection.cursor(), "nextset")

    def test_setoutputsize(self) -> None:
        """Accepted, and changes nothing."""
        with self._connect() as connection:
            cursor = connection.cursor()
            cursor.setoutputsize(1, 0)
            cursor.execute("select 'longer than one'")
            assert cursor.fetchone() == ("longer than one",)
