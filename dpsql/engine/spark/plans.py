"""What a server's plan of a statement reads: Apache Spark's and Sail's are indented trees, with tables as leaves.

Tests: tests/unit/engine/test_spark_plans.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["unexpected"]

_ANALYSED = re.compile(r"== Analyzed Logical Plan ==\n(.*?)(?=\n== |\Z)", re.DOTALL)
_NODE = re.compile(r"^[ :+-]*(?=[A-Za-z])")
_ALIAS = re.compile(r"^SubqueryAlias:? (?:`?spark_catalog`?\.)?(.+)$")
_NAMED = re.compile(r"^CTERelation(Def|Ref) (\d+),")
_NO_TABLE = ("OneRowRelation", "EmptyRelation", "Values", "LocalRelation")
"""Leaves that stand for rows which the statement itself says."""


def unexpected(explained: str, expected: frozenset[str]) -> str | None:
    """What a plan reads that stands below none of these views; None where there is nothing of the kind.

    Args:
        explained: What EXPLAIN EXTENDED says.
        expected: Names of views.
    """
    found = _ANALYSED.search(explained)
    if found is None:
        return "no plan"
    paths = [*_leaves(found[1].split("\n"))]
    parts = {match[2] for path in paths for node in path[:-1] if (match := _NAMED.match(node)) and match[1] == "Def"}
    for path in paths:
        leaf = path[-1]
        if leaf.startswith(_NO_TABLE):
            continue
        named = _NAMED.match(leaf)
        if named and named[1] == "Ref" and named[2] in parts:
            continue  # a part of the same plan, whose own leaves are looked at where it stands
        aliases = [match[1].strip("`") for node in path if (match := _ALIAS.match(node))]
        if not aliases or aliases[-1] not in expected:
            return leaf
    return None


def _leaves(lines: list[str]) -> Iterator[list[str]]:
    """Each leaf of an indented tree behind the nodes above it. The first line, of column names, is none of it; a line
    that is no node is a leaf of its own, which nobody expects.
    """
    path: list[tuple[int, str]] = []
    for line in filter(str.strip, lines[1:]):
        start = _NODE.match(line)
        depth = 0 if start is None else start.end()
        if path and path[-1][0] >= depth:
            yield [node for _, node in path]
        while path and path[-1][0] >= depth:
            path.pop()
        path.append((depth, line[depth:]))
    if path:
        yield [node for _, node in path]
