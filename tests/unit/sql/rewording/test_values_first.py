"""VALUES as a query of its own is a SELECT of its columns, and rows in FROM stay what they are."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse

ROWS = "(VALUES (1, 'a'), (2, 'b'))"
MEANT = f"SELECT col0, col1 FROM {ROWS}"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("VALUES (1, 'a'), (2, 'b')", MEANT),
        ("VALUES (1, 'a'), (2, 'b') ORDER BY col0 LIMIT 1", f"{MEANT} ORDER BY col0 LIMIT 1"),
        (ROWS, f"({MEANT})"),
        ("VALUES (1) UNION ALL VALUES (f(2, 3))",
         "SELECT col0 FROM (VALUES (1)) UNION ALL SELECT col0 FROM (VALUES (f(2, 3)))"),
        (f"WITH t AS {ROWS} SELECT * FROM t", f"WITH t AS ({MEANT}) SELECT * FROM t"),
        (f"WITH t (x, y) AS {ROWS} SELECT x FROM t", f"WITH t (x, y) AS ({MEANT}) SELECT x FROM t"),
        ("SELECT a FROM t WHERE a IN (VALUES (1), (2))",
         "SELECT a FROM t WHERE a IN (SELECT col0 FROM (VALUES (1), (2)))"),
        ("SELECT (VALUES (1)) AS x", "SELECT (SELECT col0 FROM (VALUES (1))) AS x"),
        (f"SELECT * FROM {ROWS} AS t (x, y)", f"SELECT * FROM {ROWS} AS t (x, y)"),
        (f"FROM u, {ROWS} AS t SELECT x", f"SELECT x FROM u, {ROWS} AS t"),
    ],
)  # fmt: skip
def test_it_is_the_same_statement(written: str, meant: str) -> None:
    assert normal(parse(written)) == normal(parse(meant))


def test_it_is_explained() -> None:
    assert normal(parse("EXPLAIN VALUES (1)")) == normal(parse("EXPLAIN SELECT col0 FROM (VALUES (1))"))


@pytest.mark.parametrize(
    "text", ["VALUES", "VALUES 1", "VALUES (1), (2, 3)", "VALUES ()", "VALUES (1),", "SELECT VALUES (1)"]
)
def test_what_is_no_list_of_rows_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(text)
