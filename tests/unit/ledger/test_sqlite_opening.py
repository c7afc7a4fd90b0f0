"""Opening a SQLite file while others open it or hold it."""

from __future__ import annotations

import gc
import sqlite3
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from dpsql.ledger.sqlite_opening import connected


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file without a write-ahead log, as a ledger is put in place."""
    path = tmp_path / "file.db"
    sqlite3.connect(path).execute("CREATE TABLE t (x INTEGER)").connection.close()
    return path


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """Another connection, in the middle of a change."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_it_waits_for_a_change_that_another_one_makes(
    path: Path, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Event()

    def noticed(seconds: float) -> None:
        refused.set()
        Event().wait(seconds)

    monkeypatch.setattr("time.sleep", noticed)
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(connected, str(path), 60.0)
        assert refused.wait(60)
        other.execute("COMMIT")
        sql = opening.result()
    assert sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    sql.close()


def test_it_waits_no_longer_than_it_is_told(path: Path, other: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        connected(str(path), 0.05)


def test_what_is_no_database_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all" * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        connected(str(tmp_path / "text"), 600.0)


def test_a_connection_that_nobody_holds_any_more_is_closed_without_a_warning(path: Path) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        connected(str(path), 1)
        gc.collect()
    assert not warned
