"""Each distinct node of an expression is worked out once a row, and branches only where they can be reached.

That the ranges hold is tried in tests/unit/answers/test_computed_intervals.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.over_answers.ranged import Ranged
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver, columns_of, substituted
from dpsql.sql import syntax
from dpsql.sql.parse import parse

COLUMNS = {
    "i": Column("released", "i", Facts(Type.INTEGER)),
    "x": Column("released", "x", Facts(Type.REAL, Fraction(-3), Fraction(8))),
    "y": Column("released", "y", Facts(Type.REAL, nullable=False)),
    "s": Column("released", "s", Facts(Type.TEXT)),
    "d": Column("released", "d", Facts(Type.DATE)),
}


def resolved(text: str) -> Expression:
    statement = parse(f"SELECT {text} FROM t")
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    named = Resolver(lambda n: COLUMNS.get(n.parts[-1]) if isinstance(n, syntax.Name) else None, ())
    return named.resolve(statement.select.items[0].expression)


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


def test_what_is_compared_is_narrowed_in_each_branch() -> None:
    known = {COLUMNS["i"]: Interval(Fraction(-2), Fraction(5)), COLUMNS["y"]: Interval(Fraction(1), Fraction(4))}
    for text, low, high in [
        ("CASE WHEN i < 0 THEN 0 ELSE i END", 0, 5),
        ("CASE WHEN i <= 0 THEN 9 ELSE i END", 1, 9),
        ("CASE WHEN i < 0.5 THEN 9 ELSE i END", 1, 9),
        ("CASE WHEN i = 0 THEN NULL WHEN i > 0 THEN i ELSE 7 END", 1, 7),
        ("CASE WHEN NOT (i > 0) THEN -i ELSE i END", 0, 5),
        ("CASE WHEN i BETWEEN 0 AND 3 THEN i END", 0, 3),
        ("CASE WHEN i < y THEN i ELSE 2 END", -2, 3),
        ("CASE WHEN y > 4 THEN 100 ELSE y END", 1, 4),
        ("CASE WHEN i < 0 OR i > 3 THEN 3 ELSE i END", 0, 3),
        ("CASE WHEN i + 1 < 0 THEN 0 ELSE i + 1 END", 0, 6),
        ("CASE WHEN s = 'a' THEN 0 ELSE i END", -2, 5),
        ("CASE WHEN i > 9 AND s = 'a' THEN 99 ELSE i END", -2, 5),
    ]:
        assert Ranged(resolved(text)).over(known.get) == Interval(Fraction(low), Fraction(high)), text  # type: ignore[arg-type]  # columns


def test_a_value_may_be_null_where_nothing_is_known_of_it() -> None:
    known = {COLUMNS["i"]: Interval(Fraction(-2), Fraction(5)), COLUMNS["y"]: EVERYTHING}
    for text, null in [
        ("i", False), ("x", True), ("y", True), ("s", True), ("i + 1", False), ("x + i", True), ("i / 2", False),
        ("2 / i", True), ("2 / greatest(i, 1)", False), ("NULLIF(i, 7)", False), ("NULLIF(i, 0)", True),
        ("ln(i + 3)", False), ("ln(i)", True), ("coalesce(x, i)", False), ("CASE WHEN i < 9 THEN i END", False),
        ("CASE WHEN i < 3 THEN i END", True),
        ("CASE WHEN x IS NULL THEN i ELSE x END", False), ("CASE WHEN x > 3 THEN x ELSE i END", False),
        ("CASE WHEN x > 3 THEN i ELSE x END", True), ("x IS NULL", False), ("CAST(i AS TINYINT)", False),
        ("CAST(100 * i AS TINYINT)", True),
    ]:  # fmt: skip
        assert Ranged(resolved(text)).possible(known.get).null is null, text  # type: ignore[arg-type]  # columns


def test_a_text_that_is_known_decides() -> None:
    assert Ranged(resolved("CASE s WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 3 END")).over(lambda _: "b").low == 2
    assert Ranged(resolved("CASE WHEN s IN ('a', 'b') THEN 1 ELSE 2 END")).over(lambda _: "c").low == 2


def test_of_whole_numbers_that_no_double_holds_nothing_is_narrowed() -> None:
    large = Interval(Fraction(2**53 - 1), Fraction(2**53 + 3))
    held = Ranged(resolved("CASE WHEN i < 9007199254740993.0 THEN i END")).over({COLUMNS["i"]: large}.get)  # type: ignore[arg-type]  # columns
    assert held == large
