"""Ranges of a table are worked out at once, and their rows lie in the order of the ranges."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.engine.duckdb.ranges import Filling, Range

INSERT = """
INSERT INTO filled
SELECT i, getvariable('numbered'), getvariable('key')
FROM (SELECT unnest(range(coalesce(getvariable('low'), 0), coalesce(getvariable('high'), 1000000))) AS i)
WHERE CASE WHEN i = $bad THEN error('it fails') ELSE TRUE END
"""
ENDS = (None, 900_000, 900_001, 950_000, None)
RANGES = [Range(low, high, 7) for low, high in pairwise(ENDS)]
"""The first takes longest by far."""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(tmp_path / "filled.duckdb") as connection:
        connection.execute("CREATE TABLE filled (i BIGINT, numbered BIGINT, key VARCHAR)")
        yield connection


def filling(connection: duckdb.DuckDBPyConnection, bad: int) -> Filling:
    """A table that is filled with whole numbers, of which one may be bad."""
    return Filling(connection, "secret", INSERT.replace("$bad", str(bad)), RANGES)


def test_rows_lie_in_the_order_of_their_ranges_whichever_is_ready_first(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    work = filling(connection, bad=-1)
    assert work.done() == 0
    work.fill()
    assert work.done() == 1
    wrong = "i <> rowid OR numbered <> 7 OR key <> 'secret'"
    found = connection.execute(f"SELECT count(*), count(*) FILTER (WHERE {wrong}) FROM filled").fetchall()
    assert found == [(1_000_000, 0)]


@pytest.mark.every(3)
@pytest.mark.parametrize("bad", [5, 900_000, 999_999])
def test_a_range_that_fails_ends_all_and_leaves_nothing_behind_it(
    connection: duckdb.DuckDBPyConnection, bad: int
) -> None:
    with pytest.raises(duckdb.Error, match="it fails"):
        filling(connection, bad).fill()
    ((rows,),) = connection.execute("SELECT count(*) FROM filled").fetchall()
    assert rows in {0, *(own.high for own in RANGES if own.high is not None and own.high <= bad)}
    assert connection.execute("SELECT count(*) FROM filled WHERE i <> rowid").fetchall() == [(0,)]


class Hasty:
    """A connection whose ROLLBACK is interrupted, as long as others work."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection, self._interrupted = connection, False

    def execute(self, sql: str, values: object = None) -> object:
        """The statement's result."""
        if sql == "ROLLBACK" and threading.current_thread() is not threading.main_thread():
            self._interrupted = True
            raise duckdb.InterruptException("too soon")
        return self._connection.execute(sql, values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_nothing_is_left_open_where_giving_way_was_interrupted(connection: duckdb.DuckDBPyConnection) -> None:
    work = Filling(connection, "secret", INSERT.replace("$bad", "5"), RANGES[:2])  # the second waits for the first
    hands: list[Any] = [Hasty(hand) for hand in work._hands]
    work._hands = hands
    with pytest.raises(duckdb.Error, match="it fails"):
        work.fill()
    connection.execute("DROP TABLE filled")
    connection.execute("CHECKPOINT")  # which DuckDB refuses where rows of that table wait for another's word
    assert any(hand._interrupted for hand in hands)
