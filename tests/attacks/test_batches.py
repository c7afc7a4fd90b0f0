"""Statements bought together: what is drawn is charged, and each answer is found again by its statement alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

import dpsql.testing
from dpsql.backend import Backend
from dpsql.engine.base import EngineStatement
from dpsql.errors import BudgetExceeded, EngineFailed, Error, OperationalError, ProgrammingError, UnsupportedQuery
from dpsql.ledger.ledger import Entry
from dpsql.prepare import Measured
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import Composed, summary
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.session import Session
from tests.sql.databases import build

ASKED = (
    "SELECT {o} COUNT(*) AS n FROM people",
    "SELECT {o} COUNT(*) AS n, AVG(age) AS a FROM people",
    "SELECT {o} district, COUNT(*) AS n FROM people GROUP BY district",
    "SELECT {o} district, COUNT(*) AS n FROM people GROUP BY district ORDER BY n DESC LIMIT 2",
    "SELECT {o} district, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM people GROUP BY district",
    "SELECT {o} district, SUM(age) AS s, MEDIAN(age) AS m FROM people GROUP BY district HAVING COUNT(*) > 9",
    "SELECT {o} AVG(age) AS a, SUM(age) AS s FROM people WHERE employed",
    "SELECT {o} AVG(age) AS a FROM people WHERE employed",
    "SELECT {o} VAR_POP(age) AS v, STDDEV(age) AS d FROM people",
    "SELECT {o} VAR_POP(age) AS v, COUNT(*, epsilon => 0.01) AS n FROM people",
    "SELECT {o} sector, COUNT(*) AS n, AVG(hours) AS h FROM jobs GROUP BY sector",
    "SELECT {o} sector, COUNT(DISTINCT person_id) AS n, AVG(hours) AS h FROM jobs GROUP BY sector",
    "SELECT {o} district, employed, COUNT(*) AS n FROM people GROUP BY ROLLUP (district, employed)",
    "SELECT {o} MODE(district) AS often, MEDIAN(income) AS m FROM people",
    "SELECT {d} trade, COUNT(*) AS n FROM people GROUP BY trade",
    "SELECT {d} trade, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY trade",
    "SELECT {d} trade, AVG(age) AS a, SUM(age) AS s FROM people GROUP BY trade",
    "SELECT COUNT(*) AS n FROM districts",
)
PRICES = ("epsilon = 1", "epsilon = 1", "epsilon = 2", "epsilon = 0.25, confidence = 0.9")
METRIC = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (metric = 'near', multiple = 1) district, COUNT(*) AS n{} "
    "FROM people GROUP BY 1"
)


class Watched(Session):
    """A session that keeps what it draws and reads, and whose engine can be told to fail."""

    def __init__(self, backend: Backend, analyst: str) -> None:
        super().__init__(backend, analyst)
        self.drawn: list[Loss] = []
        self.read: list[str] = []
        self.fails = False

    def _noised(
        self, measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
    ) -> ReleasedTable:
        self.drawn.append(measured.choice.release.loss)
        return super()._noised(measured, raw, keys, groups)

    def _run(self, statement: EngineStatement) -> RawTable:
        if self.fails and self.read:
            self._backend.ledger.record_overrun(self.analyst)
            raise EngineFailed
        self.read.append(statement.sql)
        return super()._run(statement)

    def _run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        return [self._run(statement) for statement in statements]  # each is seen

    def records(self) -> list[Entry]:
        """This analyst's, oldest first."""
        return [entry for entry in self._backend.ledger.log() if entry.analyst == self.analyst]


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    folder = tmp_path_factory.mktemp("batches")
    with dpsql.testing.open(build("census", folder), dpsql.testing.FixedSampler("batches")) as proxy:
        yield proxy._backend


def batch(seed: int, size: int) -> list[str]:
    chosen = random.Random(seed)
    return [with_price(chosen.choice(ASKED), chosen.choice(PRICES)) for _ in range(size)]


