"""Tables of the version before that stand again in the next: only what changed is built anew.

A bounded table follows from the policy's words on it, from the content of files, from the secret of the row choice, and
from the SQL that makes it, which runs in one version of one engine, in one time zone. Where all of these are what they
were, by a hash that is kept beside the version, the table is copied. It then is what building it would make: the rows,
their places and their order follow from these alone.

Where all are what they were but for more files of a table of several, the rows of these come to those that it held
(`owner.building.appended`).

It is so only where files tell tables apart: tables of one database change together, and a view may read what nobody
looks at. A file that grew is built anew with the rest: it does not say that its old rows stayed.

Nothing new is known of anybody by this. The tables are those of a whole build, row by row. What is read is the private
folder of the version before, by the process that reads the source. How long it takes follows from the data, as it does
for a whole build: a refresh is the owner's own, whose clock sees it, and no analyst starts or times one.

Tests: tests/unit/owner/building/test_again.py, tests/unit/owner/building/test_appended.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpsql.engine.database import BySize, Database, Parts
from dpsql.engine.dialect import Dialect
from dpsql.owner.shape import Shape, TableShape
from dpsql.worker import wire

__all__ = ["Again", "Heard", "rests_on"]


@dataclass(frozen=True, slots=True)
class Heard:
    """A `Makes` that makes nothing, and keeps the SQL of all that it is told to make.

    Attributes:
        dialect: The words of the database that may be told the same.
        said: The SQL, with the name and the order of each table.
        orders: By bounded table, the columns in whose order it lies.
    """

    dialect: Dialect
    said: list[Any] = field(default_factory=list)
    orders: dict[str, Sequence[str]] = field(default_factory=dict)

    @property
    def counting(self) -> Heard | None:
        """Itself, where that database counts."""
        return self if self.dialect.counts else None

    def create(
        self, name: str, sql: str, order: Sequence[str] = (), first: str | None = None, parts: Parts | None = None
    ) -> None:
        """A bounded table."""
        self.said.append([name, sql, list(order), first])  # not the parts, on which nothing in it depends
        self.orders[name] = order

    def create_by_size(self, name: str, rows: BySize) -> None:
        """A bounded table of totals by size."""
        self.said.append([name, rows.sql, rows.keys, rows.adds, rows.bins, rows.shown])
        self.orders[name] = ()

    def create_by_day(self, name: str, table: str, column: str) -> None:
        """A bounded table of numbers by day."""
        self.said.append([name, table, column])
        self.orders[name] = ()

    @contextmanager
    def scratch(self, sql: str) -> Iterator[str]:
        """A table on the way, by its number."""
        self.said.append(sql)
        yield f"${len(self.said)}"


@dataclass(frozen=True, slots=True)
class Again:
    """What may stand again, and what is kept for the version to come.

    Attributes:
        contents: What is equal only if a table's source is, for tables that files tell apart.
        key: The secret of the row choice.
        place: The directory of the version before, or None.
        before: By name, what its tables were made of.
        public: The facts of its public tables.
        files: By name, what its tables were made of but for their rows (``words``), and the files that held these.
        recipes: What tables of this version are made of; filled as they are looked at.
        sources: As ``files``, of this version; filled likewise.
        software: Versions of what makes the tables, and the engine's zone; found once.
    """

    contents: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    place: Path | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    public: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)
    recipes: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Any] = field(default_factory=dict)
    software: list[str] = field(default_factory=list)

    def stands(
        self,
        database: Database,
        name: str,
        said: Sequence[Any],
        rests: Mapping[str, str],
        tables: Mapping[str, Sequence[str]],
    ) -> bool:
        """Whether a table and what is made with it stand again, which they then do.

        Args:
            database: Where they shall stand.
            name: Of what is made.
            said: The SQL that makes it, as `wire.encode` takes it.
            rests: The tables that it is made from, each with a hash of the policy's words on it.
            tables: The order in which each of the bounded tables lies.
        """
        if not all(source in self.contents for source in rests):
            return False
        made_of = [[source, words, self.contents[source]] for source, words in sorted(rests.items())]
        self.recipes[name] = self._hash(database, said, made_of)
        if self.place is None or self.before.get(name) != self.recipes[name]:
            return False

        def copy(earlier: Callable[[str], str]) -> None:
            for table, order in tables.items():
                database.create(table, f"SELECT * FROM {earlier(table)}", order, first="")

        return database.again([*tables], self.place, copy)

    def new_files(self, database: Database, name: str, said: Sequence[Any], rests: Mapping[str, str]) -> list[str]:
        """The files that came to those of a table's version before, which are all still there and hold what they held.

        No file where something else changed as well: what is said of the table or makes it, or another one under it;
        and where more came than there were, for then a whole build takes no longer.

        Args:
            database: Where it shall stand.
            name: The table.
            said: What makes it of rows, wherever these are, as `wire.encode` takes it.
            rests: As `stands` takes it.
        """
        if not all(source in self.contents for source in rests):
            return []
        under = {source: None if source == name else self.contents[source] for source in rests}
        words = self._hash(database, said, [[source, rests[source], held] for source, held in sorted(under.items())])
        self.sources[name] = {"words": words, "files": self.contents[name]}
        before = self.files.get(name)
        if self.place is None or before is None or before["words"] != words:
            return []
        then, now = dict(before["files"]), dict(self.contents[name])
        if None in (*then.values(), *now.values()) or any(now.get(file) != held for file, held in then.items()):
            return []
        new = [file for file in now if file not in then]
        return new if len(new) <= len(then) else []

    def _hash(self, database: Database, said: Sequence[Any], made_of: Sequence[Any]) -> str:
        """A hash of all this, of the secret, and of the software; the zone of its clock decides which day a time is."""
        if not self.software:
            own = database.rows("SELECT version(), current_setting('TimeZone')")[0]
            self.software.extend([version("dpsql"), *own])
        return hashlib.sha256(wire.encode([self.software, self.key, list(said), list(made_of)])).hexdigest()


def rests_on(shape: Shape, table: TableShape) -> list[str]:
    """The tables of the source on which the rows of a bounded one rest: itself, its chain of keys, and its domains."""
    found, name = list[str](), table.name
    while name:
        found.append(name)
        name = shape.table(name).via or ""
    return found + [column.values_from[0] for column in table.columns if column.values_from is not None]
