"""Building one version of the bounded tables, table by table. Runs in the owner's process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpsql.engine.database import Database, Makes, SourceTable
from dpsql.engine.dialect import Dialect
from dpsql.owner.building import public
from dpsql.owner.building.again import Again, Heard, rests_on
from dpsql.owner.building.appended import appended, together
from dpsql.owner.building.bounded import ColumnReading, listed, reading, wire_of
from dpsql.owner.building.by_rank import stored_ranks, sums_by_rank
from dpsql.owner.building.by_size import days_by_size, rows_by_size, sizes_by_day, sizes_of_rows, totals_by_size
from dpsql.owner.building.caps import first_rows, one_of_each, placed
from dpsql.owner.building.classes import build_classes
from dpsql.owner.building.every_unit import require_every_unit
from dpsql.owner.building.facts import public_table, with_lists
from dpsql.owner.building.numbered import carried, listed_place
from dpsql.owner.building.one_pass import first_of_a_place, in_parts, one_pass, totals_in_parts, unit_by_unit
from dpsql.owner.building.open_days import stored_days
from dpsql.owner.building.owners import Owners, require_one_unit_type
from dpsql.owner.building.totals import stored_totals, totals_order, totals_rows
from dpsql.owner.building.value_counts import counted_values, stored_counts
from dpsql.owner.shape import AttributeShape, ColumnShape, Shape, TableShape, UniverseShape
from dpsql.owner.under_way import under_way
from dpsql.plan.catalog import COUNTS, RANK, SIZES, place_name

__all__ = [
    "Kept",
    "Report",
    "build_private",
    "build_tables",
    "capped_rows",
    "cleaned_columns",
    "kept_rows",
    "universe_rows",
]

Report = Callable[[str, float], None]
STORED = 0.9
"""Share of a table's building that is done when its totals begin. It is a choice: about what it is."""


def build_tables(
    database: Database,
    shape: Shape,
    report: Report,
    records: list[str] | None = None,
    into: Path = Path(),
    again: Again | None = None,
) -> dict[str, Any]:
    """Makes the bounded tables, and returns the facts of the public ones by name.

    Metrics see rows of their own (`universe_rows`), beside the tables that all other answers read.

    Args:
        database: Where no bounded table is yet.
        shape: What to build.
        report: Told each public step and the share done.
        records: The earlier records of classes, where the shape has classes; None where they are lost.
        into: The version's directory.
        again: What may stand again.

    Raises:
        PolicyError: If shape and source disagree, or a table has not one row for every unit where it says so.
    """
    sources = {table.name: table.of(database) for table in shape.tables}
    require_one_unit_type(shape, sources)
    owners = Owners(shape, sources)
    require_every_unit(database, shape, sources, owners)
    words = {table.name: shape.digest_of(table.name) for table in shape.tables}
    build = _Build(database, shape, sources, owners, again or Again(), words)
    facts, listing = {}, {}
    ordered = sorted(shape.tables, key=lambda table: not table.public)  # domains come from public tables
    for place, table in enumerate(ordered):
        report(f"building {table.name}", place / len(ordered))
        if table.public:
            facts[table.name] = build.public(table)
            listing[table.name] = public_table(table.name, facts[table.name])
        else:
            build.private(with_lists(table, listing), report, place / len(ordered), 1 / len(ordered))
    for universe in shape.universes:
        build.universe(universe)
    if shape.classes is not None:
        report("sorting units into classes", 1.0)
        build_classes(database, shape, sources[shape.classes.table], owners, records, into)
    report("done", 1.0)
    return facts


