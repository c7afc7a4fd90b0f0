"""Comparisons of the time between two moments with an INTERVAL, as comparisons of moments; and those of tuples.

The seconds of such a time, ``epoch(a - b)``, are its microseconds over a million, as in DuckDB.

``a - b > INTERVAL 7 DAY`` is ``a > b + INTERVAL 7 DAY``: a difference of moments has days and parts of days alone, so
that both say the same. Months and years have no fixed length: databases compare them as 30 and 360 days, and a month
later is another day. Who compares a difference with them says which is meant.

Tests: tests/unit/plan/values/test_spans.py, tests/sql/accepted.sql.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.errors import UnsupportedQuery
from dpsql.plan.nodes import Expression
from dpsql.plan.tuples import by_parts
from dpsql.plan.types import Type
from dpsql.sql import syntax

__all__ = ["in_other_words"]

TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each comparison with its sides exchanged."""
DAYS = {"month": 30, "quarter": 90, "year": 360}
"""As how many days databases compare each."""


def in_other_words(node: syntax.Expr, resolve: Callable[[syntax.Expr], Expression] | None = None) -> syntax.Expr | None:
    """What a comparison of tuples, or of the time between two moments, is written as; None for anything else.

    Args:
        node: As it was written.
        resolve: What gives the typed expression of a part; None where only comparisons are looked for.

    Raises:
        UnsupportedQuery: The time is compared with months or years, or tuples cannot be compared.

    >>> a, b, span = syntax.Name(("a",)), syntax.Name(("b",)), syntax.IntervalLiteral(7, "day")
    >>> found = in_other_words(syntax.Call(">", (syntax.Call("-", (a, b)), span)))
    >>> found == syntax.Call(">", (a, syntax.Call("+", (b, span))))
    True
    """
    match node:
        case syntax.Call(name=sign, arguments=(syntax.Call("-", (end, start)), syntax.IntervalLiteral() as span)):
            pass
        case syntax.Call(name=name, arguments=(syntax.IntervalLiteral() as span, syntax.Call("-", (end, start)))):
            sign = TURNED.get(name, name)
        case syntax.Call("epoch", (syntax.Call("-", (end, start)),)) | syntax.Call(
            "extract" | "date_part" | "datepart", (syntax.Literal("epoch"), syntax.Call("-", (end, start)))
        ) if (
            resolve is not None
            and not isinstance(start, syntax.IntervalLiteral)
            and node == syntax.Call(node.name, node.arguments)
        ):
            kinds = {resolve(side).facts.type for side in (end, start)}
            if Type.TIMESTAMP not in kinds or not kinds <= {Type.DATE, Type.TIMESTAMP}:
                return None
            parts = syntax.Literal("microsecond"), start, end
            counted = syntax.Call("date_diff", parts, position=node.position)
            return syntax.Call("/", (counted, syntax.Literal(1_000_000)), position=node.position)
        case _:
            return by_parts(node)
    if sign not in TURNED or isinstance(start, syntax.IntervalLiteral):
        return None
    if span.unit in DAYS:
        days = span.count * DAYS[span.unit]
        raise UnsupportedQuery(
            f"a {span.unit} has no fixed number of days.", construct="INTERVAL", position=span.position,
            hint=f"Write INTERVAL {days} DAY, or start + INTERVAL {span.count} {span.unit.upper()} {TURNED[sign]} end.",
        )  # fmt: skip
    moved = syntax.Call("+", (start, span), position=start.position)
    return syntax.Call(sign, (end, moved), position=node.position)
