"""What stands below a node, however it is held there."""

from __future__ import annotations

from dpsql.sql import syntax
from dpsql.sql.parameters import parameter_count
from dpsql.sql.parse import parse
from dpsql.sql.walk import children, walk

ASKED = "SELECT CASE WHEN a > ? THEN 1 ELSE 2 END AS k, COUNT(*) FROM v JOIN w ON v.b = w.b WHERE c IN (?, 3)"


def query(sql: str) -> syntax.Queryable:
    statement = parse(sql)
    assert isinstance(statement, syntax.QueryStatement)
    return statement.select


def test_all_nodes_are_met_once_each_before_what_is_below_it() -> None:
    met = list(walk(query(ASKED)))
    assert met[0] == query(ASKED)
    assert len({id(node) for node in met}) == len(met) == 1 + sum(len(list(children(node))) for node in met)
    assert [node.name[-1] for node in met if isinstance(node, syntax.TableName)] == ["v", "w"]
    assert {node.parts[-1] for node in met if isinstance(node, syntax.Name)} == {"a", "b", "c"}


def test_parameters_are_counted_wherever_they_stand() -> None:
    assert [parameter_count(query(sql)) for sql in ("SELECT COUNT(*) FROM v", ASKED)] == [0, 2]
    assert parameter_count(query("SELECT COUNT(*) FROM (SELECT $3 AS x FROM v) LIMIT $1")) == 3
