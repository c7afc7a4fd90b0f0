"""DISTINCT ON is read as the first row of each window; what it stands beside otherwise is refused."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import parse

_FIRST = "QUALIFY ROW_NUMBER() OVER (PARTITION BY"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("SELECT DISTINCT ON (a) a, b FROM t", f"SELECT a, b FROM t {_FIRST} a) = 1"),
        (
            "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a DESC NULLS LAST, c DESC LIMIT 3",
            f"SELECT a, b FROM t {_FIRST} a ORDER BY c DESC) = 1 ORDER BY a DESC NULLS LAST, c DESC LIMIT 3",
        ),
        (
            "SELECT x FROM (SELECT DISTINCT ON (t.a, f(b, 1)) * FROM t WHERE b > 1 ORDER BY t.a, f(b, 1) ASC, c) AS s",
            f"SELECT x FROM (SELECT * FROM t WHERE b > 1 {_FIRST} t.a, f(b, 1) ORDER BY c) = 1) AS s",
        ),
        (
            "SELECT a FROM s UNION ALL SELECT DISTINCT ON (a) b FROM t",
            f"SELECT a FROM s UNION ALL SELECT b FROM t {_FIRST} a) = 1",
        ),
        (
            "WITH l AS (SELECT DISTINCT ON (a) a, n FROM t ORDER BY a, n LIMIT 2) SELECT * FROM l",
            f"WITH l AS (SELECT a, n FROM t {_FIRST} a ORDER BY n) = 1 ORDER BY a, n LIMIT 2) SELECT * FROM l",
        ),
    ],
)
def test_distinct_on_is_the_first_row_of_each(written: str, plain: str) -> None:
    assert parse(written) == parse(plain)


@pytest.mark.parametrize(
    "written",
    [
        "SELECT DISTINCT ON a, b FROM t",
        "SELECT DISTINCT ON (a) a, ROW_NUMBER() OVER (ORDER BY b) AS r FROM t QUALIFY r = 1",
        "SELECT DISTINCT ON",
    ],
)
def test_what_it_does_not_stand_beside_is_refused(written: str) -> None:
    with pytest.raises(UnsupportedQuery, match="DISTINCT ON"):
        parse(written)
