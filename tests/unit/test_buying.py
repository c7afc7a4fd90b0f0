"""The order of a charge and a look: what fails before the charge costs nothing, and nothing is read before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

import dpsql.testing
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.asking import who
from dpsql.backend import Backend
from dpsql.engine.base import Engine, EngineStatement, PublicTable
from dpsql.engine.dialect import Dialect
from dpsql.errors import BudgetExceeded, EngineFailed, Error, InvariantBroken, OperationalError, UnsupportedQuery
from dpsql.ledger.ledger import Entry, Ledger
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.worker.client import Table, WorkerFailed
from tests.sql.databases import build

STATEMENTS = (
    "SELECT COUNT(*) AS n FROM people WHERE employed",
    "SELECT district, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY district ORDER BY n LIMIT 2",
    "SELECT sector, MEDIAN(hours) AS m FROM jobs GROUP BY sector",
    "SELECT COUNT(*) AS n FROM people WHERE age > (SELECT AVG(age) FROM people)",
)


@dataclass
class Watched:
    """An engine that notes what is on record when it is read, and may refuse or fail.

    Attributes:
        inner: What answers.
        ledger: Where charges are.
        refuses: What it raises when it is asked whether it stands; None where it stands.
        fails: Whether it fails when it is read.
        on_record: How many records there were when it was read, each time.
        asking: Who asked, each time.
    """

    inner: Engine
    ledger: Ledger
    refuses: Error | None = None
    fails: bool = False
    on_record: list[int] = field(default_factory=list)
    asking: set[str] = field(default_factory=set)

    @property
    def version(self) -> int:
        return self.inner.version

    @property
    def public(self) -> Mapping[str, PublicTable]:
        return self.inner.public

    @property
    def dialect(self) -> Dialect:
        return self.inner.dialect

    def verify(self, statement: EngineStatement) -> None:
        self.asking.add(who())
        if self.refuses is not None:
            raise self.refuses
        self.inner.verify(statement)

    def stand(self) -> None:
        self.inner.stand()

    def run(self, statement: EngineStatement) -> RawTable:
        self.asking.add(who())
        self.on_record.append(len(self.ledger.log()))
        if self.fails:
            raise EngineFailed
        return self.inner.run(statement)

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        return [self.run(statement) for statement in statements]

    def close(self) -> None:
        self.inner.close()


class Unable(PostProcess):
    """A worker without data that can do nothing with what is released."""

    def __init__(self, *, answered: bool) -> None:
        super().__init__(1 << 30)
        self._answered = answered

    def _ran(self, statement: EngineStatement, table: Table) -> dict[str, Sequence[Any]]:
        raise WorkerFailed("it cannot", answered=self._answered)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("buying")), dpsql.testing.Noiseless()) as proxy:
        yield proxy._backend


@pytest.fixture
def engine(backend: Backend) -> Watched:
    return Watched(backend.engine, backend.ledger)


def records(backend: Backend, analyst: str) -> list[Entry]:
    return [entry for entry in backend.ledger.log() if entry.analyst == analyst]


@pytest.mark.parametrize("sql", STATEMENTS)
def test_nothing_is_read_before_the_charge_is_on_record(backend: Backend, engine: Watched, sql: str) -> None:
    session, before = Session(replace(backend, engine=engine), "ana"), len(backend.ledger.log())
    session.query(sql)
    assert engine.on_record
    assert set(engine.on_record) == {before + 1}
    assert [entry.kind for entry in backend.ledger.log()[before:]] == ["charge"]
    assert engine.asking == {"ana"}


@pytest.mark.parametrize("sql", STATEMENTS)
def test_what_the_budget_does_not_cover_reads_nothing(backend: Backend, engine: Watched, sql: str) -> None:
    with pytest.raises(BudgetExceeded):
        Session(replace(backend, engine=engine), "eager").query(sql, epsilon=5000)
    assert engine.on_record == []
    assert records(backend, "eager") == []


@pytest.mark.parametrize("refuses", [OperationalError("It does not stand."), InvariantBroken("It reads otherwise.")])
@pytest.mark.parametrize("sql", STATEMENTS)
def test_an_engine_that_does_not_stand_costs_nothing(
    backend: Backend, engine: Watched, sql: str, refuses: Error
) -> None:
    engine.refuses = refuses
    with pytest.raises(type(refuses)):
        Session(replace(backend, engine=engine), "early").query(sql)
    assert engine.on_record == []
    assert records(backend, "early") == []


@pytest.mark.parametrize(("answered", "error"), [(True, UnsupportedQuery), (False, OperationalError)])
def test_what_cannot_be_done_after_the_charge_costs_nothing(
    backend: Backend, engine: Watched, answered: bool, error: type[Error]
) -> None:
    after = Unable(answered=answered)
    with pytest.raises(error):
        Session(replace(backend, engine=engine, post_process=after), "late").query(STATEMENTS[1])
    after.close()
    assert engine.on_record == []
    assert records(backend, "late") == []


def test_what_the_engine_fails_at_is_counted_and_the_third_time_suspends(backend: Backend, engine: Watched) -> None:
    engine.fails = True
    session = Session(replace(backend, engine=engine), "slow")
    for sql in STATEMENTS[:3]:
        with pytest.raises(EngineFailed):
            session.query(sql)
    assert [entry.kind for entry in records(backend, "slow")] == ["charge", "overrun"] * 3
    with pytest.raises(OperationalError, match="suspended"):
        session.query(STATEMENTS[3])
    assert len(engine.on_record) == 3
