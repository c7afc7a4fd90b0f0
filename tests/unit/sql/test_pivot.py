"""PIVOT is a GROUP BY, whose columns are called what DuckDB calls them."""

from __future__ import annotations

import duckdb
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse
from dpsql.sql.syntax import Derived, QueryStatement, Select

ROWS = "(SELECT 1 AS g, 'a' AS k, 2 AS x)"


def columns_of(text: str) -> list[str]:
    """Names of the columns of the GROUP BY that a PIVOT stands for."""
    statement = parse(text)
    assert isinstance(statement, QueryStatement)
    select = statement.select
    assert isinstance(select, Select)
    assert isinstance(select.source, Derived)
    assert isinstance(select.source.query, Select)
    return [item.name for item in select.source.query.items]


@pytest.mark.parametrize(
    "pivot",
    [
        "(SUM(x) FOR k IN ('a', 'b'))", "(SUM(x) AS s FOR k IN ('a', 'b' AS second))",
        "(SUM(x), COUNT(*) AS n FOR k IN ('a')) AS q", "(COUNT(*) FOR x IN (2, 3) GROUP BY g)",
        "(COUNT(*) FOR x IN (2, 3) GROUP BY k, g) AS p", "(SUM(x) FOR k IN ('a', 'b' AS second) g IN (1, 2))",
        "(SUM(x) AS s, COUNT(*) FOR (k, g) IN (('a', 1), ('b', 2) AS other))",
        "(COUNT(*) FOR k IN ('a') g IN (1) x IN (2))", "(COUNT(*) FOR k IN ('a') \"g\" IN (1) \"x\" IN (2))",
    ],
)  # fmt: skip
def test_columns_have_the_names_that_duckdb_gives(pivot: str) -> None:
    with duckdb.connect() as connection:
        theirs = connection.execute(f"SELECT * FROM {ROWS} PIVOT {pivot}").description
    assert columns_of(f"SELECT * FROM (SELECT g, k, x FROM t) PIVOT {pivot}") == [column[0] for column in theirs]


def test_it_is_the_group_by_that_it_stands_for() -> None:
    short = "SELECT * FROM (SELECT g, k, x FROM t) PIVOT (SUM(x) FILTER (WHERE x > 1) AS s FOR k IN ('a')) AS p"
    long = (
        "SELECT * FROM (SELECT g, SUM(x) FILTER (WHERE x > 1 AND k = 'a') AS a_s FROM (SELECT g, k, x FROM t) "
        "GROUP BY g) AS p"
    )
    assert normal(parse(short)) == normal(parse(long))


def test_its_words_are_names_elsewhere_only_in_quotes() -> None:
    assert normal(parse('SELECT "pivot" FROM t')) == 'SELECT "pivot" FROM "t"'


ON = "PIVOT t ON k IN ('a', 'b') USING SUM(x)"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (f"{ON} GROUP BY g", "SELECT * FROM t PIVOT (SUM(x) FOR k IN ('a', 'b') GROUP BY g)"),
        (f"{ON} AS s, COUNT(*) GROUP BY g, h ORDER BY g LIMIT 3",
         "SELECT * FROM t PIVOT (SUM(x) AS s, COUNT(*) FOR k IN ('a', 'b') GROUP BY g, h) ORDER BY g LIMIT 3"),
        ("PIVOT t ON k IN ('a') GROUP BY g", "SELECT * FROM t PIVOT (COUNT(*) FOR k IN ('a') GROUP BY g)"),
        ("PIVOT (SELECT g, k, x FROM t) ON k IN ('a' AS one), x IN (1, 2) OFFSET 1",
         "SELECT * FROM (SELECT g, k, x FROM t) PIVOT (COUNT(*) FOR k IN ('a' AS one) x IN (1, 2)) OFFSET 1"),
        (f"WITH t AS (SELECT g, k, x FROM u) {ON}",
         "WITH t AS (SELECT g, k, x FROM u) SELECT * FROM (SELECT g, "
         "SUM(x) FILTER (WHERE k = 'a') AS a, SUM(x) FILTER (WHERE k = 'b') AS b FROM t GROUP BY g)"),
        (f"SELECT a FROM ({ON} GROUP BY g) AS p", "SELECT a FROM (SELECT * FROM t PIVOT (SUM(x) FOR k IN ('a', 'b') "
         "GROUP BY g)) AS p"),
        (f"WITH p AS ({ON} GROUP BY g) FROM p", f"WITH p AS ({ON} GROUP BY g) SELECT * FROM p"),
        ("PIVOT t ON k IN ('a') USING QUANTILE_CONT(x, 0.5) WITHIN GROUP (ORDER BY x) GROUP BY g",
         "SELECT * FROM t PIVOT (QUANTILE_CONT(x, 0.5) WITHIN GROUP (ORDER BY x) FOR k IN ('a') GROUP BY g)"),
    ],
)  # fmt: skip
def test_the_statement_is_the_pivot_behind_rows(written: str, meant: str) -> None:
    assert normal(parse(written)) == normal(parse(meant))


@pytest.mark.parametrize(
    "pivot",
    [
        "PIVOT t ON k IN ('a', 'b') USING SUM(x)", "PIVOT t ON k IN ('a' AS one), g IN (1, 2) USING SUM(x)",
        "PIVOT t ON k IN ('a') USING SUM(x) AS s, COUNT(*)", "PIVOT t ON x IN (2, 3) GROUP BY k, g",
    ],
)  # fmt: skip
def test_the_statements_columns_have_the_names_that_duckdb_gives(pivot: str) -> None:
    with duckdb.connect() as connection:
        theirs = connection.execute(f"WITH t AS {ROWS} {pivot}").description
    assert columns_of(f"WITH t AS (SELECT g, k, x FROM u) {pivot}") == [column[0] for column in theirs]


@pytest.mark.parametrize(
    "text",
    [
        "PIVOT", "PIVOT t", "PIVOT t ON", "PIVOT ON k IN (1)", "PIVOT t ON k", "PIVOT t ON k USING SUM(x)",
        "PIVOT t ON k IN (1),", "PIVOT t ON IN (1)", "PIVOT t ON k IN (1) USING", "PIVOT t ON k = (1)",
        "PIVOT t ON k IN (1) GROUP BY", "PIVOT t ON k IN (1) WHERE x", "SELECT a FROM t PIVOT ON k IN (1)",
        "PIVOT (t ON k IN (1)", "WITH w AS (SELECT 1 AS a FROM t), PIVOT w ON a IN (1)", "PIVOT t ON k IN (1) USING x",
    ],
)  # fmt: skip
def test_what_is_no_pivot_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(text)


def test_a_name_of_with_is_known_where_it_is_in_force() -> None:
    inner = (
        "SELECT * FROM (WITH t AS (SELECT g, k FROM u) SELECT k FROM t) AS i CROSS JOIN t PIVOT (COUNT(*) FOR k IN (1))"
    )
    with pytest.raises(UnsupportedQuery, match="groups by all other columns"):
        parse(inner)
