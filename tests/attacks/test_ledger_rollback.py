"""Setting the ledger back: old copies, partial copies, forks, deletions (ElephantDP, arXiv 2401.17628).

Each must be refused, with the two commands that are the owner's way out; and each of them must then work.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import LedgerError
from dpsql.ledger.file import companions
from dpsql.ledger.ledger import Ledger, Pinned, PolicyLimits
from dpsql.ledger.owner import reset, restore, verify
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Pure

PINNED = Pinned(unit="patient_id", neighbours="add_remove", composition="zcdp")
LIMITS = PolicyLimits(Limits(Fraction(5)), {"ana": Limits(Fraction(5))})


class Scene:
    """A ledger with three charges, of which `old` is a whole and true copy after the first."""

    def __init__(self, folder: Path) -> None:
        for name in ("data", "old", "elsewhere"):
            (folder / name).mkdir()
        self.path = folder / "data" / "ledger.db"
        self.old = folder / "old" / "ledger.db"
        self.elsewhere = folder / "elsewhere" / "ledger.db"
        self.marks = folder / "marks"
        self.backup = folder / "backup.db"
        with self.open() as ledger:
            self.ask(ledger)
            ledger.backup(self.backup)
        shutil.copy2(self.path, self.old)
        with self.open() as ledger:
            self.ask(ledger)
            self.ask(ledger)

    def open(self, path: Path | None = None) -> Ledger:
        return Ledger.open(path or self.path, pinned=PINNED, limits=LIMITS, mark=self.marks)

    def ask(self, ledger: Ledger) -> None:
        ledger.charge("ana", Pure(Fraction(1)), statement="SELECT 1", fingerprint="f")

    def put(self, source: Path, path: Path) -> None:
        self.delete(path)
        shutil.copy2(source, path)

    def delete(self, path: Path) -> None:
        for file in companions(path):
            file.unlink(missing_ok=True)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def put_back_the_old_copy(scene: Scene) -> Path:
    scene.put(scene.old, scene.path)
    return scene.path


def use_the_old_copy_elsewhere(scene: Scene) -> Path:
    scene.put(scene.old, scene.elsewhere)
    return scene.elsewhere


def put_back_the_backup(scene: Scene) -> Path:
    scene.put(scene.backup, scene.path)
    return scene.path


def delete_the_ledger(scene: Scene) -> Path:
    scene.delete(scene.path)
    return scene.path


def put_a_fresh_ledger_there(scene: Scene) -> Path:
    scene.open(scene.elsewhere).close()
    scene.put(scene.elsewhere, scene.path)
    return scene.path


def cut_the_chain_short(scene: Scene) -> Path:
    with_tools = sqlite3.connect(scene.path)
    with_tools.execute("DROP TRIGGER record_is_never_dropped")
    with_tools.execute("DELETE FROM record WHERE sequence = (SELECT MAX(sequence) FROM record)")
    with_tools.commit()
    with_tools.close()
    return scene.path


def copy_the_main_file_without_its_wal(scene: Scene) -> Path:
    with scene.open() as ledger:
        scene.ask(ledger)
        shutil.copy2(scene.path, scene.elsewhere)  # the last charge is in the WAL alone
    return scene.elsewhere


def lose_the_wal(scene: Scene) -> Path:
    with scene.open() as ledger:
        scene.ask(ledger)
        shutil.copy2(scene.path, scene.elsewhere)
    scene.put(scene.elsewhere, scene.path)
    return scene.path


def truncate_the_file(scene: Scene) -> Path:
    scene.path.write_bytes(scene.path.read_bytes()[:5000])
    return scene.path


def empty_the_file(scene: Scene) -> Path:
    scene.path.write_bytes(b"")
    return scene.path


def go_on_from_two_copies(scene: Scene) -> Path:
    shutil.copy2(scene.path, scene.elsewhere)
    with scene.open(scene.elsewhere) as ledger:
        scene.ask(ledger)
    return scene.path


def lose_the_mark(scene: Scene) -> Path:
    for mark in scene.marks.glob("*.mark"):
        mark.unlink()
    return scene.path


def garble_the_mark(scene: Scene) -> Path:
    for mark in scene.marks.glob("*.mark"):
        mark.write_text("{}")
    return scene.path


ATTACKS: list[Callable[[Scene], Path]] = [
    put_back_the_old_copy,
    use_the_old_copy_elsewhere,
    put_back_the_backup,
    delete_the_ledger,
    put_a_fresh_ledger_there,
    cut_the_chain_short,
    copy_the_main_file_without_its_wal,
    lose_the_wal,
    truncate_the_file,
    empty_the_file,
    go_on_from_two_copies,
    lose_the_mark,
    garble_the_mark,
]
attacks = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)


@attacks
def test_a_ledger_set_back_is_refused_every_time(scene: Scene, attack: Callable[[Scene], Path]) -> None:
    path = attack(scene)
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"--reset --reason TEXT.*dpsql ledger restore"):
            scene.open(path)
    assert verify(path, mark=scene.marks).problems


def test_a_ledger_that_is_gone_is_told_to_be_missing_and_none_is_put_in_its_place(scene: Scene) -> None:
    delete_the_ledger(scene)
    for _ in range(2):
        with pytest.raises(LedgerError, match="is missing, and it was there before"):
            scene.open()
        assert not any(file.exists() for file in companions(scene.path))


@attacks
def test_the_owners_reset_on_record_mends_it(scene: Scene, attack: Callable[[Scene], Path]) -> None:
    path = attack(scene)
    with pytest.raises(LedgerError):
        reset(path, pinned=PINNED, limits=LIMITS, reason="for ana alone", mark=scene.marks, account="ana")
    found = reset(path, pinned=PINNED, limits=LIMITS, reason="copied the wrong file", mark=scene.marks)
    assert found
    with scene.open(path) as ledger:
        assert ledger.budget("ana").remaining == 5
        assert [entry.reason for entry in ledger.log() if entry.kind == "reset"] == ["copied the wrong file"]
        scene.ask(ledger)
    scene.open(path).close()


@attacks
def test_the_owners_restore_mends_it_fully_spent(scene: Scene, attack: Callable[[Scene], Path]) -> None:
    path = attack(scene)
    restore(scene.backup, path, reason="copied the wrong file", mark=scene.marks)
    with scene.open(path) as ledger:
        assert ledger.budget("ana").remaining == 0


def test_a_process_that_still_holds_a_replaced_ledger_is_stopped(scene: Scene) -> None:
    with scene.open() as holder:
        restore(scene.backup, scene.path, reason="drill", mark=scene.marks)
        with pytest.raises(LedgerError, match="was deleted, replaced or cut short"):
            scene.ask(holder)
        with pytest.raises(LedgerError, match="Open it again"):
            scene.ask(holder)


def delete_all(scene: Scene) -> None:
    scene.delete(scene.path)


def move_in_the_old_copy(scene: Scene) -> None:
    shutil.copy2(scene.old, scene.path.with_name("coming"))
    scene.path.with_name("coming").rename(scene.path)


def empty_it(scene: Scene) -> None:
    scene.path.write_bytes(b"")


def cut_it(scene: Scene) -> None:
    scene.path.write_bytes(scene.path.read_bytes()[:8192])


def delete_the_log(scene: Scene) -> None:
    companions(scene.path)[1].unlink()


@pytest.mark.parametrize("attack", [delete_all, move_in_the_old_copy, empty_it, cut_it, delete_the_log])
def test_an_open_ledger_whose_file_is_gone_charges_nothing_more(scene: Scene, attack: Callable[[Scene], None]) -> None:
    """Its charge would be on no disk that lasts, and in no log."""
    with scene.open() as holder:
        attack(scene)
        with pytest.raises(LedgerError, match="was deleted, replaced or cut short while it was in use"):
            scene.ask(holder)
        with pytest.raises(LedgerError, match="Open it again"):
            scene.ask(holder)


def test_nothing_is_written_into_a_ledger_that_lies_elsewhere_by_now(scene: Scene) -> None:
    elsewhere = scene.path.with_name("elsewhere")
    with scene.open() as holder:
        before = holder.budget("ana").spent
        scene.path.rename(elsewhere)
        with pytest.raises(LedgerError, match="Nothing was read"):
            scene.ask(holder)
        elsewhere.rename(scene.path)
        assert holder.budget("ana").spent == before
        scene.ask(holder)


def test_a_ledger_deleted_while_it_is_charged_gives_no_charge(scene: Scene) -> None:
    def delete(point: str) -> None:
        if point == "after-insert":
            scene.delete(scene.path)

    with (
        Ledger.open(scene.path, pinned=PINNED, limits=LIMITS, mark=scene.marks, failpoint=delete) as holder,
        pytest.raises(LedgerError),
    ):
        scene.ask(holder)


def test_of_two_copies_in_use_at_once_only_one_goes_on(scene: Scene) -> None:
    shutil.copy2(scene.path, scene.elsewhere)
    with scene.open() as one, scene.open(scene.elsewhere) as other:
        scene.ask(one)
        with pytest.raises(LedgerError, match="behind its high-water mark"):
            scene.ask(other)


def test_of_two_forks_equally_long_the_unmarked_one_is_refused(scene: Scene, tmp_path: Path) -> None:
    shutil.copy2(scene.path, scene.elsewhere)
    shutil.copytree(scene.marks, tmp_path / "other marks")
    with Ledger.open(scene.elsewhere, pinned=PINNED, limits=LIMITS, mark=tmp_path / "other marks") as other:
        scene.ask(other)
    with scene.open() as one:
        scene.ask(one)
    with pytest.raises(LedgerError, match="parted from its high-water mark"):
        scene.open(scene.elsewhere)


def test_restoring_twice_from_one_backup_leaves_one_ledger(scene: Scene) -> None:
    restore(scene.backup, scene.elsewhere, reason="first", mark=scene.marks)
    restore(scene.backup, scene.path, reason="second", mark=scene.marks)
    scene.open().close()
    with pytest.raises(LedgerError):
        scene.open(scene.elsewhere)
    with pytest.raises(LedgerError):
        scene.open(scene.old)
