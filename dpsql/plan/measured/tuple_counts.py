"""Counts of different tuples, ``COUNT(DISTINCT (a, b))``, as counts of different texts.

Each text is one tuple's alone: the texts of its parts, each behind its length, with a sign of its own for NULL, which
is a value like others in a tuple. ``COUNT(DISTINCT a, b)``, as MySQL, Spark and Snowflake write it, leaves out tuples
with a NULL.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.scope import identifying
from dpsql.plan.tuples import ROW
from dpsql.plan.values.expressions import Resolver
from dpsql.sql import syntax
from dpsql.sql.naming import as_written
from dpsql.sql.spoken import spoken

__all__ = ["of_one_value", "refuse_units"]


def of_one_value(call: syntax.Call) -> syntax.Call:
    """A count of different tuples as one of different texts; any other call as it is.

    >>> a, b = syntax.Name(("a",)), syntax.Name(("b",))
    >>> of_one_value(syntax.Call("count", (syntax.Call("row", (a, b)),), distinct=True)).arguments[0].name
    '||'
    """
    if call.name != "count" or not call.distinct or call.star:
        return call
    match call.arguments:
        case (syntax.Call(name="row", arguments=parts),):
            return replace(call, arguments=(_text(parts, missing="-"),))
        case (_, _, *_):
            return replace(call, arguments=(_text(call.arguments, missing=None),))
    return call


def refuse_units(call: syntax.Call, rows: Resolver) -> None:
    """Refuses a count of different tuples of which the privacy unit or a key is a part.

    Raises:
        UnsupportedQuery: With the sub-query that counts them: the tuples of a unit are its own.
    """
    parts = call.arguments
    if call.name == "count" and call.distinct and len(parts) == 1 and isinstance(parts[0], syntax.Call):
        parts = parts[0].arguments if parts[0].name == ROW else ()
    if call.name != "count" or not call.distinct or len(parts) < 2:
        return
    named = [part for part in parts if isinstance(part, syntax.Name)]
    held = next((own for own in named if identifying(rows.resolve(own)) is not None), None)
    if held is not None:
        others = ", ".join(spoken(part) for part in parts if part is not held)
        one = others if len(parts) == 2 else f"({others})"
        raise UnsupportedQuery(
            "it is no part of a tuple: each unit's tuples are its own.", construct=as_written(held),
            position=held.position,
            hint=f"Write SUM(n) .. FROM (SELECT {as_written(held)}, COUNT(DISTINCT {one}) AS n .. GROUP BY "
            f"{as_written(held)}).",
        )  # fmt: skip


def _text(parts: Sequence[syntax.Expr], missing: str | None) -> syntax.Expr:
    """The texts of all parts, each behind its length; of NULL what stands for it, or NULL."""
    texts = list[syntax.Expr]()
    for part in parts:
        own = syntax.Cast(part, "varchar", False, position=part.position)
        size = syntax.Cast(syntax.Call("length", (own,), position=part.position), "varchar", False)
        text = _joined([size, syntax.Literal(":"), own])
        texts.append(text if missing is None else syntax.Call("coalesce", (text, syntax.Literal(missing))))
    return _joined(texts)


def _joined(texts: Sequence[syntax.Expr]) -> syntax.Expr:
    return reduce(lambda left, right: syntax.Call("||", (left, right), position=left.position), texts)
