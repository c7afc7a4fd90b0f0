"""A ledger on a disk that is full for a moment, or fails: nothing is charged unseen, and it goes on by itself."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from dpsql.errors import LedgerError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.mark import UnusableLedgerError
from dpsql.ledger.refusals import STANDS, ChargeStands, LimitsChanged
from tests.unit.ledger.accounts import BASIC, ask, full_disk, limits, opened, spent

pytestmark = pytest.mark.chance(0, "no noise is drawn")


class Scene:
    """A ledger with one charge, in which something may happen at a point.

    Args:
        place: Where it lies.

    Attributes:
        marks: The folder of its mark.
        then: What happens at a point that is passed, by its name, once.
        ledger: It.
    """

    def __init__(self, place: Path) -> None:
        self.place, self.marks = place, place.parent.parent / "marks"
        self.then: dict[str, Callable[[], None]] = {}
        self.ledger = Ledger.open(place, pinned=BASIC, limits=limits(), mark=self.marks, failpoint=self._passed)
        ask(self.ledger)

    @property
    def mark(self) -> Path:
        """Its mark."""
        return self.marks / f"{self.ledger.id}.mark"

    def _passed(self, point: str) -> None:
        self.then.pop(point, lambda: None)()


@pytest.fixture
def scene(place: Path) -> Iterator[Scene]:
    scene = Scene(place)
    yield scene
    scene.ledger.close()


def test_a_full_disk_charges_nothing_and_the_next_statement_goes_on(scene: Scene) -> None:
    with full_disk():
        for _ in range(3):
            with pytest.raises(LedgerError) as refused:
                ask(scene.ledger)
            assert not isinstance(refused.value, ChargeStands)
            assert scene.ledger.failed
            assert not scene.ledger.stands()
    assert scene.ledger.stands()
    assert not scene.ledger.failed
    assert spent(scene.ledger) == 0.1
    ask(scene.ledger)
    scene.ledger.close()
    with opened(scene.place) as again:
        assert spent(again) == 0.2
    assert [file.name for file in scene.marks.iterdir() if file.name.startswith(".new-")] == []


def test_the_mark_is_on_the_disk_before_its_record_and_in_force_behind_it(scene: Scene) -> None:
    before, seen = scene.mark.read_bytes(), list[tuple[int, int]]()

    def look() -> None:
        beside = list(scene.marks.glob(".new-*"))
        with closing(sqlite3.connect(scene.place)) as other, other:
            ((records,),) = other.execute("SELECT count(*) FROM record").fetchall()
        assert scene.mark.read_bytes() == before
        assert all(json.loads(file.read_bytes())["sequence"] == 3 for file in beside)
        seen.append((records, len(beside)))

    scene.then = {"after-insert": look, "mark-written": look, "after-commit": look}
    ask(scene.ledger)
    assert seen == [(2, 0), (2, 1), (3, 1)]
    assert json.loads(scene.mark.read_bytes())["sequence"] == 3
    assert list(scene.marks.glob(".new-*")) == []


def test_a_ledger_is_proved_writable_by_what_reaches_the_disk(scene: Scene) -> None:
    scene.ledger._file.prove_writable()
    with full_disk(), pytest.raises(LedgerError, match="could not be written"):
        scene.ledger._file.prove_writable()
    scene.ledger._file.prove_writable()


def test_a_ledger_without_room_is_not_opened_again_where_its_mark_has_some(scene: Scene) -> None:
    with full_disk(), pytest.raises(LedgerError):
        ask(scene.ledger)
    with ExitStack() as until:
        scene.then["mark-written"] = lambda: until.enter_context(full_disk())
        assert not scene.ledger.stands()
    assert scene.ledger.stands()


def test_a_commit_without_room_charges_nothing(scene: Scene) -> None:
    with ExitStack() as until:
        scene.then["mark-written"] = lambda: until.enter_context(full_disk())
        with pytest.raises(LedgerError, match="could not be written"):
            ask(scene.ledger)
    assert spent(scene.ledger) == 0.1
    ask(scene.ledger)
    assert spent(scene.ledger) == 0.2


def test_a_charge_whose_mark_cannot_be_put_in_place_stands_and_says_so(scene: Scene) -> None:
    kept = scene.mark.read_bytes()

    def hinder() -> None:
        scene.mark.unlink()
        scene.mark.mkdir()

    scene.then["after-commit"] = hinder
    with pytest.raises(ChargeStands) as failed:
        ask(scene.ledger)
    assert str(failed.value).endswith(STANDS)
    with pytest.raises(LedgerError):
        spent(scene.ledger)
    scene.mark.rmdir()
    scene.mark.write_bytes(kept)
    assert spent(scene.ledger) == 0.2
    assert scene.mark.read_bytes() != kept
    ask(scene.ledger)
    assert spent(scene.ledger) == pytest.approx(0.3)


def test_an_answer_that_cannot_be_stored_says_that_its_charge_stands(scene: Scene) -> None:
    charge = ask(scene.ledger, fingerprint="g")
    with full_disk(), pytest.raises(ChargeStands):
        scene.ledger.store(charge, "g", b"answer" * 10_000)
    assert scene.ledger.find("g") is None
    scene.ledger.store(charge, "g", b"answer")
    assert scene.ledger.find("g") is not None


def test_what_was_set_back_while_it_had_failed_is_not_opened_again(scene: Scene) -> None:
    old = scene.place.with_name("old")
    scene.ledger.backup(old)
    for _ in range(3):
        ask(scene.ledger)
    with full_disk(), pytest.raises(LedgerError):
        ask(scene.ledger)
    scene.ledger._file._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # else the log would bring all of it back
    scene.place.write_bytes(old.read_bytes())
    for _ in range(2):
        with pytest.raises(UnusableLedgerError, match="behind its high-water mark"):
            ask(scene.ledger)
    assert scene.ledger.failed


def test_another_file_in_its_place_is_not_opened_again(scene: Scene) -> None:
    with full_disk(), pytest.raises(LedgerError):
        ask(scene.ledger)
    copy = scene.place.with_name("copy")
    shutil.copy2(scene.place, copy)
    copy.replace(scene.place)
    for _ in range(2):
        with pytest.raises(LedgerError, match="deleted, replaced or cut short"):
            ask(scene.ledger)


def test_limits_that_another_process_changed_meanwhile_stay_changed(scene: Scene) -> None:
    with full_disk(), pytest.raises(LedgerError):
        ask(scene.ledger)
    with opened(scene.place, limits(ana=1)) as other:
        ask(other)
    with pytest.raises(LimitsChanged):
        ask(scene.ledger)
    scene.ledger.adopt(limits(ana=1))
    ask(scene.ledger)
    assert spent(scene.ledger) == pytest.approx(0.3)


def test_many_who_ask_after_a_failure_are_all_charged(scene: Scene) -> None:
    with full_disk(), pytest.raises(LedgerError):
        ask(scene.ledger)
    threads = [threading.Thread(target=ask, args=(scene.ledger,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spent(scene.ledger) == pytest.approx(0.9)


def test_a_ledger_that_was_closed_is_not_opened_again(scene: Scene) -> None:
    scene.ledger.close()
    assert not scene.ledger.stands()
    with pytest.raises(LedgerError, match="was closed"):
        ask(scene.ledger)
