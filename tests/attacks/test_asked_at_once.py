"""One question asked at the same moment, in several spellings or by several processes: it is charged once.

Two draws of one answer, paid twice, would also be a way to average: the second asker gets what the first one got.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from threading import Barrier
from typing import Any

import duckdb
import numpy as np
import pytest

import dpsql.testing
from dpsql.charging import Turns
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.refusals import ReleasedMeanwhile
from dpsql.policy import load_policy
from dpsql.privacy.sampling import Integers
from dpsql.proxy import Proxy, limits_of, pinned_of
from dpsql.testing_samplers import Noiseless
from tests.attacks.ledger_victims import LOSS, opened
from tests.unit.server.clinic import POLICY

SPELLED = (
    "SELECT COUNT(*) AS n FROM people WHERE age IN (7, 8)",
    "select count( * ) as n /* again */ from people where age = ANY(ARRAY[7, 8])",
    "SELECT * FROM (SELECT COUNT(*) AS n FROM people WHERE age IN (7, 8)) AS t LIMIT 1000",
    "FROM people SELECT COUNT(*) AS n WHERE people.age IN (7, 8)",
)


class Slow(Noiseless):
    """Takes its time, and counts the draws: what is asked meanwhile finds nothing stored yet."""

    def __init__(self) -> None:
        self.drawn = 0

    def laplace(self, scale: Fraction, size: int) -> Integers:
        time.sleep(0.3)
        self.drawn += 1
        return np.full(size, self.drawn, dtype=np.int64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "clinic.yaml").write_text(POLICY.replace("composition: zcdp", "composition: basic"))
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as database:
        database.execute(
            "CREATE TABLE people AS SELECT i AS person, i % 90 AS age, 'F' AS sex, DATE '1990-01-01' AS born, "
            "50.5 AS weight, TRUE AS smokes FROM range(100) t(i)"
        )
    return tmp_path


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


class Overtaken(Ledger):
    """A ledger whose process is overtaken by another between its look for an answer and its charge."""

    meanwhile: Callable[[], object] | None = None

    def charge(self, *arguments: Any, **more: Any) -> int:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().charge(*arguments, **more)


@pytest.fixture
def overtaken(folder: Path) -> Iterator[tuple[Proxy, Overtaken, Proxy]]:
    """Two proxies of one policy, as two processes have them; the first one's ledger can be overtaken."""
    policy = load_policy(folder / "clinic.yaml")
    place, marks, cache = policy.resolve(policy.budget.ledger), folder / "mark", folder / "cache"
    marks.mkdir()
    ledgers = [
        kind.open(place, pinned=pinned_of(policy), limits=limits_of(policy), mark=marks) for kind in (Overtaken, Ledger)
    ]
    assert isinstance(ledgers[0], Overtaken)
    first, second = (Proxy(policy, ledger, cache, Slow(), private=False) for ledger in ledgers)
    with closing(first), closing(second):
        yield first, ledgers[0], second


def test_what_another_process_released_meanwhile_is_served_and_not_charged(
    overtaken: tuple[Proxy, Overtaken, Proxy],
) -> None:
    first, ledger, second = overtaken
    own, other = first.session(analyst="ana"), second.session(analyst="ana")
    ledger.meanwhile = lambda: other.query(SPELLED[1])
    answer = own.query(SPELLED[0])
    assert (answer.replayed, answer["n"]) == (True, [5])
    assert own.budget().spent.epsilon == other.budget().spent.epsilon == 0.5


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