@dataclass(frozen=True, slots=True)
class _Build:
    """The tables of one version: each is made, or stands again."""

    database: Database
    shape: Shape
    sources: Mapping[str, SourceTable]
    owners: Owners
    again: Again
    words: Mapping[str, str]  # By table, a hash of the policy's words on it.

    def public(self, table: TableShape) -> Any:
        """Copies a public table; its facts."""
        select, types = public.copied(self.database, table, self.sources[table.name])
        if self._stands(table.name, table, [select], {table.name: []}):
            return self.again.public[table.name]
        self.database.create(table.name, select)
        return public.described(self.database, table.name, types)

    def private(self, table: TableShape, report: Report, start: float, part: float) -> None:
        """Makes a private table, and what each unit has there in all: a part of the whole that starts at a share."""
        heard, source = Heard(self.database.dialect), self.sources[table.name]
        build_private(heard, table, source, self.owners)
        self._totals(heard, table, lambda _: None)
        new = self._new_files(table)
        if not self._stands(table.name, table, heard.said, heard.orders):
            told = partial(self._told, table, report, start, part * STORED)
            with under_way(self.database.done, told):
                if not new or not self._appended(table, new):
                    build_private(self.database, table, source, self.owners)
            self._totals(self.database, table, lambda step: report(step, start + part * STORED))

    def _new_files(self, table: TableShape) -> list[str]:
        """The files whose rows may be appended to those of the version before, which then is all that changed.

        A chain of keys finds other units for old rows where its own tables grow, and what comes in no order has none.
        """
        words, source = self.database.dialect, self.sources[table.name]
        if table.via is not None or not words.counts:
            return []
        heard = Heard(words)
        build_private(heard, table, *self._of(table, "$files"))
        types = [[name, kind.name, kind.family, kind.places, kind.zoned] for name, kind in source.types.items()]
        return self.again.new_files(self.database, table.name, [heard.said, types], self._rests(table))

    def _appended(self, table: TableShape, files: Sequence[str]) -> bool:
        """Makes a private table of its rows in the version before and those of new files; False where it cannot be."""
        database, whole = self.database, self.sources[table.name]
        new = [table.of(database, file) for file in files]
        if self.again.place is None or any(one.types != whole.types for one in new):
            return False
        words, (source, owners) = database.dialect, self._of(table, together(new))
        cleaned, names = _cleaned_rows(table, source, owners, words)

        def make(earlier: Callable[[str], str]) -> None:
            stored = earlier(table.name)
            with database.scratch(cleaned) as rows:
                sql = appended(stored, rows, names, table, words)
                unit = words.quoted(str(table.unit))
                units = f"SELECT {unit} FROM {stored} AS b UNION ALL SELECT {unit} FROM {rows} AS n"
                parts = in_parts(units, table, replace(source, typed=True))
                database.create(table.name, sql, _order(table), first_of_a_place(names, table, words), parts)

        return database.again([table.name], self.again.place, make)

    def _of(self, table: TableShape, rows: str) -> tuple[SourceTable, Owners]:
        """The source of a table, and whose each row is, where its rows are those of other SQL behind FROM."""
        source = replace(self.sources[table.name], sql=rows)
        return source, Owners(self.shape, {**self.sources, table.name: source})

    @staticmethod
    def _told(table: TableShape, report: Report, start: float, part: float, done: float) -> None:
        report(f"building {table.name}", start + part * done)

    def _totals(self, database: Makes, table: TableShape, report: Callable[[str], None]) -> None:
        words, counting = database.dialect, database.counting
        if counting is not None and (counts := stored_counts(table)) is not None:
            report(f"counting values of {table.name}")
            database.create(counts.name, counted_values(table, counts, words), COUNTS[:2])
        if counting is not None and (ranks := stored_ranks(table)) is not None:
            report(f"adding up {table.name} by rank")
            database.create(ranks.name, sums_by_rank(table, ranks, words), [RANK])
        if counting is not None and (sizes := sizes_of_rows(table)) is not None:
            report(f"adding up {table.name}")
            order = [SIZES[0], *(place_name(key) for key, _ in sizes.keys), SIZES[1]]
            database.create(sizes.name, rows_by_size(table, sizes, words), order)
        for totals in stored_totals(table):
            report(f"adding up {table.name}")
            order = totals_order(table, totals, words)
            parts = totals_in_parts(table, words)
            database.create(totals.name, totals_rows(table, totals, words), order, parts=parts)
            if counting is not None and totals.sizes is not None:
                counting.create_by_size(totals.sizes.name, totals_by_size(table, totals, totals.sizes, words))
        if counting is None:
            return
        for days in sizes_by_day(table):
            report(f"adding up {table.name} by day")
            counting.create_by_size(days.name, days_by_size(table, days, words))
        for own in stored_days(table):
            report(f"counting days of {table.name}")
            counting.create_by_day(own.name, table.name, own.column)

    def universe(self, universe: UniverseShape) -> None:
        """Makes the rows of a table as a metric sees them."""
        table = self.shape.table(universe.table)
        select = universe_rows(universe, table, self.sources[table.name])
        if not self._stands(universe.name, table, [select], {universe.name: []}):
            self.database.create(universe.name, select)

    def _stands(self, name: str, table: TableShape, said: Sequence[Any], orders: Mapping[str, Sequence[str]]) -> bool:
        """Whether what is made of a table by this SQL stands again."""
        return self.again.stands(self.database, name, said, self._rests(table), orders)

    def _rests(self, table: TableShape) -> dict[str, str]:
        """What a table rests on, each with a hash of the policy's words on it."""
        return {one: self.words[one] for one in rests_on(self.shape, table)}


def build_private(database: Makes, table: TableShape, source: SourceTable, owners: Owners) -> None:
    """Writes one bounded table: clean the rows of each unit, keep one per key, then at most the cap per unit."""
    words, unit = database.dialect, str(table.unit)
    if words.counts:
        places = carried(table) if table.numbered else []
        cleaned, names = _cleaned_rows(table, source, owners, words, places)
        rows = one_pass(cleaned, names, table, words, places) if table.numbered else unit_by_unit(cleaned, unit, words)
        parts = in_parts(cleaned, table, source)
        database.create(table.name, rows, _order(table), first_of_a_place(names, table, words), parts)
        return
    with kept_rows(database, table, source, owners) as kept:
        database.create(table.name, capped_rows(table, kept, words), _order(table))


