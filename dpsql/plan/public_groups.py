"""``group_selection_strategy = PUBLIC_GROUPS`` with a public table on the outer side of a join: its keys are groups.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = PUBLIC_GROUPS) name, COUNT(*)
    FROM patients RIGHT JOIN cities ON city = name GROUP BY name

The outer join would add one row of NULLs for each public row without a partner, which a person's arrival takes away.
As in GoogleSQL that row is not counted. So it is an inner join, whose groups are listed, empty ones included, because
their keys are columns of the public side: what is measured is a function of the inner join's rows alone.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.plan.expressions import columns_of
from dpsql.plan.plans import Key
from dpsql.plan.relations import is_public
from dpsql.plan.rows import Rows
from dpsql.plan.scope import Scope
from dpsql.sql import syntax

__all__ = ["refuse_other_keys", "with_public_groups"]

STRATEGY = "group_selection_strategy"


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
    join = syntax.JoinClause(kept, other, "inner", source.on, source.using, position=source.position)
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
    match wanted:
        case syntax.Name(parts=(word,)) | syntax.Literal(value=str(word)):
            return word.upper() == "PUBLIC_GROUPS"
    return False


def _plain(on: syntax.Expr | None) -> bool:
    """Whether a condition says only that columns are equal: any other would drop groups of an inner join."""
    match on:
        case None | syntax.Call(name="=", arguments=(syntax.Name(), syntax.Name())):
            return True
        case syntax.Call(name="and", arguments=parts):
            return all(map(_plain, parts))
    return False
