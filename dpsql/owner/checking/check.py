"""Do the data fit the policy? For the owner's eyes: exact counts and shares, and no value but those of `sentinels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.engine.database import Database, SourceTable
from dpsql.errors import PolicyError
from dpsql.owner.building.bounded import READABLE, ColumnReading, listed, reading
from dpsql.owner.building.classes import declared_classes
from dpsql.owner.building.every_unit import miscounted
from dpsql.owner.building.owners import Owned, Owners, require_one_unit_type
from dpsql.owner.checking.correlations import revealing_pairs
from dpsql.owner.checking.cut import cut_texts, part_cut
from dpsql.owner.checking.sentinels import below_0, no_answers
from dpsql.owner.checking.untyped import left_unread, read_otherwise, rounded_away, types_to_declare
from dpsql.owner.checking.zoned import times_with_zones
from dpsql.owner.finding import MUCH, Finding, Severity
from dpsql.owner.jobs import of_source
from dpsql.owner.shape import NUMERIC, ClassShape, ColumnShape, Shape, TableShape, UniverseShape

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["Finding", "check", "findings", "number_of_units"]


def check(policy: Policy) -> list[Finding]:
    """What differs between the policy and the data, in the policy's order. Reads the data in a process of its own.

    Raises:
        PolicyError: If the database itself does not open.
        OperationalError: If the data cannot be read.
    """
    found = of_source(policy, "check")
    return [Finding(**message) for message in found]


def findings(database: Database, shape: Shape) -> Iterator[Finding]:
    """What differs, table by table. Runs in the owner's process."""
    sources: dict[str, SourceTable] = {}
    for caution in database.cautions():
        yield Finding(None, None, caution, None, None, "warning")
    for table in shape.tables:
        try:
            sources[table.name] = table.of(database)
        except PolicyError as error:
            yield Finding(table.name, None, str(error), None, None, "error")
    try:
        require_one_unit_type(shape, sources)
    except PolicyError as error:
        yield Finding(None, None, str(error), None, None, "error")
    owners = Owners(shape, sources)
    for table in shape.tables:
        if table.name not in sources:
            continue
        checked = _TableCheck(database, table, sources[table.name])
        if table.public:
            yield from _public(checked)
        else:
            yield from _owned(checked, owners)
            if table.unique:
                yield from _several_keys(checked, owners, sources)
            if table.every_unit:
                yield from _every_unit(checked, shape, sources, owners)
            for column in table.columns:
                yield from _column(checked, column, sources)
            if shape.classes is not None and shape.classes.table == table.name:
                yield from _classes(checked, shape, shape.classes, owners)
            for universe in shape.universes:
                if universe.table == table.name:
                    yield from _universe(checked, universe, sources)


def number_of_units(database: Database, shape: Shape) -> int:
    """How many different units the private tables hold together. Runs in the owner's process.

    Raises:
        PolicyError: If a table or its unit is not in the data.
    """
    sources = {table.name: table.of(database) for table in shape.tables}
    require_one_unit_type(shape, sources)
    owners = Owners(shape, sources)
    rows = [owners.rows(table) for table in shape.tables if not table.public]
    everybody = " UNION ALL ".join(f"SELECT {owned.unit} AS u FROM {owned.sql}" for owned in rows)
    ((count,),) = database.rows(f"SELECT count(DISTINCT u) FROM ({everybody}) AS r")
    return int(count)


