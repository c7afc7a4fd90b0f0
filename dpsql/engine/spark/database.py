"""Spark on the owner's side: the cluster's tables to read, and the bounded ones, which it writes itself.

A cluster has no snapshot of several tables. That nothing changed while they were read is seen by their files, before
and after (`sources`); else nothing that was built stands.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from dpsql.engine.database import Parts, SourceTable, SourceType
from dpsql.engine.dialect import Dialect
from dpsql.engine.spark.bounded import ClusterBuild, begun, keep, kept_by, new
from dpsql.engine.spark.client import driver
from dpsql.engine.spark.connecting import BUILDING_SECONDS, SparkFailed, SparkSession, opened
from dpsql.engine.spark.lakes import AS_OF, holds_lake
from dpsql.engine.spark.types import source_type, written
from dpsql.errors import OperationalError, PolicyError

__all__ = ["SparkDatabase", "building", "in_catalogue", "reading", "source_relation"]

FULL = "Spark has not enough disk or memory. Nothing was built; give it more."
MOST_SENT = 100_000  # Rows that travel in one message, some 10 MB of them. It is a choice: messages end at 128 MiB.


@contextmanager
def reading(source: Mapping[str, str], into: Path) -> Iterator[SparkDatabase]:
    """The source, to be read; see `dpsql.owner.engines.Building`."""
    session = opened(source["remote"], BUILDING_SECONDS)
    database = SparkDatabase(session, new(source["bounded"]), source["schema"])
    try:
        yield database
    finally:
        session.close()


@contextmanager
def building(source: Mapping[str, str], key: str, into: Path) -> Iterator[SparkDatabase]:
    """The source, and the bounded tables of a new version; see `dpsql.owner.engines.Building`."""
    cache = next(place for place in into.parents if not place.name.startswith(".building-"))
    session = opened(source["remote"], BUILDING_SECONDS)
    database = SparkDatabase(session, new(source["bounded"]), source["schema"], key, cache)
    try:
        database.begin()
        yield database
        database.bounded.write(into)
    finally:
        session.close()


class SparkDatabase:
    """A `Database` over a session of the owner.

    Args:
        session: A settled one.
        bounded: Where bounded tables are to stand.
        schema: That of the source's tables; empty for the session's own.
        key: The secret of the row choice, in hexadecimal.
        cache: The ledger's directory, where builds are written down; None where nothing is built.
    """

    counting = None  # its engine does not

    def __init__(
        self, session: SparkSession, bounded: ClusterBuild, schema: str, key: str = "", cache: Path | None = None
    ) -> None:
        self._session, self.bounded, self._schema = session, bounded, schema
        self._key, self._cache = key, cache
        self._dialect = bounded.dialect
        self._seen = 0

    @property
    def dialect(self) -> Dialect:
        """Spark's words."""
        return self._dialect

    def begin(self) -> None:
        """Drops what no version of this ledger's directory names any more, and makes the schema if it is not there."""
        if self._cache is None:
            return
        kept, left = kept_by(self._cache), []
        for build in begun(self._cache):
            if build.build in kept:
                left.append(build)
                continue
            for place in range(1, build.count + 1):
                self._said(lambda build=build, place=place: build.drop(self._session, place))
        keep(self._cache, left)
        if "/" not in self.bounded.where:
            self._said(
                lambda: self._session.told(f"CREATE SCHEMA IF NOT EXISTS {self._dialect.quoted(self.bounded.where)}")
            )

    def cautions(self) -> Sequence[str]:
        """What to know of how analysts' statements run."""
        return (
            "Analysts' statements run as the user of engine.remote. They are dpsql's own and read the bounded tables "
            "alone; the cluster itself does not hold them to that.",
        )

    def table(self, name: str, file: str | None) -> SourceTable:
        """A table of the source; see `Database.table`."""
        if file is not None and not file.startswith(AS_OF) and self._said(lambda: holds_lake(self._session, file)):
            raise PolicyError(
                f"{file} holds a Delta, Iceberg or DuckLake table, of which some files may be no part any more. Give "
                "it a name in the cluster's catalogue, and write that at the table's source."
            )
        relation = source_relation(self._session, self._dialect, self._schema, name, file)
        try:
            columns = self._session.columns_of(relation)
        except SparkFailed as error:
            if error.gone:
                raise _gone() from error
            schema = f"the schema {self._schema}" if self._schema else "the session's schema"
            where = schema if file is None or file.startswith(AS_OF) else file
            raise PolicyError(
                f"Spark has no table or view {name} in {where}, or cannot read it. Create it there, as a view if "
                "need be."
            ) from error
        self._seen += 1
        view = f"dpsql_source_{self.bounded.build}_{self._seen}"
        self._said(lambda: self._session.view(view, relation))
        types = {column: source_type(kind) for column, kind in columns}
        read = [self._readable(column, kind) for column, kind in types.items()]
        return SourceTable(f"(SELECT {', '.join(read)} FROM {view})", types, True, self._dialect)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The result of a query."""
        table = self._said(lambda: self._session.rows(sql, self._bound(sql)))
        columns = [[_plain(value) for value in column.to_pylist()] for column in table.columns]
        return list(zip(*columns, strict=True))

    def done(self) -> float:
        """Nobody knows."""
        return 0.0

    def create(
        self, name: str, sql: str, order: Sequence[str] = (), first: str | None = None, parts: Parts | None = None
    ) -> None:
        """Makes a bounded table out of the rows of a query. No statement relies on how it lies here."""
        place, columns = self._stored(self._session.relation(sql, self._bound(sql)))
        self.bounded = self.bounded.named(name, place, columns)
        relation = self.bounded.relation(self._session, place, columns)
        self._said(lambda: self.bounded.show_one(self._session, name, relation))

    def again(self, names: Sequence[str], place: Path, make: Callable[[Callable[[str], str]], None]) -> bool:
        """Nothing: the tables of a version do not lie in its directory."""
        return False

    @contextmanager
    def scratch(self, sql: str) -> Iterator[str]:
        """A table of a query's rows for the time of a block."""
        with self._scratched(lambda: self._stored(self._session.relation(sql, self._bound(sql)))) as view:
            yield view

    def record(self, sql: str, file: Path) -> None:
        """Keeps the rows of a query in a file of Arrow's."""
        arrow = driver().arrow
        table = self._said(lambda: self._session.rows(sql, self._bound(sql)))
        with arrow.OSFile(str(file), "wb") as sink, arrow.ipc.new_file(sink, table.schema) as written_to:
            written_to.write_table(table)

    def recorded(self, files: Sequence[str]) -> str:
        """The rows of these files, as a table of the cluster."""
        arrow = driver().arrow
        tables = []
        for file in files:
            with arrow.OSFile(file, "rb") as source:
                tables.append(arrow.ipc.open_file(source).read_all())
        rows = arrow.concat_tables(tables).combine_chunks()
        parts = [rows.slice(start, MOST_SENT) for start in range(0, max(rows.num_rows, 1), MOST_SENT)]
        place, columns = self._stored(self._session.given(parts[0]))
        for part in parts[1:]:
            self._said(lambda part=part: self.bounded.save(self._session, place, self._session.given(part), more=True))
        return self._viewed(place, columns)

    @contextmanager
    def _scratched(self, stored: Any) -> Iterator[str]:
        place, columns = stored()
        yield self._viewed(place, columns)
        self._said(lambda: self.bounded.drop(self._session, place))

    def _viewed(self, place: int, columns: str) -> str:
        view = f"dpsql_scratch_{self.bounded.build}_{place}"
        relation = self.bounded.relation(self._session, place, columns)
        self._said(lambda: self._session.view(view, relation))
        return view

    def _stored(self, relation: Any) -> tuple[int, str]:
        """Writes rows as one more table of the build: (its place, its columns as DDL)."""
        found = self._said(lambda: self._session.columns_of(relation))
        self.bounded = self.bounded.began()
        if self._cache is not None:  # before it is there: what a crash leaves is dropped by the next build
            others = [build for build in begun(self._cache) if build.build != self.bounded.build]
            keep(self._cache, [*others, self.bounded])
        place = self.bounded.count
        self._said(lambda: self.bounded.save(self._session, place, relation))
        return place, ", ".join(f"{self._dialect.quoted(name)} {written(kind)}" for name, kind in found)

    def _bound(self, sql: str) -> Mapping[str, str]:
        """The key, where a query asks for it."""
        return {"key": self._key} if self._dialect.call("secret") in sql else {}

    def _readable(self, column: str, kind: SourceType) -> str:
        """A column as it is read: bytes as their hexadecimal digits."""
        name = self._dialect.quoted(column)
        return f"hex({name}) AS {name}" if kind.name == "BINARY" else name

    def _said(self, work: Any) -> Any:
        """What the server answers.

        Raises:
            OperationalError: If there is no server, or it is full. What is wrong otherwise is for the owner's log.
        """
        try:
            return work()
        except SparkFailed as error:
            if error.gone:
                raise _gone() from error
            if error.full:
                raise OperationalError(FULL) from error
            raise


def source_relation(session: SparkSession, words: Dialect, schema: str, name: str, file: str | None) -> Any:
    """The rows of a table of the source: of its files, or by its name in the catalogue, perhaps as of a version."""
    if file is not None and not file.startswith(AS_OF):
        return session.parquet(file)
    return session.relation(f"SELECT * FROM {in_catalogue(words, schema, name)} {file or ''}")


def in_catalogue(words: Dialect, schema: str, name: str) -> str:
    """The quoted name of a table, in this schema where it names none."""
    whole = name if "." in name or not schema else f"{schema}.{name}"
    return ".".join(map(words.quoted, whole.split(".")))


def _gone() -> OperationalError:
    return OperationalError("Spark does not answer any more. Nothing was built; try again when it stands.")


def _plain(value: Any) -> Any:
    """A decimal as Python's whole number, or as float."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == value.to_integral_value() else float(value)
