"""A large bounded table, filled range by range of its units, two ranges at once.

All processors sort the rows of a range, but they are placed, numbered and written while they stream by, which one
processor does. So two ranges are worked out at once, by a connection each.

The rows of each range come in a transaction of their own, and these end in the order of the ranges: DuckDB keeps rows
in the order in which they came to be there. Nothing relies on that unseen: `DuckDBDatabase.create` looks at all rows in
the end, whether they lie in order and their units are numbered one by one.

Tests: tests/unit/engine/test_ranges.py, tests/unit/owner/building/test_one_pass.py.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import duckdb

__all__ = ["Filling", "Range"]

AT_ONCE = 2
"""Ranges that are worked out at once. It is a choice: while one is written, another is sorted, and more of them would
share the same memory."""


@dataclass(frozen=True, slots=True)
class Range:
    """The rows of some units.

    Attributes:
        low: The first unit that may be there; None for no end.
        high: The first one beyond; None for no end.
        units: How many units are before it.
    """

    low: Any
    high: Any
    units: int


class Filling:
    """A table that is filled with the rows of one range after the other.

    Args:
        connection: Of the database; each range is filled by another one to the same.
        key: The secret of the row choice, in hexadecimal.
        insert: SQL that puts the rows of a range into the table: it asks which (`Range`) by variables ``low``, ``high``
            and ``numbered``.
        ranges: The ranges, in order.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, key: str, insert: str, ranges: Sequence[Range]) -> None:
        self._insert, self._ranges = insert, ranges
        self._hands = [_hand(connection, key) for _ in range(min(AT_ONCE, len(ranges)))]
        self._turn = threading.Condition()  # What is below changes under it alone.
        self._begun = self._ended = 0  # Ranges.
        self._error: BaseException | None = None  # The first.

    def done(self) -> float:
        """How much is done, from 0 to 1, for another thread; it may fall a little while a range waits for its turn."""
        under_way = sum(max(hand.query_progress(), 0.0) for hand in self._hands) / 100
        return min((self._ended + under_way) / len(self._ranges), 1.0)

    def fill(self) -> None:
        """Fills the table. Where a range fails, no row of it or of those behind it is there, and its error is raised.

        Raises:
            duckdb.Error: If the engine fails.
        """
        with ThreadPoolExecutor(len(self._hands)) as pool:
            jobs = [pool.submit(self._work, hand) for hand in self._hands]
            try:
                for job in jobs:
                    job.result()
            except BaseException as error:  # noqa: BLE001 - such as Ctrl-C; it is raised below
                self._stop(error)
        if self._error is not None:
            for hand in self._hands:  # again: where a range gave way, that may have been interrupted, too
                with suppress(duckdb.Error):  # nothing was begun
                    hand.execute("ROLLBACK")
            raise self._error

    def _work(self, hand: duckdb.DuckDBPyConnection) -> None:
        """Fills one range after the other, as long as there are any."""
        try:
            while (place := self._next()) is not None:
                self._put(hand, place)
        except BaseException as error:  # noqa: BLE001 - `fill` raises it
            self._stop(error)

    def _next(self) -> int | None:
        """The place of a range that nobody has begun."""
        with self._turn:
            if self._error is not None or self._begun == len(self._ranges):
                return None
            self._begun += 1
            return self._begun - 1

    def _put(self, hand: duckdb.DuckDBPyConnection, place: int) -> None:
        """Puts the rows of a range behind those of the ranges before it."""
        own = self._ranges[place]
        for variable, value in (("low", own.low), ("high", own.high), ("numbered", own.units)):
            hand.execute(f"SET VARIABLE {variable} = $value", {"value": value})
        hand.execute("BEGIN")
        hand.execute(self._insert)
        with self._turn:
            self._turn.wait_for(lambda: self._ended == place or self._error is not None)
            if self._error is not None:
                hand.execute("ROLLBACK")
                return
            hand.execute("COMMIT")
            self._ended += 1
            self._turn.notify_all()

    def _stop(self, error: BaseException) -> None:
        """Ends all work, for this reason unless there is an earlier one."""
        with self._turn:
            self._error = self._error or error
            self._turn.notify_all()
        for hand in self._hands:
            hand.interrupt()


def _hand(connection: duckdb.DuckDBPyConnection, key: str) -> duckdb.DuckDBPyConnection:
    """Another connection to the same database, which knows the secret and how much of a statement is done."""
    hand = connection.cursor()
    hand.execute("SET VARIABLE key = $key", {"key": key})
    hand.execute("SET enable_progress_bar = true")
    hand.execute("SET enable_progress_bar_print = false")
    return hand
