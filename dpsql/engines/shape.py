"""What the policy says about the bounded tables: all that the builder is told, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpsql.plan.types import Value
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.policy.model import Policy
    from dpsql.policy.table import Bound, Column, Table

__all__ = ["NUMERIC", "ColumnShape", "Shape", "TableShape", "shape_of", "stores_grid"]

FORMAT = 2  # of the bounded file; another number asks for a refresh
NUMERIC = ("integer", "real", "decimal")


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """One declared column.

    Attributes:
        name: Its name in the source.
        type: As in the policy.
        low: Lower bound (numbers as Fraction), or None.
        high: Upper bound, or None.
        values: Its declared domain, or None.
        values_from: (table, column) of the public table that lists it, or None.
        nullable: Whether the owner expects NULLs; only `dpsql check` asks.
        step: Grid step in the column's unit.
    """

    name: str
    type: str
    low: Fraction | date | datetime | None = None
    high: Fraction | date | datetime | None = None
    values: tuple[Value, ...] | None = None
    values_from: tuple[str, str] | None = None
    nullable: bool = True
    step: Fraction = Fraction(1)

    @property
    def grid(self) -> bool:
        """Whether the bounded table holds grid integers beside the value."""
        return self.type in NUMERIC and (self.type != "integer" or self.step != 1 or self.low is None)


@dataclass(frozen=True, slots=True)
class TableShape:
    """One table.

    Attributes:
        name: Its name, in the bounded file too.
        source: Absolute path of its Parquet or CSV file; None for a table of the database.
        public: Whether it is copied as it is.
        unit: The unit column of the bounded table; None for a public table.
        key: A column that is unique within each unit, or None.
        rows_per_unit: The row cap; 0 for a public table.
        columns: The declared columns; of a public table, none means all.
        via: The table whose key says whose row this is, or None where the unit is a column of the source.
        on: The source's column that holds that key, or None.
        identities: What each unit, key or reference column of the source identifies; see `Policy.identities`.
        rows_at_least: A floor that the owner vouches for, or None; only `dpsql check` asks.
        every_unit: Whether every unit has exactly one row here; only `dpsql check` asks.
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
    every_unit: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """All tables, and the absolute path of the database that holds those without a file of their own."""

    database: str | None
    tables: tuple[TableShape, ...]

    @property
    def digest(self) -> str:
        """A hash of all that shapes the bounded file: another one means that it must be built anew."""
        tables = [
            replace(
                table,
                columns=tuple(replace(column, nullable=False) for column in table.columns),
                rows_at_least=None,
                every_unit=False,
            )
            for table in self.tables
        ]
        return hashlib.sha256(wire.encode([FORMAT, asdict(replace(self, tables=tuple(tables)))])).hexdigest()

    def table(self, name: str) -> TableShape:
        """The table of this name."""
        return next(table for table in self.tables if table.name == name)

    def message(self) -> dict[str, Any]:
        """The shape as `wire.encode` takes it."""
        return asdict(self)

    @classmethod
    def received(cls, message: Mapping[str, Any]) -> Shape:
        """The shape that `message` described, after its journey."""
        return cls(message["database"], tuple(_table(table) for table in message["tables"]))


def _table(message: Mapping[str, Any]) -> TableShape:
    columns: list[ColumnShape] = []
    for column in message["columns"]:
        parts: dict[str, Any] = {key: tuple(part) if isinstance(part, list) else part for key, part in column.items()}
        columns.append(ColumnShape(**parts))
    return TableShape(**{**message, "columns": tuple(columns)})


def shape_of(policy: Policy) -> Shape:
    """The shape of a policy's tables, with every path made absolute."""
    database = policy.engine.database
    return Shape(
        str(policy.resolve(database).resolve()) if database else None,
        tuple(_table_shape(policy, name, table) for name, table in policy.tables.items()),
    )


def _table_shape(policy: Policy, name: str, table: Table) -> TableShape:
    chain = None if isinstance(table.unit, str) else table.unit
    return TableShape(
        name=name,
        source=str(policy.resolve(table.source).resolve()) if table.source else None,
        public=table.public,
        unit=None if table.public else table.unit_column,
        key=table.key,
        rows_per_unit=table.rows_per_unit or 0,
        columns=tuple(_column(key, column) for key, column in table.columns.items()),
        via=chain.via if chain else None,
        on=chain.on if chain else None,
        identities={} if table.public else policy.identities(name),
        rows_at_least=table.rows_at_least,
        every_unit=table.every_unit,
    )


def _column(name: str, column: Column) -> ColumnShape:
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
    )


def _bound(bound: Bound) -> Fraction | date | datetime:
    return bound if isinstance(bound, date) else Fraction(bound)


def stores_grid(column: Column) -> bool:
    """Whether the bounded table holds ``<column>$grid`` beside this private column.

    It does for reals and decimals, and for integers without bounds or on a grid other than 1; an integer on grid 1
    within bounds is its own grid integer.
    """
    return _column("", column).grid
