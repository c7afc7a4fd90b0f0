"""Geometric means: what takes a released mean of logarithms back.

A released number has no bounds, and what could be too large for the engine is refused. A mean of logarithms is small,
whatever its noise: it is kept below `MOST`, so that ``exp(avg(ln(x)))`` can stand as it is.

Tests: tests/sql/accepted.sql.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.sql import syntax

__all__ = ["MOST", "taken_back"]

MOST = 20
"""The decimal logarithm of the largest geometric mean that is told. It is a choice: far beyond any declared bounds."""
_NATURAL = 46  # That many e-folds are 10^20, rounded down. It is a choice for the same reason.
_BACK = {"exp": ("ln",), "pow": ("log10", "log"), "power": ("log10", "log")}
"""From a function to the logarithms that it takes back; those with a base have 10."""


def taken_back(node: syntax.Expr) -> syntax.Expr | None:
    """EXP(AVG(LN(x))) and POWER(10, AVG(LOG10(x))) with the mean kept within constants; None for anything else.

    >>> from dpsql.sql.normal import normal_expression
    >>> mean = syntax.Call("avg", (syntax.Call("ln", (syntax.Name(("x",)),)),))
    >>> found = taken_back(syntax.Call("exp", (mean,)))
    >>> print(found and normal_expression(found))
    exp(least(avg(ln("x")), 46))
    """
    match node:
        case syntax.Call("exp", (mean,)):
            most = _NATURAL
        case syntax.Call("pow" | "power", (syntax.Literal(10), mean)):
            most = MOST
        case _:
            return None
    match mean:
        case syntax.Call("avg" | "mean", (syntax.Call(name, (_,)),)) if name in _BACK[node.name]:
            kept = syntax.Call("least", (mean, syntax.Literal(most)), position=mean.position)
            return replace(node, arguments=(*node.arguments[:-1], kept))
    return None
