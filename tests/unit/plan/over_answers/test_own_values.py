"""A sub-query that reads no rows is its value, wherever it stands, and costs nothing; all others stay sub-queries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.plan.over_answers.own_values import with_own_values
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import normal, parse
from dpsql.testing import FixedSampler
from tests.sql.databases import build


def read(text: str) -> str:
    statement = parse(text)
    assert isinstance(statement, syntax.QueryStatement)
    return normal(syntax.QueryStatement(with_own_values(statement.select)))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("SELECT (SELECT 1) + 1 AS x", "SELECT 1 + 1 AS x"), ("SELECT (SELECT (SELECT 2)) AS x", "SELECT 2 AS x"),
        ("SELECT x FROM t WHERE x > (SELECT x + 1)", "SELECT x FROM t WHERE x > x + 1"),
        ("SELECT x FROM t WHERE x IN (SELECT 1)", "SELECT x FROM t WHERE x IN (1)"),
        ("SELECT x FROM t WHERE x NOT IN (SELECT 1)", "SELECT x FROM t WHERE x NOT IN (1)"),
        ("SELECT x FROM t WHERE EXISTS (SELECT 1)", "SELECT x FROM t WHERE TRUE"),
        ("SELECT x FROM t WHERE NOT EXISTS (SELECT NULL)", "SELECT x FROM t WHERE FALSE"),
        ("SELECT x FROM t WHERE (SELECT 1) IN (SELECT y FROM u WHERE y = (SELECT 2))",
         "SELECT x FROM t WHERE 1 IN (SELECT y FROM u WHERE y = 2)"),
        ("WITH w AS (SELECT (SELECT 3) AS x) SELECT x FROM w", "WITH w AS (SELECT 3 AS x) SELECT x FROM w"),
        ("SELECT x FROM (SELECT (SELECT 3) AS x) UNION ALL SELECT (SELECT 4) AS x",
         "SELECT x FROM (SELECT 3 AS x) UNION ALL SELECT 4 AS x"),
        ("SELECT x FROM t JOIN u ON t.a = (SELECT u.b)", "SELECT x FROM t JOIN u ON t.a = u.b"),
    ],
)  # fmt: skip
def test_it_is_its_value(written: str, meant: str) -> None:
    assert read(written) == normal(parse(meant))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*)", "SELECT SUM(x)",
        "SELECT 1 WHERE FALSE", "SELECT 1 LIMIT 0", "SELECT 1, 2", "SELECT x FROM u",
        "SELECT *", "SELECT 1 UNION ALL SELECT 2", "SELECT row_number() OVER ()", "SELECT 1 GROUP BY ALL",
        "SELECT 1 HAVING TRUE", "WITH w AS (SELECT 1) SELECT 2", "SELECT 1 OFFSET 1",
    ],
)  # fmt: skip
def test_what_may_have_other_rows_or_reads_some_stays(query: str) -> None:
    for text in (f"SELECT ({query}) AS x FROM t", f"SELECT x FROM t WHERE x IN ({query})"):
        assert read(text) == normal(parse(text))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("hospital", tmp_path_factory.mktemp("own")), FixedSampler("own")) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT (SELECT 1)", [(1,)]), ("SELECT * FROM (SELECT 1)", [(1,)]), ("VALUES (1), (2)", [(1,), (2,)]),
        ("WITH t AS (SELECT 1) SELECT * FROM t", [(1,)]), ("SELECT (SELECT x FROM (SELECT 1 AS x) AS t)", [(1,)]),
        ("SELECT (WITH w AS (SELECT 5 AS x) SELECT x FROM w)", [(5,)]), ("SELECT EXISTS (SELECT 1)", [(True,)]),
        ("SELECT (SELECT COUNT(*) FROM (VALUES (1), (2)) AS t)", [(2,)]), ("SELECT 1 WHERE 1 IN (SELECT 2)", []),
    ],
)  # fmt: skip
def test_what_reads_no_table_is_free(session: Session, sql: str, rows: list[tuple[object, ...]]) -> None:
    before = session.budget().spent.epsilon
    answer = session.query(sql)
    assert ([*answer.rows], answer.cost.epsilon, session.budget().spent.epsilon) == (rows, 0, before)
    assert session.explain(sql).cost.epsilon == 0
    assert session.outline(sql).columns == answer.columns


def test_the_column_keeps_its_name_and_a_unit_stays_hidden(session: Session) -> None:
    assert session.query("SELECT (SELECT 1)").columns == ("(SELECT 1)",)
    for sql in (
        "SELECT (SELECT patient_id) FROM patients", "SELECT COUNT(*) FROM patients WHERE (SELECT patient_id) = 4",
        "SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT 4)", "SELECT (SELECT age) FROM patients",
        "SELECT (SELECT age) FROM patients GROUP BY (SELECT patient_id)",
    ):  # fmt: skip
        with pytest.raises(UnsupportedQuery):
            session.query(sql)


def test_a_column_of_the_row_around_is_answered_as_without_the_sub_query(session: Session) -> None:
    plain = session.query("SELECT COUNT(*) AS n FROM patients WHERE age > 40")
    again = session.query("SELECT COUNT(*) AS n FROM patients WHERE (SELECT age) > (SELECT 40)")
    assert (again.rows, again.replayed) == (plain.rows, True)
