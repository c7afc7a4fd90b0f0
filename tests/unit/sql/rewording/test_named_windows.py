"""Windows that WINDOW names, each where it is used."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("SELECT RANK() OVER w FROM t WINDOW w AS (ORDER BY a)", "SELECT RANK() OVER (ORDER BY a) FROM t"),
        ('SELECT RANK() OVER W FROM t WINDOW "w" AS (ORDER BY a)', "SELECT RANK() OVER (ORDER BY a) FROM t"),
        (
            "SELECT (1 + SUM(a) OVER (v ROWS 1 PRECEDING)) FROM t WINDOW w AS (PARTITION BY b), v AS (w ORDER BY a)",
            "SELECT (1 + SUM(a) OVER (PARTITION BY b ORDER BY a ROWS 1 PRECEDING)) FROM t",
        ),
        (
            "SELECT RANK() OVER w FROM t WINDOW w AS (ORDER BY a) UNION ALL "
            "SELECT RANK() OVER w FROM t WINDOW w AS (ORDER BY b)",
            "SELECT RANK() OVER (ORDER BY a) FROM t UNION ALL SELECT RANK() OVER (ORDER BY b) FROM t",
        ),
        (
            "SELECT x FROM (SELECT RANK() OVER w AS x FROM t WINDOW w AS (ORDER BY a)) ORDER BY x",
            "SELECT x FROM (SELECT RANK() OVER (ORDER BY a) AS x FROM t) ORDER BY x",
        ),
    ],
)
def test_a_named_window_stands_where_it_is_used(text: str, same: str) -> None:
    assert normal(parse(text)) == normal(parse(same))


def test_parameters_keep_their_places() -> None:
    text = "SELECT SUM(a) OVER w, MIN(a) OVER w, ? FROM t WHERE b > ? WINDOW w AS (ORDER BY a > ?)"
    assert normal(parse(text)) == normal(
        parse("SELECT SUM(a) OVER (ORDER BY a > $3), MIN(a) OVER (ORDER BY a > $3), $1 FROM t WHERE b > $2")
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT RANK() OVER v FROM t WINDOW w AS (ORDER BY a)", "no function goes over 'w'"),
        ("SELECT RANK() OVER w FROM (SELECT a FROM t WINDOW w AS (ORDER BY a))", "no function goes over 'w'"),
        ("SELECT (SELECT RANK() OVER w FROM u) FROM t WINDOW w AS (ORDER BY a)", "no function goes over 'w'"),
        ("SELECT RANK() OVER w FROM t", "no window has this name here"),
        ("SELECT RANK() OVER w FROM t WINDOW w AS (ORDER BY a), w AS (ORDER BY b)", "given twice"),
        ("SELECT RANK() OVER w FROM t WINDOW w", "WINDOW"),
        ("SELECT RANK() OVER (w) FROM t WINDOW w AS (ORDER BY RANK() OVER (w))", "not ordered by another"),
        (
            "SELECT RANK() OVER (w40) FROM t WINDOW w0 AS (ORDER BY a), "
            + ", ".join(f"w{i} AS (ORDER BY RANK() OVER (w{i - 1}), RANK() OVER (w{i - 1}))" for i in range(1, 41)),
            "not ordered by another",
        ),
        ("SELECT RANK() OVER w FROM t WINDOW w AS (ORDER BY a),", "something is missing"),
        (
            f"SELECT {', '.join(['RANK() OVER w'] * 100)} FROM t WINDOW w AS (ORDER BY {' + '.join(['a'] * 50)})",
            "too large",
        ),
    ],
)
def test_what_names_no_window_is_refused(text: str, said: str) -> None:
    with pytest.raises(UnsupportedQuery, match=said):
        parse(text)
