"""What to write in the place of a window over the rows of several people, which no answer can have.

Tests: tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import CALLS
from dpsql.plan.nodes import Column, Expression
from dpsql.sql import syntax
from dpsql.sql.naming import text_of

__all__ = ["bare", "instead", "refused_elsewhere"]

PLACING = ("ntile", "percent_rank", "cume_dist")
"""Functions that say how far up a row stands among all others: an analyst means quantiles by them."""
QUARTERS = (0.25, 0.5, 0.75)
"""Quantiles that a hint names where the statement does not say between which parts: the usual ones."""
MOST_PARTS = 10  # Quantiles that a hint lists in full: deciles. It is a choice.


def bare(node: syntax.Expr) -> str:
    """An expression as DuckDB names it; a column without its table."""
    return node.parts[-1] if isinstance(node, syntax.Name) else text_of(node)


def instead(window: syntax.Window, table: str = "t", unit: str = "unit") -> str:
    """What to ask for instead, where the window sets a row beside those of others; empty where it may not.

    Args:
        window: Without the unit in its PARTITION BY.
        table: Whose rows it goes over, if one is known.
        unit: The column of the protected person, if it is known.
    """
    name = window.call.name
    if name in PLACING and window.order:
        own = bare(window.order[0].expression)
        listed = ", ".join(f"{at:g}" for at in _parts(window))
        return (
            f"For groups by quantiles ask for these first: SELECT QUANTILE_CONT({own}, [{listed}]) FROM {table}. Then "
            f"write what it answers as constants: CASE WHEN {own} < a THEN 1 WHEN {own} < b THEN 2 .. END AS part."
        )
    if name in CALLS and any(bare(key) != unit for key in window.partition):
        keys = ", ".join(map(bare, window.partition))
        of = ", ".join(map(bare, window.call.arguments)) or "*"
        return (
            f"Of groups of people ask for it first: SELECT {keys}, {name.upper()}({of}) FROM {table} GROUP BY {keys}. "
            "Then write what it answers as constants."
        )
    return ""


def _parts(window: syntax.Window) -> tuple[float, ...]:
    """Between which quantiles NTILE has its parts; quarters where that is not told."""
    first = window.call.arguments[0] if window.call.arguments else None
    parts = first.value if isinstance(first, syntax.Literal) else None
    if window.call.name != "ntile" or not isinstance(parts, int) or not 2 <= parts <= MOST_PARTS:
        return QUARTERS
    return tuple(round(at / parts, 4) for at in range(1, parts))


def refused_elsewhere(window: syntax.Window, lookup: Callable[[syntax.Expr], Expression | None]) -> UnsupportedQuery:
    """Why a window stands neither in a condition nor in an aggregate nor in GROUP BY.

    Args:
        window: What stands there.
        lookup: What names stand for.
    """
    usual = (
        "Over groups put it there: RANK() OVER (ORDER BY COUNT(*) DESC). Over the rows of each person it stands in a "
        "sub-query of FROM: (SELECT ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) AS r FROM t)."
    )
    of_one = any(_is_of_one(key, lookup) for key in window.partition)
    return UnsupportedQuery(
        "over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY "
        "of an answer.",
        construct="window function",
        position=window.position,
        hint=("" if of_one else instead(window)) or usual,
    )


def _is_of_one(key: syntax.Expr, lookup: Callable[[syntax.Expr], Expression | None]) -> bool:
    """Whether what stands in PARTITION BY is the unit, or leads to it."""
    try:
        found = lookup(key)
    except UnsupportedQuery:
        return True  # as where the unit may not stand
    return isinstance(found, Column) and (found.unit or found.link is not None)
