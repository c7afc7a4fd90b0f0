"""The ranges of an expression taken apart are those of the whole, and each distinct node is worked out once a row."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.plan.expressions import Resolver, columns_of, range_of, substituted
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.ranged import Ranged
from dpsql.plan.types import Facts, Type
from dpsql.sql import syntax
from dpsql.sql.parse import parse

COLUMNS = {
    "i": Column("released", "i", Facts(Type.INTEGER)),
    "x": Column("released", "x", Facts(Type.REAL, Fraction(-3), Fraction(8))),
    "y": Column("released", "y", Facts(Type.REAL, nullable=False)),
    "s": Column("released", "s", Facts(Type.TEXT)),
    "d": Column("released", "d", Facts(Type.DATE)),
}
BOXES = [
    {},
    {"i": Interval(Fraction(2), Fraction(5)), "y": Interval(Fraction(1, 3), Fraction(7))},
    {"i": Interval(None, Fraction(5)), "x": Interval(Fraction(-1), Fraction(2)), "y": Interval(Fraction(-4), None)},
    {"i": Interval(Fraction(0), Fraction(0)), "x": Interval(None, None), "y": Interval(Fraction(0), Fraction(10**40))},
]


def resolved(text: str) -> Expression:
    statement = parse(f"SELECT {text} FROM t")
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    named = Resolver(lambda n: COLUMNS.get(n.parts[-1]) if isinstance(n, syntax.Name) else None, ())
    return named.resolve(statement.select.items[0].expression)


@pytest.mark.parametrize(
    "text",
    [
        "7", "x", "i * 2.5 + 1", "100.0 * x / y", "abs(y - y * 0.5)", "round(100.0 * (x - y) / y, 1)", "i // 2 + i % 3",
        "ln(y) + sqrt(abs(x))", "CASE WHEN s = 'a' THEN i ELSE NULL END", "CASE WHEN x > 3 THEN x * y ELSE 7 END",
        "coalesce(x, y, 3)", "coalesce(i, 1)", "greatest(i, 2)", "least(x, y, 0.5)", "date_diff('day', d, d)",
        "length(s) + length('abc') + (1 + 2) * i", "nullif(x, 0) / 2", "-i + (-(i + i))", "year(d) * 1.5",
    ],
)  # fmt: skip
def test_the_ranges_are_those_of_the_whole(text: str) -> None:
    expression = resolved(text)
    ranged = Ranged(expression)
    for named in BOXES:
        known = {COLUMNS[name]: own for name, own in named.items()}.get
        assert ranged.over(known) == range_of(expression, hard=False, known=known)  # type: ignore[arg-type]  # columns


def test_what_stands_in_two_places_is_worked_out_once() -> None:
    twice = resolved("abs(y - y * 0.5)")
    (column,) = columns_of(twice)
    whole = twice
    for _ in range(8):
        whole = substituted(twice, {column.name: whole})
    assert Ranged(twice).size == 4  # the column, *, -, abs
    assert Ranged(whole).size == 1 + 9 * 3
    assert Ranged(resolved("abs(y - y * 0.5) + abs(y - y * 0.5)")).size == 5


def test_what_no_row_changes_is_worked_out_for_none() -> None:
    assert Ranged(resolved("sqrt(2) * ln(3) + 1")).size == 0
    assert Ranged(resolved("sqrt(2) * ln(3) + y")).size == 2
