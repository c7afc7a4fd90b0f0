"""What statements of a batch share, and at which prices they are bought together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.plan.plans import Plan
from dpsql.prepare.batch import Batch
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement
from tests.sql.databases import build

OPTIONS = "WITH DIFFERENTIAL_PRIVACY OPTIONS"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = build("census", tmp_path_factory.mktemp("batch"))
    with dpsql.testing.open(path, dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def together(session: Session, *statements: str) -> Batch:
    asked = []
    for sql in statements:
        statement = parse(sql)
        assert isinstance(statement, QueryStatement)
        plan = session._plan(statement.select, ())
        assert isinstance(plan, Plan)
        asked.append(session._prepare(plan, {}))
    return session._backend.together(asked, session.analyst)[0]


def epsilons(batch: Batch, index: int) -> dict[str, float]:
    return {name: float(price.epsilon or 0) for name, price in batch.together[index].prices.items()}


def cost(batch: Batch) -> float:
    return float(batch.loss.priced().epsilon or 0) / float(batch.alone.priced().epsilon or 1)


def shared(batch: Batch) -> list[tuple[str, tuple[int, ...]]]:
    return [(purchase.name, indices) for purchase, indices in batch.shared()]


def test_what_is_asked_alike_is_bought_once_at_the_price_that_errs_the_least(session: Session) -> None:
    batch = together(
        session,
        f"SELECT {OPTIONS} (epsilon = 1) district, COUNT(*) AS n FROM people GROUP BY district",
        f"SELECT {OPTIONS} (epsilon = 1) district, SUM(age) AS s, COUNT(*) AS n FROM people GROUP BY 1 ORDER BY n",
        f"SELECT {OPTIONS} (epsilon = 3) district, SUM(age) AS s FROM people GROUP BY district HAVING s > 5",
    )
    assert [epsilons(batch, index) for index in range(3)] == [{"a0": 1}, {"a0": 1, "a1": 3}, {"a0": 3}]
    assert shared(batch) == [("COUNT(*)", (0, 1)), ("SUM(age)", (1, 2))]
    assert cost(batch) == pytest.approx(4 / 5)
    assert [batch.prices(index) == {} for index in range(3)] == [True, False, True]


@pytest.mark.parametrize(
    "other",
    [
        "SELECT COUNT(*) AS n FROM people WHERE age > 29",
        "SELECT COUNT(*) AS n FROM people WHERE employed",
        "SELECT COUNT(age) AS n FROM people WHERE age > 30",
        "SELECT district, COUNT(*) AS n FROM people WHERE age > 30 GROUP BY district",
        f"SELECT {OPTIONS} (mechanism = 'random_dp') COUNT(*) AS n FROM people",
        "SELECT COUNT(*) AS n FROM jobs",
        f"SELECT {OPTIONS} (metric = 'near', multiple = 1) COUNT(*) AS n FROM people WHERE age > 30",
        "SELECT employed, COUNT(*) AS n FROM people WHERE age > 30 GROUP BY ROLLUP (employed)",
    ],
)
def test_what_is_not_the_same_is_not_shared(session: Session, other: str) -> None:
    batch = together(session, "SELECT COUNT(*) AS n FROM people WHERE age > 30", other)
    assert shared(batch) == []
    assert cost(batch) == 1
    assert batch.together == batch.own


@pytest.mark.parametrize("option", ["max_groups_per_unit = 1", "max_rows_per_group = 1", "max_rows_contributed = 1"])
def test_other_caps_are_another_measurement(session: Session, option: str) -> None:
    sql = "SELECT {} sector, COUNT(*) AS n FROM jobs GROUP BY sector"
    batch = together(session, sql.format(""), sql.format(f"{OPTIONS} ({option})"))
    assert shared(batch) == []


def test_an_interval_that_is_declined_is_another_measurement(session: Session) -> None:
    batch = together(
        session,
        "SELECT MEDIAN(age) AS m FROM people",
        f"SELECT {OPTIONS} (interval = 'none') MEDIAN(age) AS m FROM people",
    )
    assert shared(batch) == []


def test_groups_that_are_listed_and_narrowed_are_others(session: Session) -> None:
    sql = "SELECT district, COUNT(*) AS n FROM people {} GROUP BY district"
    batch = together(session, sql.format(""), sql.format("WHERE district IN (1, 2)"))
    assert shared(batch) == []


def test_what_was_released_at_another_price_is_another_draw(session: Session) -> None:
    # The scale of such a mean is chosen from the data, by how much delta and gamma allow: the loss alone tells them.
    named = "{} (mechanism = 'random_dp', delta = {}) AVG(age) AS a FROM people WHERE age >= 18"
    released, other = (f"SELECT {named.format(OPTIONS, delta)}" for delta in ("1e-7", "1e-5"))
    session.query(released)
    batch = together(session, other, released)
    assert batch.settled == {1}
    assert batch.fresh == (0,)
    assert batch.paid[0].priced() == batch.own[0].loss.priced()
    assert not batch.known.keys() & batch.draws(0).values()
    assert shared(batch) == []


def test_aggregates_that_one_release_answers_in_one_of_them_keep_their_own_prices(session: Session) -> None:
    alone = f"SELECT {OPTIONS} (epsilon = 2, mechanism = 'laplace') AVG(age) AS a FROM people WHERE employed"
    price = f"{OPTIONS} (epsilon = 1, mechanism = 'laplace')"
    both = f"SELECT {price} AVG(age) AS a, SUM(age) AS s FROM people WHERE employed"
    batch = together(session, alone, both)
    assert batch.own[1].measured[0].choice.release is not batch.own[1].measured[1].choice.release
    assert {measured.place for measured in batch.own[1].measured} == {0, 1}
    assert shared(batch) == []
    assert batch.together == batch.own
    assert shared(together(session, both, f"{both} LIMIT 1")) == [("AVG(age), SUM(age)", (0, 1))]


def test_open_groups_are_shared_where_the_same_choice_makes_them(session: Session) -> None:
    price = f"{OPTIONS} (epsilon = 1, delta = 1e-6)"
    first = f"SELECT {price} trade, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY trade"
    by_same = f"SELECT {price} trade, AVG(age) AS a, COUNT(*) AS n FROM people GROUP BY trade ORDER BY a LIMIT 2"
    by_other = f"SELECT {price} trade, AVG(age) AS a, COUNT(*) AS n FROM people WHERE age > 9 GROUP BY trade"
    assert [indices for _, indices in shared(together(session, first, by_same))] == [(0, 1), (0, 1)]
    assert shared(together(session, first, by_other)) == []


def test_the_same_statement_twice_is_bought_once_whatever_it_is(session: Session) -> None:
    for sql in (
        f"SELECT {OPTIONS} (metric = 'near', multiple = 1) district, COUNT(*) AS n FROM people GROUP BY district",
        "SELECT district, SUM(age) AS s FROM people GROUP BY ROLLUP (district)",
        f"SELECT {OPTIONS} (mechanism = 'random_dp') COUNT(*) AS n FROM people",
    ):
        batch = together(session, sql, sql)
        assert batch.fresh == (0,)
        assert batch.loss.priced() == batch.own[0].loss.priced()
