"""Values that a statement waits for: prices that do not depend on them, one charge, and free replays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.answers.computed.postprocess import MADE_UP, made_up, passed_on
from dpsql.engine.base import EngineStatement
from dpsql.errors import BudgetExceeded, UnsupportedQuery
from dpsql.plan.types import Awaited, Type
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.testing import FixedSampler
from tests.sql.databases import build

MEAN = "SELECT AVG(cost) FROM visits"
DEAR = f"SELECT COUNT(*) AS n FROM visits WHERE cost > ({MEAN})"


class Heard(Session):
    """A session that keeps what its engine was asked."""

    asked: list[EngineStatement]

    def _run(self, statement: EngineStatement) -> RawTable:
        self.asked.append(statement)
        return super()._run(statement)

    def _run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        return [self._run(statement) for statement in statements]  # each is seen


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("hospital", tmp_path_factory.mktemp("awaited"))


@pytest.fixture
def session(policy: Path) -> Iterator[Heard]:
    with dpsql.testing.open(policy, FixedSampler("awaited")) as proxy:
        session = Heard(proxy.session(analyst="ana")._backend, "ana")
        session.asked = []
        yield session


def test_rows_meet_the_released_number_and_both_are_charged_at_once(session: Heard) -> None:
    answer = session.query(DEAR, epsilon=0.2)
    assert answer.cost.epsilon == session.budget().spent.epsilon == 0.4
    assert len(answer.measurements) == 2
    mean = session.query(MEAN, epsilon=0.2)
    assert mean.replayed  # it is the release that it would be alone
    assert session.asked[-1].parameters == (mean.rows[0][0],)
    assert "released first" in answer.notices[0]


def test_asked_again_it_is_free_and_reads_nothing(session: Heard) -> None:
    first = session.query(DEAR, epsilon=0.2)
    session.asked.clear()
    again = session.query(DEAR, epsilon=0.2)
    assert (again.replayed, again.rows, again.cost.epsilon, session.asked) == (True, first.rows, 0, [])


def test_what_was_released_before_is_not_bought_again(session: Heard) -> None:
    session.query(MEAN, epsilon=0.2)
    answer = session.query(DEAR, epsilon=0.2)
    assert (answer.cost.epsilon, answer.replayed) == (0.2, False)
    assert len(session.asked) == 2


def test_the_price_is_quoted_before_and_is_that_of_both(session: Heard) -> None:
    quote = session.explain(DEAR, epsilon=0.2)
    assert [column.name for column in quote.columns] == ['avg("cost")', "n"]
    assert quote.cost.epsilon == session.price(DEAR, epsilon=0.2).epsilon == 0.4  # what a human is asked about
    assert session.asked == []


def test_a_wanted_width_is_that_of_the_outer_column(session: Heard) -> None:
    quote = session.explain(DEAR, epsilon=0.2, half_width={"n": 200})
    assert quote.columns[0].loss.epsilon == 0.2
    assert quote.columns[1].loss.epsilon != 0.2


def test_where_both_cannot_be_paid_neither_is_read(session: Heard) -> None:
    with pytest.raises(BudgetExceeded):
        session.query(DEAR, epsilon=5)
    assert session.asked == []
    assert session.budget().spent.epsilon == 0


def test_offers_are_the_same_whatever_is_released(policy: Path) -> None:
    quotes = set()
    for seed in range(3):
        with dpsql.testing.open(policy, FixedSampler(seed)) as proxy:
            session = proxy.session(analyst="ana")
            session.query(MEAN, epsilon=0.2)
            quote = session.explain(DEAR, epsilon=0.2)
            quotes.add(str([(c.mechanism, c.sensitivity, c.scale, c.half_width) for c in quote.columns]))
    assert len(quotes) == 1


def test_statements_that_wait_for_different_values_share_no_draw(session: Heard) -> None:
    others = [DEAR, DEAR.replace("AVG(cost)", "MEDIAN(cost)")]
    answers = session.query_all(others, epsilon=0.2)
    assert sum(answer.cost.epsilon for answer in answers) == pytest.approx(0.8)
    read = {statement.parameters for statement in session.asked if len(statement.parameters) == 1}
    assert len(read) == 2


def test_statements_that_wait_for_the_same_value_buy_it_once(session: Heard) -> None:
    answers = session.query_all([DEAR, DEAR.replace("COUNT(*)", "SUM(cost)")], epsilon=0.2)
    assert sum(answer.cost.epsilon for answer in answers) == pytest.approx(0.6)


def test_null_leaves_no_row(session: Heard) -> None:
    inner = "SELECT NULLIF(COUNT(*), COUNT(*)) FROM patients"
    session.query(f"SELECT COUNT(*) AS n FROM patients WHERE age > ({inner})", epsilon=0.5)
    assert session.asked[-1].parameters == (None,)


def test_every_statement_is_verified_with_made_up_values_and_null() -> None:
    awaited = Awaited("x", Type.REAL)
    statement = EngineStatement("SELECT $1, $2", (awaited, 7), (), frozenset(), frozenset())
    taken = [(passed_on(value, Type.REAL), 7) for value in MADE_UP[Type.REAL]]
    assert [own.parameters for own in made_up(statement)] == taken
    assert [*made_up(statement.at({awaited: 0.5}))] == [statement.at({awaited: 0.5})]


def test_a_synthetic_table_waits_for_nothing(session: Heard) -> None:
    rows = "SELECT age FROM patients WHERE age > (SELECT AVG(age) FROM patients)"
    with pytest.raises(UnsupportedQuery, match="wait for no other release"):
        session.query(f"CREATE SYNTHETIC TABLE x WITH (epsilon = 0.5) AS {rows}")


def test_no_row_is_bought_for_no_row(session: Heard) -> None:
    assert session.query(f"{DEAR} LIMIT 0").rows == []
    assert session.budget().spent.epsilon == 0


def test_a_value_stands_beside_aggregates(session: Heard) -> None:
    answer = session.query("SELECT COUNT(*) / (SELECT COUNT(*) FROM visits) AS share FROM patients", epsilon=0.2)
    assert answer.cost.epsilon == 0.4
    low, high = answer.interval("share")[0]
    assert low is not None and high is not None and low < answer.rows[0][0] < high
