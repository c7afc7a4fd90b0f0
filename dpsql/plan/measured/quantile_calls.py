"""Which quantile a call asks for: QUANTILE_CONT(x, 0.5), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), and one of the
quantiles that APPROX_QUANTILES would list.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions.casts import cast_name
from dpsql.plan.nodes import Expression
from dpsql.plan.values.expressions import Resolver
from dpsql.sql import syntax
from dpsql.sql.elements import ELEMENT

__all__ = ["element_of", "parts_of_list", "quantile"]

MOST_PARTS = 10_000  # Of one list of quantiles. It is a choice: BigQuery's own lists are shorter.


def quantile(node: syntax.Call, rows: Resolver) -> tuple[Expression, Fraction]:
    """The argument and the fraction of QUANTILE_CONT(x, p), PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x).

    Raises:
        UnsupportedQuery: Other arguments, or no fraction.
    """
    if node.within_group and len(node.arguments) == 1 and len(node.order) == 1:
        wanted, inner = node.arguments[0], node.order[0].expression
        descending = node.order[0].descending
    elif len(node.arguments) == 2 and not node.order and not node.distinct:
        (inner, wanted), descending = node.arguments, False
    else:
        raise UnsupportedQuery(
            "it takes a column and a fraction.", construct=node.name.upper(), position=node.position,
            hint=f"Write {node.name.upper()}(x, 0.5), or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x).",
        )  # fmt: skip
    number = rows.constant(_uncast(wanted), "the fraction")
    if isinstance(number, bool) or not isinstance(number, int | Decimal) or not 0 <= number <= 1:
        raise UnsupportedQuery(
            "the fraction must lie between 0 and 1.", construct=node.name.upper(), position=node.position,
            hint="Write 0.5 for the median.",
        )  # fmt: skip
    fraction = Fraction(number)
    return rows.resolve(inner), 1 - fraction if descending else fraction


def _uncast(fraction: syntax.Expr) -> syntax.Expr:
    """A fraction without its cast to reals, which drivers write and which moves no quantile: ``$1::FLOAT``."""
    if isinstance(fraction, syntax.Cast) and cast_name(fraction.type_name) in ("real", "float"):
        return fraction.operand
    return fraction


def element_of(node: syntax.Call, rows: Resolver) -> tuple[Expression, Fraction]:
    """The argument and the fraction of APPROX_QUANTILES(x, n)[OFFSET(i)]: i of n.

    Raises:
        UnsupportedQuery: The whole list is asked for where no list can stand.
    """
    if len(node.arguments) != 2 or node.order or node.distinct:
        raise UnsupportedQuery(
            "it takes a column and into how many parts.", construct="APPROX_QUANTILES", position=node.position,
            hint="Write APPROX_QUANTILES(x, 4)[OFFSET(1)].",
        )  # fmt: skip
    parts, wanted = parts_of_list(node, rows), dict(node.named).get(ELEMENT)
    place = None if wanted is None else rows.constant(wanted, "the element")
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place <= parts:
        raise UnsupportedQuery(
            "the whole list stands alone in the SELECT list.", construct="APPROX_QUANTILES", position=node.position,
            hint="Name one of its elements here: APPROX_QUANTILES(x, 4)[OFFSET(1)] is the first quarter.",
        )  # fmt: skip
    return rows.resolve(node.arguments[0]), Fraction(place, parts)


def parts_of_list(node: syntax.Call, rows: Resolver) -> int:
    """Into how many parts APPROX_QUANTILES(x, n) cuts its rows: n.

    Raises:
        UnsupportedQuery: It is no number of parts.
    """
    parts = rows.constant(node.arguments[1], "the number of parts")
    if isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts <= MOST_PARTS:
        raise UnsupportedQuery(
            f"the number of parts is a whole one from 1 to {MOST_PARTS:,}.", construct="APPROX_QUANTILES",
            position=node.arguments[1].position, hint="Write 4 for quarters.",
        )  # fmt: skip
    return parts