def with_price(sql: str, price: str) -> str:
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS ({})"
    return sql.format(o=clause.format(price), d=clause.format(f"{price}, delta = 1e-6"))


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(12))
def test_what_is_charged_is_what_is_drawn_and_each_answer_is_found_again_by_itself(backend: Backend, seed: int) -> None:
    statements, session = batch(seed, 5), Watched(backend, f"batch {seed}")
    alone = [session.explain(sql) for sql in statements]
    quote = session.quote(statements)
    assert session.records() == []
    answers = session.query_all(statements)
    (charge,) = session.records()
    assert charge.loss is not None
    assert charge.loss.account("basic") == Composed(tuple(session.drawn)).account("basic")
    spent = summary(charge.loss, "basic").epsilon
    assert spent == pytest.approx(quote.cost.epsilon) == pytest.approx(sum(answer.cost.epsilon for answer in answers))
    assert quote.cost.epsilon <= quote.alone.epsilon <= sum(own.cost.epsilon for own in alone) + 1e-9
    for own, bought in zip(alone, quote.statements, strict=True):  # none is answered worse than alone
        for one, other in zip(own.columns, bought.columns, strict=True):
            assert other.half_width <= one.half_width * (1 + 1e-9), other.name
    for sql, answer in zip(statements, answers, strict=True):
        again = session.query(sql)
        assert again.rows == answer.rows
        assert [again.ends(i) for i in range(len(again.columns))] == [answer.ends(i) for i in range(len(again.columns))]
        assert again.replayed or not again.measurements
        assert again.measurements == answer.measurements
    assert len(session.records()) == 1
    assert all(answer.cost.epsilon == 0 for answer in session.query_all(statements))
    assert len(session.records()) == 1


def test_two_numbers_of_one_statement_that_a_common_price_makes_one_are_paid_for_once(backend: Backend) -> None:
    session = Watched(backend, "two are one")
    both = with_price(
        "SELECT {o} COUNT(*) AS n, COUNT(*, epsilon => 0.3) AS m FROM people WHERE employed", "epsilon = 2"
    )
    statements = [both, with_price("SELECT {o} COUNT(*) AS n FROM people WHERE employed", "epsilon = 0.3")]
    quote = session.quote(statements)
    assert (quote.alone.epsilon, quote.cost.epsilon, quote.shared[0].statements) == (2.3, 1.7, (1, 2))
    first, second = session.query_all(statements)
    (charge,) = session.records()
    assert charge.loss is not None
    assert charge.loss.account("basic") == Composed(tuple(session.drawn)).account("basic")
    assert (first.cost.epsilon, second.cost.epsilon, len(session.drawn)) == (1.7, 0, 1)
    assert {*first.rows[0], *second.rows[0]} == {first.rows[0][0]}
    assert [session.query(sql).rows for sql in statements] == [first.rows, second.rows]
    assert len(session.records()) == 1


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(12, 24))
def test_no_statement_reads_what_another_one_asks(backend: Backend, seed: int) -> None:
    exact = replace(backend, sampler=dpsql.testing.Noiseless())
    # Which groups appear hangs on the price, and so does where the values of a mean are clipped.
    statements = [sql for sql in batch(seed, 9) if "delta" not in sql and "AVG(" not in sql]
    together = Watched(exact, f"together {seed}").query_all(statements)
    alone = Watched(exact, f"alone {seed}")
    assert [answer.rows for answer in together] == [alone.query(sql).rows for sql in statements]


def test_what_was_released_before_is_not_bought_again(backend: Backend) -> None:
    session = Watched(backend, "yesterday")
    first = session.query(with_price(ASKED[2], "epsilon = 1"))
    drawn = len(session.drawn)
    more, same = session.query_all([with_price(ASKED[4], "epsilon = 0.3"), with_price(ASKED[2], "epsilon = 1")])
    assert same.replayed
    assert same.rows == first.rows
    assert [row[1] for row in more.rows] == [row[1] for row in first.rows]
    assert more.cost.epsilon == pytest.approx(0.2)
    assert len(session.drawn) == drawn + 1


def test_nothing_is_read_for_what_is_known(backend: Backend) -> None:
    session = Watched(backend, "known")
    session.query(with_price(ASKED[2], "epsilon = 1"))
    session.read.clear()
    _, top = session.query_all([with_price(sql, "epsilon = 1") for sql in ASKED[2:4]])
    assert len(top) == 2
    assert session.read == []
    assert top.cost.epsilon == 0


