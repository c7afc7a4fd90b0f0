"""PIVOT is a GROUP BY, whose columns are called what DuckDB calls them."""

from __future__ import annotations

import duckdb
import pytest

from dpsql.sql.parse import normal, parse
from dpsql.sql.syntax import Derived, QueryStatement, Select

ROWS = "(SELECT 1 AS g, 'a' AS k, 2 AS x)"


@pytest.mark.parametrize(
    "pivot",
    [
        "(SUM(x) FOR k IN ('a', 'b'))", "(SUM(x) AS s FOR k IN ('a', 'b' AS second))",
        "(SUM(x), COUNT(*) AS n FOR k IN ('a')) AS q", "(COUNT(*) FOR x IN (2, 3) GROUP BY g)",
        "(COUNT(*) FOR x IN (2, 3) GROUP BY k, g) AS p", "(SUM(x) FOR k IN ('a', 'b' AS second) g IN (1, 2))",
        "(SUM(x) AS s, COUNT(*) FOR (k, g) IN (('a', 1), ('b', 2) AS other))",
        "(COUNT(*) FOR k IN ('a') g IN (1) x IN (2))",
    ],
)  # fmt: skip
def test_columns_have_the_names_that_duckdb_gives(pivot: str) -> None:
    with duckdb.connect() as connection:
        theirs = connection.execute(f"SELECT * FROM {ROWS} PIVOT {pivot}").description
    statement = parse(f"SELECT * FROM (SELECT g, k, x FROM t) PIVOT {pivot}")
    assert isinstance(statement, QueryStatement)
    select = statement.select
    assert isinstance(select, Select)
    assert isinstance(select.source, Derived)
    assert isinstance(select.source.query, Select)
    assert [item.name for item in select.source.query.items] == [column[0] for column in theirs]


def test_it_is_the_group_by_that_it_stands_for() -> None:
    short = "SELECT * FROM (SELECT g, k, x FROM t) PIVOT (SUM(x) FILTER (WHERE x > 1) AS s FOR k IN ('a')) AS p"
    long = (
        "SELECT * FROM (SELECT g, SUM(x) FILTER (WHERE x > 1 AND k = 'a') AS a_s FROM (SELECT g, k, x FROM t) "
        "GROUP BY g) AS p"
    )
    assert normal(parse(short)) == normal(parse(long))


def test_its_words_are_names_elsewhere_only_in_quotes() -> None:
    assert normal(parse('SELECT "pivot" FROM t')) == 'SELECT "pivot" FROM "t"'
