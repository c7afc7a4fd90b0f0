"""How long an answer took is not seen where the policy has `answer_times`: at any door, for answers and refusals alike.

Haeberlen, Pierce, Narayan 2011, on timing as a channel. `bench/timing.py` measures what a classifier that sees times
alone can tell; here it is that all leaves on the grid, by every way in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

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

GRID = 0.3  # Seconds; what takes longer on a busy machine leaves at its multiples.
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
