"""DuckDB on the owner's side: a DuckDB file, Parquet and CSV files to read, the bounded file to write.

Tests: tests/unit/owner/building.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.database import BySize, Parts, SourceTable
from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb import FILE, csv_errors
from dpsql.engine.duckdb.by_day import create_by_day
from dpsql.engine.duckdb.by_size import create_by_size
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.duckdb.ducklake import address_of, rows_of_ducklake
from dpsql.engine.duckdb.files import matching, rows_of, unread
from dpsql.engine.duckdb.opened import opened
from dpsql.engine.duckdb.ranges import Filling, Range
from dpsql.engine.duckdb.types import COLLATED, EQUAL, source_type
from dpsql.engine.log import TELLS
from dpsql.errors import InvariantBroken, OperationalError, PolicyError
from dpsql.plan.catalog import ROW

__all__ = ["DuckDBDatabase", "building", "looked", "reading"]

_VIEW = """
    SELECT sql FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND lower(view_name) = lower($3)
"""
CATALOG = "source"  # The name under which the owner's database is attached.
BEFORE = "before"  # The same of the version before.
SCRATCH = "scratch"  # A database in memory, or beyond that on the disk, while others are built.
SEEN = 1024  # Of so many units one is looked at to find ranges of equal size. It is a choice: thousands tell enough.
SPAN = 2**24
"""Whole numbers from the least unit to the greatest, up to which units are counted by a bit for each: 2 MiB for a range
and thread. It is a choice: a third of the time that a table of them takes, which is made where there are more."""
MOST_NARROW = 2**31 - 1  # What 32 bits hold.


@contextmanager
def reading(source: Mapping[str, str], into: Path) -> Iterator[DuckDBDatabase]:
    """The source, to be read; see `dpsql.owner.engines.Building`."""
    with opened(None, into) as connection:
        database = DuckDBDatabase(connection)
        database.attach(source)
        yield database


@contextmanager
def building(source: Mapping[str, str], key: str, into: Path) -> Iterator[DuckDBDatabase]:
    """The source, and the bounded file to write into an empty directory; see `dpsql.owner.engines.Building`."""
    with opened(into / FILE, into / "spill") as connection:
        connection.execute("SET enable_progress_bar = true")  # so that `done` knows
        connection.execute("SET enable_progress_bar_print = false")
        database = DuckDBDatabase(connection, key)
        database.attach(source)
        yield database
        connection.execute("CHECKPOINT bounded")


class DuckDBDatabase:
    """A `Database` over one connection, whose main database is called ``bounded`` where tables are built.

    Args:
        connection: An open one.
        key: The secret key of the row choice, in hexadecimal; only a build needs it.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, key: str = "") -> None:
        self._connection = connection
        self._key = key
        self._scratched = 0
        self._done: Callable[[], float] = self._of_the_statement
        self._lakes: dict[str, str] = {}  # The rows of tables of a DuckLake, once for each.
        connection.execute("SET VARIABLE key = " + DUCKDB.text(key))

    @property
    def dialect(self) -> Dialect:
        """DuckDB's words."""
        return DUCKDB

    @property
    def counting(self) -> DuckDBDatabase:
        """Itself: its engine counts."""
        return self

    def attach(self, source: Mapping[str, str]) -> None:
        """Attaches the owner's database, read-only, if there is one.

        Raises:
            PolicyError: If it cannot be opened. What DuckDB says of it may rest on rows, such as the checksum of a
                change that lies in its log: it is the error's cause, which goes to the owner's log alone.
        """
        if "database" not in source:
            return
        file = source["database"]
        if not Path(file).is_file():
            raise PolicyError(f"There is no file {file}. Write its path at engine.database in the policy.")
        try:
            self._connection.execute(f"ATTACH {DUCKDB.text(file)} AS {CATALOG} (READ_ONLY)")
        except duckdb.Error as error:
            raise PolicyError(
                f"{file} does not open as a DuckDB database. Close other programs that write to it, or write "
                f"another path at engine.database. {TELLS}"
            ) from error

    def table(self, name: str, file: str | None) -> SourceTable:
        """A table of the source; see `Database.table`."""
        if file is None:
            return self._database_table(name)
        if lake := address_of(name, file):
            if str(lake) not in self._lakes:
                self._lakes[str(lake)] = rows_of_ducklake(self._connection, lake)
            return self._described(self._lakes[str(lake)])
        sql, typed = rows_of(name, file)
        table = self._described(sql, typed=typed)
        for one in matching(file)[1:]:
            if self._described(rows_of(name, one)[0]).types != table.types:
                raise PolicyError(f"{one} has other columns or types than the first of {file}. Give both the same.")
        return table

    def cautions(self) -> Sequence[str]:
        """Nothing: the file is read by the owner's process, and by nobody else."""
        return ()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The result of a query."""
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.Error as error:
            if csv_errors.is_unread(said := str(error)):
                raise OperationalError(csv_errors.told(said)) from OperationalError(csv_errors.where(said))
            raise

    def done(self) -> float:
        """How much of the statement under way is done, as DuckDB's bar would show it; of a table in parts, of all."""
        return self._done()

    def _of_the_statement(self) -> float:
        return max(self._connection.query_progress(), 0.0) / 100

    def create(
        self, name: str, sql: str, order: Sequence[str] = (), first: str | None = None, parts: Parts | None = None
    ) -> None:
        """Makes a bounded table out of the rows of a query; see `Database.create`."""
        if not order and first is None:
            self.rows(f"CREATE TABLE {DUCKDB.bounded(name)} AS {sql}")
            return
        if first is None:
            sql = f"SELECT * FROM ({sql}) AS r ORDER BY {', '.join(map(DUCKDB.quoted, order))}"
        self._in_order(name, sql, order, first or "", parts)

    def create_by_size(self, name: str, rows: BySize) -> None:
        """Makes a table of units' totals by size; see `Counting.create_by_size`."""
        create_by_size(self._connection, name, rows)

    def create_by_day(self, name: str, table: str, column: str) -> None:
        """Makes a table of how many units and rows have each day; see `Counting.create_by_day`."""
        create_by_day(self._connection, name, table, column)

    def again(self, names: Sequence[str], place: Path, make: Callable[[Callable[[str], str]], None]) -> bool:
        """Makes bounded tables out of those of an earlier version's file; see `Database.again`."""
        try:
            self.rows(f"ATTACH {DUCKDB.text(str(place / FILE))} AS {BEFORE} (READ_ONLY)")
            try:
                make(lambda name: f"{BEFORE}.main.{DUCKDB.quoted(name)}")
            finally:
                self.rows(f"DETACH {BEFORE}")
        except duckdb.Error:  # it is damaged, or gone
            for name in names:
                for made in (name, _anew(name)):
                    self.rows(f"DROP TABLE IF EXISTS {DUCKDB.bounded(made)}")
            self.rows("SET preserve_insertion_order = false")
            return False
        return True

    def _in_order(self, name: str, sql: str, order: Sequence[str], first: str = "", parts: Parts | None = None) -> None:
        """A table of rows as they come, which is in this order; of those alike in it the first by another one.

        Raises:
            InvariantBroken: If it is not.
        """
        self.rows("SET preserve_insertion_order = true")
        if parts is None:
            self.rows(f"CREATE TABLE {DUCKDB.bounded(name)} AS {sql}")
        else:
            self._part_by_part(name, sql, parts)
        if order:
            self._look_through(name, [*map(DUCKDB.quoted, order)], first, parts)
        self._narrow(name)
        self.rows("SET preserve_insertion_order = false")

    def _narrow(self, name: str) -> None:
        """Leaves the numbers of rows (`ROW`) as many bytes as they need: half of these take half the time to read."""
        table, column = DUCKDB.bounded(name), DUCKDB.quoted(ROW)
        if any(row[:2] == (ROW, "BIGINT") for row in self.rows(f"DESCRIBE {table}")):
            ((most,),) = self.rows(f"SELECT max({column}) FROM {table}")
            if most is None or most <= MOST_NARROW:
                self.rows(f"ALTER TABLE {table} ALTER {column} TYPE INTEGER")

    def _look_through(self, name: str, by: Sequence[str], first: str, parts: Parts | None) -> None:
        """Looks at all rows once, and again where some are alike in what they lie by, of which the first alone stays.

        Raises:
            InvariantBroken: If they do not lie in order, or their units are not numbered one by one.
        """
        numbered = (parts.by, parts.number) if parts and parts.number else None
        look = looked(name, by, numbered)
        ((fallen, alike, misnumbered),) = self.rows(look)
        if alike and first:
            self.rows(_removal(name, by, first))
            self._written_anew(name)
            ((fallen, alike, misnumbered),) = self.rows(look)
        if fallen or alike:
            raise InvariantBroken(f"the rows of {name} do not lie in order")
        if misnumbered:
            raise InvariantBroken(f"the units of {name} are not numbered one by one")

    def _part_by_part(self, name: str, sql: str, parts: Parts) -> None:
        """A table of the rows of one range after the other: each unit is in one, whatever values they end at."""
        table = DUCKDB.bounded(name)
        self._done = lambda: 0.0  # of the table, while ranges are looked for
        try:
            ranges = self._ranges(parts)
            if len(ranges) > 1:
                self.rows(f"CREATE TABLE {table} AS SELECT * FROM ({sql}) AS r WITH NO DATA")
                filling = Filling(self._connection, self._key, f"INSERT INTO {table} {sql}", ranges)
                self._done = filling.done
                filling.fill()
                return
        finally:
            self._done = self._of_the_statement
        self.rows(f"CREATE TABLE {table} AS {sql}")

    def _ranges(self, parts: Parts) -> list[Range]:
        """Finds where ranges end: one that does not, where there are too few units to tell."""
        shares = ", ".join(f"{place / parts.many}" for place in range(1, parts.many))
        seen = f"quantile_disc(v, [{shares}]) FILTER (WHERE hash(v) % {SEEN} = 0)"
        ((found, least, most),) = self.rows(
            f"SELECT {seen}, min(v), max(v) FROM (SELECT {parts.by} AS v FROM ({parts.rows}) AS r) AS f"
        )
        ends = [end for end in found or () if end is not None]
        if len(ends) < parts.many - 1 or ends != sorted(ends):
            return [Range(None, None, 0)]
        before = [0] * parts.many
        if parts.number is not None:
            near = isinstance(least, int) and most - least < SPAN
            before = self._before(parts, ends, (least, most) if near else None)
        return [Range(*own) for own in zip([None, *ends], [*ends, None], before, strict=True)]

    def _before(self, parts: Parts, ends: Sequence[Any], span: tuple[int, int] | None) -> list[int]:
        """How many units are before each range: no unit is in two.

        Args:
            parts: The rows.
            ends: Where ranges end, but for the last one, in which nobody counts.
            span: The least and the greatest unit, where a bit for each may be held; None elsewhere.
        """
        cases = " ".join(f"WHEN v < ${place + 1} THEN {place}" for place in range(len(ends)))
        units = f"SELECT {parts.by} AS v FROM ({parts.rows}) AS r WHERE {parts.by} < ${len(ends)}"
        if span is None:
            counted, units = "count(*)", f"SELECT DISTINCT v FROM ({units}) AS d"
        else:
            counted = f"bit_count(bitstring_agg(v, {span[0]}, {span[1]}))"
        placed = f"SELECT v, CASE {cases} END AS place FROM ({units}) AS u"
        sql = f"SELECT place, {counted} FROM ({placed}) AS p GROUP BY place"
        own = dict(self._connection.execute(sql, ends).fetchall())
        return [0, *accumulate(own.get(place, 0) for place in range(len(ends)))]

    def _written_anew(self, name: str) -> None:
        """Leaves nothing in the file of rows that were removed from a table."""
        anew = _anew(name)
        self.rows(f"CREATE TABLE {DUCKDB.bounded(anew)} AS FROM {DUCKDB.bounded(name)}")
        self.rows(f"DROP TABLE {DUCKDB.bounded(name)}")
        self.rows(f"ALTER TABLE {DUCKDB.bounded(anew)} RENAME TO {DUCKDB.quoted(name)}")

    @contextmanager
    def scratch(self, sql: str) -> Iterator[str]:
        """A table of a query's rows for the time of a block."""
        self._scratched += 1
        self.rows(f"ATTACH IF NOT EXISTS ':memory:' AS {SCRATCH}")  # which all connections see, as no temporary table
        table = f"{SCRATCH}.main.scratch{self._scratched}"
        self.rows(f"CREATE TABLE {table} AS {sql}")
        try:
            yield table
        finally:
            self.rows(f"DROP TABLE {table}")

    def record(self, sql: str, file: Path) -> None:
        """Keeps the rows of a query in a Parquet file."""
        self.rows(f"COPY ({sql}) TO {DUCKDB.text(str(file))} (FORMAT parquet)")

    def recorded(self, files: Sequence[str]) -> str:
        """The rows of these Parquet files."""
        return f"read_parquet([{', '.join(map(DUCKDB.text, files))}])"

    def _database_table(self, name: str) -> SourceTable:
        schema, _, table = name.rpartition(".")
        relation = f"{CATALOG}.{DUCKDB.quoted(schema or 'main')}.{DUCKDB.quoted(table)}"
        try:
            stored = self._described(relation)
        except duckdb.Error as error:
            view = self._connection.execute(_VIEW, [CATALOG, schema or "main", table]).fetchone()
            if view is not None:
                raise PolicyError(unread(table, str(view[0]))) from error
            raise PolicyError(
                f"The database has no table or view {table} in its schema {schema or 'main'}. Create it there, or "
                f"write source: FILE, or source: SCHEMA.TABLE, at the table in the policy."
            ) from None
        # A column may carry a collation, by which 'a' = 'A'; it would follow the values everywhere. Bytes have none.
        texts = [column for column, kind in stored.types.items() if kind.name == "VARCHAR"]
        if not texts:
            return SourceTable(relation, stored.types, True, DUCKDB)
        plain = ", ".join(f"decode(encode({own})) AS {own}" for own in map(DUCKDB.quoted, texts))
        alike = dict.fromkeys(self._collated(relation, texts), COLLATED)
        types = {column: replace(kind, alike=alike.get(column, kind.alike)) for column, kind in stored.types.items()}
        return SourceTable(f"(SELECT * REPLACE ({plain}) FROM {relation})", types, True, DUCKDB)

    def _collated(self, relation: str, texts: Sequence[str]) -> list[str]:
        """Those columns of texts that take different ones for equal; no row is read.

        DuckDB tells no column's collation. One follows the column into a union, even with none of its rows.
        """
        none = ", ".join(f"{DUCKDB.quoted(column)} AS c{place}" for place, column in enumerate(texts))
        different = ", ".join(f"({', '.join([text] * len(texts))})" for text in EQUAL)
        counts = ", ".join(f"count(DISTINCT c{place})" for place in range(len(texts)))
        both = f"SELECT {none} FROM {relation} WHERE FALSE UNION ALL SELECT * FROM (VALUES {different}) AS v"
        (found,) = self.rows(f"SELECT {counts} FROM ({both}) AS r")
        return [column for column, count in zip(texts, found, strict=True) if count < len(EQUAL)]

    def _described(self, sql: str, *, typed: bool = True) -> SourceTable:
        types = {row[0]: source_type(row[1]) for row in self.rows(f"DESCRIBE SELECT * FROM {sql}")}
        return SourceTable(sql, types, typed, DUCKDB)