def _order(table: TableShape) -> list[str]:
    """The columns in whose order a bounded table lies: a unit's rows together, as caps keep them."""
    return [str(table.unit), *([RANK] if table.rows_per_unit > 1 else [])]


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of each unit before the cap.

    Attributes:
        sql: What to write after FROM, before an alias.
        names: Its columns.
        placed: Whether each has its place within its unit, `RANK`.
    """

    sql: str
    names: list[str]
    placed: bool


@contextmanager
def kept_rows(database: Makes, table: TableShape, source: SourceTable, owners: Owners) -> Iterator[Kept]:
    """The cleaned rows of a private table, one per key of a unit, for the time of a block."""
    words, unit, key = database.dialect, str(table.unit), table.keys
    cleaned, names = _cleaned_rows(table, source, owners, words)
    with ExitStack() as steps:
        if table.rows_per_unit > 1:
            placed_rows = steps.enter_context(database.scratch(placed(cleaned, names, unit, key, words)))
            one = f"({one_of_each(placed_rows, names, unit, key, words)})"
            yield Kept(one, [*names, RANK], placed=True)
        else:  # one row of a unit has no place, and most are never hashed
            kept = steps.enter_context(database.scratch(cleaned))
            if set(key) - {unit}:
                one = first_rows(kept, names, list(dict.fromkeys([unit, *key])), 1, words)
                kept = steps.enter_context(database.scratch(one))
            yield Kept(kept, names, placed=False)


def _cleaned_rows(
    table: TableShape, source: SourceTable, owners: Owners, words: Dialect, places: Sequence[ColumnShape] = ()
) -> tuple[str, list[str]]:
    """SQL of a private table's rows that have a unit and a key, cleaned, with their units; and its columns.

    Some columns, all with a list of values, may hold the places of these in the list.
    """
    rows, unit = owners.rows(table), str(table.unit)
    columns = {unit: rows.unit} | cleaned_columns(table, source, owners)
    for column in places:
        columns[column.name] = listed_place(column, column_reading(table, column, source).parsed, words)
    select = ", ".join(f"{sql} AS {words.quoted(name)}" for name, sql in columns.items())
    needed = " AND ".join(f"{words.quoted(name)} IS NOT NULL" for name in (unit, *table.keys))
    return f"SELECT * FROM ({words.once}SELECT {select} FROM {rows.sql}) AS r WHERE {needed}", list(columns)


def capped_rows(table: TableShape, kept: Kept, words: Dialect) -> str:
    """SQL of the bounded table's rows, of those kept.

    A key is unique within each unit, which plans rely on, and the unit itself is so only in one row.
    """
    if kept.placed:
        return f"SELECT * FROM {kept.sql} AS k WHERE {words.quoted(RANK)} <= {table.rows_per_unit}"
    return first_rows(kept.sql, kept.names, [str(table.unit)], table.rows_per_unit, words)


def cleaned_columns(table: TableShape, source: SourceTable, owners: Owners) -> dict[str, str]:
    """Column name to SQL of its cleaned value over a row ``s``: all but the unit, which `Owners.rows` gives."""
    declared = {column.name for column in table.columns}
    columns = {
        name: owners.identity(table, name) for name in table.identities if name not in declared and name != table.unit
    }
    for column in table.columns:
        read = column_reading(table, column, source)
        columns[column.name] = read.value
        if read.grid is not None:
            columns[f"{column.name}$grid"] = read.grid
    return columns


def column_reading(table: TableShape, column: ColumnShape, source: SourceTable) -> ColumnReading:
    """How a declared column is read, inside its declared domain."""
    domain, words = None, source.dialect
    if column.values_from is not None:
        owner, name = column.values_from
        domain = words.quoted(name), words.bounded(owner)
    return reading(table, column, source, listed(column, domain, words))


def universe_rows(universe: UniverseShape, table: TableShape, source: SourceTable) -> str:
    """SQL of a table's rows as a metric sees them: one for each row of the source, whoever owns it, by its attributes.

    No cap, no key and no unit decides here, for each would turn a small change of one row into the coming or going of
    another. Values are read as everywhere; what is then NULL is a value of its own, or counts as a declared one.
    """
    columns = {column.name: column for column in table.columns}
    texts = []
    for place in universe.places:
        column = columns[place.column]
        value = column_reading(table, column, source).value
        if not place.keeps_null:
            value = f"coalesce({value}, {_otherwise(column, place, source.dialect)})"
        texts.append(f"{value} AS {source.dialect.quoted(place.column)}")
    return f"SELECT {', '.join(texts)} FROM {source.sql} AS s"


def _otherwise(column: ColumnShape, place: AttributeShape, words: Dialect) -> str:
    if place.otherwise is None and column.values_from is not None:
        owner, name = column.values_from
        return f"(SELECT min({words.quoted(name)}) FROM {words.bounded(owner)})"
    return words.constant(place.otherwise, wire_of(column))
