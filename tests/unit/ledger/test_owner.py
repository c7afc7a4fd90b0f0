"""What the owner does with a ledger: reset, restore, verify, back up."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from dpsql.errors import BudgetExceeded, LedgerError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.owner import reset, restore, verify
from tests.unit.ledger.accounts import BASIC, TENTH, ask, limits, opened, spent


def test_a_reset_starts_afresh_and_leaves_a_record(place: Path) -> None:
    marks = place.parent.parent / "marks"
    with opened(place) as ledger:
        ask(ledger)
        ask(ledger, analyst="eve")
    assert reset(place, pinned=BASIC, limits=limits(), reason="ana left", mark=marks, account="ana") == ""
    with opened(place) as ledger:
        assert (spent(ledger), spent(ledger, "eve"), spent(ledger, None)) == (0, 0.1, 0.2)
    assert reset(place, pinned=BASIC, limits=limits(), reason="new year", mark=marks) == ""
    with opened(place) as ledger:
        assert (spent(ledger), spent(ledger, "eve"), spent(ledger, None)) == (0, 0, 0)
        assert [entry.reason for entry in ledger.log() if entry.kind == "reset"] == [
            "the account ana: ana left",
            "new year",
        ]


def test_a_restored_ledger_counts_as_fully_spent_until_the_reset(place: Path) -> None:
    marks, saved = place.parent.parent / "marks", place.parent / "saved.db"
    with opened(place) as ledger:
        identity = ledger.id
        ledger.store(ask(ledger, fingerprint="old"), "old", b"answer")
        ledger.backup(saved)
        ask(ledger)
        with pytest.raises(LedgerError, match="file at"):
            ledger.backup(saved)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    restore(saved, place, reason="disk failed", mark=marks)
    with opened(place) as ledger:
        assert ledger.id == identity
        assert ledger.find("old") == (b"answer", TENTH)
        assert ledger.budget("ana").remaining == ledger.budget(None).remaining == 0
        assert ledger.repeats_left("ana", TENTH) == 0
        with pytest.raises(BudgetExceeded, match="restored from a backup"):
            ask(ledger)
    reset(place, pinned=BASIC, limits=limits(), reason="after the restore", mark=marks)
    with opened(place) as ledger:
        ask(ledger)
        kinds = [entry.kind for entry in ledger.log()]
    assert kinds == ["opening", "charge", "backup", "restore", "reset", "charge"]
    assert [file for file in place.parent.iterdir() if "set-aside" in file.name]


def test_restoring_what_is_no_ledger_leaves_everything_as_it_was(place: Path) -> None:
    marks = place.parent.parent / "marks"
    with opened(place) as ledger:
        ask(ledger)
    (place.parent / "junk").write_bytes(b"no database" * 100)
    for name, said in (("junk", "junk is no ledger. Nothing was changed"), ("nothing", "There is no backup")):
        with pytest.raises(LedgerError, match=said):
            restore(place.parent / name, place, reason="oops", mark=marks)
    with opened(place) as ledger:
        assert spent(ledger) == 0.1


def test_verify_reports_and_leaves_a_record(place: Path) -> None:
    marks = place.parent.parent / "marks"
    assert verify(place, mark=marks).problems == (f"There is no ledger at {place}.",)
    with opened(place) as ledger:
        ledger.store(ask(ledger, fingerprint="f"), "f", b"answer")
    report = verify(place, mark=marks)
    assert (report.records, report.answers, report.problems) == (3, 1, ())
    with opened(place) as ledger:
        assert ledger.log()[-1].kind == "verify"


def test_a_ledger_in_memory_cannot_be_backed_up(memory: Ledger, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="in memory"):
        memory.backup(tmp_path / "b.db")


# several users at once
