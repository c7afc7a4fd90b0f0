"""Random relations of the dialect over small bounded tables, and what one unit's arrival really does to their rows.

The tables stand in for bounded views: within their caps, and otherwise as awkward as a database may be. Keys are unique
within a unit only, so that two units share every one of them; values repeat; columns are NULL. Here the SQL of a
relation comes from the planner and its printer, and its rows from the engine: nothing is asked for its own stability.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import duckdb

from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.printer import Printer
from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.known.groups import switches_of
from dpsql.plan.known.relations import column_of, unit_of
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import Column, Filter, Join, PerUnit, Project, Relation, Scan, Semi, UnionAll
from dpsql.plan.plans import Plan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Facts, Type
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.connected import fill

__all__ = ["CATALOG", "UNITS", "Tables", "columns_of", "planned", "problems", "selected"]

UNITS = (1, 2, 3, 4)
WORLDS = 16
"""Sets of tables: in the first all units fill every cap and share every key; the others are random."""


def _number(name: str, low: int, high: int, multiplicity: int = 0) -> ColumnInfo:
    return ColumnInfo(
        name, Facts(Type.INTEGER, Fraction(low), Fraction(high), step=Fraction(1)), multiplicity=multiplicity
    )


def _text(name: str, *values: str, multiplicity: int = 0) -> ColumnInfo:
    return ColumnInfo(name, Facts(Type.TEXT), values or None, multiplicity=multiplicity)


def _given(column: ColumnInfo) -> ColumnInfo:
    """The same, of a public table in which it is never NULL."""
    return replace(column, facts=replace(column.facts, nullable=False))


def _named(*columns: ColumnInfo) -> dict[str, ColumnInfo]:
    return {column.name: column for column in columns}


PERSON = ColumnInfo("person", Facts(Type.INTEGER, nullable=False), unit=True)
VISIT = ColumnInfo("visit", Facts(Type.INTEGER, nullable=False), link="visits.visit")
TOWNS = [("a", 1), ("b", 1), ("c", 2)]
ZONES = [(1, "x"), (1, "y"), (1, "y"), (2, "x"), (None, "x"), (9, "z")]
CATALOG = Catalog(
    {
        "people": TableInfo(
            "people", _named(PERSON, _number("age", 0, 3), _text("town", "a", "b", "c")), unit="person", key="person",
            rows_per_unit=1,
        ),
        "visits": TableInfo(
            "visits", _named(PERSON, VISIT, _number("cost", -1, 2), _text("ward")), unit="person", key="visit",
            rows_per_unit=3,
        ),
        "items": TableInfo(
            "items", _named(PERSON, VISIT, _number("price", 0, 2)), unit="person", unit_implied=True, rows_per_unit=4
        ),
        "notes": TableInfo(
            "notes", _named(PERSON, _number("grade", 0, 2), _text("ward")), unit="person", rows_per_unit=2
        ),
        "waves": TableInfo(
            "waves", _named(PERSON, _number("wave", 0, 1), _text("part", "a", "b"), _number("score", 0, 2)),
            unit="person", unique=("wave", "part"), rows_per_unit=4,
        ),
        "towns": TableInfo(
            "towns", _named(_given(_text("name", multiplicity=1)), _given(_number("zone", 1, 2, multiplicity=2))),
            public=True, key="name", rows=len(TOWNS),
        ),
        "zones": TableInfo(
            "zones", _named(_number("zone", 1, 9, multiplicity=3), _given(_text("kind", multiplicity=3))), public=True,
            rows=len(ZONES),
        ),
    },
    neighbours="add_remove", policy_file="tests.yaml", version=1,
)  # fmt: skip


def planned(rows: str, catalog: Catalog = CATALOG) -> Relation:
    """The relation of a sub-query's rows.

    Raises:
        UnsupportedQuery: It is refused, or it would be a release of its own.
    """
    statement = parse(f"SELECT COUNT(*) FROM ({rows}) AS q")
    assert isinstance(statement, syntax.QueryStatement)
    plan = resolve_query(statement.select, catalog, (), _no_cells)
    if not isinstance(plan, Plan) or plan.stages:  # several answers put together, or one computed with
        raise UnsupportedQuery("it is a release of its own.", construct="sub-query")
    return plan.relation


def _no_cells(*_: object) -> NoReturn:
    raise UnsupportedQuery("its keys are those of an answer, so it is a release of its own.", construct="sub-query")


def columns_of(relation: Relation) -> list[Column]:
    """Every column that a relation shows."""
    match relation:
        case Scan():
            return [column_of(relation, name) for name in relation.table.columns]
        case Filter() | Semi():
            return columns_of(relation.input)
        case Join():
            return columns_of(relation.left) + columns_of(relation.right)
        case Project():
            names = [(name, expression.facts) for name, expression in relation.columns]
        case UnionAll():
            names = [(name, e.facts) for name, e in zip(relation.names, relation.parts[0][1], strict=True)]
        case PerUnit():
            keys = [(name, expression.facts) for name, expression in relation.keys]
            names = keys + [(value.name, value.facts) for value in relation.values]
    return [Column(relation.alias, name, facts) for name, facts in names]


def selected(relation: Relation, words: Dialect) -> tuple[str, list[Any]]:
    """SQL of a relation's rows in a database's words, each row's own unit first; and its parameters."""
    unit = unit_of(relation)
    shown = [*([unit] if unit is not None else []), *columns_of(relation)]
    printer = Printer(words)
    texts = ", ".join(f"{printer.qualified(column)} AS c{index}" for index, column in enumerate(shown))
    return f"SELECT {texts} {printer.rows(relation)}", list(printer.parameters)


