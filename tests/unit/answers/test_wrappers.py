"""What a tool puts around a statement is the same statement: its stored answer is cut, for nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql
import dpsql.testing
from dpsql.errors import UnsupportedQuery
from tests.sql.databases import build

QUERY = "SELECT age, COUNT(*) AS n FROM people GROUP BY age ORDER BY n DESC"


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.testing.TestProxy]:
    folder = tmp_path_factory.mktemp("wrappers")
    with dpsql.testing.open(build("census", folder), dpsql.testing.FixedSampler(3)) as opened:
        yield opened


@pytest.fixture
def session(proxy: dpsql.testing.TestProxy) -> dpsql.Session:
    return proxy.session(analyst="ana")


@pytest.fixture
def whole(session: dpsql.Session) -> dpsql.Answer:
    return session.query(QUERY)


def free(session: dpsql.Session, sql: str, *parameters: int) -> dpsql.Answer:
    before = session.budget()
    answer = session.query(sql, parameters)
    assert session.budget() == before
    assert answer.cost.epsilon == 0
    return answer


@pytest.mark.parametrize(
    ("wrapper", "rows"),
    [
        ("SELECT * FROM ({}) LIMIT 1000", slice(None)),
        ("select * from ({}) as virtual_table limit 3", slice(3)),
        ('SELECT "T".* FROM ({}) "t" OFFSET 2', slice(2, None)),
        ("SELECT t.* FROM ({}) t LIMIT 2 OFFSET 1", slice(1, 3)),
        ("SELECT * FROM (SELECT * FROM ({}) LIMIT 10 OFFSET 1) LIMIT 20 OFFSET 8", slice(9, 11)),
        ("/* a tool's */ SELECT * -- its own\n FROM ({}) t", slice(None)),
    ],
)
def test_a_wrapper_cuts_the_stored_answer(
    session: dpsql.Session, whole: dpsql.Answer, wrapper: str, rows: slice
) -> None:
    answer = free(session, wrapper.format(QUERY))
    assert answer.replayed
    assert (answer.columns, answer.types, answer.rows) == (whole.columns, whole.types, whole.rows[rows])


def test_the_statement_is_free_where_its_wrapper_was_bought(session: dpsql.Session) -> None:
    inner = "SELECT employed, AVG(age) AS mean FROM people GROUP BY employed"
    first = session.query(f"SELECT * FROM ({inner}) AS t LIMIT 1")
    assert (first.cost.epsilon, len(first)) == (1, 1)
    whole = free(session, inner)
    assert whole.replayed
    assert whole.rows[:1] == first.rows


def test_a_parameter_cuts_too(session: dpsql.Session, whole: dpsql.Answer) -> None:
    assert free(session, f"SELECT * FROM ({QUERY}) t LIMIT ? OFFSET ?", 4, 1).rows == whole.rows[1:5]


def test_space_comments_and_the_case_of_keywords_and_names_make_no_other_statement(
    session: dpsql.Session, whole: dpsql.Answer
) -> None:
    other = '/* x */ select  AGE as "age",\n count( * ) as n from People group BY age order by N desc -- y'
    assert free(session, other).replayed


def test_the_intervals_of_the_first_of_an_order_stay_wide_enough(session: dpsql.Session, whole: dpsql.Answer) -> None:
    (low, high) = free(session, f"SELECT * FROM ({QUERY}) LIMIT 3").interval("n")[0]
    own_low, own_high = whole.interval("n")[0]
    assert low < own_low <= own_high < high


def test_limit_0_is_described_and_neither_run_nor_stored(session: dpsql.Session) -> None:
    inner = "SELECT employed, COUNT(*) AS n, AVG(age) AS a FROM people WHERE age > 7 GROUP BY employed"
    for sql in (f"{inner} LIMIT 0", f"SELECT * FROM ({inner}) AS t LIMIT 0", f"SELECT * FROM ({inner} LIMIT 0)"):
        answer = free(session, sql)
        assert (answer.columns, answer.rows, answer.replayed) == (("employed", "n", "a"), [], False)
        assert [kind.value for kind in answer.types] == ["boolean", "integer", "real"]
        assert session.explain(sql).cost.epsilon == 0
    assert session.query(inner).cost.epsilon == 1  # it was not stored


@pytest.mark.parametrize("where", ["1=0", "(0 = 1)", "FALSE", "1 <> 1"])
def test_a_tool_that_asks_for_columns_where_nothing_is_true_pays_nothing(session: dpsql.Session, where: str) -> None:
    inner = "SELECT employed, COUNT(*) AS n FROM people WHERE age > 8 GROUP BY employed"
    for sql in (f"SELECT * FROM ({inner}) t WHERE {where}", f"SELECT t.n, employed FROM ({inner}) AS t WHERE {where}"):
        answer = free(session, sql)
        assert (set(answer.columns), answer.rows) == ({"employed", "n"}, [])
    assert session.explain(f"SELECT * FROM ({inner}) t WHERE {where}").cost.epsilon == 0


def test_a_count_of_nothing_is_an_answer(session: dpsql.Session) -> None:
    assert len(session.query("SELECT COUNT(*) FROM (SELECT age FROM people) t WHERE 1 = 0").rows) == 1


def test_limit_0_is_refused_where_the_statement_is(session: dpsql.Session) -> None:
    for sql in ("SELECT age FROM people LIMIT 0", "SELECT * FROM (SELECT age FROM people) LIMIT 0"):
        with pytest.raises(UnsupportedQuery):
            session.query(sql)


def test_a_batch_takes_wrappers_and_what_is_described(session: dpsql.Session, whole: dpsql.Answer) -> None:
    batch = [f"SELECT * FROM ({QUERY}) LIMIT {limit}" for limit in (2, 0, 5)]
    assert session.quote(batch).cost.epsilon == 0
    assert [answer.rows for answer in session.query_all(batch)] == [whole.rows[:2], [], whole.rows[:5]]


def test_public_answers_are_cut_too(session: dpsql.Session) -> None:
    inner = "SELECT COUNT(*) AS n, title FROM districts GROUP BY title ORDER BY title"
    assert session.query(f"SELECT * FROM ({inner}) t LIMIT 2 OFFSET 1").rows == session.query(inner).rows[1:3]
    assert session.query("SELECT * FROM (SELECT * FROM districts) LIMIT 0").rows == []


@pytest.mark.parametrize(
    "other",
    [
        "SELECT n FROM (SELECT employed, COUNT(*) AS n FROM people GROUP BY employed) t",
        "SELECT * FROM (SELECT employed, COUNT(*) AS n FROM people GROUP BY employed) t WHERE n > 0",
        "SELECT * FROM (SELECT employed, COUNT(*) AS n FROM people GROUP BY employed) t ORDER BY n",
        "SELECT employed, COUNT(*) AS m FROM people GROUP BY employed",
        "SELECT employed, COUNT(*) AS n FROM people GROUP BY employed LIMIT 1",
    ],
)
def test_what_is_made_of_a_stored_answer_is_no_wrapper_and_free(session: dpsql.Session, other: str) -> None:
    stored = session.query("SELECT employed, COUNT(*) AS n FROM people GROUP BY employed")
    assert {row[-1] for row in free(session, other).rows} <= {row[-1] for row in stored.rows}


def test_what_asks_for_more_is_a_statement_of_its_own(session: dpsql.Session) -> None:
    session.query("SELECT employed, COUNT(*) AS n FROM people GROUP BY employed")
    assert session.query("SELECT employed, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY employed").cost.epsilon > 0