@pytest.mark.parametrize(
    ("second", "error", "why"),
    [
        ("SELECT age FROM people", UnsupportedQuery, "Statement 2: "),
        ("SELECT COUNT(*) FROM people WHERE age > ?", ProgrammingError, "Statement 2: The statement takes 1"),
        ("SHOW BUDGET", ProgrammingError, "Statement 2: only SELECTs"),
        (with_price(ASKED[1], "epsilon = 100000"), BudgetExceeded, "costs epsilon 50000"),
        (5, ProgrammingError, "Statement 2: "),
    ],
)
def test_what_refuses_one_refuses_all_uncharged(backend: Backend, second: Any, error: type[Error], why: str) -> None:
    session = Watched(backend, "refused")
    with pytest.raises(error, match=why):
        session.query_all([ASKED[0].format(o=""), second])
    assert (session.read, session.drawn, session.records()) == ([], [], [])


def test_what_fails_after_the_charge_stays_charged_and_what_was_drawn_is_kept(backend: Backend) -> None:
    session = Watched(backend, "failing")
    statements = [with_price(sql, "epsilon = 0.5") for sql in (ASKED[0], ASKED[7])]
    session.fails = True
    with pytest.raises(EngineFailed):
        session.query_all(statements)
    assert [entry.kind for entry in session.records()] == ["charge", "overrun"]
    session.fails = False
    assert session.query(statements[0]).replayed
    assert not session.query(statements[1]).replayed


def test_the_suspended_are_told_so_before_anything_is_charged(backend: Backend) -> None:
    session = Watched(backend, "suspended")
    kept = session.query(ASKED[0].format(o=""))
    for _ in range(3):
        backend.ledger.record_overrun("suspended")
    with pytest.raises(OperationalError, match="suspended"):
        session.query_all([ASKED[0].format(o=""), ASKED[1].format(o="")])
    assert session.query_all([ASKED[0].format(o="")] * 2)[1].rows == kept.rows


def test_one_analysts_releases_are_not_anothers(backend: Backend) -> None:
    statements = [with_price(sql, "epsilon = 1") for sql in ASKED[:2]]
    Watched(backend, "ana").query_all(statements)
    other = Watched(backend, "bob")
    assert not other.query(statements[0]).replayed
    assert other.query_all(statements)[0].replayed


def test_statements_under_a_metric_are_bought_whole(backend: Backend) -> None:
    session = Watched(backend, "metric")
    alone = session.explain(METRIC.format(", SUM(age) AS s")).cost
    first, other, same = session.query_all([METRIC.format(""), METRIC.format(", SUM(age) AS s"), METRIC.format("")])
    assert same.replayed
    assert same.rows == first.rows
    assert other.cost == alone
    assert session.query(METRIC.format(", SUM(age) AS s")).rows == other.rows


NAMED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({}) district, COUNT(*) AS n FROM people GROUP BY district"
PLAIN, LAPLACE, MORE = (
    NAMED.format(own) for own in ("epsilon = 1", "epsilon = 1, mechanism = laplace", "epsilon = 4, mechanism = laplace")
)
LESS, GAUSSIAN, MOST = (NAMED.format(own) for own in ("rho = 0.1", "rho = 0.1, mechanism = gaussian", "rho = 5"))


@pytest.fixture(scope="module")
def zcdp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    file = build("census", tmp_path_factory.mktemp("zcdp"))
    file.write_text(file.read_text().replace("composition: basic", "composition: zcdp"))
    with dpsql.testing.open(file, dpsql.testing.FixedSampler("zcdp")) as proxy:
        yield proxy._backend


@pytest.mark.parametrize(
    "statements",
    [*permutations((PLAIN, LAPLACE, MORE)), *permutations((LESS, GAUSSIAN, MOST)), (LESS, MOST), (MOST, GAUSSIAN)],
)
def test_statements_with_one_release_alone_have_its_own_intervals_beside_a_dearer_one(
    zcdp: Backend, statements: Sequence[str]
) -> None:
    """Statements that a dearer one changes otherwise than each other are told apart, in a batch and after it."""
    session = Watched(zcdp, " ".join(str(len(sql)) for sql in statements))
    answers = list(zip(statements, session.query_all(statements), strict=True))
    others = [PLAIN, LAPLACE] if PLAIN in statements else [LESS, GAUSSIAN]
    answers += [(sql, session.query(sql)) for sql in others]
    told = dict[str, Any]()
    for sql, answer in answers:
        (measured,) = answer.measurements
        how = measured.mechanism, measured.scale, answer.interval("n")
        assert told.setdefault(repr(answer.rows), how) == how
        again = session.query(sql)
        assert again.replayed
        assert (again.rows, again.interval("n"), again.measurements) == (answer.rows, how[2], answer.measurements)
