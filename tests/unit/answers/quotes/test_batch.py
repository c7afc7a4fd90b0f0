"""Quotes of several statements: what they cost together, what they share, and the least prices for half widths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dpsql.testing
from dpsql.errors import BudgetExceeded, ProgrammingError
from dpsql.session import Session
from tests.sql.databases import build

STATEMENTS = [
    "SELECT district, COUNT(*) AS n FROM people GROUP BY district",
    "SELECT district, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY district",
    "SELECT COUNT(*) AS districts FROM districts",
]


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.testing.TestProxy]:
    path = build("census", tmp_path_factory.mktemp("quotes"))
    with dpsql.testing.open(path, dpsql.testing.Noiseless()) as opened:
        yield opened


@pytest.fixture
def session(proxy: dpsql.testing.TestProxy, request: pytest.FixtureRequest) -> Session:
    return proxy.session(analyst=request.node.name)


def test_a_quote_of_several_shows_both_prices_and_what_is_bought_once(session: Session) -> None:
    quote = session.quote(STATEMENTS, epsilon=1)
    assert (quote.cost.epsilon, quote.alone.epsilon) == (1.5, 2)
    assert [(own.name, own.statements, own.loss.epsilon) for own in quote.shared] == [("COUNT(*)", (1, 2), 1)]
    assert len(quote.statements) == 3
    assert quote.repeats_left is not None
    text = str(quote)
    assert "Bought once for statements 1 and 2: COUNT(*), at epsilon 1." in text
    assert "Cost together: epsilon 1.5. One by one: epsilon 2." in text
    assert "Note on statements 1 and 2: All 4 groups" in text
    assert "Note on statement 3: Every table is public" in text
    assert session.query_all(STATEMENTS[2:])[0].cost.epsilon == 0


def test_a_quote_is_what_is_charged_also_where_some_was_released_before(session: Session) -> None:
    session.query(STATEMENTS[0], epsilon=1)
    quote = session.quote(STATEMENTS, epsilon=1)
    assert quote.stored == (1,)
    assert "Statement 1 was released before" in str(quote)
    assert [column.loss.epsilon for column in quote.statements[0].columns] == [0]
    assert "Released before, and free for statements 1 and 2: COUNT(*)." in str(quote)
    answers = session.query_all(STATEMENTS, epsilon=1)
    assert quote.cost.epsilon == sum(answer.cost.epsilon for answer in answers) == 0.5
    assert [answer.replayed for answer in answers] == [True, False, False]
    again = session.quote(STATEMENTS, epsilon=1)
    assert again.cost.epsilon == 0
    assert not any(column.loss.epsilon for one in again.statements for column in one.columns)
    assert "epsilon 1" not in str(again) and "Bought once" not in str(again)


def test_a_statement_of_which_a_part_was_released_before_is_not_free(session: Session) -> None:
    session.query(STATEMENTS[0], epsilon=1)
    new = "SELECT COUNT(*) AS n FROM people WHERE age > 3"
    both = f"SELECT (SELECT MAX(n) FROM ({STATEMENTS[0]}) AS a) AS most, ({new}) AS n"
    quote = session.quote([both, STATEMENTS[0]], epsilon=1)
    assert (quote.cost.epsilon, quote.stored) == (1, (2,))
    alone = session.explain(both, epsilon=1)
    assert alone.cost.epsilon == sum(column.loss.epsilon for column in alone.columns) == 1


def test_what_each_statement_is_quoted_at_is_what_it_pays(session: Session) -> None:
    """Together with those before it: what these pay for costs it nothing, nor what was released before."""
    kept = "SELECT district, COUNT(*) AS n, SUM(age) AS s FROM people WHERE age < 99 GROUP BY district"
    cheap = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.3) district, COUNT(*) AS m FROM people"
    session.query(kept)
    statements = [
        "SELECT district, COUNT(*) AS n FROM people WHERE age < 98 GROUP BY district",
        "SELECT district, COUNT(*) AS n, SUM(age) AS s, AVG(height) AS h FROM people WHERE age < 98 GROUP BY district",
        "SELECT district, COUNT(*) + 1 AS n FROM people WHERE age < 98 GROUP BY district",
        kept,
        f"{cheap} WHERE age < 99 GROUP BY district",
        "SELECT COUNT(*) AS n FROM people WHERE height > (SELECT AVG(height) FROM people WHERE age < 98)",
        "WITH a AS (SELECT district, COUNT(*) AS n FROM people WHERE age < 97 GROUP BY district), b AS (SELECT "
        "district, SUM(age) AS s FROM people WHERE age < 97 GROUP BY district) SELECT district, n, s FROM a JOIN b "
        "USING (district)",
        "SELECT district, SUM(age) AS s FROM people WHERE age < 97 GROUP BY district",
    ]
    quote = session.quote(statements)
    told = [own.cost.epsilon for own in quote.statements]
    paid = [answer.cost.epsilon for answer in session.query_all(statements)]
    assert told == pytest.approx(paid)
    assert sum(told) == pytest.approx(quote.cost.epsilon)
    assert told[2:5] == [0, 0, 0] and told[7] == 0
    for own in quote.statements:
        assert own.cost.epsilon == pytest.approx(sum(column.loss.epsilon for column in own.columns))
        assert (own.repeats_left is None) == (own.cost.epsilon == 0)


def test_a_price_alone_is_that_of_the_quote_and_nothing_where_the_answer_is_stored(session: Session) -> None:
    for sql in STATEMENTS:
        assert session.price(sql, epsilon=1) == session.quote([sql], epsilon=1).cost
    session.query(STATEMENTS[0], epsilon=1)
    assert session.price(STATEMENTS[0], epsilon=1).epsilon == 0
    assert session.price(STATEMENTS[0], epsilon=2).epsilon == 2
    with pytest.raises(ProgrammingError, match="Only a SELECT has a price"):
        session.price("SHOW TABLES")
    with pytest.raises(BudgetExceeded):
        session.price(STATEMENTS[0], epsilon=1_000_000)


def test_each_column_gets_the_least_price_for_the_half_width_that_is_wanted(session: Session) -> None:
    wanted = {"n": 20, "s": 300}
    quote = session.quote(STATEMENTS, half_width=wanted, epsilon=1)
    columns = [column for own in quote.statements for column in own.columns]
    for column in columns:
        assert 0.9 * wanted[column.name] <= column.half_width <= wanted[column.name]
    assert [bool(column.loss.epsilon) for column in columns] == [True, False, True]  # n is paid once
    assert quote.cost.epsilon == pytest.approx(sum(column.loss.epsilon for column in columns))
    alone = session.explain(STATEMENTS[1], half_width=wanted).cost.epsilon
    assert quote.cost.epsilon < alone  # where each column of the statement has the same price
    bought = session.query_all(STATEMENTS, half_width=wanted, epsilon=1)
    assert sum(answer.cost.epsilon for answer in bought) == pytest.approx(quote.cost.epsilon)
    again = session.query_all(STATEMENTS, half_width=wanted, epsilon=1)
    assert [answer.replayed for answer in again] == [True, True, False]
    assert [answer.rows for answer in again] == [answer.rows for answer in bought]
    assert not session.query(STATEMENTS[1], epsilon=1).replayed  # at its own price it is another answer


def test_half_widths_hold_for_grouping_sets_a_metric_own_prices_and_open_groups(session: Session) -> None:
    statements = [
        "SELECT district, COUNT(*) AS n FROM people GROUP BY ROLLUP (district)",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (metric = 'near', multiple = 1) district, COUNT(*) AS n FROM people "
        "GROUP BY district",
        "SELECT AVG(age) AS n, SUM(age) AS other FROM people WHERE employed",
        "SELECT COUNT(*, epsilon => 0.5) AS n FROM people WHERE employed",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 1e-6) trade, COUNT(*) AS n FROM people GROUP BY trade",
    ]
    for own in session.quote(statements, half_width={"n": 4}).statements:
        assert all(column.half_width <= 4 for column in own.columns if column.name == "n")


@pytest.mark.parametrize(
    ("statements", "half_width", "why"),
    [
        (STATEMENTS[0], None, "is a list of statements"),
        ([], None, "1 to 200"),
        ([STATEMENTS[0]] * 201, None, "1 to 200"),
        (STATEMENTS, {"m": 5}, "No statement has a column 'm'"),
        (STATEMENTS, {"n": -5}, "Statement 1: half_width of 'n'"),
        (["SELECT 1 +"], None, "Statement 1: "),
    ],
)
def test_what_is_no_batch_is_refused(session: Session, statements: Any, half_width: Any, why: str) -> None:
    for ask in (session.quote, session.query_all):
        with pytest.raises(dpsql.Error, match=why):
            ask(statements, half_width=half_width)


def test_parameters_come_beside_their_statement(session: Session) -> None:
    sql = "SELECT COUNT(*) AS n FROM people WHERE age > ?"
    old, young, same = session.query_all([(sql, [60]), (sql, [20]), (sql, [60])])
    assert old.rows[0][0] < young.rows[0][0]
    assert same.replayed
    assert session.query(sql, [60]).rows == old.rows
    with pytest.raises(ProgrammingError, match="Statement 1: "):
        session.query_all([(sql, [1, 2])])
