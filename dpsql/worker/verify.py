"""DuckDB's own reading of a statement, compared with what was meant. Runs in the worker, before the statement does."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import _duckdb

from dpsql.worker.trees import nodes

__all__ = ["Refused", "selected", "verify"]


class Refused(Exception):  # noqa: N818 - it is no error of the worker: it is an answer
    """The statement is not the one that was meant. The text speaks of the SQL alone, never of data."""


EXPRESSIONS = frozenset(
    {
        "BETWEEN",
        "CASE",
        "CAST",
        "COLUMN_REF",
        "COMPARISON",
        "CONJUNCTION",
        "CONSTANT",
        "FUNCTION",
        "OPERATOR",
        "PARAMETER",
        "SUBQUERY",
        "TYPE",
        "WINDOW",
    }
)
NODES = frozenset(
    {
        "SELECT_NODE",
        "SET_OPERATION_NODE",
        "CTE_NODE",
        "BASE_TABLE",
        "JOIN",
        "SUBQUERY",
        "EMPTY",
        "EXPRESSION_LIST",
        "ORDER_MODIFIER",
        "LIMIT_MODIFIER",
        "DISTINCT_MODIFIER",
        "ORDER_DEFAULT",
        "ASCENDING",
        "DESCENDING",
    }
)
ABSENT = ("sample", "at_clause")  # Parts of a node that must not be there.
COUNT_STAR = "count_star"  # As DuckDB reads count(*): whoever may count may count rows.


def verify(
    connection: _duckdb.DuckDBPyConnection,
    sql: str,
    *,
    schema: tuple[str, str],
    tables: Collection[str],
    functions: Collection[str],
) -> None:
    """Returns if the text is one SELECT over exactly these tables, with no function but these.

    Args:
        connection: Any connection; no table is looked up.
        sql: The statement.
        schema: Catalog and schema that every table must be qualified with; ``("", "")`` for no qualification.
        tables: Names of the tables it must read: all of them and no other.
        functions: Names of the functions and operators it may use, as DuckDB's parser reports them (``sum``, ``+``,
            ``~~``); ``count`` allows ``count_star``, too.

    Raises:
        Refused: If it is anything else.
    """
    try:
        tree = selected(connection, sql)
    except _duckdb.Error as error:
        raise Refused(f"DuckDB's parser does not accept it: {error}") from error
    used_tables, used_functions = _uses(tree, schema)
    if used_tables != set(tables):
        raise Refused(f"it reads {sorted(used_tables)}, not {sorted(tables)}")
    allowed = {*functions, COUNT_STAR} if "count" in functions else set(functions)
    if extra := used_functions - allowed:
        raise Refused(f"it uses {sorted(extra)}, which were not expected")


def selected(connection: _duckdb.DuckDBPyConnection, sql: str) -> Any:
    """The tree of a text that is one SELECT, as DuckDB's parser reads it.

    Raises:
        Refused: If it is anything else.
        _duckdb.Error: If the parser does not accept it.
    """
    kinds = [statement.type.name for statement in connection.extract_statements(sql)]
    row = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    try:
        tree = json.loads(row[0]) if row else {}
    except RecursionError:
        raise Refused("it nests too deeply") from None
    if kinds != ["SELECT"] or tree.get("error", True) or len(tree["statements"]) != 1:
        raise Refused("it is not one SELECT")
    return tree


def _uses(tree: Any, schema: tuple[str, str]) -> tuple[set[str], set[str]]:
    found = list(nodes(tree))
    named = {entry["key"] for node in found for entry in (node.get("cte_map") or {}).get("map", ())}
    tables, functions = set(), set()
    for node in found:
        kind = node.get("class") or node.get("type")
        if isinstance(kind, str) and kind not in (EXPRESSIONS if "class" in node else NODES):
            raise Refused(f"it holds a {kind}")
        if any(node.get(part) is not None for part in ABSENT):
            raise Refused("it samples, or reads another time")
        if kind == "BASE_TABLE":
            where = (node["catalog_name"], node["schema_name"])
            if where == ("", "") and node["table_name"] in named:
                continue
            if where != schema:
                raise Refused(f"{node['table_name']} is not qualified as it must be")
            tables.add(node["table_name"])
        if "function_name" in node:
            if node.get("catalog") or node.get("schema"):
                raise Refused(f"{node['function_name']} is qualified")
            functions.add(node["function_name"])
    return tables, functions
