"""Totals of all units by size, read where they are stored, in the place of rows or of what is stored of each unit.

Theorem. They are those that `Sized` says.

Proof. Where units have several rows, their totals were added up by the code that does so for a statement
(`worker.sizing`), with the same bins; where each has one row, by the same SQL (`sized.sized_totals`). Now let a group
be several stored cells. If a unit has one row, or no total below 0, its size is the same: the sum of its totals in all
cells. So a group's total in a bin is the sum of its cells' totals there, and each unit is counted in one of its groups.
Other sums are read by all stored keys; by days there are none of them.  QED

Tests: tests/unit/engine/test_totals.py, tests/unit/engine/test_sized.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.places import by_place, rising
from dpsql.engine.printer import Printer
from dpsql.engine.rows import statement_by_place, value_rows
from dpsql.engine.sized import WIRES, TotalRows
from dpsql.engine.totals import stored_column
from dpsql.plan.catalog import SIZES, StoredSizes, place_name
from dpsql.plan.grids import Bins
from dpsql.plan.needs import Sized
from dpsql.plan.nodes import Column, Expression, Scan
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.expressions import columns_of
from dpsql.worker.ordered import OF, SIZED

__all__ = ["read_sizes_by_day", "read_sizes_of_rows", "read_sizes_of_totals"]


def read_sizes_of_totals(printer: Printer, rows: TotalRows) -> EngineStatement | None:
    """The statement that reads totals; None where they are not stored, or not of all these units and with these bins.

    Args:
        printer: Collects what the text uses.
        rows: What is added up, of what is stored of each unit (`totals.from_totals`).
    """
    scan = rows.source.relation
    if not isinstance(scan, Scan) or scan.table.sizes is None:
        return None
    sizes, keys = scan.table.sizes, rows.source.keys
    signed = any(low < 0 for low, _, _ in rows.binned)
    if signed and len({key.expression for key in keys}) < len(sizes.keys):
        return None  # a unit's totals in several cells may cancel
    names = [None if own is None else _name(own[0]) for own in rows.columns]  # stored rows are of one unit each
    statement = _read(printer, sizes, keys, names, rows.bins, rows.fields)
    return None if statement is None else replace(statement, bins=rows.bins, by_unit=True)


def read_sizes_of_rows(printer: Printer, need: Sized) -> EngineStatement | None:
    """The same of a table where each unit has one row, in the place of its rows."""
    scan, own = need.source.relation, need.argument
    if not isinstance(scan, Scan) or scan.table.sizes is None or not need.single or not isinstance(own, Column):
        return None
    if not printer.as_stored(own, need.grid):  # it is clamped first
        return None
    return _read(printer, scan.table.sizes, need.source.keys, [own.name], [need.bins], WIRES)


def read_sizes_by_day(printer: Printer, rows: TotalRows) -> EngineStatement | None:
    """The same of all rows of a table where the keys follow from a day that stands in each of them."""
    scan, named = rows.source.relation, {column for key in rows.source.keys for column in columns_of(key.expression)}
    if not isinstance(scan, Scan) or len(named) != 1 or not printer.dialect.counts:
        return None
    (day,) = named
    sizes = next((own for own in scan.table.days if dict(own.keys).keys() == {day.name}), None)
    names = [stored_column(printer, *kind) for kind in zip(rows.functions, rows.columns, strict=True)]
    if sizes is None or None in names:
        return None
    kinds = _kinds(sizes, names, rows.bins)
    if kinds is None:
        return None
    table = replace(scan.table, name=sizes.name, columns={day.name: scan.table.columns[day.name]}, ranked=False)
    source, places = by_place(printer, replace(rows.source, relation=replace(scan, table=table)))
    numbers = [Column(scan.alias, name, Facts(Type.INTEGER)) for name in SIZES]
    stored = value_rows(printer, source, (), ranks=numbers)
    keys = [printer.quoted(key.name) for key in source.keys]
    shown = [*places, *(f'"r{at}" AS {printer.quoted(name)}' for at, name in enumerate(SIZES))]
    days = f"(SELECT {', '.join(shown)} FROM ({stored}) AS q) AS t"
    own = statement_by_place(printer, _added_up(printer, days, keys, keys, kinds, rows.fields), source, rows.fields)
    return replace(own, bins=rows.bins, by_unit=True)


def _read(
    printer: Printer,
    sizes: StoredSizes,
    keys: Sequence[Key],
    names: Sequence[str | None],
    bins: Sequence[Bins | None],
    fields: Sequence[tuple[str, str]],
) -> EngineStatement | None:
    """The statement; None where the keys are others, or one of the totals.

    Args:
        printer: Collects what the text uses.
        sizes: What is stored.
        keys: The keys of the groups.
        names: The column of each kind of total; None for the number of units.
        bins: Those of each kind; None where it is added up as it is.
        fields: The columns of what comes, behind the keys.
    """
    known, domains = dict(sizes.keys), [rising(key.domain or ()) for key in keys]
    columns = [_name(key.expression) for key in keys]
    kinds = _kinds(sizes, names, bins)
    listed = all(known.get(name) == _values(own) for name, own in zip(columns, domains, strict=True))
    if not printer.dialect.counts or not listed or kinds is None:
        return None
    places = [printer.quoted(place_name(column)) for column in columns]
    named = [printer.quoted(key.name) for key in keys]
    alone = set(columns) == known.keys() and all(binned or kind >= len(sizes.kinds) for kind, binned in kinds)
    return EngineStatement(
        sql=_added_up(
            printer, f"{printer.dialect.bounded(sizes.name)} AS t", places, named, kinds, fields, alone=alone
        ),
        parameters=(),
        columns=(*((key.name, "BIGINT") for key in keys), *fields),
        tables=frozenset({sizes.name}),
        functions=frozenset(printer.functions),
        listed=tuple((key.name, domain) for key, domain in zip(keys, domains, strict=True)),
    )


def _name(own: Expression) -> str:
    """Of a column; nothing is stored of other expressions, nor under no name."""
    return own.name if isinstance(own, Column) else ""


def _values(domain: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(value for value in domain if value is not None)


def _kinds(
    sizes: StoredSizes, names: Sequence[str | None], bins: Sequence[Bins | None]
) -> list[tuple[int, bool]] | None:
    """Which of what is stored has each column and its bins, and whether it has some; None where one is not there.

    Args:
        sizes: What is stored.
        names: The columns; None for how many units there are.
        bins: Theirs; None of one that is added up as it is.
    """
    found = list[tuple[int, bool]]()
    for name, own in zip(names, bins, strict=True):
        places = [place for place, (held, known) in enumerate(sizes.kinds) if held == name and own in (None, known)]
        if own is None and name in sizes.plain:
            places.append(len(sizes.kinds) + sizes.plain.index(name))
        found += [(place, own is not None) for place in places[:1]]
    return found if len(found) == len(names) else None


def _added_up(
    printer: Printer,
    stored: str,
    places: Sequence[str],
    keys: Sequence[str],
    kinds: Sequence[tuple[int, bool]],
    fields: Sequence[tuple[str, str]],
    *,
    alone: bool = False,
) -> str:
    """SQL of the numbers, those of one group and bin added up; of totals without bins nobody is counted.

    Args:
        printer: Collects what the text uses.
        stored: What is stored, behind FROM.
        places: Its columns of the keys' places.
        keys: What these are called in the result.
        kinds: Which of what is stored, and whether with its bins.
        fields: As `_read`.
        alone: Whether each stored row is a group and bin of its own: then there is nothing to add up.
    """
    of, held, *numbers = map(printer.quoted, SIZES)
    several = len(kinds) > 1
    names, parts = [*keys, *map(printer.quoted, (OF, *SIZED) if several else SIZED)], list[str]()
    for place, (kind, binned) in enumerate(kinds):
        shown = [*places, str(place)] if several else list(places)
        shown += [held, *numbers] if binned else ["0", "0", "0", numbers[-1]]
        columns = ", ".join(f"{text} AS {name}" for text, name in zip(shown, names, strict=True))
        parts.append(f"SELECT {columns} FROM {stored} WHERE {of} = {kind}")
    by = ", ".join(names[: -len(numbers)])
    texts = [f"{printer.cast(key, 'BIGINT')} AS {key}" for key in keys]
    for name, wire in fields:
        own = printer.quoted(name)
        value = printer.call("sum_of_integers", own) if name in SIZED[1:] and not alone else own
        texts.append(f"{printer.cast(value, wire)} AS {own}")
    rows = f"SELECT {', '.join(texts)} FROM ({' UNION ALL '.join(parts)}) AS q"
    return rows if alone else f"{rows} GROUP BY {by} ORDER BY {by}"
