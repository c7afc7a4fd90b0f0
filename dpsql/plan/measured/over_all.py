"""Windows that give every row the same number are the aggregates that they are: BigQuery's way to ask for a percentile.

    SELECT PERCENTILE_CONT(cost, 0.5) OVER () FROM visits LIMIT 1
    SELECT PERCENTILE_CONT(cost, 0.5) FROM visits

    SELECT DISTINCT sex, AVG(age) OVER (PARTITION BY sex) FROM patients
    SELECT sex, AVG(age) FROM patients GROUP BY sex

The second of each pair is the first, but for a row where none is left: whether one is left, nobody may know.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import CALLS
from dpsql.plan.known.conditions import holds_aggregate, windows_in
from dpsql.sql import syntax
from dpsql.sql.rewritten import rewritten

__all__ = ["with_windows_aggregated"]


def with_windows_aggregated(query: syntax.Select) -> syntax.Select:
    """A SELECT over people's rows with GROUP BY in the place of such windows; any other as it is.

    Raises:
        UnsupportedQuery: DISTINCT beside other windows.
    """
    nodes = [*(item.expression for item in query.items), *(term.expression for term in query.order_by)]
    windows = [window for node in nodes for window in windows_in(node)]
    if windows and not query.group_by and query.having is None and _of_all_rows(windows, nodes):
        by, shown = windows[0].partition, [item.expression for item in query.items]
        items = rewritten(query.items, _aggregate)
        if query.distinct and all(key in shown for key in by):
            return replace(
                query, items=items, order_by=rewritten(query.order_by, _aggregate), group_by=by, distinct=False
            )
        if not query.distinct and not by and query.limit == 1 and not query.offset:
            return replace(query, items=items, order_by=(), limit=None)
    if query.distinct and any(windows_in(item.expression) for item in query.items):
        raise UnsupportedQuery(
            "it does not go with a window.", construct="SELECT DISTINCT", position=query.position,
            hint="Leave DISTINCT out: every group has a row of its own.",
        )  # fmt: skip
    return query


def _of_all_rows(windows: list[syntax.Window], nodes: list[syntax.Expr]) -> bool:
    """Whether all of them aggregate all rows of the same partitions, and nothing beside them aggregates."""
    plain = all(own.call.name in CALLS and not own.order and own.frame is None for own in windows)
    inside = [part for own in windows for part in own.call.arguments]
    outside = rewritten(tuple(nodes), lambda node: syntax.Literal(0) if isinstance(node, syntax.Window) else None)
    same = all(own.partition == windows[0].partition for own in windows)
    return plain and same and not any(map(holds_aggregate, (*inside, *outside)))


def _aggregate(node: syntax.Node) -> syntax.Node | None:
    return node.call if isinstance(node, syntax.Window) else None
