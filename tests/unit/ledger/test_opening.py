"""Where a ledger and its mark lie, and what may be wrong there: each fault is told in one sentence."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from dpsql.errors import LedgerError
from dpsql.ledger import mark as ledger_mark
from dpsql.ledger.folders import write_new
from dpsql.ledger.ledger import Ledger
from tests.unit.ledger.accounts import BASIC, ask, limits, opened


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the ledger lies; its marks lie in the folder beside."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "clinic.ledger.db"


def test_the_mark_must_not_lie_in_the_ledgers_own_folder(place: Path) -> None:
    with pytest.raises(LedgerError, match=r"budget\.mark"):
        Ledger.open(place, pinned=BASIC, limits=limits(), mark=place.parent)


def test_the_mark_lies_in_the_users_state_directory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(place.parent.parent / "state"))
    Ledger.open(place, pinned=BASIC, limits=limits()).close()
    assert len(list((place.parent.parent / "state" / "dpsql").glob("*.mark"))) == 1
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(place.parent.parent / "home"))
    with pytest.raises(LedgerError, match="no high-water mark"):
        Ledger.open(place, pinned=BASIC, limits=limits())


def test_a_user_without_a_home_is_told_what_to_set(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(LedgerError, match=r"no home directory.* Set XDG_STATE_HOME .* budget\.mark and engine\.cache"):
        Ledger.open(place, pinned=BASIC, limits=limits())


@pytest.mark.parametrize(
    "nonsense",
    [
        '{"epoch": 0, "sequence": 1e400, "digest": "0"}',
        '{"epoch": 0, "sequence": 99999999999999999999999, "digest": "0"}',
        '{"epoch": -1, "sequence": 1, "digest": "0"}',
        '{"epoch": 0, "sequence": true, "digest": "0"}',
        '{"epoch": 0, "sequence": 1, "digest": 7}',
        "[" * 100_000,
    ],
    ids=["infinite", "huge", "negative", "boolean", "number", "deep"],
)
def test_a_mark_with_nonsense_in_it_is_refused(place: Path, nonsense: str) -> None:
    opened(place).close()
    next((place.parent.parent / "marks").glob("*.mark")).write_text(nonsense)
    with pytest.raises(LedgerError, match=r"high-water mark .* cannot be read"):
        opened(place)


def test_a_lock_that_somebody_holds_for_ever_is_not_waited_for_for_ever(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_mark, "PATIENCE", 0.01)
    with opened(place) as ledger:
        stuck = ledger_mark.Marks(place.parent.parent / "marks", lambda _: None)
        with stuck.locked(), pytest.raises(LedgerError, match=r"Another process has held .*lock"):
            ask(ledger)
        ask(ledger)  # nothing had begun, so the ledger is as good as before


def test_every_new_level_above_the_mark_is_private(place: Path) -> None:
    before = os.umask(0)
    try:
        Ledger.open(place, pinned=BASIC, limits=limits(), mark=place.parent / "a" / "b" / "c").close()
    finally:
        os.umask(before)
    assert {(place.parent / x).stat().st_mode & 0o777 for x in ("a", "a/b", "a/b/c")} == {0o700}


def test_a_ledger_that_is_a_folder_is_no_ledger(place: Path) -> None:
    place.mkdir()
    with pytest.raises(LedgerError, match=r"is no file, so it is no ledger\. Name a file as budget\.ledger"):
        opened(place)


def test_a_ledger_that_may_not_be_written_says_so_and_leaves_nothing_behind_that_lasts(place: Path) -> None:
    """SQLite gives the files beside it its mode: one opened at 0400 left a `-shm` that stayed at 0400."""
    opened(place).close()
    place.chmod(0o400)
    with pytest.raises(LedgerError, match=r"may not be written, so nothing can be charged. Write: chmod 600"):
        opened(place)
    place.chmod(0o600)
    left = place.with_name(place.name + "-shm")
    left.touch(mode=0o400)
    with opened(place) as ledger:
        ask(ledger)
        assert left.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_named(place: Path) -> None:
    with pytest.raises(LedgerError, match="No such file or directory"):
        opened(place.parent / "nowhere" / "ledger.db")


def test_a_disk_that_cannot_be_written_is_told_by_the_ledgers_own_name(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There removing fails as well, even what is not there."""

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(sqlite3, "connect", read_only)
    monkeypatch.setattr(Path, "unlink", read_only)
    with pytest.raises(LedgerError, match=r"cannot be written at .*clinic\.ledger\.db: Read-only file system"):
        opened(place)


def test_a_mark_that_cannot_be_written_is_named(place: Path) -> None:
    (place.parent / "file").touch()
    with pytest.raises(LedgerError, match=r"budget\.mark"):
        Ledger.open(place, pinned=BASIC, limits=limits(), mark=place.parent / "file" / "marks")


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    file, other = tmp_path / "new.yaml", tmp_path / "other"

    def fails(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    other.touch()
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", fails)
    write_new(file, b"one")
    with pytest.raises(OSError, match=r"new\.yaml"):
        write_new(file, b"two")
    assert (file.read_bytes(), file.stat().st_mode) == (b"one", other.stat().st_mode)
    file.unlink()
    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match=r"new\.yaml"):
        write_new(file, b"two")
    assert [*tmp_path.iterdir()] == [other]
