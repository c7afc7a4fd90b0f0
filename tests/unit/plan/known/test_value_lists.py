"""How many values a column can have: counted without being made, and as many as there are."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from dpsql.limits import MOST_LISTED
from dpsql.plan.known.value_lists import column_domain, values_known
from dpsql.plan.nodes import Column, Constant
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver

DAYS = Facts(Type.DATE, date(2024, 1, 1), date(2024, 12, 31))
AGES = Facts(Type.INTEGER, Fraction(1, 2), Fraction(110), nullable=False)

COLUMNS = {
    "days": (Column("t0", "day", DAYS), 366),
    "ages": (Column("t0", "age", AGES), 110),
    "declared": (Column("t0", "city", Facts(Type.TEXT), values=("a", "b")), 2),
    "a flag": (Column("t0", "flag", Facts(Type.BOOLEAN)), 2),
}
resolver = Resolver(lambda _: None, ())
OPEN = {
    "a text": Column("t0", "city", Facts(Type.TEXT)),
    "nobody's end": Column("t0", "day", Facts(Type.DATE, date(2024, 1, 1))),
    "no day": Column("t0", "day", Facts(Type.DATE, date(2024, 1, 2), date(2024, 1, 1))),
    "too many days": Column("t0", "day", Facts(Type.DATE, date(1700, 1, 1), date(2024, 1, 1))),
    "too many numbers": Column("t0", "age", Facts(Type.INTEGER, Fraction(1), Fraction(MOST_LISTED + 1))),
    "the unit": Column("t0", "person", AGES, unit=True),
}


@pytest.mark.parametrize(("column", "count"), COLUMNS.values(), ids=COLUMNS)
def test_as_many_are_counted_as_are_listed(column: Column, count: int) -> None:
    listed = column_domain(column)
    assert listed is not None
    assert (listed[-1] is None) == column.facts.nullable
    assert count == values_known(column, ()) == len([value for value in listed if value is not None])


def test_days_are_listed_as_days_in_order() -> None:
    listed = column_domain(Column("t0", "day", DAYS))
    assert listed is not None
    assert (listed[0], listed[59], listed[-2]) == (date(2024, 1, 1), date(2024, 2, 29), date(2024, 12, 31))


@pytest.mark.parametrize("column", OPEN.values(), ids=OPEN)
def test_what_is_not_known_or_too_many_is_open(column: Column) -> None:
    assert column_domain(column) is None
    assert values_known(column, ()) is None


def test_a_constant_is_one_value_and_null_is_none() -> None:
    facts = Facts(Type.TEXT)
    assert [values_known(Constant(value, facts), ()) for value in ("a", None)] == [1, 0]


def test_a_function_has_no_more_values_than_its_columns_together() -> None:
    city, flag = COLUMNS["declared"][0], COLUMNS["a flag"][0]
    said = resolver.apply("cast:text", (flag,), None)
    both = resolver.apply("||", (city, said), None)
    assert values_known(both, ()) == 4
    assert values_known(resolver.apply("||", (both, city), None), ()) == 4  # a column counts once
    assert values_known(resolver.apply("||", (both, OPEN["a text"]), None), ()) is None
    other = resolver.apply("coalesce", (city, said), None)
    assert values_known(other, ()) == 3 * 3  # NULL, declared or not, makes another value