@dataclass(frozen=True, slots=True)
class _TableCheck:
    """Counts over one table of the source."""

    database: Database
    table: TableShape
    source: SourceTable

    def quoted(self, name: str) -> str:
        """A name."""
        return self.database.dialect.quoted(name)

    def row(self, sql: str) -> tuple[int, ...]:
        """The one row of a query of counts."""
        return tuple(count or 0 for count in self.database.rows(sql)[0])

    def counts(self, *conditions: str) -> tuple[int, ...]:
        """(number of rows, number of rows for which each condition holds)."""
        held = [(f"c{number}", condition) for number, condition in enumerate(conditions)]
        parts = ["count(*)", *(f"count(*) FILTER (WHERE {name})" for name, _ in held)]
        each = ", ".join(f"({sql}) AS {name}" for name, sql in held) or "1 AS one"  # Sail has EXISTS in no aggregate
        return self.row(f"SELECT {', '.join(parts)} FROM (SELECT {each} FROM {self.source.sql} AS s) AS q")

    def found(
        self, column: str | None, what: str, count: int, of: int, severity: Severity = "warning",
        read_as: str | None = None, of_total: float | None = None, left_out: str | None = None,
    ) -> Iterator[Finding]:  # fmt: skip
        """The finding, if there is anything to it."""
        if count:
            share = Fraction(count, of)
            yield Finding(self.table.name, column, what, count, share, severity, read_as, of_total, left_out)

    def broken(self, column: str | None, error: PolicyError) -> Finding:
        """A disagreement about names or types."""
        return Finding(self.table.name, column, str(error), None, None, "error")


def _public(checked: _TableCheck) -> Iterator[Finding]:
    for column in checked.table.columns:
        if checked.source.type_of(column.name) is None:
            what = "is in the policy but not in the data. Remove it, or write the data's own name."
            yield Finding(checked.table.name, column.name, what, None, None, "error")
    if not checked.table.columns and (types := types_to_declare(checked.database, checked.source)):
        yield Finding(checked.table.name, None, types, None, None, "note")
    key = checked.table.key
    if key is None:
        return
    if checked.source.type_of(key) is None:
        yield Finding(
            checked.table.name, key, "is the key but not in the data. Write the data's own name.", None, None, "error"
        )
        return
    rows, present = checked.counts(f"s.{checked.quoted(key)} IS NOT NULL")
    (distinct,) = checked.row(f"SELECT count(DISTINCT s.{checked.quoted(key)}) FROM {checked.source.sql} AS s")
    what = "rows repeat a value of the key. Remove them, or remove key."
    yield from checked.found(key, what, present - distinct, rows, "error")


def _owned(checked: _TableCheck, owners: Owners) -> Iterator[Finding]:
    table = checked.table
    try:
        rows = owners.rows(table)
        yield from _unowned(checked, rows) if table.via is None else _chain(checked, owners)
    except PolicyError as error:
        yield checked.broken(table.on or table.unit, error)
        return
    yield from _units(checked, rows)
    yield from cut_texts(table, checked.source, rows, checked.row)
    if table.key is None or table.key == table.unit:
        return
    try:
        key = owners.identity(table, table.key)
    except PolicyError as error:
        yield checked.broken(table.key, error)
        return
    yield from _keys(checked, rows, key)


def _unowned(checked: _TableCheck, rows: Owned) -> Iterator[Finding]:
    total, nobody = checked.counts(f"{rows.unit} IS NULL")
    what = "rows have no unit. They are in no answer."
    yield from checked.found(checked.table.unit, what, nobody, total, left_out="have no unit")


def _chain(checked: _TableCheck, owners: Owners) -> Iterator[Finding]:
    """How many units the rows of a table find through its chain of keys."""
    table = checked.table
    reference = owners.identity(table, str(table.on))
    key = checked.quoted("key")
    units = f"SELECT {key}, count(*) AS units FROM ({owners.of_keys(table)}) AS k GROUP BY {key}"
    total, missing, nobody, several = checked.row(
        f"SELECT count(*), count(*) FILTER (WHERE {reference} IS NULL), "
        f"count(*) FILTER (WHERE {reference} IS NOT NULL AND o.{key} IS NULL), count(*) FILTER (WHERE o.units > 1) "
        f"FROM {checked.source.sql} AS s LEFT JOIN ({units}) AS o ON {reference} = o.{key}"
    )
    what = f"rows refer to no row of {table.via}. They are in no answer."
    yield from checked.found(table.on, what, missing, total, left_out=f"refer to no row of {table.via}")
    what = f"rows refer to a row of {table.via} that is not there, or has no unit. They are in no answer."
    yield from checked.found(table.on, what, nobody, total, left_out=f"find no unit through {table.via}")
    what = f"rows belong to several units through {table.via}. Each of these units has the row as its own."
    yield from checked.found(table.on, what, several, total)


