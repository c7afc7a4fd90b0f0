"""Names of a SELECT list in the same SELECT."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.scope import Scope
from dpsql.plan.rows.lateral import condition_read, with_names_read
from dpsql.sql import syntax
from dpsql.sql.parse import normal, parse


def read(text: str) -> str:
    statement = parse(text)
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    return normal(syntax.QueryStatement(with_names_read(statement.select, Scope(()))))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("SELECT COUNT(*) AS n, n * 2 AS m, m + n FROM t",
         "SELECT COUNT(*) AS n, COUNT(*) * 2 AS m, COUNT(*) * 2 + COUNT(*) FROM t"),
        ("SELECT a AS b, t.b FROM t", "SELECT a AS b, t.b FROM t"),
        ("SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) FROM t", "SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) FROM t"),
        ("SELECT a AS n, (SELECT MAX(n) FROM u) FROM t", "SELECT a AS n, (SELECT MAX(n) FROM u) FROM t"),
        ("SELECT a AS n, RANK() OVER (ORDER BY n DESC) FROM t", "SELECT a AS n, RANK() OVER (ORDER BY a DESC) FROM t"),
    ],
)  # fmt: skip
def test_a_name_stands_for_what_was_selected_before(written: str, meant: str) -> None:
    assert read(written) == normal(parse(meant))


def test_a_condition_reads_names_of_the_select_list_but_not_of_what_is_a_column() -> None:
    statement = parse("SELECT a + 1 AS b, b * 2 AS c FROM t WHERE b > 3 AND c < 9 AND d = 1")
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    meant = parse("SELECT 1 FROM t WHERE a + 1 > 3 AND (a + 1) * 2 < 9 AND d = 1")
    assert isinstance(meant, syntax.QueryStatement)
    assert isinstance(meant.select, syntax.Select)
    read_there = syntax.QueryStatement(replace(meant.select, where=condition_read(statement.select, Scope(()))))
    assert normal(read_there) == normal(meant)


def test_names_do_not_grow_without_end() -> None:
    doubled = ", ".join(f"a{i} + a{i} AS a{i + 1}" for i in range(40))
    with pytest.raises(UnsupportedQuery, match="too deeply"):
        read(f"SELECT COUNT(*) AS a0, {doubled} FROM t")
