"""Windows over the rows of one unit: what is known of their values, and that nothing follows from where rows stand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

import duckdb
import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import RANK
from dpsql.plan.known.relations import origins, unit_of
from dpsql.plan.nodes import Column, Project, Relation, Scan, Windowed
from dpsql.plan.plans import Plan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.rows.unit_windows import PLACE
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.attacks.relations import CATALOG, columns_of, planned

TIED = (
    "SELECT person, grade, ROW_NUMBER() OVER (PARTITION BY person ORDER BY grade) AS r, "
    "ROW_NUMBER() OVER (PARTITION BY person ORDER BY ward DESC) AS s, LAG(ward) OVER (PARTITION BY person) AS w, "
    "FIRST_VALUE(grade) OVER (PARTITION BY person, ward) AS f, COUNT(*) OVER (PARTITION BY person ORDER BY grade) AS n "
    "FROM notes"
)
"""Windows whose orders leave rows equal, which DuckDB puts in the order in which it comes to them."""


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("ATTACH ':memory:' AS bounded")
        yield connection


def rows_of(engine: duckdb.DuckDBPyConnection, relation: Relation) -> Counter[tuple[Any, ...]]:
    """The multiset of a relation's rows."""
    printer = Printer(DUCKDB)
    shown = ", ".join(printer.qualified(column) for column in columns_of(relation))
    return Counter(engine.execute(f"SELECT {shown} {printer.rows(relation)}", printer.parameters).fetchall())


def stored(engine: duckdb.DuckDBPyConnection, rows: list[tuple[Any, ...]]) -> None:
    """Puts notes where the relation finds them, in this order."""
    engine.execute(f'CREATE OR REPLACE TABLE bounded.main.notes (person INT, grade INT, ward TEXT, "{RANK}" INT)')
    engine.executemany("INSERT INTO bounded.main.notes VALUES (?, ?, ?, ?)", rows)


def ranked(relation: Relation) -> Relation:
    """The same relation, planned where the table's rows have places."""
    notes = CATALOG.tables["notes"]
    assert isinstance(relation, Project)
    assert isinstance(relation.input, Project)
    scan = Scan(replace(notes, ranked=True), "t0")
    place = Column("t0", RANK, dict(relation.input.columns)[PLACE].facts)
    columns = [(name, place if name == PLACE else own) for name, own in relation.input.columns]
    return replace(relation, input=replace(relation.input, input=scan, columns=tuple(columns)))


@pytest.mark.parametrize("stands", ["numbered", "ranked"])
def test_rows_follow_from_their_units_rows_wherever_these_stand(engine: duckdb.DuckDBPyConnection, stands: str) -> None:
    relation = planned(TIED)
    if stands == "ranked":
        relation = ranked(relation)
    chance = random.Random(3)
    kinds = [(grade, ward) for grade in (0, 0, 1, None) for ward in ("v", "w", "w", None)]
    units = {unit: chance.choices(kinds, k=6) for unit in range(20)}
    rows = [(unit, *row, at) for unit, own in units.items() for at, row in enumerate(own)]
    found = list[Counter[tuple[Any, ...]]]()
    for _ in range(6):
        chance.shuffle(rows)
        stored(engine, rows)
        found.append(rows_of(engine, relation))
    assert all(own == found[0] for own in found)
    stored(engine, [row for row in rows if row[0] != 7])
    gone = found[0] - rows_of(engine, relation)
    assert gone.total() == len(units[7])


def test_a_table_whose_rows_have_places_is_not_numbered_again() -> None:
    visits = replace(CATALOG.tables["visits"], ranked=True)
    catalog = replace(CATALOG, tables={**CATALOG.tables, "visits": visits})
    sql = "SELECT cost, LAG(cost) OVER (PARTITION BY person ORDER BY ward) AS before FROM {} WHERE cost > 0"
    for rows, is_stored in (("visits", True), ("(SELECT * FROM visits UNION ALL SELECT * FROM visits) v", False)):
        relation = planned(sql.format(rows), catalog)
        assert isinstance(relation, Project)
        assert isinstance(relation.input, Project)
        place = dict(relation.input.columns)[PLACE]
        assert isinstance(place, Column if is_stored else Windowed)
        if is_stored:
            read = [own for column in columns_of(relation) for own, _ in origins(relation, column)]
            assert {own.name for own in read} == {"cost", "ward", "person"}


@pytest.mark.parametrize(
    ("call", "low", "high", "nullable"),
    [
        ("ROW_NUMBER()", 1, 3, False),
        ("RANK()", 1, 3, False),
        ("DENSE_RANK()", 1, 3, False),
        ("COUNT(*)", 0, 3, False),
        ("COUNT(cost)", 0, 3, False),
        ("LAG(cost)", -1, 2, True),
        ("LEAD(cost, 2, 7)", -1, 7, True),
        ("LAG(cost + 1)", 0, 3, True),
        ("FIRST_VALUE(cost)", -1, 2, True),
        ("MAX(cost)", -1, 2, True),
    ],
)
def test_values_lie_where_a_units_rows_let_them(call: str, low: int, high: int, nullable: bool) -> None:
    rows = f"SELECT {call} OVER (PARTITION BY person ORDER BY cost) AS x FROM visits"
    statement = parse(f"SELECT MAX(x) FROM ({rows}) AS q")
    assert isinstance(statement, syntax.QueryStatement)
    plan = resolve_query(statement.select, CATALOG, (), never)
    assert isinstance(plan, Plan)
    assert plan.aggregates[0].argument is not None
    facts = plan.aggregates[0].argument.facts
    assert (facts.low, facts.high, facts.nullable) == (Fraction(low), Fraction(high), nullable)


def never(*_: object) -> NoReturn:
    raise AssertionError("no public table is read")


@pytest.mark.parametrize("default", ["ward", "lower(ward)", "(SELECT MAX(town) FROM people)"])
def test_what_stands_in_for_no_row_is_a_constant(default: str) -> None:
    """Sail takes nothing else, and would say so after the charge."""
    sql = "SELECT person, LAG(ward, 1, {}) OVER (PARTITION BY person ORDER BY grade) AS before FROM notes"
    assert unit_of(planned(sql.format("'w'"))) is not None
    with pytest.raises(UnsupportedQuery):
        planned(sql.format(default))
