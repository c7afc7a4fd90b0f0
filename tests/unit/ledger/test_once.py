"""Tables and facts are made once under one charge: kept before they are shown, owed by a ledger that lost nothing."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dpsql.errors import InvariantBroken, LedgerError
from dpsql.ledger.file import Record
from dpsql.ledger.ledger import FACTS, Ledger
from dpsql.ledger.mark import UnusableLedgerError
from dpsql.ledger.once import MadeOnce
from dpsql.ledger.owner import reset, restore, verify
from dpsql.ledger.refusals import NotKept
from dpsql.ledger.tables import LedgerTables
from tests.unit.ledger.accounts import BASIC, TENTH, full_disk, limits, opened

Pay = Callable[[Ledger], int]


def made(ledger: Ledger) -> int:
    return LedgerTables(ledger).make("ana", TENTH, statement="made", fingerprint="one", table="ages")


def shared(ledger: Ledger) -> int:
    return LedgerTables(ledger).share(["ana", "eve"], TENTH, statement="made", fingerprint="one", table="ages")


def published(ledger: Ledger) -> int:
    return ledger.publish(FACTS, 1, TENTH, statement="facts", parts=["two", "one"])


@pytest.fixture
def marks(place: Path) -> Path:
    return place.parent.parent / "marks"


def put_back(saved: Path, place: Path) -> None:
    for old in place.parent.glob(f"{place.name}*"):
        old.unlink()
    for file in saved.iterdir():
        shutil.copy2(file, place.parent / file.name)


def saved_now(place: Path) -> Path:
    saved = place.parent.parent / "saved"
    saved.mkdir()
    for file in place.parent.glob(f"{place.name}*"):
        shutil.copy2(file, saved / file.name)
    return saved


@pytest.mark.parametrize("pay", [made, shared, published])
def test_what_was_paid_for_is_owed_until_it_is_kept(place: Path, pay: Pay) -> None:
    with opened(place) as ledger:
        charge = pay(ledger)
        assert ledger.owes("one")
        with pytest.raises(InvariantBroken):
            ledger.keep(charge, "another", b"rows")
        with pytest.raises(InvariantBroken):
            ledger.store(charge, "one", b"rows")  # a cut of power may lose it
    with opened(place) as ledger:
        assert ledger.owes("one")
        ledger.keep(charge, "one", b"rows")
        ledger.keep(charge, "one", b"another")  # a second maker changes nothing
        assert (ledger.owes("one"), ledger.find("one")) == (False, (b"rows", TENTH))
        assert [entry.kind for entry in ledger.log()].count("kept") == 1
    with opened(place) as ledger:
        assert not ledger.owes("one")
        with pytest.raises(InvariantBroken):
            ledger.keep(9, "one", b"rows")


@pytest.mark.parametrize("pay", [made, shared, published])
def test_a_ledger_from_before_a_table_was_kept_is_refused_as_an_old_copy(place: Path, pay: Pay, marks: Path) -> None:
    """As where a power cut took back what was stored, and the mark that was synced beside it did not go along."""
    with opened(place) as ledger:
        charge = pay(ledger)
        saved = saved_now(place)
        ledger.keep(charge, "one", b"rows")
    put_back(saved, place)
    with pytest.raises(UnusableLedgerError, match="behind its high-water mark"):
        opened(place)
    reset(place, pinned=BASIC, limits=limits(), reason="go on from here", mark=marks)
    with opened(place) as ledger:
        assert not ledger.owes("one")
        with pytest.raises(NotKept, match="owes nothing"):
            ledger.keep(charge, "one", b"again")
        assert ledger.find("one") is None


@pytest.mark.parametrize("pay", [made, shared, published])
def test_a_backup_from_before_a_table_was_kept_owes_nothing(place: Path, pay: Pay, marks: Path) -> None:
    backup = place.parent / "backup.db"
    with opened(place) as ledger:
        charge = pay(ledger)
        ledger.backup(backup)
        ledger.keep(charge, "one", b"rows")
    restore(backup, place, reason="disk lost", mark=marks)
    for _ in range(2):
        with opened(place) as ledger:
            assert not ledger.owes("one")
            with pytest.raises(NotKept, match="owes nothing"):
                ledger.keep(charge, "one", b"again")
        reset(place, pinned=BASIC, limits=limits(), reason="after the restore", mark=marks)
    with opened(place) as ledger:
        charge = LedgerTables(ledger).make("ana", TENTH, statement="made", fingerprint="new", table="later")
        assert ledger.owes("new")
        ledger.keep(charge, "new", b"rows")


def test_a_reset_of_a_ledger_that_lost_nothing_still_owes(place: Path, marks: Path) -> None:
    with opened(place) as ledger:
        charge = made(ledger)
    for account in ("ana", None):
        reset(place, pinned=BASIC, limits=limits(), reason="new year", mark=marks, account=account)
    with opened(place) as ledger:
        assert ledger.owes("one")
        ledger.keep(charge, "one", b"rows")


def test_a_kept_table_that_somebody_deleted_is_noticed_and_not_owed(place: Path, marks: Path) -> None:
    with opened(place) as ledger:
        ledger.keep(made(ledger), "one", b"rows")
    assert verify(place, mark=marks).problems == ()
    with closing(sqlite3.connect(place)) as sql, sql:
        assert sql.execute("DELETE FROM release").rowcount == 1
    sql.close()
    with opened(place) as ledger:
        assert ledger.find("one") is None
        assert not ledger.owes("one")
    assert verify(place, mark=marks).problems == (
        "1 of the tables and facts that are on record as kept are not stored.",
    )


def test_what_cannot_be_kept_is_owed_still(place: Path) -> None:
    with opened(place) as ledger:
        charge = made(ledger)
        with full_disk(), pytest.raises(NotKept, match="nothing was shown"):
            ledger.keep(charge, "one", b"rows" * 10_000)
        assert ledger.find("one") is None
        assert ledger.owes("one")
        ledger.keep(charge, "one", b"rows")
        assert ledger.find("one") == (b"rows", TENTH)


def test_a_charge_of_an_earlier_version_is_not_owed() -> None:
    """It kept tables without a record: nobody can tell whether there was one."""
    once = MadeOnce()
    once.apply(Record(2, "synthetic", "ana", "ana", "", '{"fingerprint": "old", "table": "t"}', b""))
    once.apply(Record(3, "synthetic", "ana", "ana", "", '{"fingerprint": "new", "table": "u", "once": true}', b""))
    assert once.owed == {"new": 3}


def test_a_closed_ledger_says_so(place: Path) -> None:
    with opened(place) as ledger:
        charge = made(ledger)
    with pytest.raises(LedgerError, match="closed"):
        ledger.keep(charge, "one", b"rows")
