"""Do the data fit the policy? For the owner's eyes: exact counts and shares, never a value of a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import duckdb

from dpsql.engines.bounded import Reading, identity, listed, reading
from dpsql.engines.builder import in_owner_process
from dpsql.engines.shape import NUMERIC, ColumnShape, Shape, TableShape, shape_of
from dpsql.engines.sources import Source, open_database, open_table, quote
from dpsql.engines.views import whole_units
from dpsql.errors import PolicyError

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["Finding", "check", "findings"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which data and policy differ.

    Attributes:
        table: The table; None for what concerns several.
        column: The column, or None.
        what: What was found and what follows, without any value of a row.
        count: How many rows or units, or None where it is not about numbers.
        share: Their exact share of the table's rows or units, or None.
        severity: ``error``: the policy cannot be used, or a promise is false. ``warning``: answers suffer.
            ``note``: good to know.
    """

    table: str | None
    column: str | None
    what: str
    count: int | None
    share: Fraction | None
    severity: Severity

    def message(self) -> dict[str, Any]:
        """The finding as `wire.encode` takes it."""
        return asdict(self)


def check(policy: Policy) -> list[Finding]:
    """What differs between the policy and the data, in the policy's order. Reads the data in a process of its own.

    Raises:
        OperationalError: If the data cannot be read.
    """
    try:
        found = in_owner_process({"job": "check", "shape": shape_of(policy).message()}, None)
    except PolicyError as error:  # the database itself does not open
        return [Finding(None, None, str(error), None, None, "error")]
    return [Finding(**message) for message in found]


def findings(connection: duckdb.DuckDBPyConnection, shape: Shape) -> Iterator[Finding]:
    """What differs, table by table. Runs in the owner's process.

    Raises:
        PolicyError: If the database does not open.
    """
    open_database(connection, shape)
    sources: dict[str, Source] = {}
    for table in shape.tables:
        try:
            sources[table.name] = open_table(connection, table)
        except PolicyError as error:
            yield Finding(table.name, None, str(error), None, None, "error")
    present = Shape(shape.database, tuple(table for table in shape.tables if table.name in sources))
    whole = False
    try:
        whole = whole_units(present, sources)
    except PolicyError as error:
        yield Finding(None, None, str(error), None, None, "error")
    for table in present.tables:
        desk = _Desk(connection, table, sources[table.name])
        if table.public:
            yield from _public(desk)
        else:
            yield from _units(desk, whole)
            yield from _keys(desk, whole)
            for column in table.columns:
                yield from _column(desk, column, sources)


@dataclass(frozen=True, slots=True)
class _Desk:
    """Counts over one table of the source."""

    connection: duckdb.DuckDBPyConnection
    table: TableShape
    source: Source

    def row(self, sql: str) -> tuple[int, ...]:
        """The one row of a query of counts."""
        return tuple(count or 0 for count in self.connection.execute(sql).fetchall()[0])

    def counts(self, *conditions: str) -> tuple[int, ...]:
        """(number of rows, number of rows for which each condition holds)."""
        parts = ["count(*)", *(f"count(*) FILTER ({condition})" for condition in conditions)]
        return self.row(f"SELECT {', '.join(parts)} FROM {self.source.sql} AS s")

    def found(
        self, column: str | None, what: str, count: int, of: int, severity: Severity = "warning"
    ) -> Iterator[Finding]:
        """The finding, if there is anything to it."""
        if count:
            yield Finding(self.table.name, column, what, count, Fraction(count, of), severity)

    def broken(self, column: str | None, error: PolicyError) -> Finding:
        """A disagreement about names or types."""
        return Finding(self.table.name, column, str(error), None, None, "error")


def _public(desk: _Desk) -> Iterator[Finding]:
    for column in desk.table.columns:
        if desk.source.type_of(column.name) is None:
            what = "is in the policy but not in the data. Remove it, or write the data's own name."
            yield Finding(desk.table.name, column.name, what, None, None, "error")
    key = desk.table.key
    if key is None:
        return
    if desk.source.type_of(key) is None:
        yield Finding(
            desk.table.name, key, "is the key but not in the data. Write the data's own name.", None, None, "error"
        )
        return
    rows, present = desk.counts(f"s.{quote(key)} IS NOT NULL")
    (distinct,) = desk.row(f"SELECT count(DISTINCT s.{quote(key)}) FROM {desk.source.sql} AS s")
    what = "rows repeat a value of the key. Remove them, or remove key."
    yield from desk.found(key, what, present - distinct, rows, "error")


