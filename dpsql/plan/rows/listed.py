"""Rows that the statement itself holds, ``(VALUES (1, 'a'), (2, 'b')) AS t (x, y)``, as a small public table.
What has no FROM, such as ``SELECT 1``, is said of one such row, without a column.

They are the same in every database, so that they are nobody's: what meets them counts as often as it meets one.

Tests: tests/unit/plan/rows/test_listed.py.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import holds_aggregate
from dpsql.plan.known.scope import without_from
from dpsql.plan.nodes import Column, Written
from dpsql.plan.rows.sub_queries import Sub
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.expressions import Resolver, as_constant
from dpsql.sql import syntax

__all__ = ["listed_rows", "one_row"]


def listed_rows(source: syntax.ListedRows, alias: str, resolver: Resolver) -> Sub:
    """The rows, and what their names stand for.

    Args:
        source: Their syntax.
        alias: The plan's alias for them.
        resolver: Reads constants.

    Raises:
        UnsupportedQuery: What is no constant, columns of several types, or two of one name.
    """
    rows = [tuple(resolver.constant(value, "VALUES") for value in row) for row in source.rows]
    typed = [_column(alias, place, list(values), source) for place, values in enumerate(zip(*rows, strict=True))]
    folded = [name.lower() for name in source.names]
    if len(set(folded)) < len(folded):
        raise UnsupportedQuery(
            "two columns have one name.", construct="VALUES", position=source.position,
            hint="Name them: AS t (x, y).",
        )  # fmt: skip
    columns = tuple(column for column, _ in typed)
    listed = Written(columns, tuple(zip(*(values for _, values in typed), strict=True)))
    return Sub(listed, dict(zip(source.names, columns, strict=True)))


def one_row(select: syntax.Select, alias: str) -> Written:
    """The row that a SELECT without FROM computes with constants over. No name finds the column that it is kept with.

    Raises:
        UnsupportedQuery: It shows all columns, or aggregates: a table was meant, and FROM forgotten.
    """
    shown = [item.expression for item in select.items]
    if select.having is not None or any(isinstance(own, syntax.AllColumns) or holds_aggregate(own) for own in shown):
        raise without_from("SELECT", select.position)
    return Written((Column(alias, "c0", as_constant(1).facts, (1,)),), ((1,),))


def _column(
    alias: str, place: int, values: list[Value], source: syntax.ListedRows
) -> tuple[Column, list[Value]]:  # fmt: skip
    """One column and its values, numbers as reals where some of them are."""
    types = {as_constant(value).facts.type for value in values if value is not None}
    if types == {Type.INTEGER, Type.REAL}:
        types = {Type.REAL}
    if len(types) != 1:
        raise UnsupportedQuery(
            "a column of it has values of several types, or none.", construct="VALUES", position=source.position,
            hint="Write values of one type in each column.",
        )  # fmt: skip
    (kind,) = types
    own = [
        float(value) if kind is Type.REAL and isinstance(value, int | float | Decimal) else value for value in values
    ]
    there = sorted({value for value in own if value is not None})
    low, high = (_end(end, kind) for end in (there[0], there[-1]))
    step = Fraction(1) if kind is Type.INTEGER else None
    facts = Facts(kind, low, high, nullable=None in own, step=step)
    letters = max(len(value) for value in there if isinstance(value, str)) if kind is Type.TEXT else 0
    return Column(alias, f"c{place}", facts, tuple(there), letters=letters), own


def _end(value: Value, kind: Type) -> Fraction | date | datetime | None:
    """The least or the largest value as an end of bounds; None for types without."""
    if kind.numeric:
        return Fraction(value)  # type: ignore[arg-type]  # a number
    return value if isinstance(value, date) else None
