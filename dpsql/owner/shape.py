"""What the policy says about the bounded tables: all that the builder is told, and nothing else.

Tests: tests/unit/owner/building/test_bounded.py, tests/unit/owner/building/test_classes.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.owner.csv_texts import as_written
from dpsql.plan.types import Value
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.engine.database import Database, SourceTable
    from dpsql.policy.column import Bound, ColumnPolicy
    from dpsql.policy.metrics import MetricPolicy
    from dpsql.policy.model import Policy
    from dpsql.policy.table import TablePolicy

__all__ = [
    "CLASSES",
    "NUMERIC",
    "RECORD",
    "AttributeShape",
    "ClassShape",
    "ColumnShape",
    "Shape",
    "TableShape",
    "UniverseShape",
    "shape_of",
    "stores_grid",
    "table_shape",
]

FORMAT = 17  # Of the bounded tables, a number of ours; tables of another one ask for a refresh.
MOST_PLACED = 64
"""Values of a list whose places are stored beside a column. It is a choice: a place has 8 binary digits then, and the
builder looks for each row's value in the list."""
NUMERIC = ("integer", "real", "decimal")
CLASSES = "$classes"  # The table of units and their classes; no name of a policy has a $.
RECORD = "classes.parquet"  # A file beside the bounded one: who is of which class, for the versions to come.


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """One declared column.

    Attributes:
        name: Its name in the source.
        type: As in the policy.
        low: Lower bound (numbers as Fraction), or None.
        high: Upper bound, or None.
        values: Its declared domain, or None; of few values that a public table lists, see `facts.with_lists`.
        values_from: (table, column) of the public table that lists it, or None.
        nullable: Whether the owner expects NULLs; only `dpsql check` asks.
        step: Grid step in the column's unit.
        max_length: Letters of a text behind which it is cut; None where no text is.
    """

    name: str
    type: str
    low: Fraction | date | datetime | None = None
    high: Fraction | date | datetime | None = None
    values: tuple[Value, ...] | None = None
    values_from: tuple[str, str] | None = None
    nullable: bool = True
    step: Fraction = Fraction(1)
    max_length: int | None = None

    @property
    def grid(self) -> bool:
        """Whether the bounded table holds grid integers beside the value.

        None stand beside listed numbers: what is counted follows from the listed value, not from the source's own,
        which rounded otherwise might be outside the list's ends.
        """
        if self.values is not None or self.values_from is not None:
            return False
        return self.type in NUMERIC and (self.type != "integer" or self.step != 1 or self.low is None)

    @property
    def in_steps(self) -> str:
        """The column of the bounded table that holds its numbers in steps of its grid."""
        return f"{self.name}$grid" if self.grid else self.name

    @property
    def places(self) -> tuple[Value, ...]:
        """Its listed values, rising, whose places are stored beside it; () where none are."""
        if not self.values or len(self.values) > MOST_PLACED or self.type not in ("integer", "text", "date"):
            return ()
        values: list[Any] = [value for value in dict.fromkeys(self.values) if value is not None]
        return tuple(sorted(values))


@dataclass(frozen=True, slots=True)
class TableShape:
    """One table.

    Attributes:
        name: Its name, in the bounded file too.
        source: Absolute path of its Parquet or CSV file, or pattern of several; None for a table of the database.
        stored: What the database calls it: its name, or ``schema.table``.
        public: Whether it is copied as it is.
        unit: The unit column of the bounded table; None for a public table.
        key: A column that is unique within each unit, or None.
        unique: Columns that are so together, where the policy's key is several; else none.
        rows_per_unit: The row cap; 0 for a public table.
        columns: The declared columns; of a public table, none means all.
        via: The table whose key says whose row this is, or None where the unit is a column of the source.
        on: The source's column that holds that key, or None.
        identities: What each unit, key or reference column of the source identifies; see `Policy.identities`.
        rows_at_least: A floor that the owner vouches for, or None; only `dpsql check` asks.
        rows_about: The owner's guess of its rows, by which the steps of a build are planned.
        units_at_least: The same of its units (`row_floor` of `random_dp`).
        min_units: Units that a group needs to appear in an answer; only `dpsql check` asks here.
        every_unit: Whether every unit has exactly one row here, or nothing is built.
        rename: Of columns that the source has under another name: theirs here, and there.
        csv: How its CSV file writes values: options and their texts (`CsvPolicy.options`).
    """

    name: str
    source: str | None
    public: bool
    unit: str | None
    key: str | None
    rows_per_unit: int
    columns: tuple[ColumnShape, ...]
    via: str | None = None
    on: str | None = None
    identities: Mapping[str, str | None] = field(default_factory=dict)
    rows_at_least: int | None = None
    rows_about: int = 10_000
    min_units: int = 1
    units_at_least: int | None = None
    every_unit: bool = False
    unique: tuple[str, ...] = ()
    stored: str = ""
    rename: tuple[tuple[str, str], ...] = ()
    csv: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def place(self) -> tuple[str, str | None]:
        """Where its rows are, as `Database.table` takes it."""
        return self.stored or self.name, self.source

    def of(self, database: Database, file: str | None = None) -> SourceTable:
        """Its rows as the source has them, by the policy's names; of a CSV file the texts as they are read."""
        types = {column.name: column.type for column in self.columns}
        return as_written(self.as_it_lies(database, file), self.csv, types)

    def as_it_lies(self, database: Database, file: str | None = None) -> SourceTable:
        """Its rows, or those of one of its files, as the source has them, by the policy's names.

        Raises:
            PolicyError: If the source has no such table, or not what is renamed.
        """
        name, source = self.place
        return database.table(name, file or source).renamed(self.name, self.rename)

    @property
    def keys(self) -> list[str]:
        """Its columns that are unique within each unit, alone or together; none where the policy has no key."""
        return [name for name in (self.key, *self.unique) if name]

    @property
    def numbered(self) -> bool:
        """Whether numbers stand beside its rows, by which engines add them up by unit (`owner.building.numbered`)."""
        return not self.public and self.rows_per_unit > 1


