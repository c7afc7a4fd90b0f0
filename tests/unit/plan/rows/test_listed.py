"""Rows that the statement itself holds: what is known of them, and how often they meet another row."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.relations import is_public, most_met, scans, size_of, unit_of
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import Column, Written
from dpsql.plan.rows.listed import listed_rows
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.expressions import Resolver
from dpsql.sql import syntax


def listed(*rows: tuple[Any, ...]) -> Written:
    written = tuple(tuple(map(syntax.Literal, row)) for row in rows)
    source = syntax.ListedRows(written, tuple(f"x{i}" for i in range(len(rows[0]))), "t")
    relation = listed_rows(source, "t0", Resolver(lambda _: None, ())).relation
    assert isinstance(relation, Written)
    return relation


def test_it_is_public_and_nobodys() -> None:
    rows = listed((1, "a"), (2, "b"))
    assert (scans(rows), unit_of(rows), rows_per_unit(rows), size_of(rows), is_public(rows)) == ((), None, 0, 2, True)


def test_a_column_has_the_type_and_the_bounds_of_its_values() -> None:
    number, text, day, real = listed(
        (3, "b", date(2024, 1, 1), 1), (1, None, date(2020, 1, 1), Decimal("2.5")), (3, "a", None, 1)
    ).columns
    assert (number.facts.type, number.facts.low, number.facts.high, number.values) == (
        Type.INTEGER,
        Fraction(1),
        Fraction(3),
        (1, 3),
    )
    assert (text.facts, text.values) == (Facts(Type.TEXT), ("a", "b"))
    assert (day.facts.low, day.facts.high, day.facts.nullable) == (date(2020, 1, 1), date(2024, 1, 1), True)
    assert (real.facts.type, real.values) == (Type.REAL, (1.0, 2.5))


@pytest.mark.parametrize(
    ("values", "most"),
    [((1, 2, 3), 1), ((1, 2, 2), 2), ((None, None, None), 1), ((1, Decimal("1.0"), 2), 2), (("a", "a", "b"), 2)],
)
def test_a_row_meets_as_many_as_have_one_value(values: tuple[Value, ...], most: int) -> None:
    if not any(values):
        values = (*values, 7)
    rows = listed(*((value,) for value in values))
    other = Column("t1", "v", rows.columns[0].facts)
    assert most_met(rows, ((other, rows.columns[0]),)) == most
    assert most_met(rows, ()) == len(values)


def test_columns_of_several_types_are_refused() -> None:
    for rows in ([(1,), ("a",)], [(None,)], [(True,), (1,)]):
        with pytest.raises(UnsupportedQuery, match="several types"):
            listed(*rows)
