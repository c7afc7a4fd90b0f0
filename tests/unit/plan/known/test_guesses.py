"""How many rows and units are guessed: by facts, by tables with one row a unit, else from the policy's own numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpsql.plan.advised import AdvisedTable, LogHistogram
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.known.guesses import (
    known_units,
    rows_guessed,
    rows_of_a_total,
    rows_said_by,
    share_of_a_unit,
    spread_of_a_total,
    thinned,
    units_guessed,
)
from dpsql.plan.plans import Plan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Facts, Type
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement

UNIT = ColumnInfo("id", Facts(Type.TEXT, nullable=False), unit=True)
COST = ColumnInfo("cost", Facts(Type.INTEGER, Fraction(0), Fraction(100), False, Fraction(1)))
KIND = ColumnInfo("kind", Facts(Type.TEXT, nullable=False), values=("a", "b"))
VISITS = TableInfo("visits", {"id": UNIT, "cost": COST, "kind": KIND}, unit="id", rows_per_unit=16, rows_about=90_000)
PEOPLE = TableInfo("people", {"id": UNIT, "kind": KIND}, unit="id", rows_per_unit=1, rows_about=30_000)
SIZES = LogHistogram(Fraction(1), (10_000, 12_000), 10, 5, 5)
FACTS = AdvisedTable(22_000, 81_000, SIZES)


def planned(sql: str, visits: TableInfo = VISITS) -> Plan:
    statement, catalog = parse(sql), Catalog({"visits": visits, "people": PEOPLE}, "add_remove", "t.yaml", 1)
    assert isinstance(statement, QueryStatement)
    plan = resolve_query(statement.select, catalog, (), lambda *_: ())
    assert isinstance(plan, Plan)
    return plan


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT COUNT(*) FROM visits", 90_000),
        ("SELECT COUNT(*) FROM visits WHERE cost > 5", 90_000),
        ("SELECT COUNT(*) FROM people", 30_000),
        ("SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id)", 22_500),
        ("SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id) WHERE n > 2", 22_500),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT id FROM visits)", 22_500),
        ("SELECT AVG(n) FROM (SELECT id, kind, COUNT(*) AS n FROM visits GROUP BY id, kind)", 38_971),
        ("SELECT COUNT(*) FROM visits JOIN people USING (id)", 90_000),
        ("SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM visits JOIN people USING (id) GROUP BY id)", 22_500),
    ],
)
def test_rows_of_units_are_guessed_as_units(sql: str, rows: int) -> None:
    assert rows_guessed(planned(sql).relation) == rows


@pytest.mark.parametrize(("most", "units"), [(1, 90_000), (4, 45_000), (16, 22_500), (512, 703), (10**6, 1)])
def test_a_cap_on_many_rows_is_thought_to_be_loose(most: int, units: int) -> None:
    relation = planned("SELECT COUNT(*) FROM visits", replace(VISITS, rows_per_unit=most)).relation
    assert units_guessed(relation) == units


@pytest.mark.parametrize(
    ("table", "others", "units"),
    [
        (VISITS, [], None),
        (VISITS, [VISITS], None),
        (VISITS, [VISITS, PEOPLE], 30_000),
        (VISITS, [replace(PEOPLE, rows_about=100_000)], None),  # more people than visits: most of them have none
        (VISITS, [replace(PEOPLE, rows_about=1_000)], None),  # too few for so many visits
        (VISITS, [PEOPLE, replace(PEOPLE, advised=replace(FACTS, units=29_000))], 29_000),
        (replace(VISITS, advised=FACTS), [PEOPLE], 22_000),
        (replace(VISITS, advised=replace(FACTS, units=0)), [PEOPLE], 30_000),
    ],
)
def test_facts_and_tables_with_one_row_a_unit_tell_how_many_units_there_are(
    table: TableInfo, others: list[TableInfo], units: int | None
) -> None:
    assert known_units(table, others) == units


def test_notes_say_whose_number_it_is() -> None:
    of_units = "SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id)"
    assert rows_said_by(planned("SELECT AVG(cost) FROM visits").relation) == "that the policy guesses (rows_about)"
    assert rows_said_by(planned(of_units).relation) == "that rows_about and rows_per_unit make likely"
    known = replace(VISITS, units_known=30_000)
    assert rows_said_by(planned(of_units, known).relation) == "that the policy guesses (rows_about)"
    said = rows_said_by(planned(of_units, replace(known, advised=FACTS)).relation)
    assert said == "that the policy holds (rows_about, the owner's or counted by advise)"


@pytest.mark.parametrize(
    ("value", "apart"),
    [("COUNT(*)", 4), ("SUM(cost)", 4 * math.hypot(100, 30 / 2)), ("AVG(cost)", None), ("MAX(cost)", None)],
)
def test_how_far_totals_of_units_lie_apart_is_guessed_from_their_rows(value: str, apart: float | None) -> None:
    cost = replace(COST, facts=replace(COST.facts, centre=Fraction(100), spread=Fraction(30)))
    known = replace(VISITS, columns={**VISITS.columns, "cost": cost})
    totals = f"(SELECT id, {value} AS n FROM visits GROUP BY id)"
    joined = f"SELECT AVG(n) FROM people JOIN {totals} USING (id)"
    for sql in (f"SELECT AVG(n) FROM {totals}", f"SELECT AVG(n) FILTER (WHERE n > 1) FROM {totals}", joined):
        plan = planned(sql, known)
        argument = plan.aggregates[0].argument
        assert argument is not None
        found = spread_of_a_total(plan.relation, argument)
        assert (found if found is None else float(found)) == (apart if apart is None else pytest.approx(apart))


@pytest.mark.parametrize(
    ("value", "total"), [("COUNT(*)", (4.0, 16, None)), ("SUM(cost)", (4.0, 16, "cost")), ("AVG(cost)", None)]
)
def test_totals_of_units_are_told_from_other_values(value: str, total: tuple[float, int, str | None] | None) -> None:
    plan = planned(f"SELECT MEDIAN(n) FROM (SELECT id, {value} AS n FROM visits GROUP BY id) WHERE n > 1")
    argument = plan.aggregates[0].argument
    assert argument is not None
    found = rows_of_a_total(plan.relation, argument)
    assert (found and (*found[:2], getattr(found[2], "name", None))) == total


@pytest.mark.parametrize(
    ("sql", "share"),
    [
        ("SELECT COUNT(*) FROM visits", 1.0),
        ("SELECT COUNT(*) FROM visits WHERE kind = 'a'", 0.5),
        ("SELECT COUNT(*) FROM people WHERE kind = 'a'", 1.0),
        ("SELECT COUNT(*) FROM visits JOIN people USING (id) WHERE people.kind = 'a'", 1.0),
        ("SELECT COUNT(*) FROM visits JOIN people USING (id) WHERE people.kind = 'a' AND visits.kind = 'a'", 0.5),
    ],
)
def test_conditions_on_units_leave_all_rows_of_a_unit_or_none(sql: str, share: float) -> None:
    assert share_of_a_unit(planned(sql).relation) == share


def test_of_units_with_a_row_left_there_is_one_at_least() -> None:
    assert thinned(12, 1 / 6) == pytest.approx(2 / (1 - math.exp(-2)))
    assert [thinned(0.2, 1.0), thinned(1, 0.01), thinned(5, 0.0)] == pytest.approx([1, 1.005, 1], rel=1e-3)
