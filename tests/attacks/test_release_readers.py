"""Nobody learns of others by releases: not their names, not their budgets; and reading one runs and draws nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import dpsql.testing
from dpsql.engine.base import EngineStatement
from dpsql.errors import Error, InvariantBroken
from dpsql.ledger.tables import LedgerTables
from dpsql.mechanisms.releases.methods import Exact
from dpsql.privacy.sampling import Integers
from dpsql.privacy.tables import RawTable
from dpsql.proxy import Proxy
from dpsql.session import Session
from tests.unit.releasing.test_creating import build

AGES = "CREATE SYNTHETIC TABLE ages WITH (epsilon = 0.25) AS SELECT age, sex FROM people"
SAME = Exact(np.array([[3, 0], [30, 1], [70, 2]]), np.array([100, 200, 99]), 0)
ASKED = (
    "SHOW TABLES",
    "SHOW BUDGET",
    "SELECT COUNT(*) FROM ages",
    "SELECT COUNT(*) FROM theirs",
    "SELECT COUNT(*) FROM agse",
    "DESCRIBE ages",
    "DROP TABLE theirs",
    "EXPLAIN SELECT COUNT(*) FROM people WHERE age = 3",
    f"EXPLAIN {AGES}",
    AGES,
    AGES,
    "SELECT COUNT(*) FROM ages",
    "CREATE SYNTHETIC TABLE theirs WITH (epsilon = 0.25) AS SELECT sex FROM people",
    "SHOW TABLES",
    "DROP TABLE ages",
    "SELECT COUNT(*) FROM ages",
    "SELECT COUNT(*) FROM people WHERE age > 30",
    "SHOW BUDGET",
    "CREATE SYNTHETIC TABLE more WITH (epsilon = 0.25) AS SELECT age FROM people",
    "CREATE SYNTHETIC TABLE over WITH (epsilon = 0.5) AS SELECT age FROM people",
)


def told(session: Session, asked: Sequence[str] = ASKED) -> list[str]:
    """All that an analyst is told."""
    found = []
    for sql in asked:
        try:
            answer = session.query(sql)
            found.append(f"{answer}\n{answer.cost}\n{answer.released_from}")
        except Error as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def others(proxy: Proxy) -> None:
    """What others do, and the owner for them."""
    ana = proxy.session(analyst="ana")
    ana.query(AGES)
    ana.release("theirs", "SELECT sex FROM people", epsilon=3)
    ana.query("DROP TABLE theirs")
    proxy.releases.create(AGES.replace("ages", "shared"), ["ana"])
    proxy.releases.create(AGES.replace("ages", "theirs").replace("0.25", "5"), ["ana"])
    with pytest.raises(Error):
        proxy.releases.create(AGES.replace("ages", "dear").replace("0.25", "5"), ["ana", "eve"])
    with pytest.raises(Error):
        proxy.releases.create(AGES.replace("ages", "dear").replace("0.25", "5"), ["eve"])


def test_an_analyst_is_told_the_same_whatever_others_release(tmp_path: Path) -> None:
    """Word for word: names, refusals, hints, budgets, quotes, answers; all limits but the total's are the analyst's."""
    found = []
    for name, before in (("alone", None), ("beside", others)):
        home = tmp_path / name
        home.mkdir()
        with dpsql.testing.open(build(home), sampler=dpsql.testing.Noiseless()) as proxy:
            if before is not None:
                before(proxy)
            found.append(told(proxy.session(analyst="eve")))
    assert found[0] == found[1]
    assert sum("no such table" in text for text in found[0]) >= 3
    assert "BudgetExceeded" in found[0][-1]


READER = (
    "SHOW TABLES",
    "DESCRIBE ages",
    "EXPLAIN SELECT COUNT(*) FROM ages",
    "SELECT COUNT(*) FROM ages WHERE size > 3",
    "SELECT sex, COUNT(*) AS n, AVG(age) FROM ages GROUP BY sex ORDER BY sex",
    "EXPLAIN SELECT COUNT(*) FROM ages",
    "SELECT COUNT(*) FROM ages a JOIN towns t ON a.age = t.size",
    "SELECT COUNT(*) FROM ages a JOIN people p ON a.age = p.age",
    "SHOW TABLES",
    "SHOW BUDGET",
    "DROP TABLE ages",
    "SELECT COUNT(*) FROM people WHERE age > 50 AND age < 40",
    "CREATE SYNTHETIC TABLE more WITH (epsilon = 0.9) AS SELECT age FROM people",
)


def test_first_readings_differ_between_neighbours_through_the_release_alone(tmp_path: Path) -> None:
    """With one and the same release of two neighbouring tables a reader is told the same, word for word: names and
    types, the price, the charge at the first reading, answers with their intervals, refusals and what is left.
    """
    found, spent = [], []
    for people in (400, 401):
        home = tmp_path / str(people)
        home.mkdir()
        with dpsql.testing.open(build(home, people), sampler=dpsql.testing.Noiseless()) as proxy:
            with patch("dpsql.mechanisms.releases.table.coded", lambda *_: SAME):
                proxy.session(analyst="ana").query(AGES)
            proxy.releases.grant("ages", "eve")
            eve = proxy.session(analyst="eve")
            found.append(told(eve, READER))
            answer = eve.query("SELECT COUNT(*) AS n FROM ages WHERE age < 40")
            found[-1].append(str(answer.interval("n")))
            spent.append((eve.budget().spent.epsilon, proxy.ledger.budget(None).spent.epsilon))
            found[-1] += [f"{entry.kind} {entry.statement}" for entry in proxy.ledger.log()[2:]]
    assert found[0] == found[1]
    # The total paid 0.25 for the table, its second reader as much for the first reading; both 0.5 for a question.
    assert spent == [(0.75, 0.75)] * 2
    assert sum("for the first reading" in text for text in found[0]) == 1


class Refusing(dpsql.testing.Noiseless):
    """Draws until it is told not to."""

    def __init__(self) -> None:
        self.sealed = False

    def laplace(self, scale: Any, size: int) -> Integers:
        if self.sealed:
            raise InvariantBroken("a free answer drew noise")
        return super().laplace(scale, size)


def test_a_free_answer_reads_and_draws_nothing_and_changes_no_account(tmp_path: Path) -> None:
    sampler = Refusing()
    with dpsql.testing.open(build(tmp_path), sampler=sampler) as proxy:
        session = proxy.session(analyst="ana")
        session.query(AGES)
        proxy.releases.grant("ages", "eve")
        eve = proxy.session(analyst="eve")
        records, ran = len(proxy.ledger.log()), list[str]()
        sampler.sealed = True
        _watch(session, ran.append)
        _watch(eve, ran.append)
        session.query("SELECT sex, COUNT(*), AVG(age) FROM ages GROUP BY sex HAVING COUNT(*) > 2 ORDER BY 2 LIMIT 2")
        session.query("SELECT COUNT(*) FROM ages a JOIN towns t ON a.age = t.size")
        assert [sql for sql in ran if "people" in sql or "visits" in sql] == []
        assert len(proxy.ledger.log()) == records
        eve.query("SELECT COUNT(*) FROM ages")
        assert [entry.kind for entry in proxy.ledger.log()[records:]] == ["read"]
        table = LedgerTables(proxy.ledger).of("ana")["ages"]
        assert table.fingerprint.startswith("synthetic/")
        session.query("DROP TABLE ages")
        with pytest.raises(Error, match="no such table"):
            eve.query("SELECT COUNT(*) FROM ages")
        sampler.sealed = False
        session.query(AGES)  # the same name is another table, at another charge, which eve was not granted
        assert LedgerTables(proxy.ledger).of("ana")["ages"].fingerprint != table.fingerprint
        assert LedgerTables(proxy.ledger).of("eve") == {}


def _watch(session: Session, seen: Callable[[str], None]) -> None:
    run = session._releases._run

    def watched(statement: EngineStatement) -> RawTable:
        seen(statement.sql)
        return run(statement)

    session._releases._run = watched