@dataclass(frozen=True, slots=True)
class AttributeShape:
    """Where a metric puts the values of one attribute.

    Attributes:
        column: The attribute.
        keeps_null: Whether NULL, and what is outside the domain, is a value of its own.
        otherwise: The value that NULL then counts as, or None for the first one that a public table lists.
    """

    column: str
    keeps_null: bool
    otherwise: Value


@dataclass(frozen=True, slots=True)
class UniverseShape:
    """The rows of a table as one metric sees them: every row of the source, by its attributes alone.

    Attributes:
        name: Its table in the bounded file.
        table: Whose rows.
        places: The attributes, in order.
    """

    name: str
    table: str
    places: tuple[AttributeShape, ...]


@dataclass(frozen=True, slots=True)
class ClassShape:
    """What names the class of each unit.

    Attributes:
        table, column: Where.
        names: Every class there is.
        strictest: The one of whoever is of no known class.
    """

    table: str
    column: str
    names: tuple[str, ...]
    strictest: str


@dataclass(frozen=True, slots=True)
class Shape:
    """All that the bounded tables hold.

    Attributes:
        engine: The kind of engine that holds them.
        source: Where its data are; see `EngineSection.source`.
        tables: The tables.
        universes: The rows of tables as metrics see them.
        classes: What names the classes of units, or None where there are none.
    """

    engine: str
    source: Mapping[str, str]
    tables: tuple[TableShape, ...]
    universes: tuple[UniverseShape, ...] = ()
    classes: ClassShape | None = None

    @property
    def digest(self) -> str:
        """A hash of all that shapes the bounded file: another one means that it must be built anew."""
        whole = {**asdict(self), "tables": [_bare(table) for table in self.tables]}
        return hashlib.sha256(wire.encode([FORMAT, whole])).hexdigest()

    def digest_of(self, name: str) -> str:
        """The same of one table, and of those through which its rows find their units."""
        chain: list[dict[str, Any]] = []
        while name:
            table = self.table(name)
            chain, name = [*chain, _bare(table)], table.via or ""
        return hashlib.sha256(wire.encode([FORMAT, chain])).hexdigest()

    @property
    def files(self) -> Mapping[str, str | None]:
        """Each table's own file, None for one without, by what its database calls it."""
        return dict(table.place for table in self.tables)

    def at(self, versions: Mapping[str, str]) -> Shape:
        """The same with these versions of tables, by what their database calls them, in the place of the newest."""
        fixed = (replace(table, source=versions.get(table.place[0], table.source)) for table in self.tables)
        return replace(self, tables=tuple(fixed))

    def table(self, name: str) -> TableShape:
        """The table of this name."""
        return next(table for table in self.tables if table.name == name)

    def message(self) -> dict[str, Any]:
        """The shape as `wire.encode` takes it."""
        return asdict(self)

    @classmethod
    def received(cls, message: Mapping[str, Any]) -> Shape:
        """The shape that `message` described, after its journey."""
        classes = message["classes"]
        named = None if classes is None else ClassShape(**{**classes, "names": tuple(classes["names"])})
        return cls(
            message["engine"],
            message["source"],
            tuple(_table(table) for table in message["tables"]),
            tuple(_universe(universe) for universe in message["universes"]),
            named,
        )