def _units(desk: _Desk, whole: bool) -> Iterator[Finding]:
    table = desk.table
    try:
        unit = identity(table, str(table.unit), desk.source, integer=whole)
    except PolicyError as error:
        yield desk.broken(table.unit, error)
        return
    rows, nobody = desk.counts(f"{unit} IS NULL")
    yield from desk.found(table.unit, "rows have no unit. They are in no answer.", nobody, rows)
    per_unit = f"SELECT count(*) AS n FROM {desk.source.sql} AS s WHERE {unit} IS NOT NULL GROUP BY {unit}"
    cap = table.rows_per_unit
    units, above, dropped, kept = desk.row(
        f"SELECT count(*), count(*) FILTER (n > {cap}), sum(greatest(n - {cap}, 0))::BIGINT, "
        f"sum(least(n, {cap}))::BIGINT FROM ({per_unit})"
    )
    severity: Severity = "error" if table.every_unit else "warning"
    what = f"units have more than rows_per_unit: {cap} rows."
    yield from desk.found(table.unit, what, above, units, severity)
    what = f"rows are beyond rows_per_unit: {cap} of their unit. They are in no answer."
    yield from desk.found(table.unit, what, dropped, rows, severity)
    if table.rows_at_least is not None and kept < table.rows_at_least:
        what = f"rows are left by the cap, fewer than rows_at_least: {table.rows_at_least} vouches for."
        yield Finding(table.name, None, what, kept, None, "error")


def _keys(desk: _Desk, whole: bool) -> Iterator[Finding]:
    table = desk.table
    if table.key is None or table.unit is None or table.key == table.unit:
        return
    try:
        unit = identity(table, table.unit, desk.source, integer=whole)
        key = identity(table, table.key, desk.source)
    except PolicyError as error:
        yield desk.broken(table.key, error)
        return
    rows, missing = desk.counts(f"{key} IS NULL")
    yield from desk.found(table.key, "rows have no key. They are in no answer.", missing, rows)
    read = f"SELECT {unit} AS u, {key} AS k FROM {desk.source.sql} AS s"
    present, pairs, distinct = desk.row(
        f"SELECT sum(n)::BIGINT, count(*), count(DISTINCT k) FROM (SELECT u, k, count(*) AS n FROM ({read}) "
        f"WHERE u IS NOT NULL AND k IS NOT NULL GROUP BY u, k)"
    )
    what = "rows repeat a key of the same unit. One row of each key is used."
    yield from desk.found(table.key, what, present - pairs, rows)
    what = "rows share their key with another unit. Each unit keeps its own; joins never cross units."
    yield from desk.found(table.key, what, pairs - distinct, rows)


def _column(desk: _Desk, column: ColumnShape, sources: Mapping[str, Source]) -> Iterator[Finding]:
    try:
        read = reading(desk.table, column, desk.source, listed(column, _domain(column, sources)))
    except PolicyError as error:
        yield desk.broken(column.name, error)
        return
    yield from _values(desk, column, read)


def _domain(column: ColumnShape, sources: Mapping[str, Source]) -> str | None:
    if column.values_from is None:
        return None
    owner, name = column.values_from
    if owner not in sources or sources[owner].type_of(name) is None:
        raise PolicyError(f"takes its values from {owner}.{name}, which is not in the data. Write the data's own name.")
    return f"SELECT {quote(name)} FROM {sources[owner].sql} WHERE {quote(name)} IS NOT NULL"


def _values(desk: _Desk, column: ColumnShape, read: Reading) -> Iterator[Finding]:
    unreadable = f"{read.raw} IS NOT NULL AND {read.parsed} IS NULL AND NOT {read.nan}"
    rows, nulls, unread, outside, nan = desk.counts(f"{read.raw} IS NULL", unreadable, read.outside, read.nan)
    name = column.name
    yield from desk.found(name, f"values are no {column.type}. They read as NULL.", unread, rows)
    yield from desk.found(name, "values are NaN. They read as NULL.", nan, rows)
    moved = column.type in NUMERIC and column.values is None and column.values_from is None
    what = "values are outside the bounds. " if column.low is not None else "values are outside the declared values. "
    if column.low is None and column.values is None and column.values_from is None:
        what = "values are days that no calendar has. "
    what += "They are moved to the nearer bound." if moved else "They read as NULL."
    yield from desk.found(name, what, outside, rows)
    if not column.nullable:
        what = "values are NULL though the policy does not say nullable: true."
        if column.values is not None or column.values_from is not None:
            what += " They have no group of their own."
        yield from desk.found(name, what, nulls, rows)
