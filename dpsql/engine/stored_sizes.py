"""Totals of all units by size, read where they are stored, in the place of rows or of what is stored of each unit.

Theorem. They are those that `Sized` says.

Proof. Where units have several rows, their totals were added up by the code that does so for a statement
(`worker.sizing`), with the same bins; where each has one row, by the same SQL (`sized.sized_totals`). Now let a group
be several stored cells. If a unit has one row, or no total below 0, its size is the same: the sum of its totals in all
cells. So a group's total in a bin is the sum of its cells' totals there, and each unit is counted in one of its groups.
Other sums are read by all stored keys.  QED

Tests: tests/unit/engine/test_totals.py, tests/unit/engine/test_sized.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.places import rising
from dpsql.engine.printer import Printer
from dpsql.engine.sized import WIRES, TotalRows
from dpsql.plan.catalog import SIZES, StoredSizes, place_name
from dpsql.plan.grids import Bins
from dpsql.plan.needs import Sized
from dpsql.plan.nodes import Column, Expression, Scan
from dpsql.plan.plans import Key
from dpsql.plan.types import Value
from dpsql.worker.ordered import OF, SIZED

__all__ = ["read_sizes_of_rows", "read_sizes_of_totals"]


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
    found = [_kind(sizes, *kind) for kind in zip(names, bins, strict=True)]
    kinds = [(kind, own is not None) for kind, own in zip(found, bins, strict=True) if kind is not None]
    listed = all(known.get(name) == _values(own) for name, own in zip(columns, domains, strict=True))
    if not printer.dialect.counts or not listed or len(kinds) < len(found):
        return None
    named = [key.name for key in keys]
    shown = list(zip(named, columns, strict=True))
    return EngineStatement(
        sql=_added_up(printer, sizes, shown, kinds, fields),
        parameters=(),
        columns=(*((key, "BIGINT") for key in named), *fields),
        tables=frozenset({sizes.name}),
        functions=frozenset(printer.functions),
        listed=tuple(zip(named, domains, strict=True)),
    )


def _name(own: Expression) -> str:
    """Of a column; nothing is stored of other expressions, nor under no name."""
    return own.name if isinstance(own, Column) else ""


def _values(domain: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(value for value in domain if value is not None)


def _kind(sizes: StoredSizes, name: str | None, bins: Bins | None) -> int | None:
    """Which of what is stored has this column and these bins; the units, which have none, are behind all."""
    if name is None:
        return len(sizes.kinds) if bins is None else None
    places = (place for place, (own, held) in enumerate(sizes.kinds) if own == name and bins in (None, held))
    return next(places, None)


def _added_up(
    printer: Printer,
    sizes: StoredSizes,
    keys: Sequence[tuple[str, str]],
    kinds: Sequence[tuple[int, bool]],
    fields: Sequence[tuple[str, str]],
) -> str:
    """SQL of the numbers, those of one group and bin added up; of totals without bins nobody is counted."""
    of, held, *numbers = map(printer.quoted, SIZES)
    names, parts = [printer.quoted(own) for own in (*(key for key, _ in keys), OF, *SIZED)], list[str]()
    for place, (kind, binned) in enumerate(kinds):
        shown = [*(printer.quoted(place_name(column)) for _, column in keys), str(place)]
        shown += [held, *numbers] if binned else ["0", "0", "0", numbers[-1]]
        columns = ", ".join(f"{text} AS {name}" for text, name in zip(shown, names, strict=True))
        parts.append(f"SELECT {columns} FROM {printer.dialect.bounded(sizes.name)} AS t WHERE {of} = {kind}")
    texts, by = names[: len(keys)], ", ".join(names[: len(keys) + 2])
    for name, wire in fields:
        own = printer.quoted(name)
        value = printer.call("sum_of_integers", own) if name in SIZED[1:] else own
        texts.append(f"{printer.cast(value, wire)} AS {own}")
    return f"SELECT {', '.join(texts)} FROM ({' UNION ALL '.join(parts)}) AS q GROUP BY {by} ORDER BY {by}"
