"""QUALIFY, a condition on windows, as the query around the windows that it stands for.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.sql.syntax import AllColumns, Derived, Expr, Item, Literal, Name, OrderItem, Select
from dpsql.sql.tokens import fold

__all__ = ["KEPT", "qualified"]

KEPT = "qualify"  # The inner query's column that says which rows stay, and its name in FROM.


def qualified(select: Select, condition: Expr) -> Select:
    """``SELECT a, f() OVER (..) AS r .. QUALIFY r <= 3 ORDER BY b``, written as a condition one query further out.

    Args:
        select: The query without QUALIFY.
        condition: What stood in it.

    Raises:
        UnsupportedQuery: Several stars, or DISTINCT.
    """
    stars = [item.expression for item in select.items if isinstance(item.expression, AllColumns)]
    if select.distinct or len(stars) > 1:
        hint = "Name the columns of all tables but one."
        raise UnsupportedQuery(
            "beside it one star at most stands, and no DISTINCT.", construct="QUALIFY", position=condition.position,
            hint="Write SELECT DISTINCT a, b FROM (SELECT a, b .. QUALIFY ..)." if select.distinct else hint,
        )  # fmt: skip
    aliases = [fold(item.alias or "") for item in select.items]
    inner = [
        item
        if (item.alias and aliases.count(fold(item.alias)) == 1) or item.expression in stars
        else replace(item, alias=f"column {place}")
        for place, item in enumerate(select.items)
    ]
    hidden = [Item(condition, KEPT, KEPT, position=condition.position)]
    order: list[OrderItem] = []
    for place, term in enumerate(select.order_by):
        if isinstance(term.expression, Literal):
            order.append(term)
            continue
        if isinstance(term.expression, Name) and aliases.count(".".join(term.expression.parts)) == 1:
            order.append(replace(term, expression=_column(term.expression.parts[0], term)))  # it goes before a column
            continue
        hidden.append(Item(term.expression, f"order {place}", f"order {place}", position=term.position))
        order.append(replace(term, expression=_column(f"order {place}", term)))
    named = tuple(fold(item.name) for item in (*inner, *hidden) if item.expression not in stars)
    shown = [
        replace(item, expression=AllColumns(KEPT, named, position=item.position))
        if isinstance(own.expression, AllColumns)
        else Item(_column(own.name, item), item.name, item.name, position=item.position)
        for own, item in zip(inner, select.items, strict=True)
    ]
    rows = replace(
        select, items=(*inner, *hidden), order_by=(), limit=None, offset=None, options=None, ctes=()
    )  # fmt: skip
    return replace(
        select, items=tuple(shown), source=Derived(rows, KEPT, position=select.position), order_by=tuple(order),
        where=Name((KEPT, KEPT), KEPT, position=condition.position), group_by=(), having=None,
    )  # fmt: skip


def _column(name: str, of: Item | OrderItem) -> Name:
    return Name((KEPT, fold(name)), name, position=of.position)
