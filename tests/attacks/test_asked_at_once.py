"""One question asked at the same moment, in several spellings or by several processes: it is charged once.

Two draws of one answer, paid twice, would also be a way to average: the second asker gets what the first one got.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from subprocess import PIPE
from threading import Barrier, Event, Timer
from typing import Any

import duckdb
import numpy as np
import pytest

import dpsql.testing
from dpsql.charging import Turns
from dpsql.errors import ProgrammingError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.refusals import ReleasedMeanwhile
from dpsql.ledger.turns import ProcessTurns
from dpsql.policy import load_policy
from dpsql.privacy.sampling import Integers
from dpsql.proxy import Proxy, limits_of, pinned_of
from dpsql.session import Session
from dpsql.testing_samplers import Noiseless
from tests.attacks.ledger_victims import LOSS, opened
from tests.unit.server.clinic import POLICY

ROOT = Path(__file__).parent.parent.parent
SPELLED = (
    "SELECT COUNT(*) AS n FROM people WHERE age IN (7, 8)",
    "select count( * ) as n /* again */ from people where age = ANY(ARRAY[7, 8])",
    "SELECT * FROM (SELECT COUNT(*) AS n FROM people WHERE age IN (7, 8)) AS t LIMIT 1000",
    "FROM people SELECT COUNT(*) AS n WHERE people.age IN (7, 8)",
)


class Slow(Noiseless):
    """Takes its time, and counts the draws: what is asked meanwhile finds nothing stored yet."""

    def __init__(self) -> None:
        self.drawn, self.begun = 0, Event()

    def laplace(self, scale: Fraction, size: int) -> Integers:
        self.begun.set()
        time.sleep(0.3)
        self.drawn += 1
        return np.full(size, self.drawn, dtype=np.int64)


def written(folder: Path) -> Path:
    """The policy of a hundred people, beside the data."""
    (folder / "clinic.yaml").write_text(POLICY.replace("composition: zcdp", "composition: basic"))
    with duckdb.connect(str(folder / "clinic.duckdb")) as database:
        database.execute(
            "CREATE TABLE people AS SELECT i AS person, i % 90 AS age, 'F' AS sex, DATE '1990-01-01' AS born, "
            "50.5 AS weight, TRUE AS smokes FROM range(100) t(i)"
        )
    return folder / "clinic.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path).parent


def test_spellings_asked_at_one_moment_are_one_charge_and_one_draw(folder: Path) -> None:
    sampler, begin = Slow(), Barrier(len(SPELLED))
    with dpsql.testing.open(folder / "clinic.yaml", sampler) as proxy:
        sessions = [proxy.session(analyst="ana") for _ in SPELLED]

        def ask(number: int) -> list[Any]:
            begin.wait()
            return sessions[number].query(SPELLED[number])["n"]

        with ThreadPoolExecutor(len(SPELLED)) as pool:
            answers = list(pool.map(ask, range(len(SPELLED))))
        assert answers == [[5]] * len(SPELLED)  # 4, and the one draw
        assert sampler.drawn == 1
        assert sessions[0].budget().spent.epsilon == 0.5


@pytest.mark.parametrize("times", ["", "answer_times: [300ms]\n"])
def test_a_table_that_is_asked_for_while_it_is_made_is_made_once(folder: Path, times: str) -> None:
    policy, sampler = folder / "clinic.yaml", Slow()
    policy.write_text(policy.read_text() + times)
    statement = "CREATE SYNTHETIC TABLE ages WITH (method = 'cells', epsilon = 0.5) AS SELECT age FROM people"
    with dpsql.testing.open(policy, sampler) as proxy:
        first, *others = (proxy.session(analyst="ana") for _ in range(4))

        def ask(session: Session) -> str:
            sampler.begun.wait()
            try:
                session.query(statement)
            except ProgrammingError as refused:
                return str(refused)
            return "made"

        with ThreadPoolExecutor(len(others)) as pool:
            told = [pool.submit(ask, session) for session in others]
            first.query(statement)
            assert {own.result() for own in told} == {"There is a table 'ages'. Take another name, or DROP TABLE ages."}
        assert sampler.drawn == 2  # of one table: a second one would draw again
        assert first.budget().spent.epsilon == 0.5


class Overtaken(Ledger):
    """A ledger whose process is overtaken by another between its look for an answer and its charge."""

    meanwhile: Callable[[], object] | None = None

    def charge(self, *arguments: Any, **more: Any) -> int:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().charge(*arguments, **more)


def opened_slow(folder: Path, kind: type[Ledger] = Ledger) -> tuple[Proxy, Ledger]:
    """A proxy of the folder's policy whose noise takes its time, and its ledger, which is on the disk."""
    policy = load_policy(folder / "clinic.yaml")
    marks = folder / "mark"
    marks.mkdir(exist_ok=True)
    ledger = kind.open(
        policy.resolve(policy.budget.ledger), pinned=pinned_of(policy), limits=limits_of(policy), mark=marks
    )
    return Proxy(policy, ledger, folder / "cache", Slow(), private=False), ledger


