"""Where an argument lies if a function of it lies in a range, against every day, hour and number of a stretch."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.functions.dates import DATES
from dpsql.plan.functions.table import Function
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Apply, Column, Constant, Expression
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.inverse import argument_within
from dpsql.plan.values.steps import NOTHING
from tests.attacks.test_what_is_narrowed import ends

FROM, MANY = datetime(2023, 12, 20), 80
RISING = [function for function in FUNCTIONS if function.rises and Type.REAL not in function.parameters]
OTHERS: dict[Type, tuple[object, ...]] = {Type.TEXT: ("week", "month", "hour"), Type.INTEGER: (-40, 3)}


def _moving(function: Function) -> int:
    """Which argument is no constant here."""
    return 1 if function.parameters[0] is Type.TEXT else 0


def _points(kind: Type) -> list[Any]:
    if kind is Type.INTEGER:
        return list(range(-MANY, MANY))
    if kind is Type.DATE:
        return [(FROM + timedelta(days=k)).date() for k in range(MANY)]
    return [FROM + timedelta(hours=7 * k) for k in range(MANY)]


def _applied(function: Function) -> Iterator[Apply]:
    at = _moving(function)
    kind = function.parameters[at]
    points = _points(kind)
    low, high = (Fraction(end) if kind is Type.INTEGER else end for end in (points[0], points[-1]))
    column = Column("t", "c", Facts(kind, low, high))
    (other,) = (*(p for k, p in enumerate(function.parameters) if k != at), None)[:1]
    for value in (None,) if other is None else OTHERS[other]:
        arguments: list[Expression] = [column]
        if other is not None:
            own = Fraction(value) if isinstance(value, int) else None
            arguments.insert(1 - at, Constant(value, Facts(other, own, own)))  # type: ignore[arg-type]  # a text or number
        yield Apply(function, tuple(arguments), Facts(function.result))


def _at(applied: Apply, point: Any) -> Any:
    """Its value, as its rule has it."""
    place = Interval.point(point) if isinstance(point, int) else (point, point)
    ranges = [place if isinstance(a, Column) else _constant(a) for a in applied.arguments]
    found = applied.function.bounds(tuple(ranges), (True,) * len(ranges))
    ends = (found.low, found.high) if isinstance(found, Interval) else found
    assert ends[0] == ends[1]
    return ends[0]


def _constant(argument: Expression) -> Any:
    assert isinstance(argument, Constant)
    return Interval.point(argument.value) if isinstance(argument.value, int) else argument.value


@pytest.mark.parametrize("function", RISING, ids=lambda own: f"{own.name}({own.parameters[_moving(own)].value})")
def test_an_argument_lies_where_its_function_lies_in_a_range(function: Function) -> None:
    for applied in _applied(function):
        points = _points(function.parameters[_moving(function)])
        values = [_at(applied, point) for point in points]
        if values[0] > values[-1]:  # times a negative number
            assert argument_within(applied, Interval(values[9], None)) is None
            continue
        assert values == sorted(values)
        numbers = function.result is Type.INTEGER
        for low, high in ((values[9], values[30]), (values[20], values[20]), (None, values[15]), (values[50], None)):
            found = argument_within(applied, Interval(low, high) if numbers else (low, high))
            assert found is not None
            first, last = (found[1].low, found[1].high) if isinstance(found[1], Interval) else found[1]
            for point, value in zip(points, values, strict=True):
                inside = (low is None or low <= value) and (high is None or value <= high)
                assert (first <= point <= last) is inside


def test_where_no_value_lies_in_a_range_no_argument_does() -> None:
    day = next(f for f in DATES if f.name == "date_trunc" and f.parameters[1] is Type.TIMESTAMP)
    column = Column("t", "c", Facts(Type.TIMESTAMP, FROM, datetime(2024, 12, 31)))
    truncated = Apply(day, (Constant("day", Facts(Type.TEXT)), column), Facts(Type.TIMESTAMP))
    noon = datetime(2024, 3, 1, 12)
    assert argument_within(truncated, (noon, noon)) == (column, NOTHING)
    assert argument_within(truncated, NOTHING) == (column, NOTHING)
    unknown = Apply(day, (Constant("day", Facts(Type.TEXT)), Column("t", "c", Facts(Type.TIMESTAMP))), truncated.facts)
    assert argument_within(unknown, (noon, None)) is not None


def test_beside_another_column_nothing_is_known() -> None:
    plus = next(f for f in FUNCTIONS if f.name == "+" and f.result is Type.INTEGER)
    column = Column("t", "c", Facts(Type.INTEGER, Fraction(0), Fraction(9)))
    assert argument_within(Apply(plus, (column, column), Facts(Type.INTEGER)), Interval.point(4)) is None


def test_of_a_function_that_is_not_said_to_rise_nothing_is_known() -> None:
    month = next(f for f in DATES if f.name == "month")
    applied = Apply(
        month, (Column("t", "c", Facts(Type.DATE, date(2024, 1, 1), date(2024, 12, 31))),), Facts(Type.INTEGER)
    )
    assert argument_within(applied, Interval.point(3)) is None


NARROWED = {
    "SELECT SUM(x) FROM t WHERE x * 2 + 1 > 2 AND 3 + x < 6": (1, 2),
    "SELECT SUM(x) FROM t WHERE x * -2 > 2": (-3, 3),
    "SELECT SUM(x) FROM t WHERE epoch_ms(x * 1000) >= TIMESTAMP '1970-01-01 00:00:01'": (1, 3),
    "SELECT SUM(date_diff('day', DATE '2024-01-01', d)) FROM t WHERE date_trunc('month', d) = '2024-02-01'": (31, 59),
    "SELECT SUM(date_diff('day', DATE '2024-01-01', d)) FROM t WHERE year(d + 10) > 2024": (356, 365),
    "SELECT SUM(date_diff('day', DATE '2024-01-01', d)) FROM t WHERE year(d) < 2024": (0, 365),  # no row passes
    "SELECT SUM(date_diff('day', DATE '2024-01-01', d)) FROM t WHERE d + x > '2024-12-30'": (0, 365),
}


@pytest.mark.parametrize("sql", NARROWED)
def test_a_condition_on_a_function_narrows_its_column(sql: str) -> None:
    assert ends(sql) == NARROWED[sql]
