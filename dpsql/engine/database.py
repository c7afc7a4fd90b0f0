"""The owner's side of an engine: what its folder offers to the owner's process, which alone reads the source.

The owner's side writes the SQL, in the words of the database's dialect; the folder knows where the rows lie, what types
they have, and how a table is made of them. SQL here is of the policy's words alone.

Tests: tests/sql/test_dialects.py, tests/unit/owner/building/test_bounded.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from dpsql.engine.dialect import Dialect
from dpsql.errors import PolicyError
from dpsql.plan.grids import Bins

__all__ = ["BySize", "Counting", "CsvOption", "Database", "Makes", "Parts", "SourceTable", "SourceType", "TableSchema"]


@dataclass(frozen=True, slots=True)
class SourceType:
    """A type of the source.

    Attributes:
        name: What the database calls it, for messages: ``DECIMAL(10,2)``.
        family: What kind of values it holds, one of `FAMILIES`.
        places: Digits behind the point, of a decimal; else 0.
        zoned: Whether its times are in a zone.
        alike: What to write in a view instead, where values that the database takes for equal can have several texts:
            as the name of a unit they would make several of one. '' where they cannot.
    """

    name: str
    family: str
    places: int = 0
    zoned: bool = False
    alike: str = ""

    @property
    def cure(self) -> str:
        """What makes a column of it one that can be declared, in a view of the data."""
        return "write epoch(x), its seconds, in a view" if self.name == "INTERVAL" else "cast it in a view"

    @property
    def listed(self) -> tuple[str, ...]:
        """The values that an ENUM lists in its declaration, which may have been made from the data; else none."""
        held = re.findall("'((?:[^']|'')*)'", self.name) if self.name.startswith("ENUM(") else ()
        return tuple(value.replace("''", "'") for value in held)


@dataclass(frozen=True, slots=True)
class CsvOption:
    """How a CSV file writes something, as a policy's ``csv`` says it.

    Attributes:
        name: The option's.
        value: A format or a sign, or several words.
        why: What is written so, for a comment.
    """

    name: str
    value: str | tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class TableSchema:
    """What the schema alone says of a table of the source: never a value.

    Attributes:
        columns: (name, type) of each, in order.
        file: Its own file, or a pattern of several; None for a table of a database.
        stored: ``schema.table``, where the database needs both to find it; else None.
        keys: Columns that the database declares unique, alone or together: primary keys first.
        references: From a column to the (table, column) that the database declares it to refer to.
        rename: From the names of columns here to those that the source has for them, where these are others.
        csv: How a CSV file is taken to write its values, by a look at its first lines.
        seen: What these say of some of its columns beside their types, for a comment.
        comment: What the database's own comment on it says; '' without.
        comments: The same of columns, for those that have one.
    """

    columns: tuple[tuple[str, SourceType], ...]
    file: Path | None = None
    stored: str | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    references: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)
    csv: tuple[CsvOption, ...] = ()
    seen: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    comments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceTable:
    """One table of the source.

    Attributes:
        sql: What to write after FROM.
        types: The types of its columns by name, in order.
        typed: Whether the types mean something: a CSV file's are all text.
        dialect: The database's words.
        ready: Columns of ``sql`` that hold what a primitive makes of a column, by (column, primitive). A database that
            works out an expression as often as it is written gives them.
    """

    sql: str
    types: Mapping[str, SourceType]
    typed: bool
    dialect: Dialect
    ready: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def type_of(self, column: str) -> SourceType | None:
        """The type of a column, or None if there is none of that name; ASCII case matters where it does there."""
        if self.dialect.exact:
            return self.types.get(column)
        return next((kind for name, kind in self.types.items() if name.lower() == column.lower()), None)

    def renamed(self, table: str, names: Sequence[tuple[str, str]]) -> SourceTable:
        """The same with other names of columns.

        Args:
            table: Its name in the policy, for messages.
            names: Of each column the new name, and its own.

        Raises:
            PolicyError: If it has no such column, or another one of the new name.
        """
        if not names:
            return self
        known = {self._one(name): name for name in self.types}
        given = dict(zip(self.types, self.types, strict=True))
        for name, own in names:
            if self._one(own) not in known:
                raise PolicyError(f"{table} has no column {own!r} in the data. Correct it under rename, or remove it.")
            given[known[self._one(own)]] = name
        folded = [name.lower() for name in given.values()]
        for name, own in names:
            if folded.count(name.lower()) > 1:
                raise PolicyError(f"{table} has a column {name} beside {own!r}. Choose another name under rename.")
        words = self.dialect.quoted
        shown = [f"{words(own)} AS {words(name)}" for own, name in given.items()]
        shown += map(words, self.ready.values())
        return replace(
            self,
            sql=f"(SELECT {', '.join(shown)} FROM {self.sql} AS r)",
            types={name: self.types[own] for own, name in given.items()},
            ready={(given.get(own, own), made): column for (own, made), column in self.ready.items()},
        )

    def _one(self, name: str) -> str:
        """What is the same for names of one column."""
        return name if self.dialect.exact else name.lower()


@dataclass(frozen=True, slots=True)
class Parts:
    """How many rows of a large table are sorted together: those of a range of a column's values.

    What the table then holds does not depend on where the ranges end.

    Attributes:
        rows: SQL of the rows.
        by: SQL of the column over them, never NULL, by which the table lies first.
        many: How many ranges, of about as many rows each.
        number: The table's column of its units' numbers, which begin in a range with how many are before; None without.
    """

    rows: str
    by: str
    many: int
    number: str | None


@dataclass(frozen=True, slots=True)
class BySize:
    """Totals of units that are added up by size (`plan.needs.Sized`), of several kinds.

    Attributes:
        sql: Rows, with columns of what is added up. Where there are keys, before these the place of each and the number
            of the unit; then the rows come in the order of the units. Without keys each is of a unit of its own.
        keys: The keys' names, each with how many places it has.
        adds: For each kind of total ``rows``, or ``count`` or ``sum`` of the column with an index.
        bins: Of each kind of total; None of one that is added up as it is.
        shown: Further columns of the table: a name, and SQL over the keys.
    """

    sql: str
    keys: tuple[tuple[str, int], ...]
    adds: tuple[tuple[str, int], ...]
    bins: tuple[Bins | None, ...]
    shown: tuple[tuple[str, str], ...] = ()


class Counting(Protocol):
    """Makes bounded tables of what an engine that counts adds up of others (`Dialect.counts`)."""

    def create_by_size(self, name: str, rows: BySize) -> None:
        """Makes a table of units' totals by size: the columns of the keys, `plan.catalog.SIZES`, and what is shown.

        Raises:
            ValueError: If the rows do not come in the order of their units.
        """

    def create_by_day(self, name: str, table: str, column: str) -> None:
        """Makes a table of how many units and rows have each day, NULL too: the column, and `plan.catalog.DAYS`.

        Args:
            name: The table's.
            table: A bounded table, in the order of its units and of their rows.
            column: Its column of days.

        Raises:
            ValueError: If its rows do not lie in order.
        """


class Makes(Protocol):
    """Makes bounded tables out of others, and looks at no row."""

    @property
    def dialect(self) -> Dialect:
        """How it spells SQL."""

    @property
    def counting(self) -> Counting | None:
        """What it counts and adds up; None where its engine does not."""

    def create(
        self, name: str, sql: str, order: Sequence[str] = (), first: str | None = None, parts: Parts | None = None
    ) -> None:
        """Makes the bounded table of this name out of the rows of a query; they lie in the order of these columns.

        Args:
            name: The table's.
            sql: The query.
            order: The columns, in which no two rows are alike.
            first: None where the rows are still to be sorted. Else they come in the order already, and windows over all
                of them take them as they come, which engines that count can; where several may be alike in the columns,
                SQL of an order, by which the first of these alone stays; empty where none are, or there are no columns.
            parts: The ranges that an engine which counts may take one by one, in any order: the query asks for those of
                one (``within``), and for how many units are before it (``numbered``). None for all rows at once.

        Raises:
            InvariantBroken: If they do not.
        """

    def scratch(self, sql: str) -> AbstractContextManager[str]:
        """A table of a query's rows for the time of a block: what to write after FROM. No reader sees it."""