@contextmanager
def two(folder: Path) -> Iterator[tuple[Proxy, Overtaken, Proxy]]:
    """Two proxies of one policy, as two processes have them; the first one's ledger can be overtaken."""
    (first, ledger), (second, _) = opened_slow(folder, Overtaken), opened_slow(folder)
    assert isinstance(ledger, Overtaken)
    with closing(first), closing(second):
        yield first, ledger, second


@pytest.fixture
def overtaken(folder: Path) -> Iterator[tuple[Proxy, Overtaken, Proxy]]:
    with two(folder) as found:
        yield found


def test_what_another_process_released_meanwhile_is_served_and_not_charged(
    overtaken: tuple[Proxy, Overtaken, Proxy],
) -> None:
    first, ledger, second = overtaken
    own, other = first.session(analyst="ana"), second.session(analyst="ana")
    ledger.meanwhile = lambda: other.query(SPELLED[1])
    answer = own.query(SPELLED[0])
    assert (answer.replayed, answer["n"]) == (True, [5])
    assert own.budget().spent.epsilon == other.budget().spent.epsilon == 0.5


def ask_here(folder: str) -> None:
    """Says that it is ready, waits for a line, asks, and prints whether the answer was stored: a process of its own."""
    with closing(opened_slow(Path(folder))[0]) as proxy:
        session = proxy.session(analyst="ana")
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(session.query(SPELLED[1]).replayed))


def test_two_processes_that_ask_the_same_at_one_moment_pay_once(folder: Path) -> None:
    with closing(opened_slow(folder)[0]) as proxy:
        session = proxy.session(analyst="ana")  # the tables are built before the other process looks for them
        command = [sys.executable, "-c", f"from {__name__} import ask_here; ask_here({str(folder)!r})"]
        with subprocess.Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == "ready\n"
            other.stdin.write("go\n")
            other.stdin.flush()
            own = session.query(SPELLED[0])
            told = json.loads(other.stdout.read())
        assert sorted([own.replayed, told]) == [False, True]
        assert session.budget().spent.epsilon == 0.5


def held_elsewhere(folder: Path, name: str) -> subprocess.Popen[str]:
    """A process that has a turn until it is killed."""
    code = (
        "import sys, time; from pathlib import Path; from dpsql.ledger.turns import ProcessTurns\n"
        "with ProcessTurns(Path(sys.argv[1])).of(sys.argv[2]):\n    print('held', flush=True)\n    time.sleep(600)"
    )
    ledger = str(folder / "ledger.db")
    other = subprocess.Popen([sys.executable, "-c", code, ledger, name], cwd=ROOT, stdout=PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    return other


def test_a_turn_falls_with_its_process_and_nobody_waits_for_it_for_ever(tmp_path: Path) -> None:
    turns, others = ProcessTurns(tmp_path / "ledger.db"), ProcessTurns(tmp_path / "ledger.db", patience=0.1)
    with closing(turns), closing(others), held_elsewhere(tmp_path, "a") as other:
        with turns.of("b"):  # another name
            pass
        began = time.monotonic()
        with others.of("a"):  # its patience ended
            assert time.monotonic() - began >= 0.1
        Timer(0.1, other.kill).start()
        with turns.of("a"):
            assert other.wait(60)
        assert other.stdout is not None
        other.stdout.close()
    with turns.of("a"):  # closed: there are no turns
        pass
    assert (tmp_path / "ledger.db.turns").stat().st_mode & 0o777 == 0o600


def test_where_there_can_be_no_locks_there_are_no_turns(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for ledger in (None, tmp_path / "file" / "ledger.db"):
        with closing(ProcessTurns(ledger)) as turns, turns.of("a"):
            pass


def test_a_ledger_takes_no_charge_for_what_is_stored(tmp_path: Path) -> None:
    with opened(tmp_path / "ledger.db", tmp_path / "marks", 9) as ledger:
        charge = ledger.charge("ana", LOSS, statement="s", fingerprint="a", beside=["b"])
        ledger.store(charge, "b", b"answer")
        spent = ledger.budget("ana")
        for fingerprint, beside in (("b", []), ("c", ["b"])):
            with pytest.raises(ReleasedMeanwhile, match="Nothing was charged"):
                ledger.charge("ana", LOSS, statement="s", fingerprint=fingerprint, beside=beside)
        assert ledger.budget("ana") == spent
        assert ledger.charge("ana", LOSS, statement="s", fingerprint="a") > charge  # its answer was lost: paid again


def test_turns_are_given_back_and_do_not_wait_for_others() -> None:
    turns, order = Turns(), list[str]()

    def one(names: list[str]) -> None:
        with turns.of(names):
            order.append(names[0])

    with ThreadPoolExecutor(2) as pool:
        with turns.of(["a", "b", "a"]):
            pool.submit(one, ["c"]).result(60)  # nobody holds it
            late = pool.submit(one, ["b", "d"])
            time.sleep(0.05)
            order.append("own")
        late.result(60)
    assert order == ["c", "own", "b"]
    with pytest.raises(ZeroDivisionError), turns.of(["a"]):
        1 / 0  # noqa: B018
    with turns.of(["a", "b", "c", "d"]):
        assert len(turns._held) == 4
    assert not turns._held
