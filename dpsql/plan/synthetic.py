"""From ``CREATE SYNTHETIC TABLE .. AS SELECT a, b ..`` to the plan of its cells: the rows, counted by what is selected.

Tests: tests/unit/releasing/test_creating.py, tests/unit/releasing/test_all_columns.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

from dpsql.errors import UnsupportedQuery
from dpsql.limits import MOST_LISTED
from dpsql.plan.catalog import Catalog, TableInfo
from dpsql.plan.known.relations import column_of
from dpsql.plan.known.scope import same_name
from dpsql.plan.known.value_lists import column_domain
from dpsql.plan.nodes import Column, Scan
from dpsql.plan.plans import AnyPlan, Key, Plan, PublicPlan, Several
from dpsql.plan.types import Facts
from dpsql.sql import syntax
from dpsql.sql.normal import quoted
from dpsql.sql.walk import walk

__all__ = ["counted_query", "refuse_star", "released_columns", "tables_named"]

CONSTRUCT = "CREATE SYNTHETIC TABLE"
PARTS = 10  # Into which a hint cuts numbers. It is a choice.
MOST_CELLS = 10_000  # Of a table that a hint names. It is a choice: few rows fall into each of more.


def refuse_star(query: syntax.Queryable, name: str, catalog: Catalog) -> None:
    """Refuses all columns of a private table: the unit has no place in rows, and not every column has a grid.

    Args:
        query: What is selected.
        name: What the table is to be called.
        catalog: Tables, columns and their facts.

    Raises:
        UnsupportedQuery: With a statement that names columns which can be released together.
    """
    if not isinstance(query, syntax.Select) or not isinstance(query.source, syntax.TableName):
        return
    star = next((item for item in query.items if isinstance(item.expression, syntax.AllColumns)), None)
    table = next((own for key, own in catalog.tables.items() if same_name(key, query.source.name[-1])), None)
    if star is None or table is None or table.public:
        return
    columns = ", ".join(_together(table)) or f"width_bucket(x, low, high, {PARTS}) AS x"
    rows = f"SELECT {columns} FROM {quoted(table.name)}"
    raise UnsupportedQuery(
        "its columns are named: each has listed values, or is cut into parts.", construct="SELECT *",
        position=star.position,
        hint=f"Write CREATE SYNTHETIC TABLE {quoted(name)} WITH (epsilon = 1) AS {rows}.",
    )  # fmt: skip


def _together(table: TableInfo) -> Iterator[str]:
    """Columns of a table, numbers cut into ten parts, whose values together make at most `MOST_CELLS` cells."""
    cells = 1
    for name in table.columns:
        column = column_of(Scan(table, "t0"), name)
        low, high = column.facts.low, column.facts.high
        domain = None if column.identifies else column_domain(column)
        text, values = quoted(name), len(domain or ())
        if not column.identifies and column.facts.type.numeric and not 0 < values <= PARTS and column.facts.bounded:
            text, values = f"width_bucket({text}, {_number(low)}, {_number(high)}, {PARTS}) AS {text}", PARTS + 3
        if values and cells * values <= MOST_CELLS:
            cells *= values
            yield text


def _number(end: Any) -> str:
    return str(end.numerator) if end.denominator == 1 else repr(float(end))


def counted_query(query: syntax.Queryable) -> syntax.Select:
    """The SELECT that counts the rows of each cell of what is selected.

    Raises:
        UnsupportedQuery: If rows are not all that it selects.
    """
    if isinstance(query, syntax.Union):
        raise _refused("it is made of the rows of one SELECT.", "Put UNION ALL into FROM.", query.position)
    plain = not (query.group_by or query.having or query.order_by or query.distinct or query.options)
    if not plain or query.limit is not None or query.offset is not None:
        why = "it is made of rows: GROUP BY, HAVING, DISTINCT, ORDER BY, LIMIT and OPTIONS have no place in it."
        raise _refused(why, "Leave them out; write prices into its own WITH (epsilon = 1).", query.position)
    count = syntax.Item(syntax.Call("count", star=True), None, "count_star()")
    return replace(query, items=(*query.items, count), group_by=syntax.GroupAll())


def released_columns(plan: AnyPlan, query: syntax.Queryable) -> tuple[Plan, list[tuple[str, Key]]]:
    """The plan of the cells, and the columns of the released table in order: names, and keys that tell cells apart.

    Raises:
        UnsupportedQuery: If nothing private is read, a column is an aggregate or stands twice, or has no listed values.
    """
    if isinstance(plan, PublicPlan):
        raise _refused("it reads public tables alone, which cost nothing.", "Ask them as they are.", query.position)
    if isinstance(plan, Several):
        raise _refused("it is made of rows, not of answers.", "Select from tables alone.", query.position)
    *outputs, _ = plan.answer
    keys = {key.name: key for key in plan.keys}
    found = [
        (output.name, keys[output.expression.name])
        for output in outputs
        if isinstance(output.expression, Column) and output.expression.name in keys
    ]
    names = [name.lower() for name, _ in found]
    if len(plan.aggregates) != 1 or not len(found) == len(outputs) == len(keys) == len(set(names)) or plan.stages:
        why = "it is made of columns and expressions of one row, each once and under a name of its own."
        raise _refused(why, "Name each with AS, and leave aggregates and windows out.", query.position)
    for name, key in found:
        if key.domain is not None and not key.domain:
            why = f"its conditions leave no value of {name}: the table would be empty."
            raise _refused(why, "Widen WHERE.", query.position)
        if key.domain is None:
            why, hint = _unlisted(name, key.expression.facts)
            raise UnsupportedQuery(why, construct=name, position=query.position, hint=hint)
    return plan, found


def _unlisted(name: str, facts: Facts) -> tuple[str, str]:
    """Why a column has no grid, and what to write."""
    low, high, step = facts.low, facts.high, facts.step
    if isinstance(low, Fraction) and isinstance(high, Fraction) and step and (high - low) / step >= MOST_LISTED:
        values = math.floor((high - low) / step) + 1
        why = f"it has {values:,} values, and a release lists {MOST_LISTED:,} at the most."
        return why, f"Cut it with width_bucket({name}, {float(low):g}, {float(high):g}, 1000), or round it."
    if isinstance(low, date) and isinstance(high, date) and (high - low).days >= MOST_LISTED:
        return f"it has more than {MOST_LISTED:,} values.", f"Narrow it with WHERE, or write EXTRACT(YEAR FROM {name})."
    why = "its values are not listed, so that there is no grid to release."
    return why, "Declare values in the policy, or write CAST(x AS INTEGER) or width_bucket(x, low, high, count)."


def tables_named(query: syntax.Node) -> set[str]:
    """The last parts of all names that stand where a table may stand; those of WITH are among them."""
    return {node.name[-1] for node in walk(query) if isinstance(node, syntax.TableName)}


def _refused(why: str, hint: str, position: syntax.Position) -> UnsupportedQuery:
    return UnsupportedQuery(why, construct=CONSTRUCT, position=position, hint=hint)
