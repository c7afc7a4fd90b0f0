"""Statements that wait for the data owner, and what the owner approved.

An approval is for one identity: a statement with its parameters, options, analyst, table version and price. It is used
up before the charge is asked for, and given back where the charge is refused: a process that is lost in between takes
an approval with it, never a charge that nobody approved.

Tests: tests/unit/ledger/test_waiting.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from dpsql.errors import OperationalError, ProgrammingError
from dpsql.given import text_given
from dpsql.ledger.beside import Beside

__all__ = ["DAY", "Waiting", "Waits"]

DAY = 86400.0
"""Seconds in which an approved statement must run. The owner's word is for the present; the length is a choice."""
KEPT = 30 * DAY  # Seconds for which what waits, or was used, is kept. It is a choice.
MOST = 50
"""Statements of one analyst that may wait at a time. It is a choice: more than anybody reads."""
ID = 4  # Random bytes of an id; it tells nobody how many others wait.

COLUMNS = "id, identity, analyst, version, statement, options, price, asked, approved, used"


@dataclass(frozen=True, slots=True)
class Waits:
    """One statement that waits, or was approved.

    Attributes:
        id: What the owner names it by.
        identity: A hash of all that an approval is for.
        analyst: Who asks.
        version: The version of the tables.
        statement: What is asked, with its parameters, for people to read.
        options: The options in force.
        price: In words.
        asked: When it was asked first, in seconds since the epoch.
        approved: When the owner approved it; None before that.
        used: When it ran; None before that.
    """

    id: str
    identity: str
    analyst: str
    version: int
    statement: str
    options: str
    price: str
    asked: float
    approved: float | None = None
    used: float | None = None

    def state(self, version: int, now: float) -> str:
        """Where it stands: ``waits``, ``approved``, ``used``, ``expired`` or ``void``, in a word.

        Args:
            version: Of the tables, now.
            now: In seconds since the epoch.
        """
        if self.used is not None:
            return "used"
        if self.version != version:
            return "void"
        if self.approved is None:
            return "waits"
        return "approved" if abs(now - self.approved) <= DAY else "expired"


class Waiting:
    """What waits for the owner of one ledger.

    Args:
        file: Where it is kept.
        clock: Seconds since the epoch; tests give their own.
    """

    def __init__(self, file: Beside, clock: Callable[[], float] = time.time) -> None:
        self._file, self._clock = file, clock

    def ask(self, identity: str, analyst: str, version: int, statement: str, options: str, price: str) -> str:
        """The id under which a statement waits: the same, however often it is asked.

        Raises:
            OperationalError: Too many of this analyst's wait already.
            LedgerError: The file cannot be written.
        """
        with self._file.changing(durable=True) as sql:
            now = self._clock()
            sql.execute("DELETE FROM waiting WHERE max(asked, coalesce(approved, 0)) < ?", (now - KEPT,))
            known = sql.execute(
                "SELECT id FROM waiting WHERE identity = ? AND approved IS NULL", (identity,)
            ).fetchone()
            if known is not None:
                return str(known[0])
            mine = "SELECT count(*) FROM waiting WHERE analyst = ? AND version = ? AND approved IS NULL"
            if sql.execute(mine, (analyst, version)).fetchone()[0] >= MOST:
                raise OperationalError(
                    f"{MOST} statements of yours wait for the data owner already, which is the most. Nothing was "
                    "charged. Ask the owner to look at them, or ask for less."
                )
            row = (token_hex(ID), identity, analyst, version, statement, options, price, now, None, None)
            sql.execute(f"INSERT INTO waiting ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            return row[0]

    def all(self) -> list[Waits]:
        """Everything that is kept, oldest first."""
        found: list[tuple[Any, ...]] = self._file.rows(f"SELECT {COLUMNS} FROM waiting ORDER BY asked, id")
        return [Waits(*row) for row in found]

    def approve(self, id: str, version: int) -> Waits:  # noqa: A002 - what the command calls it
        """Lets a statement run once within a day. Nothing is run or charged.

        Args:
            id: Of the statement.
            version: Of the tables, now.

        Raises:
            ProgrammingError: Nothing waits under this id, or no longer.
        """
        text_given(id, "What waits", "Write its id, as text: all() lists what waits.")
        one = next((waits for waits in self.all() if waits.id == id), None)
        state = "none" if one is None else one.state(version, self._clock())
        if one is None or state != "waits":
            raise ProgrammingError(f"{id[:40]!a} {STATES[state]} dpsql approve POLICY lists what waits.")
        now = self._clock()
        with self._file.changing(durable=True) as sql:
            sql.execute("UPDATE waiting SET approved = ? WHERE id = ? AND approved IS NULL", (now, id))
        return one

    def take(self, identity: str) -> str | None:
        """Uses an approval up, for good unless it is given back: its id, or None where there is none."""
        if not self._file.rows("SELECT 1 FROM waiting WHERE identity = ? AND approved IS NOT NULL", identity):
            return None
        now = self._clock()
        with self._file.changing(durable=True) as sql:
            found = sql.execute(
                "UPDATE waiting SET used = ? WHERE id = (SELECT id FROM waiting WHERE identity = ? AND used IS NULL "
                "AND abs(? - approved) <= ? LIMIT 1) RETURNING id",
                (now, identity, now, DAY),
            ).fetchall()
        return str(found[0][0]) if found else None

    def give_back(self, id: str) -> None:  # noqa: A002
        """The charge was refused: the approval stands as before."""
        with self._file.changing(durable=True) as sql:
            sql.execute("UPDATE waiting SET used = NULL WHERE id = ?", (id,))


STATES = {
    "none": "is no id of a statement that waits.",
    "approved": "is approved already.",
    "used": "was approved, and has run.",
    "expired": "was approved more than a day ago; asked again, it waits again.",
    "void": "is void, for the tables have another version since; asked again, it waits again.",
}
"""Why nothing can be approved."""