def _units(checked: _TableCheck, rows: Owned) -> Iterator[Finding]:
    table, cap = checked.table, checked.table.rows_per_unit
    per_unit = f"SELECT count(*) AS n FROM {rows.sql} WHERE {rows.unit} IS NOT NULL GROUP BY {rows.unit}"
    beyond, within = (
        checked.database.dialect.call(*call) for call in (("greatest", f"n - {cap}", "0"), ("least", "n", f"{cap}"))
    )
    units, above, dropped, kept = checked.row(
        f"SELECT count(*), count(*) FILTER (WHERE n > {cap}), sum({beyond}), sum({within}) FROM ({per_unit}) AS r"
    )
    severity: Severity = "error" if table.every_unit else "warning"
    keyed = table.key == table.unit
    what = "units repeat, though they are the key." if keyed else f"units have more than rows_per_unit: {cap} rows."
    yield from checked.found(table.unit, what, above, units, severity)
    beyond = "repeat the key of their unit" if keyed else f"are beyond rows_per_unit: {cap} of their unit"
    what = f"rows {beyond}. They are in no answer."
    yield from checked.found(table.unit, what, dropped, _total(checked, rows), severity, left_out=beyond)
    if table.rows_at_least is not None and kept < table.rows_at_least:
        what = f"rows are left by the cap, fewer than rows_at_least: {table.rows_at_least} vouches for."
        yield Finding(table.name, None, what, kept, None, "error")
    if units == 0 and table.min_units == 1:
        yield Finding(table.name, None, "units are there. Every answer is noise alone.", units, None, "warning")
    elif units < table.min_units:
        what = f"units are there, fewer than min_units: {table.min_units} asks of every group. No group is ever shown."
        yield Finding(table.name, None, what, units, None, "warning")
    if table.units_at_least is not None and units < table.units_at_least:
        what = (
            f"units are there, fewer than row_floor: {table.units_at_least} vouches for. gamma is more than is charged."
        )
        yield Finding(table.name, None, what, units, None, "error")


def _every_unit(
    checked: _TableCheck, shape: Shape, sources: Mapping[str, SourceTable], owners: Owners
) -> Iterator[Finding]:
    """What the build is refused for, but units with several rows, who are counted with the cap."""
    table = checked.table
    if any(not other.public and other.name not in sources for other in shape.tables):
        return  # said already: nothing can be built
    try:
        found = miscounted(checked.database, shape, sources, owners, table)
    except PolicyError:
        return  # said already, with the column
    what = "units have no row here, though the policy says every_unit: true. Nothing is built."
    yield from checked.found(table.unit, what, found.missing, found.units, "error")
    what = "rows belong to several units, though the policy says every_unit: true. Nothing is built."
    yield from checked.found(table.on, what, found.shared, checked.counts()[0], "error")


def _keys(checked: _TableCheck, rows: Owned, key: str) -> Iterator[Finding]:
    column, total = checked.table.key, _total(checked, rows)
    (missing,) = checked.row(f"SELECT count(*) FROM {rows.sql} WHERE {key} IS NULL")
    what = "rows have no key. They are in no answer."
    yield from checked.found(column, what, missing, total, left_out="have no key")
    read = f"SELECT {rows.unit} AS u, {key} AS k FROM {rows.sql}"
    present, pairs, distinct = checked.row(
        f"SELECT sum(n), count(*), count(DISTINCT k) FROM (SELECT u, k, count(*) AS n FROM ({read}) AS r "
        f"WHERE u IS NOT NULL AND k IS NOT NULL GROUP BY u, k) AS r"
    )
    what = "rows repeat a key of the same unit. One row of each key is used."
    yield from checked.found(column, what, present - pairs, total, left_out="repeat a key of their unit")
    what = "rows share their key with another unit. Each unit keeps its own; joins never cross units."
    yield from checked.found(column, what, pairs - distinct, total)


