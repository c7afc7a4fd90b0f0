"""Functions in FROM: how they are read, printed and kept apart from tables."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql import syntax
from dpsql.sql.parameters import parameter_count
from dpsql.sql.parse import normal, parse

CALL = "dp_kmeans((SELECT x, y FROM places WHERE y > ?), k => 8, scale => (0.001, 1))"


def source(sql: str) -> syntax.Relation | None:
    statement = parse(sql)
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    return statement.select.source


def test_a_call_over_a_query_is_a_relation_with_its_alias_and_position() -> None:
    read = source(f"SELECT * FROM {CALL} AS c WHERE x > 1")
    assert isinstance(read, syntax.TableFunctionCall)
    assert (read.alias, read.position, read.call.name) == ("c", (1, 15), "dp_kmeans")
    assert [name for name, _ in read.call.named] == ["k", "scale"]
    assert isinstance(read.call.arguments[0], syntax.ScalarQuery)
    assert parameter_count(parse(f"SELECT * FROM {CALL}")) == 1


def test_its_canonical_text_means_the_same() -> None:
    written = parse(f"SELECT id FROM {CALL} c")
    assert parse(normal(written)) == written
    assert normal(parse(f"select ID from {CALL.replace('=>', '  =>')} as C")) == normal(written)


@pytest.mark.parametrize(
    "call", ["read_csv('/etc/passwd')", "repeat_row(1, 3)", "dp_kmeans(places)", "dp_kmeans()", "f(1, g(2))"]
)
def test_a_call_over_anything_else_is_no_table(call: str) -> None:
    with pytest.raises(UnsupportedQuery, match="table function at 1:15: dpsql reads tables of the policy only"):
        parse(f"SELECT * FROM {call}")


def test_a_call_over_a_query_that_is_too_deep_is_refused_like_any_other() -> None:
    deep = "x" + " + 1" * 200
    with pytest.raises(UnsupportedQuery, match="nested too deeply"):
        parse(f"SELECT * FROM dp_kmeans((SELECT {deep} FROM t), k => 2)")
