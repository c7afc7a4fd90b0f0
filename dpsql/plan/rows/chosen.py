"""``arg_min(x, y)``, ``first(x ORDER BY y)`` and their like inside one unit, as windows over the unit's own rows.

    SELECT u, arg_min(x, y) FROM t GROUP BY u
    SELECT u, MAX("chosen 0") FROM (SELECT *, FIRST_VALUE(x) OVER (PARTITION BY u ORDER BY y) AS "chosen 0" FROM t) AS t
    GROUP BY u

All rows of a group show the same value there, of which MAX is that one. Rows that the order leaves equal stand in the
order of their places, which follow from the unit's rows alone (`plan.rows.unit_windows`).

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.sql import syntax
from dpsql.sql.refused import FIRST_ROW
from dpsql.sql.rewritten import rewritten

__all__ = ["CHOOSING", "with_chosen"]

_LEAST = ("arg_min", "min_by")
_MOST = ("arg_max", "max_by")
_LAST = ("last",)
_PRESENT = ("any_value", "arbitrary")
CHOOSING = (*_LEAST, *_MOST, *_LAST, *_PRESENT, "first")
"""Calls by which people ask for one row of each unit."""


def with_chosen(query: syntax.Select, keys: Sequence[syntax.Expr]) -> syntax.Select:
    """A sub-query that is grouped by the unit, with such calls as aggregates of windows; any other as it is.

    Args:
        query: The sub-query.
        keys: What it is grouped by, the unit among them.

    Raises:
        UnsupportedQuery: Such a call has other arguments, or reads a join.
    """
    windows: dict[syntax.Window, str] = {}

    def change(node: syntax.Node) -> syntax.Node | None:
        if not isinstance(node, syntax.Call) or node.name not in CHOOSING:
            return None
        shown, order, missing = _read(node)
        window = syntax.Window(
            syntax.Call("first_value", (shown,), position=node.position), tuple(keys), order, None,
            position=node.position,
        )  # fmt: skip
        name = windows.setdefault(window, f"chosen {len(windows)}")
        value: syntax.Expr = syntax.Name((name,), name, position=node.position)
        if missing is not None:
            value = syntax.CaseExpression(None, ((missing, syntax.Literal(None)),), value, position=node.position)
        return syntax.Call("max", (value,), position=node.position)

    items = tuple(rewritten(item, change) for item in query.items)
    having = None if query.having is None else rewritten(query.having, change)
    if not windows:
        return query
    source = query.source
    if not isinstance(source, syntax.TableName | syntax.Derived):
        first = next(iter(windows))
        raise UnsupportedQuery(
            "inside one unit it reads one table, or one sub-query.", construct="arg_min, first",
            position=first.position, hint=f"Write a sub-query around the join. {FIRST_ROW}",
        )  # fmt: skip
    alias = source.alias or (source.name[-1] if isinstance(source, syntax.TableName) else None)
    own = [syntax.Item(window, name, name, position=window.position) for window, name in windows.items()]
    inner = syntax.Select(
        (syntax.Item(syntax.AllColumns(None), None, "*", position=query.position), *own), source, query.where,
        position=query.position,
    )  # fmt: skip
    pairs = zip(items, query.items, strict=True)
    named = [item if item.alias else replace(item, alias=was.name) for item, was in pairs]
    rows = syntax.Derived(inner, alias, position=query.position)
    return replace(query, items=tuple(named), source=rows, where=None, having=having)


def _read(
    node: syntax.Call,
) -> tuple[syntax.Expr, tuple[syntax.OrderItem, ...], syntax.Expr | None]:
    """What a call shows, of the first row in which order, and for which rows there is nothing to show."""
    by_another = node.name in (*_LEAST, *_MOST)
    if len(node.arguments) != 1 + by_another or node.distinct or node.named or (by_another and node.order):
        wanted = f"{node.name}(x, y)" if by_another else f"{node.name}(x ORDER BY y)"
        raise UnsupportedQuery(
            "inside one unit it shows a value of one row.", construct=node.name.upper(), position=node.position,
            hint=f"Write {wanted}. {FIRST_ROW}",
        )  # fmt: skip
    value = node.arguments[0]
    position, order = node.position, node.order
    if by_another:
        order = (syntax.OrderItem(node.arguments[1], node.name in _MOST, False, position=position),)
    elif node.name in _LAST:
        order = tuple(replace(own, descending=not own.descending, nulls_first=not own.nulls_first) for own in order)
    values_only = node.name in _PRESENT or not node.order
    passed_over = [*node.arguments] if by_another else [value] if values_only else []
    conditions = [_call("is_null", own, position=position) for own in passed_over]
    if node.where is not None:
        true = syntax.Literal(True, position=position)
        conditions.append(_call("is_distinct_from", node.where, true, position=position))
    if not conditions:
        return value, order, None
    missing = conditions[0]
    for other in conditions[1:]:
        missing = _call("or", missing, other, position=position)
    behind = syntax.CaseExpression(
        None, ((missing, syntax.Literal(1)),), syntax.Literal(0), position=position
    )  # fmt: skip
    return value, (syntax.OrderItem(behind, False, False, position=position), *order), missing


def _call(name: str, *arguments: syntax.Expr, position: syntax.Position) -> syntax.Call:
    return syntax.Call(name, arguments, position=position)
