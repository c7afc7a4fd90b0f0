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
            "SELECT DISTINCT ON (1) a, b + 1 AS n, NOT c FROM t ORDER BY 1, 2 DESC NULLS LAST, 3",
            f"SELECT a, b + 1 AS n, NOT c FROM t {_FIRST} a ORDER BY b + 1 DESC NULLS LAST, NOT c) = 1 "
            "ORDER BY 1, 2 DESC NULLS LAST, 3",
        ),
        (
            'SELECT DISTINCT ON (k) s.a AS K, -c AS c, f(x) "b", NOT d FROM s ORDER BY k, c, b, d, s.c',
            f'SELECT s.a AS K, -c AS c, f(x) "b", NOT d FROM s {_FIRST} s.a ORDER BY -c, f(x), d, s.c) = 1 '
            "ORDER BY k, c, b, d, s.c",
        ),
        (
            "SELECT DISTINCT ON (d) a IS DISTINCT FROM b AS d, c FROM t ORDER BY d, 2",
            f"SELECT a IS DISTINCT FROM b AS d, c FROM t {_FIRST} a IS DISTINCT FROM b ORDER BY c) = 1 ORDER BY d, 2",
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
        "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, 3",
        "SELECT DISTINCT ON (a) * FROM t ORDER BY a, 1",
        "SELECT DISTINCT ON (1.5) a FROM t",
    ],
)
def test_what_it_does_not_stand_beside_is_refused(written: str) -> None:
    with pytest.raises(UnsupportedQuery, match="DISTINCT ON"):
        parse(written)
