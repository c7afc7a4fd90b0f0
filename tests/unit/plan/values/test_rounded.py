"""Rounding of whole numbers; what it answers is compared with DuckDB in tests/sql."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.plan.nodes import Column, Expression
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver
from dpsql.sql.syntax import Call, Expr, Literal, Name


def rounded(name: str, digits: int, low: int | None, high: int | None) -> Expression:
    """A call over a whole number with these bounds."""
    ends = (None if low is None else Fraction(low), None if high is None else Fraction(high))
    column = Column("t", "x", Facts(Type.INTEGER, *ends))

    def lookup(node: Expr) -> Expression | None:
        return column if isinstance(node, Name) else None

    number = Literal(abs(digits))
    written = Call("negate", (number,)) if digits < 0 else number
    return Resolver(lookup, ()).resolve(Call(name, (Name(("x",), "x"), written)))


@pytest.mark.parametrize(
    ("name", "digits", "low", "high", "least", "most"),
    [
        ("round", -1, 5, 54, 10, 50),
        ("round", -1, -5, 54, -10, 50),
        ("round", -1, -4, 4, 0, 0),
        ("round", -1, -55, -14, -60, -10),
        ("round", -2, 0, 149, 0, 100),
        ("trunc", -1, -19, 19, -10, 10),
        ("trunc", -15, 0, 9, 0, 0),
        ("round", 3, -19, 19, -19, 19),
    ],
)
def test_the_bounds_are_the_exact_ones(name: str, digits: int, low: int, high: int, least: int, most: int) -> None:
    facts = rounded(name, digits, low, high).facts
    assert facts.type is Type.INTEGER
    assert (facts.low, facts.high) == (Fraction(least), Fraction(most))


def test_what_could_be_too_large_is_rounded_as_a_real_number() -> None:
    assert rounded("round", -1, None, None).facts.type is Type.INTEGER
    assert rounded("round", -1, 0, 2**62).facts.type is Type.REAL
    assert rounded("trunc", 0, None, None).facts.type is Type.INTEGER
