"""Caps at query time keep the rows that plain Python keeps, and no unit's rows decide which of another's stay."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsql.engine import capped, ranked
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import UnitRows, cut_groups, cut_rows, stored_ranks, with_least_rank
from dpsql.engine.rows import ValueColumn
from dpsql.owner.building.caps import one_of_each, placed
from dpsql.plan.catalog import RANK, ColumnInfo, TableInfo
from dpsql.plan.known.relations import column_of
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Column, Filter, Join, PerUnit, Relation, Scan, UnitValue
from dpsql.plan.types import Facts, Grid, Type
from tests.connected import fill

KEY = b"a secret"
Row = tuple[Any, ...]
TABLES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["a", "b", "c", None]), st.one_of(st.none(), st.integers(0, 5))),
    max_size=40,
)
CASES = settings(deadline=None, suppress_health_check=list(HealthCheck))
FORMS = {
    "whole": (True, True, True),
    "lies": (True, True, False),
    "joined": (True, False, False),
    "hashed": (False,) * 3,
}
"""Of each form of the rows: whether they have ranks, lie in order, and are all rows of a table."""


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """An engine with an empty bounded database."""
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS bounded")
        yield connection


def filled(engine: duckdb.DuckDBPyConnection, rows: Sequence[Row]) -> list[Row]:
    """Builds the bounded table ``t`` of (unit, key, value) as the owner's process does; its rows with their ranks."""
    engine.execute("CREATE OR REPLACE TABLE given (u BIGINT, k0 VARCHAR, x0 BIGINT)")
    fill(engine, "given", rows)
    engine.execute("DROP TABLE IF EXISTS bounded.main.t")
    database = DuckDBDatabase(engine, KEY.hex())
    names = ["u", "k0", "x0"]
    with database.scratch(placed("SELECT * FROM given", names, "u", [], DUCKDB)) as rows_with_places:
        database.create("t", one_of_each(rows_with_places, names, "u", [], DUCKDB), ["u", RANK])
    return engine.execute("SELECT * FROM bounded.main.t").fetchall()


def rows_of(form: str, where: str = "TRUE") -> UnitRows:
    """The table's rows in one of `FORMS`."""
    has_ranks, lie, whole = FORMS[form]
    sql = f'SELECT u AS "u", k0 AS "k0", x0 AS "x0", "{RANK}" AS "r0" FROM bounded.main.t WHERE {where}'
    return UnitRows(sql, '"u"', ['"u"', '"k0"', '"x0"'], ['"r0"'] if has_ranks else [], lie, whole)


def found(engine: duckdb.DuckDBPyConnection, printer: Printer, rows: UnitRows) -> list[Row]:
    """What a statement reads."""
    values: list[Row] = engine.execute(rows.sql, printer.parameters).fetchall()
    return values


def of_units(rows: Sequence[Row]) -> dict[int, list[Row]]:
    """Each unit's rows, in the order of their ranks."""
    units: dict[int, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row[0], row[3])):
        units[row[0]].append(row)
    return units


@CASES
@given(rows=TABLES, most=st.integers(1, 5), form=st.sampled_from(["whole", "lies", "joined"]))
def test_a_cap_of_rows_keeps_the_first_by_their_ranks(
    engine: duckdb.DuckDBPyConnection, rows: list[Row], most: int, form: str
) -> None:
    held, where = filled(engine, rows), "TRUE" if form == "whole" else "x0 >= 2"
    counted = [row for row in held if form == "whole" or (row[2] is not None and row[2] >= 2)]
    expected = [row for own in of_units(counted).values() for row in own[:most]]
    printer = Printer(DUCKDB)
    assert Counter(found(engine, printer, cut_rows(printer, rows_of(form, where), (), most, KEY))) == Counter(expected)


@CASES
@given(rows=TABLES, most=st.integers(1, 3))
def test_a_cap_of_groups_keeps_those_of_the_first_rows(
    engine: duckdb.DuckDBPyConnection, rows: list[Row], most: int
) -> None:
    expected = []
    for own in of_units(filled(engine, rows)).values():
        first = list(dict.fromkeys(row[1] for row in own))[:most]
        expected += [row for row in own if row[1] in first]
    printer = Printer(DUCKDB)
    cut = cut_groups(printer, rows_of("whole"), ['"k0"'], most, KEY)
    assert Counter(found(engine, printer, cut)) == Counter(expected)


@CASES
@given(rows=TABLES, most=st.integers(1, 3), gone=st.integers(0, 4), form=st.sampled_from(sorted(FORMS)))
def test_no_unit_decides_which_rows_of_another_stay(
    engine: duckdb.DuckDBPyConnection, rows: list[Row], most: int, gone: int, form: str
) -> None:
    def kept() -> list[list[Row]]:
        answers = []
        cuts: tuple[Callable[[Printer], UnitRows], ...] = (
            lambda p: cut_rows(p, rows_of(form), (), most, KEY),
            lambda p: cut_rows(p, rows_of(form), ['"k0"'], most, KEY),
            lambda p: cut_groups(p, rows_of(form), ['"k0"'], most, KEY),
            lambda p: cut_groups(p, cut_rows(p, rows_of(form), (), most + 2, KEY), ['"k0"'], most, KEY),
        )
        for cut in cuts:
            printer = Printer(DUCKDB)
            answers.append(found(engine, printer, cut(printer)))
        return answers

    filled(engine, rows)
    whole = kept()
    filled(engine, [row for row in rows if row[0] != gone])
    for before, after in zip(whole, kept(), strict=True):
        assert Counter(row for row in before if row[0] != gone) == Counter(after)
    for row in Counter(row[0] for row in whole[0]).values():
        assert row <= most
    assert all(count <= most for count in Counter((row[0], row[1]) for row in whole[1]).values())
    groups = {(row[0], row[1]) for row in whole[2]}
    assert all(count <= most for count in Counter(unit for unit, _ in groups).values())