class Database(Makes, Protocol):
    """The source, to be read; and while a version is built, its bounded tables, to be written.

    Where a statement fails for a reason that the owner can mend, its method raises an `OperationalError` of a fixed
    text, from what the database said: that may rest on rows, and goes to the owner's log alone, as all other errors do.
    """

    def table(self, name: str, file: str | None) -> SourceTable:
        """A table of the source.

        Args:
            name: What the source calls it, perhaps as ``schema.table``.
            file: The absolute path of its file, or a pattern of several; None for a table of the database.

        Raises:
            PolicyError: If it is not there, or of no known kind.
        """

    def cautions(self) -> Sequence[str]:
        """What the owner should know of how the database is reached, for `dpsql check`."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The result of a query: counts, for the owner's eyes, or public values."""

    def done(self) -> float:
        """How much of the statement under way is done, from 0 to 1, for another thread; 0 where nobody knows."""

    def again(self, names: Sequence[str], place: Path, make: Callable[[Callable[[str], str]], None]) -> bool:
        """Makes bounded tables of those in a version's directory; False, and none is there, where that cannot be read.

        Args:
            names: What the tables are called that are made.
            place: The directory.
            make: Makes them, given what to write after FROM for a table of that version, by its name.

        Raises:
            InvariantBroken: As `create`.
        """

    def record(self, sql: str, file: Path) -> None:
        """Keeps the rows of a query for the versions to come, under the name of a file beside this one's facts."""

    def recorded(self, files: Sequence[str]) -> str:
        """What to write after FROM for all the rows that were kept under these names, at least one."""
