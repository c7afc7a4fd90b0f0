"""Guesses of what conditions leave: between none and all, by what is declared, and never more than without them."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.known.guesses import rows_guessed, rows_left
from dpsql.plan.known.relations import predicates
from dpsql.plan.known.selectivity import share_left
from dpsql.plan.plans import Plan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Facts, Type
from dpsql.sql import syntax
from dpsql.sql.parse import parse

COLUMNS = (
    ColumnInfo("person", Facts(Type.TEXT, nullable=False), unit=True),
    ColumnInfo("age", Facts(Type.INTEGER, Fraction(0), Fraction(120), step=Fraction(1))),
    ColumnInfo("cost", Facts(Type.REAL, Fraction(0), Fraction(5_000), step=Fraction(1, 100))),
    ColumnInfo("region", Facts(Type.TEXT, nullable=False), values=("north", "south", "west")),
    ColumnInfo("visited", Facts(Type.DATE, date(2024, 1, 1), date(2024, 12, 31))),
    ColumnInfo("note", Facts(Type.TEXT)),
    ColumnInfo("active", Facts(Type.BOOLEAN, nullable=False)),
)
PEOPLE = TableInfo("people", {own.name: own for own in COLUMNS}, unit="person", rows_per_unit=1, rows_about=30_000)

WHERE = {
    # of so many declared values, and of bounds that are whole numbers, one is as frequent as the others
    "region = 'north'": 1 / 3,
    "'north' = region": 1 / 3,
    "region IN ('north', 'south')": 2 / 3,
    "region IN ('north', 'north')": 1 / 3,
    "region <> 'north'": 2 / 3,
    "NOT region = 'north'": 2 / 3,
    "NOT note LIKE 'x%'": 0.9,
    "NOT age < 90": 0.25,
    "age = 40": 1 / 121,
    "region = 'north' OR age = 40": 1 / 3 + 1 / 121,
    "region = 'north' AND age = 40": 1 / 3 / 121,
    "region = 'north' AND region = 'north'": 1 / 3,
    # values lie nearer to the lower bound than to the upper one
    "age < 60": 0.5,
    "age <= 90": 0.75,
    "age > 60": 0.4,
    "60 < age": 0.4,
    "age >= 90": 0.25,
    "age >= 0": 1.0,
    "age >= 120": 0.02,
    "age BETWEEN 30 AND 90": 0.4 * 0.75,
    # few are in a narrow range
    "age BETWEEN 40 AND 43": (3 / 120) ** 0.5,
    "age < 43 AND region = 'north' AND 40 < age": (3 / 120) ** 0.5 / 3,
    "NOT age BETWEEN 40 AND 43": 1 - (3 / 120) ** 0.5,
    # days lie evenly
    "visited >= DATE '2024-10-01'": 1 - 274 / 365,
    "visited < DATE '2024-10-01'": 274 / 365,
    "visited >= DATE '2024-10-01' AND visited < DATE '2024-11-01'": 31 / 365,
    "visited BETWEEN DATE '2024-10-01' AND DATE '2024-10-31'": 30 / 365,
    # of what nothing is known
    "note = 'x'": 0.04,
    "note IN ('x', 'y')": 0.08,
    "note LIKE 'x%'": 0.1,
    "note IS NULL": 0.1,
    "note IS NOT NULL": 1.0,
    "age % 7 = 3": 1 / 8,
    "age > cost": 0.5,
    "active": 0.5,
}


def _plan(sql: str) -> Plan:
    statement = parse(sql)
    assert isinstance(statement, syntax.QueryStatement)
    plan = resolve_query(statement.select, Catalog({"people": PEOPLE}, "add_remove", "t.yaml", 1), (), lambda *_: ())
    assert isinstance(plan, Plan)
    return plan


@pytest.mark.every(2)
@pytest.mark.parametrize("condition", WHERE)
def test_a_condition_leaves_the_share_that_is_declared(condition: str) -> None:
    relation = _plan(f"SELECT COUNT(*) FROM people WHERE {condition}").relation
    assert share_left(predicates(relation)) == pytest.approx(WHERE[condition])


def test_rows_are_left_by_where_and_by_filter_and_one_at_least() -> None:
    plan = _plan("SELECT SUM(cost) FILTER (WHERE region = 'north') FROM people WHERE age >= 90")
    every = rows_guessed(plan.relation)
    assert rows_left(plan.relation) == round(every / 4)
    assert rows_left(plan.relation, plan.aggregates[0].argument) == round(every / 12)
    few = _plan("SELECT COUNT(*) FROM people WHERE age = 1 AND note = 'x' AND region = 'north' AND note LIKE 'a'")
    assert rows_left(few.relation) == 1
