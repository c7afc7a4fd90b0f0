"""UNPIVOT is read as one SELECT for each column; where its columns have no names it is refused."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import parse


def _each(rows: str, what: str = "k", value: str = "v", where: str = " WHERE {} IS NOT NULL") -> str:
    sides = (
        f"SELECT * EXCLUDE (a, b), '{own}' AS {what}, {own} AS {value} FROM {rows}{where.format(own)}" for own in "ab"
    )
    return f"({' UNION ALL '.join(sides)})"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("UNPIVOT t ON a, b INTO NAME k VALUE v", f"SELECT * FROM {_each('t')}"),
        ("UNPIVOT t ON a, b ORDER BY c LIMIT 2", f"SELECT * FROM {_each('t', 'name', 'value')} ORDER BY c LIMIT 2"),
        ("SELECT v FROM t UNPIVOT (v FOR k IN (a, b)) WHERE v > 1", f"SELECT v FROM {_each('t')} WHERE v > 1"),
        (
            "SELECT p.v FROM t UNPIVOT INCLUDE NULLS (v FOR k IN (a, b)) AS p",
            f"SELECT p.v FROM {_each('t', where='')} AS p",
        ),
        (
            "SELECT v FROM (SELECT a, b FROM t) AS q UNPIVOT EXCLUDE NULLS (v FOR k IN (a, b))",
            f"SELECT v FROM {_each('(SELECT a, b FROM t) AS q')}",
        ),
        ("WITH t AS (SELECT a, b FROM s) UNPIVOT t ON a, b INTO NAME k VALUE v",
         f"WITH t AS (SELECT a, b FROM s) SELECT * FROM {_each('t')}"),
        ("SELECT v FROM (UNPIVOT t ON a, b INTO NAME k VALUE v)", f"SELECT v FROM (SELECT * FROM {_each('t')})"),
    ],
)  # fmt: skip
def test_unpivot_is_one_select_for_each_column(written: str, plain: str) -> None:
    assert parse(written) == parse(plain)


@pytest.mark.parametrize(
    "written",
    [
        "UNPIVOT t ON COLUMNS(* EXCLUDE a)",
        "UNPIVOT t ON *",
        "UNPIVOT t",
        "UNPIVOT t ON a INTO k",
        "UNPIVOT t ON a b",
        "SELECT v FROM t UNPIVOT (v FOR k IN (a + 1))",
        "SELECT v FROM t UNPIVOT ((v, w) FOR k IN ((a, b)))",
        "SELECT v FROM t UNPIVOT",
    ],
)
def test_columns_without_names_are_refused_with_what_to_write(written: str) -> None:
    with pytest.raises(UnsupportedQuery, match="Write UNPIVOT t ON q1, q2"):
        parse(written)


def test_many_columns_of_a_long_query_are_refused() -> None:
    columns = ", ".join(f"c{i}" for i in range(120))
    with pytest.raises(UnsupportedQuery, match="Name fewer columns"):
        parse(f"UNPIVOT (SELECT 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 AS x, * FROM t) ON {columns}")
