"""Changing what the ledger says: every column of every record, stored answers, and bytes of the file at random."""

from __future__ import annotations

import random
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import LedgerError
from dpsql.ledger.ledger import Entry, Ledger, Pinned, PolicyLimits
from dpsql.ledger.owner import reset, verify
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Pure

PINNED = Pinned(unit="patient_id", neighbours="add_remove", composition="basic")
LIMITS = PolicyLimits(Limits(Fraction(5)), {"ana": Limits(Fraction(5)), "*": Limits(Fraction(1))})
RECORDS = 6
COLUMNS = ("sequence", "kind", "analyst", "account", "loss", "detail", "hash")
FLIPS = 150


def opened(path: Path) -> Ledger:
    return Ledger.open(path, pinned=PINNED, limits=LIMITS, mark=path.parent.parent / "marks")


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ledger of six records of five kinds, and one stored answer."""
    folder = tmp_path_factory.mktemp("untouched")
    (folder / "data").mkdir()
    path = folder / "data" / "ledger.db"
    with opened(path) as ledger:
        ledger.new_version("first build", 1)
        charge = ledger.charge("ana", Pure(Fraction(1)), statement="SELECT 1", fingerprint="f")
        ledger.store(charge, "f", b"answer")
        ledger.charge("eve", Pure(Fraction(1, 2)), statement="SELECT 2", fingerprint="g")
        ledger.record_overrun("eve")
    reset(path, pinned=PINNED, limits=LIMITS, reason="drill", mark=folder / "marks", account="*")
    return folder


@pytest.fixture
def path(untouched: Path, tmp_path: Path) -> Path:
    """A copy of it with its marks, to be changed."""
    shutil.copytree(untouched, tmp_path, dirs_exist_ok=True)
    return tmp_path / "data" / "ledger.db"


def change(path: Path, statement: str) -> None:
    sql = sqlite3.connect(path)
    sql.executescript("DROP TRIGGER record_is_never_changed; DROP TRIGGER record_is_never_dropped;")
    sql.execute("PRAGMA foreign_keys = OFF")
    assert sql.execute(statement).rowcount == 1
    sql.commit()
    sql.close()


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("sequence", range(1, RECORDS + 1))
def test_a_changed_record_is_refused(path: Path, sequence: int, column: str) -> None:
    other = "CASE SUBSTR(hash, 1, 1) WHEN X'00' THEN X'01' ELSE X'00' END"
    special = {"sequence": "sequence + 100", "hash": f"CAST({other} || SUBSTR(hash, 2) AS BLOB)"}
    changed = special.get(column, f"{column} || ' '")
    change(path, f"UPDATE record SET {column} = {changed} WHERE sequence = {sequence}")
    with pytest.raises(LedgerError, match="breaks the chain"):
        opened(path)
    assert verify(path, mark=path.parent.parent / "marks").problems


@pytest.mark.parametrize("sequence", range(1, RECORDS + 1))
def test_a_dropped_record_is_refused(path: Path, sequence: int) -> None:
    change(path, f"DELETE FROM record WHERE sequence = {sequence}")
    with pytest.raises(LedgerError):
        opened(path)


def test_an_inserted_record_is_refused(path: Path) -> None:
    change(
        path, f"INSERT INTO record SELECT {RECORDS + 1}, kind, analyst, account, loss, detail, hash FROM record LIMIT 1"
    )
    with pytest.raises(LedgerError, match="breaks the chain"):
        opened(path)


@pytest.mark.parametrize("column", ["charge = 4", "answer = X'00'", "hash = X'00'", "fingerprint = 'g'"])
def test_a_changed_answer_is_not_replayed(path: Path, column: str) -> None:
    change(path, f"UPDATE release SET {column}")
    assert verify(path, mark=path.parent.parent / "marks").problems
    with opened(path) as ledger, pytest.raises(LedgerError, match="not the one that was given"):
        ledger.find("g" if column.startswith("fingerprint") else "f")


def test_sqlite_itself_refuses_to_change_records(path: Path) -> None:
    sql = sqlite3.connect(path)
    for statement in ("UPDATE record SET loss = ''", "DELETE FROM record"):
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            sql.execute(statement)
    sql.close()


def test_a_record_of_an_unknown_kind_is_refused(path: Path) -> None:
    with opened(path) as ledger:
        ledger._file.append("refund", analyst="ana", detail={})
        with pytest.raises(LedgerError, match="no known kind"):
            ledger.budget("ana")
    with pytest.raises(LedgerError, match="no known kind"):
        opened(path)


def test_an_unknown_loss_is_refused(path: Path) -> None:
    with opened(path) as ledger:
        ledger._file.append("charge", analyst="ana", account="ana", loss='{"kind": "gift"}', detail={})
        with pytest.raises(LedgerError, match="no loss that this version"):
            ledger.budget("ana")
    with pytest.raises(LedgerError, match="no loss that this version"):
        opened(path)


@pytest.mark.parametrize(
    ("pragma", "why"),
    [("application_id = 1", "not a dpsql ledger"), ("user_version = 2", "by a newer dpsql, in format 2")],
)
def test_a_file_of_another_kind_or_format_is_refused(path: Path, pragma: str, why: str) -> None:
    sql = sqlite3.connect(path)
    sql.execute(f"PRAGMA {pragma}")
    sql.close()
    with pytest.raises(LedgerError, match=why):
        opened(path)


def test_a_flipped_byte_is_refused_or_changes_nothing(path: Path) -> None:
    def state() -> tuple[list[Entry], object, bytes]:
        with opened(path) as ledger:
            return ledger.log(), ledger.budget("ana"), ledger.contribution_key

    true, good = state(), path.read_bytes()
    chance = random.Random(3)
    refused = 0
    for _ in range(FLIPS):
        bad = bytearray(good)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        path.write_bytes(bad)
        try:
            assert state() == true
        except LedgerError:
            refused += 1
    assert refused > 0