def _several_keys(checked: _TableCheck, owners: Owners, sources: Mapping[str, SourceTable]) -> Iterator[Finding]:
    """Of a key of several columns, as the bounded table reads them."""
    table, columns = checked.table, {column.name: column for column in checked.table.columns}
    try:
        rows = owners.rows(table)
        values = [
            _read(checked, columns[name], sources).value if name in columns else owners.identity(table, name)
            for name in table.unique
        ]
    except PolicyError:
        return  # said already, with the column
    total, names = _total(checked, rows), ", ".join(table.unique)
    keys = [f"k{place}" for place in range(len(values))]
    parts = [f"{value} AS {key}" for value, key in zip(values, keys, strict=True)]
    there = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    read = f"SELECT {rows.unit} AS u, {', '.join(parts)} FROM {rows.sql}"
    missing, present, distinct = checked.row(
        f"SELECT count(*) FILTER (WHERE NOT ({there})), count(*) FILTER (WHERE {there} AND u IS NOT NULL), "
        f"(SELECT count(*) FROM (SELECT DISTINCT u, {', '.join(keys)} FROM ({read}) AS r "
        f"WHERE u IS NOT NULL AND {there}) AS d) FROM ({read}) AS r"
    )
    what = f"rows have no key, for {names} reads as NULL. They are in no answer."
    yield from checked.found(None, what, missing, total, left_out=f"have no key ({names})")
    what = f"rows repeat a key of the same unit ({names}). One row of each key is used."
    yield from checked.found(None, what, present - distinct, total, left_out=f"repeat a key of their unit ({names})")


def _classes(checked: _TableCheck, shape: Shape, classes: ClassShape, owners: Owners) -> Iterator[Finding]:
    """How many units of the table that names classes name none."""
    try:
        rows = owners.rows(checked.table)
        named = declared_classes(shape, checked.source, owners)
    except PolicyError as error:
        yield checked.broken(classes.column, error)
        return
    units, known = checked.row(
        f"SELECT (SELECT count(DISTINCT {rows.unit}) FROM {rows.sql}), (SELECT count(*) FROM ({named}) AS n)"
    )
    what = f"units name no class, an unknown one, or several. They are of the strictest: {classes.strictest}."
    yield from checked.found(classes.column, what, units - known, units)


def _total(checked: _TableCheck, rows: Owned) -> int:
    """The number of a table's rows; through a chain of keys, once for each unit that they belong to."""
    (total,) = checked.row(f"SELECT count(*) FROM {rows.sql}")
    return total


def _column(checked: _TableCheck, column: ColumnShape, sources: Mapping[str, SourceTable]) -> Iterator[Finding]:
    try:
        read = _read(checked, column, sources)
    except PolicyError as error:
        yield checked.broken(column.name, error)
        return
    held = checked.source.type_of(column.name)
    if held is None:
        return
    if checked.source.typed and held.family == "text" and column.type != "text":
        what = f"is declared {column.type}, but the data hold text: each value is parsed, and NULL where that fails."
        yield Finding(checked.table.name, column.name, what, None, None, "warning")
    if column.type in ("date", "timestamp"):
        yield from times_with_zones(checked.table, column, held, checked.counts, checked.database.dialect)
    yield from _values(checked, column, read)


