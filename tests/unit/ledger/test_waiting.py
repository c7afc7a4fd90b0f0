"""What waits for the owner, what was approved, and what was served for nothing: one file, for several processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpsql.errors import LedgerError, OperationalError, ProgrammingError
from dpsql.ledger.beside import Beside, beside
from dpsql.ledger.served import Served
from dpsql.ledger.waiting import DAY, MOST, Waiting
from tests.unit.ledger.accounts import full_disk


class Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return beside(tmp_path / "clinic.ledger.db")


def asked(waiting: Waiting, identity: str = "one", analyst: str = "ana", version: int = 1) -> str:
    return waiting.ask(identity, analyst, version, "SELECT 1", "", "epsilon 2")


def test_asking_again_waits_under_the_same_id(clock: Clock) -> None:
    waiting = Waiting(Beside(None), clock)
    assert asked(waiting) == asked(waiting) != asked(waiting, "another")
    assert [waits.state(1, clock.now) for waits in waiting.all()] == ["waits", "waits"]


def test_an_approval_is_used_once_and_only_by_its_identity(clock: Clock) -> None:
    waiting = Waiting(Beside(None), clock)
    own = asked(waiting)
    assert waiting.take("one") is None
    waiting.approve(own, 1)
    assert waiting.take("another") is None
    assert waiting.take("one") == own
    assert waiting.take("one") is None
    waiting.give_back(own)
    assert waiting.take("one") == own
    assert asked(waiting) != own  # it waits anew


@pytest.mark.parametrize("passed", [DAY + 1, -DAY - 1])
def test_an_approval_ends_after_a_day_whichever_way_the_clock_goes(clock: Clock, passed: float) -> None:
    waiting = Waiting(Beside(None), clock)
    own = asked(waiting)
    waiting.approve(own, 1)
    clock.now += passed
    assert waiting.take("one") is None
    with pytest.raises(ProgrammingError, match="more than a day ago"):
        waiting.approve(own, 1)


def test_what_cannot_be_approved_says_why(clock: Clock) -> None:
    waiting = Waiting(Beside(None), clock)
    own = asked(waiting)
    with pytest.raises(ProgrammingError, match="is no id"):
        waiting.approve("x\x1b[31m", 1)
    with pytest.raises(ProgrammingError, match="another version"):
        waiting.approve(own, 2)
    waiting.approve(own, 1)
    with pytest.raises(ProgrammingError, match="approved already"):
        waiting.approve(own, 1)
    waiting.take("one")
    with pytest.raises(ProgrammingError, match="has run"):
        waiting.approve(own, 1)


def test_nobody_fills_the_owners_desk(clock: Clock) -> None:
    waiting = Waiting(Beside(None), clock)
    for number in range(MOST):
        asked(waiting, str(number))
    with pytest.raises(OperationalError, match="wait for the data owner already"):
        asked(waiting, "more")
    assert asked(waiting, "bobs", "bob")
    clock.now += 31 * DAY
    assert asked(waiting, "more")
    assert len(waiting.all()) == 1


def test_processes_share_a_file_of_mode_0600(path: Path, clock: Clock) -> None:
    owner, analyst = Waiting(Beside(path), clock), Waiting(Beside(path), clock)
    assert owner.all() == []
    assert not path.exists()
    owner.approve(asked(analyst), 1)
    assert [analyst.take("one") is not None, owner.take("one")] == [True, None]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_may_read_is_refused(path: Path) -> None:
    path.touch()
    path.chmod(0o644)
    with pytest.raises(LedgerError, match="chmod 600"):
        asked(Waiting(Beside(path)))


def test_a_damaged_file_says_so(path: Path) -> None:
    path.write_bytes(b"nothing of ours" * 1000)
    path.chmod(0o600)
    with pytest.raises(LedgerError, match="cannot be used"):
        Waiting(Beside(path)).all()


@pytest.mark.parametrize("before", [0, 1])
def test_a_disk_that_was_full_is_written_once_there_is_room(path: Path, before: int) -> None:
    """Whether the file was to be made then, or a statement could not be written."""
    waiting = Waiting(Beside(path))
    for number in range(before):
        asked(waiting, f"before {number}")
    with full_disk(), pytest.raises(LedgerError, match="cannot be used"):
        asked(waiting)
    asked(waiting)
    assert len(waiting.all()) == before + 1


def test_what_was_served_is_counted_and_written_now_and_then(path: Path) -> None:
    clock = Clock()
    served = Served(Beside(path), clock)
    for _ in range(3):
        served.count("ana", "f")
    assert sum(Served(Beside(path)).all().values()) == 1  # the others are not written yet
    clock.now += 3
    served.count("bob", "f")
    served.count("ana", "f")
    served.write()
    assert sorted((analyst, times) for (_, analyst, _), times in served.all().items()) == [("ana", 4), ("bob", 1)]


def test_a_count_that_cannot_be_kept_refuses_nobody(path: Path) -> None:
    path.mkdir()
    Served(Beside(path)).count("ana", "f")


def test_of_many_at_once_one_uses_the_approval_and_all_wait_under_one_id(path: Path) -> None:
    desks = [Waiting(Beside(path)) for _ in range(6)]
    with ThreadPoolExecutor(len(desks)) as pool:
        (own,) = set(pool.map(asked, desks))
        desks[0].approve(own, 1)
        assert sorted(map(bool, pool.map(lambda desk: desk.take("one"), desks))) == [False] * 5 + [True]
