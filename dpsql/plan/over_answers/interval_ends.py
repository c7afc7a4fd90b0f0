"""DP_INTERVAL_LOW(n) and DP_INTERVAL_HIGH(n): the ends of the interval of output column n, as columns beside it.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.plan.measured.lists import Lists
from dpsql.plan.plans import Plan, Stage
from dpsql.plan.values.expressions import columns_of
from dpsql.sql import syntax

__all__ = ["INTERVAL_ENDS", "interval_end", "reads_ends"]

INTERVAL_ENDS = {"dp_interval_low": 0, "dp_interval_high": 1}


def interval_end(node: syntax.Call, items: Sequence[syntax.Item], lists: Lists) -> tuple[str, int]:
    """The output column whose interval is shown, and 0 for its lower end or 1 for its upper one.

    Args:
        node: The call.
        items: The select list.
        lists: Reads names of lists.

    Raises:
        UnsupportedQuery: It names no column, several, or a list.
    """
    if len(node.arguments) == 1 and isinstance(node.arguments[0], syntax.Name) and len(node.arguments[0].parts) == 1:
        lists.read(node.arguments[0])  # refuses a list
        named = [i.alias for i in items if i.alias and i.alias.lower() == node.arguments[0].parts[0]]
        if len(named) == 1:
            return named[0], INTERVAL_ENDS[node.name]
        if named:
            raise UnsupportedQuery(
                f"several columns are called {named[0]}.", construct=node.name.upper(), position=node.position,
                hint="Give each a name of its own with AS.",
            )  # fmt: skip
    aliases = [item.alias for item in items if item.alias]
    raise UnsupportedQuery(
        "it takes the name of an output column.", construct=node.name.upper(), position=node.position,
        hint=f"Name one of {', '.join(aliases)}." if aliases else "Name the aggregate with AS n, then write n.",
    )  # fmt: skip


def reads_ends(stage: Stage, plan: Plan) -> bool:
    """Whether a query over an answer reads a column of it that shows an end of an interval."""
    ends = {f"c{place}" for place, output in enumerate(plan.answer) if output.end is not None}
    read = [*(output.expression for output in stage.outputs), *stage.group_by]
    read += [own for own in (stage.where, stage.having) if own is not None]
    read += [term.expression for term in stage.order_by]
    return any(column.name in ends for expression in read for column in columns_of(expression))
