"""``group_selection_strategy = PUBLIC_GROUPS`` with a public table on the outer side of a join: its keys are groups.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = PUBLIC_GROUPS) name, COUNT(*)
    FROM patients RIGHT JOIN cities ON city = name GROUP BY name

The outer join would add one row of NULLs for each public row without a partner, which a person's arrival takes away.
As in GoogleSQL that row is not counted. So it is an inner join, whose groups are listed, empty ones included, because
their keys are columns of the public side: what is measured is a function of the inner join's rows alone.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.relations import is_public
from dpsql.plan.known.scope import Scope
from dpsql.plan.options import Options
from dpsql.plan.plans import Key
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.values.expressions import columns_of
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["lists_groups", "parsed", "refuse_other_keys", "with_public_groups"]

STRATEGY, LISTED = "group_selection_strategy", "PUBLIC_GROUPS"  # The option, and its value that lists groups.


def parsed(sql: str, database: str, given: Mapping[str, Any], weaker: Options) -> syntax.Statement:
    """The statement of a text. A keyword or SET that lists groups is marked in it.

    Args:
        sql: The text.
        database: What may stand before a table.
        given: Options beside the text.
        weaker: What SET says.

    Raises:
        UnsupportedQuery, ProgrammingError: As `sql.parse.parse`.
    """
    statement = parse(sql, database)
    own = given.get(STRATEGY, weaker.group_selection_strategy)
    if not isinstance(own, str) or own.upper() != LISTED:
        return statement
    match statement:
        case syntax.QueryStatement():
            return replace(statement, select=_listing(statement.select))
        case syntax.Explain(query=syntax.QueryStatement(select=select) as query):
            return replace(statement, query=replace(query, select=_listing(select)))
    return statement


def _listing(query: syntax.Queryable) -> syntax.Queryable:
    """The query as one that lists its groups, and so its sides, and what stands alone in its FROM."""
    if isinstance(query, syntax.Union):
        return replace(query, left=_listing(query.left), right=_listing(query.right))
    source = query.source
    if isinstance(source, syntax.Derived):
        source = replace(source, query=_listing(source.query))
    return replace(query, source=source, lists=True)


def lists_groups(query: syntax.Queryable) -> bool:
    """Whether `parsed` made it one that lists its groups."""
    return lists_groups(query.left) if isinstance(query, syntax.Union) else query.lists


def with_public_groups(query: syntax.Select, rows: Rows) -> tuple[syntax.Select, int]:
    """The query with such an outer join as an inner one, the public side first, and how many tables that side has.

    Args:
        query: Its syntax.
        rows: Plans its tables.

    Returns:
        The query as it is, and 0, where it has no such join.
    """
    source = query.source
    if not isinstance(source, syntax.JoinClause) or source.kind not in ("left", "right") or not _asks(query):
        return query, 0
    kept, other = (source.left, source.right) if source.kind == "left" else (source.right, source.left)
    sides = [rows.gather(side) for side in (kept, other)]
    lists, measured = (all(map(is_public, side.parts)) for side in sides)
    if not lists or measured or not _plain(source.on):
        return query, 0
    join = syntax.JoinClause(kept, other, "inner", source.on, source.using, source.natural, position=source.position)
    return replace(query, source=join), len(sides[0].entries)


def refuse_other_keys(keys: list[Key], scope: Scope, lists: int, query: syntax.Select) -> None:
    """Nothing, where the groups of such a join are those of the public side.

    Args:
        keys: What is grouped by.
        scope: The tables, those of the public side first.
        lists: How many these are; 0 where there is no such join.
        query: The statement.

    Raises:
        UnsupportedQuery: A key is not made of the public side's columns, or there is none.
    """
    public = {column for entry in scope.entries[:lists] for own in entry.columns.values() for column in columns_of(own)}
    read = [column for key in keys for column in columns_of(key.expression)]
    if lists and not (read and all(column in public for column in read)):
        raise UnsupportedQuery(
            "a public table keeps its rows beside a private one only where they are the groups.", construct="JOIN",
            position=query.position, hint="Group by columns of the public table alone, or write JOIN.",
        )  # fmt: skip


def _asks(query: syntax.Select) -> bool:
    wanted = dict(query.options or ()).get(STRATEGY)
    if wanted is None:
        return query.lists
    match wanted:
        case syntax.Name(parts=(word,)) | syntax.Literal(value=str(word)):
            return word.upper() == LISTED
    return False


def _plain(on: syntax.Expr | None) -> bool:
    """Whether a condition says only that columns are equal: any other would drop groups of an inner join."""
    match on:
        case None | syntax.Call(name="=", arguments=(syntax.Name(), syntax.Name())):
            return True
        case syntax.Call(name="and", arguments=parts):
            return all(map(_plain, parts))
    return False