@CASES
@given(rows=TABLES, form=st.sampled_from(["lies", "joined"]))
def test_classes_of_ranks_are_told_by_looking_back_as_by_counting(
    engine: duckdb.DuckDBPyConnection, rows: list[Row], form: str
) -> None:
    held = filled(engine, rows)
    counted = [row for row in held if row[2] is not None]
    expected: Counter[Row] = Counter()
    for own in of_units(counted).values():
        for place, row in enumerate(own, 1):
            expected[row, 0 if place <= 1 else 1 if place <= 3 else 2, place == len(own)] += 1
    printer = Printer(DUCKDB)
    text, rank, ends = ranked.ranked(printer, rows_of(form, "x0 IS NOT NULL"), (1, 3), KEY)
    sql = f'SELECT "u", "k0", "x0", "r0", {rank}, {ends} IS NOT NULL FROM ({text}) AS q'
    got = Counter((row[:4], row[4], row[5]) for row in engine.execute(sql, printer.parameters).fetchall())
    assert got == expected


@pytest.mark.parametrize("order", ["u DESC, r", "u, r DESC", "r, u"])
def test_rows_that_do_not_lie_in_order_have_no_answer(engine: duckdb.DuckDBPyConnection, order: str) -> None:
    engine.execute(
        f"CREATE OR REPLACE TABLE bounded.main.t AS SELECT u, 'a' AS k0, 1 AS x0, r AS \"{RANK}\" "
        f"FROM range(3) AS one(u), range(1, 4) AS other(r) ORDER BY {order}"
    )
    printer = Printer(DUCKDB)
    for sql in (
        cut_rows(printer, rows_of("lies"), (), 2, KEY).sql,
        ranked.ranked(printer, rows_of("lies"), (1, 2), KEY)[0],
    ):
        with pytest.raises(duckdb.InvalidInputException, match="do not lie in order"):
            engine.execute(sql, printer.parameters or None).fetchall()


OWN = ColumnInfo("u", Facts(Type.INTEGER, nullable=False), unit=True)
KIND = ColumnInfo("k0", Facts(Type.TEXT))
GIVEN = Scan(TableInfo("t", {"u": OWN, "k0": KIND}, unit="u", rows_per_unit=40, ranked=True), "t0")


@CASES
@given(rows=TABLES, most=st.integers(1, 3))
def test_rows_of_a_sub_query_come_in_the_order_of_the_first_row_of_each(
    engine: duckdb.DuckDBPyConnection, rows: list[Row], most: int
) -> None:
    expected: Counter[Row] = Counter()
    for unit, own in of_units(filled(engine, rows)).items():
        groups = Counter(row[1] for row in own)
        expected.update((unit, groups[group]) for group in list(groups)[:most])
    keys = (("unit", column_of(GIVEN, "u")), ("k0", column_of(GIVEN, "k0")))
    counts = Facts(Type.INTEGER, Fraction(0), Fraction(40))
    relation = PerUnit(GIVEN, "q", keys, (UnitValue("v0", "count_rows", None, counts),))
    source = Source(relation, (), Contribution(most, 1, most), cap_rows=True)
    printer = Printer(DUCKDB)
    value = ValueColumn(Column("q", "v0", counts), Grid(Fraction(1), 0, 40))
    held = capped.cut(printer, capped.unit_rows(printer, source, [value]), source, KEY)
    assert held.ranks and KEY.hex() not in printer.parameters  # nothing is hashed
    sql = f'SELECT "u", "x0" FROM ({held.sql}) AS q'
    assert Counter(engine.execute(sql, printer.parameters or None).fetchall()) == expected


UNIT = ColumnInfo("person", Facts(Type.INTEGER, nullable=False), unit=True)
VISITS = TableInfo("visits", {"person": UNIT}, unit="person", rows_per_unit=12, ranked=True)
PEOPLE = TableInfo("people", {"person": UNIT}, unit="person", rows_per_unit=1)
ITEMS = replace(VISITS, name="items", rows_per_unit=40)
CITIES = TableInfo(
    "cities",
    {
        "name": ColumnInfo("name", Facts(Type.TEXT), multiplicity=1),
        "land": ColumnInfo("land", Facts(Type.TEXT), multiplicity=9),
    },
    public=True,
    rows=20,
)


def test_a_row_of_a_join_is_told_by_the_ranks_of_its_parts() -> None:
    def on(left: Relation, right: Scan, column: str) -> Join:
        return Join(left, right, ((column_of(Scan(VISITS, "v"), "person"), column_of(right, column)),))

    visits, people, items = Scan(VISITS, "v"), Scan(PEOPLE, "p"), Scan(ITEMS, "i")
    cities = Scan(CITIES, "c")

    def names(relation: Relation) -> list[str] | None:
        found = stored_ranks(relation)
        return None if found is None else [f"{column.alias}.{column.name}" for column in found]

    assert names(visits) == names(on(visits, people, "person")) == ["v.$rank"]
    assert names(on(visits, items, "person")) == ["i.$rank", "v.$rank"]  # the larger table first
    assert names(on(visits, cities, "name")) == ["v.$rank"]  # at most one city a visit
    assert names(on(visits, cities, "land")) is None  # several: ranks do not tell the rows apart
    assert names(people) is None  # a cap never cuts one row
    own = PerUnit(visits, "q", (("person", column_of(visits, "person")),), ())
    assert names(own) is None and with_least_rank(own) == own  # of one row a unit
    assert names(Scan(replace(VISITS, ranked=False), "v")) is None
    assert names(Filter(visits, column_of(visits, "person"))) == ["v.$rank"]
