"""Comparisons of tuples as comparisons of their parts: ``(a, b) IN ((1, 'x'), (2, 'y'))``, and ``=`` and ``<>``.

A part that compares tuples itself is refused: parts are written more than once, those inside them many times over.

In a tuple NULL is a value like others, as in DuckDB, so that no comparison of tuples is NULL. What is written instead
names the parts one by one: conditions on them narrow bounds and groups, and what may not be compared alone may not be
compared in a tuple.
"""

from __future__ import annotations

from functools import reduce

from dpsql.errors import UnsupportedQuery
from dpsql.sql import syntax
from dpsql.sql.walk import walk

__all__ = ["ROW", "by_parts"]

ROW = "row"  # What the reader calls a tuple.


def by_parts(node: syntax.Expr) -> syntax.Expr | None:
    """What a comparison of tuples says of their parts; None for anything else.

    Raises:
        UnsupportedQuery: The tuples have different lengths, or a part compares tuples itself.

    >>> a, b = syntax.Name(("a",)), syntax.Name(("b",))
    >>> one, two = syntax.Literal(1), syntax.Literal(None)
    >>> by_parts(syntax.Call("=", (syntax.Call("row", (a, b)), syntax.Call("row", (one, two))))).name
    'and'
    """
    match node:
        case syntax.InList(operand=syntax.Call(name="row") as own, values=values, negated=negated):
            if not all(map(_is_row, values)):
                return None
            found = _connected("or", [_equal(own, value, node.position) for value in values])
        case syntax.Call(
            name="=" | "<>" | "is_distinct_from" as sign,
            arguments=(syntax.Call(name="row") as own, syntax.Call(name="row") as other),
        ):
            found, negated = _equal(own, other, node.position), sign != "="
        case _:
            return None
    return _not(found) if negated else found


def _equal(own: syntax.Expr, other: syntax.Expr, position: syntax.Position) -> syntax.Expr:
    """Whether all parts of two tuples are equal, NULL among them."""
    one = own.arguments if isinstance(own, syntax.Call) else ()
    two = other.arguments if isinstance(other, syntax.Call) else ()
    if any(_is_row(inner) for part in (*one, *two) if not _is_row(part) for inner in walk(part)):
        raise UnsupportedQuery(
            "a part of a tuple compares tuples itself.", construct="(a, b)", position=position,
            hint="Compare these apart, with AND.",
        )  # fmt: skip
    if len(one) != len(two):
        raise UnsupportedQuery(
            f"one has {len(one)} parts, the other {len(two)}.", construct="(a, b)", position=position,
            hint="Write as many values as columns: (a, b) IN ((1, 2), (3, 4)).",
        )  # fmt: skip
    return _connected("and", [part for a, b in zip(one, two, strict=True) for part in _same(a, b)])


def _same(a: syntax.Expr, b: syntax.Expr) -> list[syntax.Expr]:
    """The conditions under which two parts are equal, or both NULL: none of them is NULL itself."""
    if isinstance(b, syntax.Literal) and b.value is not None:
        return [_not(syntax.Call("is_null", (a,), position=a.position)), syntax.Call("=", (a, b), position=a.position)]
    return [_not(syntax.Call("is_distinct_from", (a, b), position=a.position))]


def _is_row(node: object) -> bool:
    return isinstance(node, syntax.Call) and node.name == ROW


def _not(node: syntax.Expr) -> syntax.Expr:
    return syntax.Call("not", (node,), position=node.position)


def _connected(name: str, parts: list[syntax.Expr]) -> syntax.Expr:
    return reduce(lambda left, right: syntax.Call(name, (left, right), position=left.position), parts)