def _universe(checked: _TableCheck, universe: UniverseShape, sources: Mapping[str, SourceTable]) -> Iterator[Finding]:
    """Attributes of a metric that tell each other."""
    declared = {column.name: column for column in checked.table.columns}
    try:
        columns = [declared[place.column] for place in universe.places]
        values = {column.name: _read(checked, column, sources).value for column in columns}
    except PolicyError:
        return  # said already, with the column
    for one, other, rows, without, given in revealing_pairs(checked.source, values, checked.row):
        what = (
            f"tells {other}: by it {given / rows:.0%} are guessed right, {without / rows:.0%} without. Precise answers "
            f"about it are answers about {other}, whatever the metric says of that."
        )
        yield Finding(checked.table.name, one, what, None, None, "warning")


def _read(checked: _TableCheck, column: ColumnShape, sources: Mapping[str, SourceTable]) -> ColumnReading:
    """How a declared column is read, inside its declared domain."""
    source = checked.source
    return reading(checked.table, column, source, listed(column, _domain(column, sources), source.dialect))


def _domain(column: ColumnShape, sources: Mapping[str, SourceTable]) -> tuple[str, str] | None:
    if column.values_from is None:
        return None
    owner, name = column.values_from
    held = sources[owner].type_of(name) if owner in sources else None
    if held is None:
        raise PolicyError(f"takes its values from {owner}.{name}, which is not in the data. Write the data's own name.")
    if sources[owner].typed and (held.family == "text") != (column.type == "text"):
        fits = " or ".join(type_ for type_, families in READABLE.items() if held.family in families and type_ != "text")
        cure = f"Declare type: {'text' if held.family == 'text' else fits}, or write one type in the data."
        raise PolicyError(f"is declared {column.type}, but takes its values from {owner}.{name}, {held.name}. {cure}")
    return sources[owner].dialect.quoted(name), f"{sources[owner].sql} AS d"


def _values(checked: _TableCheck, column: ColumnShape, read: ColumnReading) -> Iterator[Finding]:
    unreadable = f"{read.raw} IS NOT NULL AND {read.parsed} IS NULL AND NOT {read.nan}"
    name, rounds = column.name, rounded_away(checked.source, column, read)
    rows, nulls, unread, outside, nan, rounded = checked.counts(
        f"{read.raw} IS NULL", unreadable, read.outside, read.nan, rounds
    )
    # Of a CSV file, where the policy says how it is written.
    lost = left_unread(checked.database, checked.table, column, rows - nulls)
    nulls, unread = nulls - lost, unread + lost
    otherwise = read_otherwise(checked.database, checked.table, column) if unread else ""
    what = f"values are no {column.type}. They read as NULL.{otherwise}"
    yield from checked.found(name, what, unread, rows, read_as="NULL")
    yield from checked.found(name, "values are NaN. They read as NULL.", nan, rows, read_as="NULL")
    what = "values have decimals. They are rounded; write type: real to keep them."
    yield from checked.found(name, what, rounded, rows, read_as="the nearest whole number")
    moved = column.type in NUMERIC and column.values is None and column.values_from is None
    what = "values are outside the bounds. " if column.low is not None else "values are outside the declared values. "
    if column.low is None and column.values is None and column.values_from is None:
        what = "values are days that no calendar has. "
    what += "They are moved to the nearer bound" if moved else "They read as NULL."
    cut = part_cut(checked.database, checked.source, read) if moved and outside else None
    if moved:
        what += "." if cut is None or cut < MUCH else f": of all that they add up to, that takes off {cut:.0%}."
    nullstr, own = dict(checked.table.csv).get("nullstr", ()), dict(checked.table.rename).get(name, name)
    if moved and outside:
        what += no_answers(checked.database, checked.source, own, read, rows, outside, nullstr)
    yield from checked.found(name, what, outside, rows, read_as="the nearer bound" if moved else "NULL", of_total=cut)
    for told, n in below_0(checked.database, checked.source, own, read, rows, nullstr) if moved else ():
        yield from checked.found(name, told, n, rows)
    if not column.nullable:
        what = "values are NULL though the policy does not say nullable: true."
        if column.values is not None or column.values_from is not None:
            what += " They have no group of their own."
        yield from checked.found(name, what, nulls, rows)
