"""How long an answer took is not seen where the policy has `answer_times`: at any door, for answers and refusals alike.

Haeberlen, Pierce, Narayan 2011, on timing as a channel. `bench/timing.py` measures what a classifier that sees times
alone can tell; here it is that all leaves on the grid, by every way in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import dpsql
from dpsql import testing
from dpsql.errors import Error, PolicyError
from dpsql.server.doors import DoorKind
from dpsql.server.outlines import outline
from dpsql.server.tools import Tools
from dpsql.session import Session
from dpsql.testing import Noiseless
from tests.attacks.doors import KINDS, Turned, ways
from tests.unit.server.clinic import COUNT, POLICY, open_clinic, write_clinic

GRID = 0.1  # Seconds; what takes longer on a busy machine leaves at its multiples.
TIMED = POLICY + f"answer_times: [{round(GRID * 1000)}ms]\n"
REFUSED = ("SELECT * FROM people", "SELEC", f"{COUNT} WHERE age > 'x'", "SELECT SUM(age) FROM nowhere", "DROP TABLE x")
FREE = ("SHOW TABLES", "SHOW BUDGET", "SET epsilon = 0.25", f"EXPLAIN {COUNT}")

pytestmark = pytest.mark.chance(0, "no noise is drawn")


def took(ask: Callable[[str], object], sql: str) -> float:
    """Seconds until a statement is answered, or refused."""
    began = time.monotonic()
    with suppress(Error, Turned):
        ask(sql)
    return time.monotonic() - began


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with testing.open(write_clinic(tmp_path_factory.mktemp("timed"), TIMED), Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.parametrize("sql", [COUNT, COUNT, *REFUSED, *FREE])
def test_a_session_answers_and_refuses_on_the_grid(session: Session, sql: str) -> None:
    assert took(session.query, sql) >= GRID


@pytest.mark.parametrize("sql", REFUSED[:2])
def test_what_doors_ask_before_an_answer_refuses_on_the_grid(session: Session, sql: str) -> None:
    assert took(partial(outline, session), sql) >= GRID
    tools = Tools(session, lambda: 1, lambda: "much")
    assert took(lambda text: tools.asked(text, None), sql) >= GRID


def test_batches_and_functions_of_whole_tables_too(session: Session) -> None:
    assert took(lambda sql: session.query_all([sql, sql]), COUNT) >= GRID
    assert took(lambda sql: session.query_all([sql, sql]), REFUSED[0]) >= GRID
    assert took(lambda sql: session.kmeans(sql, k=2, bound=99, scale=(1, 99)), "SELECT age, age FROM people") >= GRID


@pytest.mark.parametrize("ask", ["explain", "price", "quote"])
def test_what_is_said_of_a_price_leaves_on_the_grid(session: Session, ask: str) -> None:
    def asked(sql: str) -> object:
        return session.quote([sql]) if ask == "quote" else getattr(session, ask)(sql)

    assert took(asked, COUNT) >= GRID
    assert took(asked, REFUSED[0]) >= GRID


def test_an_agent_is_told_to_ask_its_human_on_the_grid_too(session: Session) -> None:
    tools = Tools(session, lambda: 0, lambda: "much")
    sql = f"{COUNT} WHERE age > 71"
    assert took(lambda text: tools.asked(text, None), sql) >= GRID
    assert str(tools.asked(sql, None).question).startswith("This statement costs")


class Slow:
    """An engine that looks for a while, or fails; tells when it does.

    Args:
        run: The engine's own.
        fails: Whether it gives no answer.
    """

    def __init__(self, run: Callable[[Any], Any], fails: bool = False) -> None:
        self._run, self._fails = run, fails
        self.looks, self.looked = Event(), list[float]()
        self.done = 0.0

    def __call__(self, statement: Any) -> Any:
        self.looks.set()
        self.looked.append(time.monotonic())
        time.sleep(GRID / 3)
        self.done = time.monotonic()
        if self._fails:
            raise dpsql.EngineFailed
        return self._run(statement)


@pytest.mark.parametrize("asked", ["SELECT", "UNION ALL"])
def test_an_answer_is_stored_when_it_leaves_and_not_when_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Else a quote that becomes free tells when the work was done, as does anything else that looks for it."""
    with testing.open(write_clinic(tmp_path, TIMED), Noiseless()) as proxy:
        session, stored = proxy.session(analyst="ana"), list[float]()
        slow, store = Slow(session._backend.engine.run), proxy.ledger.store
        monkeypatch.setattr(session._backend.engine, "run", slow)

        def noted(charge: int, fingerprint: str, answer: bytes) -> None:
            stored.append(time.monotonic())
            store(charge, fingerprint, answer)

        monkeypatch.setattr(proxy.ledger, "store", noted)
        sql = f"{COUNT} WHERE age > 31" + (f" UNION ALL {COUNT} WHERE age > 32" if asked == "UNION ALL" else "")
        began = time.monotonic()
        session.query(sql)
        assert len(stored) == (2 if asked == "UNION ALL" else 1)
        left = GRID * ((slow.done - began) // GRID + 1)
        assert min(stored) - began >= left > slow.done - began
        assert session.query(sql).cost == dpsql.PrivacyLoss()


@pytest.mark.parametrize("fails", [False, True])
def test_who_asks_the_same_meanwhile_waits_until_the_first_answer_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """Else many of them, each on a grid of its own, tell when the work was done to the step between them."""
    with testing.open(write_clinic(tmp_path, TIMED), Noiseless()) as proxy, ThreadPoolExecutor() as pool:
        session, sql = proxy.session(analyst="ana"), f"{COUNT} WHERE age > 41"
        slow = Slow(session._backend.engine.run, fails)
        monkeypatch.setattr(session._backend.engine, "run", slow)

        def left() -> float:
            with suppress(dpsql.EngineFailed):
                session.query(sql)
            return time.monotonic()

        began = time.monotonic()
        first = pool.submit(left)
        assert slow.looks.wait(10)
        again = pool.submit(left)
        assert first.result() - began >= GRID
        assert again.result() - first.result() >= GRID / 2  # its times begin where the first answer left
        assert [at - began >= GRID for at in slow.looked[1:]] == ([True] if fails else [])  # nothing is paid twice


def test_no_progress_is_told_where_times_are_public(session: Session) -> None:
    told: list[str] = []
    session.release("ages", "SELECT age FROM people", epsilon=1, progress=lambda step, _: told.append(step))
    assert told == []


def test_what_an_engine_does_not_answer_leaves_on_the_grid(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise dpsql.EngineFailed

    monkeypatch.setattr(session._backend.engine, "run", fail)
    assert took(session.query, "SELECT COUNT(*) FROM people WHERE age > 50") >= GRID


@pytest.mark.parametrize("kind", [pytest.param(own, id=own.name, marks=pytest.mark.slow) for own in KINDS])
def test_every_door_answers_and_refuses_on_the_grid(kind: DoorKind, tmp_path: Path) -> None:
    with open_clinic(tmp_path, TIMED) as clinic, ways(kind, clinic) as through:
        for sql in (COUNT, COUNT, *REFUSED[:2]):
            assert took(through["ana"], sql) >= GRID


def test_a_cursor_of_the_database_interface_does(tmp_path: Path) -> None:
    with dpsql.connect(str(write_clinic(tmp_path, TIMED)), analyst="ana") as connection:
        cursor = connection.cursor()
        for sql in (REFUSED[0], "SHOW TABLES"):
            assert took(cursor.execute, sql) >= GRID


@pytest.mark.parametrize("times", ["[1s, 100ms]", "[0s, 1s]", "[1s, 1000ms]", "[soon]"])
def test_times_that_do_not_rise_are_refused(tmp_path: Path, times: str) -> None:
    policy = write_clinic(tmp_path, POLICY + f"answer_times: {times}\n")
    with pytest.raises(PolicyError, match="answer_times"):
        testing.open(policy, Noiseless())
