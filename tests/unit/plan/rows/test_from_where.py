"""Names of WITH stay what they are, however many queries they are read through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpsql.plan.catalog import Catalog
from dpsql.plan.rows.from_where import Rows
from dpsql.sql import syntax
from dpsql.sql.parse import parse

CHAIN = 8


def scoped(sql: str) -> Rows:
    """The scope of a statement's own SELECT."""
    statement = parse(sql)
    assert isinstance(statement, syntax.QueryStatement)
    return Rows(Catalog({}, "add_remove", "t.yaml", 1), (), no_one).within(statement.select)


def no_one(*_: Any) -> Any:
    raise AssertionError


def entered(rows: Rows, name: str) -> Rows:
    """The scope inside of a named query, as where it is read."""
    others = {other: query for other, query in rows.ctes.items() if other != name}
    return replace(rows, ctes=others).within(rows.ctes[name])


def test_a_chain_of_names_is_closed_once() -> None:
    named = ", ".join(f"c{i} AS (SELECT x FROM c{i - 1})" for i in range(1, CHAIN))
    rows = first = scoped(f"WITH c0 AS (SELECT x FROM t), {named} SELECT x FROM c{CHAIN - 1}")
    for i in reversed(range(CHAIN)):
        assert rows.ctes[f"c{i}"] is first.ctes[f"c{i}"]
        assert len(rows.ctes[f"c{i}"].ctes) == i  # those before it, each once
        rows = entered(rows, f"c{i}")


def test_a_name_means_what_it_meant_where_it_was_written() -> None:
    rows = scoped(
        "WITH a AS (SELECT x FROM t), b AS (WITH a AS (SELECT y FROM a) SELECT y FROM a), c AS (SELECT y FROM b) "
        "SELECT y FROM c"
    )
    outer, inner = rows.ctes["a"], entered(entered(rows, "c"), "b")
    assert inner.ctes["a"] is not outer
    assert entered(inner, "a").ctes["a"] is outer