class Tables:
    """The tables of every world in one engine; a unit can be left out of them."""

    def __init__(self) -> None:
        self._engine = duckdb.connect(config={"threads": 1})
        self._known: dict[str, Counter[tuple[Any, ...]]] = {}
        self._engine.execute("ATTACH ':memory:' AS bounded")
        chance = random.Random(7)
        for name, info in CATALOG.tables.items():
            if info.public:
                rows: list[tuple[Any, ...]] = [*(TOWNS if name == "towns" else ZONES)]
            else:
                rows = [row for world in range(WORLDS) for unit in UNITS for row in _rows(name, world, unit, chance)]
            _fill(self._engine, info, rows)
        self._engine.execute("SET VARIABLE gone = 0; PRAGMA disable_optimizer")

    def close(self) -> None:
        """Ends the engine."""
        self._engine.close()

    def rows(self, relation: Relation, world: int, gone: int = 0) -> Counter[tuple[Any, ...]]:
        """The multiset of a relation's rows in one world, perhaps without one unit; each row's own unit comes first."""
        sql, parameters = selected(relation, DUCKDB)
        asked = repr((sql, parameters, world, gone))
        if asked not in self._known:
            self._engine.execute(f"SET VARIABLE world = {world}; SET VARIABLE gone = {gone}")
            self._known[asked] = Counter(self._engine.execute(sql, parameters).fetchall())
        return self._known[asked]

    def keep(self, world: int, file: Path) -> None:
        """Writes the tables of one world into a DuckDB file."""
        self._engine.execute(f"SET VARIABLE world = {world}; SET VARIABLE gone = 0; ATTACH '{file}' AS kept")
        for name in CATALOG.tables:
            self._engine.execute(f"CREATE TABLE kept.main.{name} AS FROM bounded.main.{name}")
        self._engine.execute("DETACH kept")


def _rows(table: str, world: int, unit: int, chance: random.Random) -> Iterator[tuple[Any, ...]]:
    """One unit's rows of a private table, within its caps."""
    cap = CATALOG.tables[table].rows_per_unit
    for at in range(cap if world == 0 else chance.randrange(cap + 1)):
        match table:
            case "people":
                yield world, unit, chance.choice((0, 1, 2, 3, None)), chance.choice("abc" if world else "a")
            case "visits":
                yield world, unit, at, chance.choice((-1, 0, 1, 2, None)), chance.choice(("w", "v", None))
            case "items":
                yield world, unit, chance.randrange(3) if world else 0, chance.choice((0, 1, 2, None))
            case "waves":  # each (wave, part) once
                yield world, unit, at // 2, "ab"[at % 2], chance.choice((0, 1, 2, None))
            case _:
                yield world, unit, chance.choice((0, 1, 2, None)), chance.choice(("w", "v", None))


def _fill(engine: duckdb.DuckDBPyConnection, info: TableInfo, rows: Sequence[tuple[Any, ...]]) -> None:
    wires = {Type.INTEGER: "BIGINT", Type.TEXT: "VARCHAR"}
    columns = ", ".join(f"{column.name} {wires[column.facts.type]}" for column in info.columns.values())
    if info.public:
        engine.execute(f"CREATE TABLE bounded.main.{info.name} ({columns})")
        fill(engine, f"bounded.main.{info.name}", rows)
        return
    engine.execute(f"CREATE TABLE bounded.main.all_{info.name} (world INTEGER, {columns})")
    fill(engine, f"bounded.main.all_{info.name}", rows)
    engine.execute(
        f"CREATE VIEW bounded.main.{info.name} AS SELECT {', '.join(info.columns)} FROM bounded.main.all_{info.name} "
        "WHERE world = getvariable('world') AND person <> getvariable('gone')"
    )


def problems(tables: Tables, relation: Relation, world: int) -> list[str]:
    """What a relation does in one world that its stability does not allow.

    With one unit more, at most `rows_per_unit` rows come or go, and they differ no more than their switches allow.
    Where rows have their unit, they are that unit's rows, none is lost, and no other unit's row changes: what caps of a
    unit's rows rest on.
    """
    most, found = rows_per_unit(relation), []
    everybody = tables.rows(relation, world)
    has_unit = unit_of(relation) is not None
    if has_unit and any(row[0] is None for row in everybody):
        found.append("a row has no unit")
    for unit in UNITS:
        others = tables.rows(relation, world, unit)
        come, gone = everybody - others, others - everybody
        if come.total() + gone.total() > most:
            found.append(f"unit {unit} moves {come.total()} + {gone.total()} rows, and should move {most} at most")
        if has_unit and (gone or any(row[0] != unit for row in come)):
            found.append(f"unit {unit} changes rows of others")
        found += _scattered(relation, [row[int(has_unit) :] for row in come], unit)
    return found


def _scattered(relation: Relation, rows: Sequence[tuple[Any, ...]], unit: int) -> list[str]:
    """Columns, and pairs of them, of which a unit's rows have more values than their switches allow."""
    columns = columns_of(relation)
    switches = {
        place: own for place, column in enumerate(columns) if (own := switches_of(relation, column)) is not None
    }
    return [
        f"unit {unit} has {len(values)} values of {sorted({columns[one].name, columns[two].name})}"
        for one in switches
        for two in switches
        if len(values := {(row[one], row[two]) for row in rows}) > 2 ** len(switches[one] | switches[two])
    ]
