"""FROM first, FROM alone, and a comma behind the last column mean what DuckDB says they mean."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("FROM t", "SELECT * FROM t"),
        ("FROM t SELECT a", "SELECT a FROM t"),
        ("FROM t SELECT a, b,", "SELECT a, b FROM t"),
        ("FROM t SELECT a, WHERE c > 1 GROUP BY a HAVING n > 2 ORDER BY a LIMIT 3",
         "SELECT a FROM t WHERE c > 1 GROUP BY a HAVING n > 2 ORDER BY a LIMIT 3"),
        ("FROM t JOIN u USING (k) SELECT DISTINCT a", "SELECT DISTINCT a FROM t JOIN u USING (k)"),
        ("WITH w AS (FROM t) FROM w SELECT a", "WITH w AS (SELECT * FROM t) SELECT a FROM w"),
        ("FROM (FROM t SELECT a) SELECT a", "SELECT a FROM (SELECT a FROM t)"),
        ("SELECT a FROM (FROM t SELECT a UNION ALL FROM u SELECT b)",
         "SELECT a FROM (SELECT a FROM t UNION ALL SELECT b FROM u)"),
        ("SELECT a FROM t WHERE a IN (FROM u SELECT b)", "SELECT a FROM t WHERE a IN (SELECT b FROM u)"),
        ("SELECT a, b, FROM t", "SELECT a, b FROM t"),
        ("FROM t SELECT extract(year FROM d) WHERE a IS DISTINCT FROM b",
         "SELECT extract(year FROM d) FROM t WHERE a IS DISTINCT FROM b"),
        ("FROM t SELECT quantile_cont(x, 0.5) WITHIN GROUP (ORDER BY x)",
         "SELECT quantile_cont(x, 0.5) WITHIN GROUP (ORDER BY x) FROM t"),
    ],
)  # fmt: skip
def test_it_is_the_same_statement(written: str, meant: str) -> None:
    assert normal(parse(written)) == normal(parse(meant))


@pytest.mark.parametrize(
    "text", ["FROM", "FROM SELECT a", "FROM t SELECT", "FROM t SELECT ,", "SELECT , FROM t", "FROM t u v SELECT a",
             "FROM t SELECT a FROM u", "FROM t WHERE a SELECT b", "SELECT a,, FROM t", "FROM (t SELECT a", "FROM )"],
)  # fmt: skip
def test_what_is_no_query_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(text)


def test_places_are_those_of_the_text() -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        parse("FROM t SELECT a, b ~ c")
    assert refused.value.position == (1, 20)