def _anew(name: str) -> str:
    """What a table is called while it is written anew; no name of a policy has a $."""
    return f"{name}$anew"


def _removal(name: str, by: Sequence[str], first: str) -> str:
    """SQL that leaves of a bounded table's rows that are alike in these columns the first of an order alone.

    Such rows are next to each other, so most tables are merely looked through.
    """
    alike = " AND ".join(f"c{place} = b{place}" for place in range(len(by)))
    columns, own, table = ", ".join(by), ", ".join(f"c{place}" for place in range(len(by))), DUCKDB.bounded(name)
    twins = f"SELECT {own} FROM ({_beside_the_last(table, by)}) AS r WHERE {alike}"
    places = f"SELECT rowid AS id, row_number() OVER (PARTITION BY {columns} ORDER BY {first}) AS place FROM {table}"
    return (
        f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM ({places} WHERE ({columns}) IN ({twins})) WHERE place > 1)"
    )


def looked(name: str, by: Sequence[str], numbered: tuple[str, str] | None) -> str:
    """SQL that counts rows of a bounded table, each beside the row before it: those that fall in these columns, those
    that are alike in them, and those whose number is not that of the row before, plus one for another unit.

    Args:
        name: The table's.
        by: The columns.
        numbered: Those of the unit and of its number; None where units have none.
    """
    falls, alike, columns = "FALSE", "TRUE", list(by)
    for place in reversed(range(len(by))):
        falls = f"(c{place} < b{place} OR (c{place} = b{place} AND {falls}))"
        alike = f"(c{place} = b{place} AND {alike})"
    rises = "TRUE"
    if numbered is not None:
        columns += [column for column in numbered if column not in by]
        unit, number = map(columns.index, numbered)
        step = f"CASE WHEN c{unit} IS DISTINCT FROM b{unit} THEN 1 ELSE 0 END"
        rises = f"c{number} - coalesce(b{number}, -1) = {step}"
    counts = ", ".join(f"count(*) FILTER (WHERE {of})" for of in (falls, alike, f"NOT ({rises})"))
    return f"SELECT {counts} FROM ({_beside_the_last(DUCKDB.bounded(name), columns)}) AS r"


def _beside_the_last(table: str, by: Sequence[str]) -> str:
    """SQL of some columns of each row as ``c0``, ``c1``, ..., and of the row before it as ``b0``, ``b1``, ...."""
    seen = ", ".join(f"{column} AS c{place}, lag({column}) OVER () AS b{place}" for place, column in enumerate(by))
    return f"SELECT {seen} FROM {table}"
