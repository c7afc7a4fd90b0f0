"""Comparisons of the time between two moments with an INTERVAL, as comparisons of moments; and those of tuples.

``a - b > INTERVAL 7 DAY`` is ``a > b + INTERVAL 7 DAY``: a difference of moments has days and parts of days alone, so
that both say the same. Months and years have no fixed length: databases compare them as 30 and 360 days, and a month
later is another day. Who compares a difference with them says which is meant.

Tests: tests/unit/plan/test_spans.py, tests/sql/accepted.sql.
"""

from __future__ import annotations

from dpsql.errors import UnsupportedQuery
from dpsql.plan.tuples import by_parts
from dpsql.sql import syntax

__all__ = ["in_other_words"]

TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each comparison with its sides exchanged."""
DAYS = {"month": 30, "quarter": 90, "year": 360}
"""As how many days databases compare each."""


def in_other_words(node: syntax.Expr) -> syntax.Expr | None:
    """What a comparison of tuples, or of the time between two moments, is written as; None for anything else.

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