def _bare(table: TableShape) -> dict[str, Any]:
    """A table without what no row of the bounded one depends on."""
    columns = tuple(replace(column, nullable=False) for column in table.columns)
    bare = asdict(replace(table, columns=columns, rows_at_least=None, min_units=1, units_at_least=None))
    del bare["rows_about"]
    for later in ("rename", "csv"):
        if not bare[later]:
            del bare[later]  # as tables were described before there was any
    return bare


def _table(message: Mapping[str, Any]) -> TableShape:
    columns: list[ColumnShape] = []
    for column in message["columns"]:
        parts: dict[str, Any] = {key: tuple(part) if isinstance(part, list) else part for key, part in column.items()}
        columns.append(ColumnShape(**parts))
    unique, rename = tuple(message["unique"]), tuple((name, own) for name, own in message["rename"])
    csv = tuple((name, tuple(texts)) for name, texts in message["csv"])
    return TableShape(**{**message, "columns": tuple(columns), "unique": unique, "rename": rename, "csv": csv})


def _universe(message: Mapping[str, Any]) -> UniverseShape:
    places = tuple(AttributeShape(**place) for place in message["places"])
    return UniverseShape(message["name"], message["table"], places)


def shape_of(policy: Policy) -> Shape:
    """The shape of a policy's tables, with every path made absolute."""
    return Shape(
        policy.engine.kind,
        policy.engine.source(lambda written: _path(policy, written)),
        tuple(table_shape(policy, name, table) for name, table in policy.tables.items()),
        tuple(_universe_shape(policy, name, metric) for name, metric in policy.metrics.items()),
        _class_shape(policy),
    )


def _path(policy: Policy, written: Path) -> str:
    """The absolute path in UTF-8, so that it is the same text under every locale."""
    return os.fsencode(policy.resolve(written).resolve()).decode("utf-8", "surrogateescape")


def _class_shape(policy: Policy) -> ClassShape | None:
    section, shares = policy.privacy_classes, policy.classes
    if section is None:
        return None
    return ClassShape(section.table, section.column, tuple(shares), strictest=min(shares, key=shares.__getitem__))


def _universe_shape(policy: Policy, name: str, metric: MetricPolicy) -> UniverseShape:
    from dpsql.policy.metrics import declared_values, universe_name  # here, for the owner's process loads no policy

    columns = policy.tables[metric.table].columns
    places = []
    for column, attribute in metric.attributes.items():
        apart = attribute.null_apart(columns[column])
        otherwise = None if apart else attribute.outside
        if not apart and otherwise is None:
            otherwise = next(iter(declared_values(columns[column]) or ()), None)
        places.append(AttributeShape(column, keeps_null=apart, otherwise=otherwise))
    return UniverseShape(universe_name(metric.table, name), metric.table, tuple(places))


def table_shape(policy: Policy, name: str, table: TablePolicy) -> TableShape:
    """The shape of one table."""
    chain = None if isinstance(table.unit, str) else table.unit
    return TableShape(
        name=name,
        source=_path(policy, table.file) if table.file else None,
        stored=table.stored or name,
        public=table.public,
        unit=None if table.public else table.unit_column,
        key=table.key_column,
        unique=table.unique,
        rows_per_unit=table.most_rows,
        columns=tuple(_column(key, column) for key, column in table.columns.items()),
        via=chain.via if chain else None,
        on=chain.on if chain else None,
        identities={} if table.public else policy.identities(name),
        rows_at_least=table.rows_at_least,
        rows_about=table.rows_about,
        min_units=table.min_units or 1,
        units_at_least=policy.random_dp[name].row_floor if name in policy.random_dp else None,
        every_unit=table.every_unit,
        rename=tuple(sorted(table.rename.items())),
        csv=table.csv.options if table.csv else (),
    )


def _column(name: str, column: ColumnPolicy) -> ColumnShape:
    low, high = (None, None) if column.bounds is None else map(_bound, column.bounds)
    listed = column.values_from.partition(".") if column.values_from else None
    return ColumnShape(
        name=name,
        type=column.type,
        low=low,
        high=high,
        values=column.values,
        values_from=(listed[0], listed[2]) if listed else None,
        nullable=column.nullable,
        step=column.grid_step,
        max_length=column.cut_at,
    )


def _bound(bound: Bound) -> Fraction | date | datetime:
    return bound if isinstance(bound, date) else Fraction(bound)


def stores_grid(column: ColumnPolicy) -> bool:
    """Whether the bounded table holds ``<column>$grid`` beside this private column (`ColumnShape.grid`)."""
    return _column("", column).grid
