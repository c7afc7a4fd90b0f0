"""Units' totals of few listed groups, and of several kinds, side by side in one row for each unit: SQL of `Sized`.

Where a database finds each unit's total in each group as a row, it needs a window over these rows to know how much a
unit has in all, and reads the rows once for each kind of total. Here it groups them once by unit, has all totals in
columns, and adds these up by bin; the few rows of the result are taken apart at the end.

Theorem. It is what `Sized` says. Each total is the sum over the unit's rows in the group, clamped; NULL, of no values,
adds nothing, as 0. The places of the listed groups rise with their keys, NULL last, so the first of a unit's groups is
the one of least place whose total is not 0. What is in no listed group counts for how much a unit has, and a unit may
be counted there: under a list without NULL these groups come as NULL, for that is what is in no list.  QED

Tests: tests/unit/engine/test_sized.py, tests/doors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from dpsql.engine.base import EngineStatement
from dpsql.engine.dialect import WIRE
from dpsql.engine.places import by_place, placeable
from dpsql.engine.printer import Printer
from dpsql.engine.rows import UNIT, ValueColumn, column_name, statement_over, unit_column, value_rows
from dpsql.engine.sized import WIRES, TotalRows, bin_of
from dpsql.plan.needs import Source
from dpsql.plan.types import Type, Value
from dpsql.worker.ordered import OF

__all__ = ["MOST_BESIDE", "beside", "side_by_side"]

MOST_BESIDE = 32
"""Totals of a unit, groups times kinds, that stand side by side. It is a choice: each is a column, and a sum."""


def beside(rows: TotalRows) -> int:
    """How many totals of a unit would stand side by side; 0 where they cannot."""
    keys, binned = rows.source.keys, rows.binned
    if any(key.expression.facts.type is Type.REAL for key in keys):
        return 0  # Sail does not read the place of a real as it plans it
    if not all(key.domain for key in keys) or not placeable(rows.source) or any(not a <= 0 <= b for a, b, _ in binned):
        return 0
    if len(binned) < len(rows.bins):  # what has no bins would be in as many rows as have some
        return 0
    return math.prod(len(key.domain or ()) + 1 for key in keys) * len(rows.functions)


def side_by_side(printer: Printer, rows: TotalRows) -> EngineStatement:
    """The statement.

    Args:
        printer: Collects what the text uses.
        rows: What is added up, with bins: at most `MOST_BESIDE` totals a unit.
    """
    printer.functions |= {"count", "-", "+", "*"}
    source, places = by_place(printer, rows.source)
    domains = [key.domain or () for key in source.keys]
    many, kinds = math.prod(len(domain) + 1 for domain in domains), range(len(rows.functions))
    sql = _by_bin(printer, _by_kind(printer, _of_units(printer, source, places, rows, many), many, rows), many)
    every = [(*domain, *([] if None in domain else [None])) for domain in domains]
    groups = {_number(place, domains): group for place, group in zip(_places(every), product(*every), strict=True)}
    fields = [(key.name, WIRE[key.expression.facts.type]) for key in rows.source.keys]
    fields += [(OF, "BIGINT")] if len(kinds) > 1 else []
    sql = _apart(printer, sql, rows.source, groups, several=len(kinds) > 1)
    return replace(statement_over(printer, sql, [*fields, *WIRES], source.relation), beside=many * len(kinds))


def _places(domains: Sequence[Sequence[Value]]) -> Iterable[tuple[int, ...]]:
    """Of all groups, in order."""
    return product(*(range(len(domain)) for domain in domains))


def _number(place: Sequence[int], domains: Sequence[Sequence[Value]]) -> int:
    """One number for the places of all keys, each of which has one more behind its list."""
    number = 0
    for own, domain in zip(place, domains, strict=True):
        number = number * (len(domain) + 1) + own
    return number


def _of_units(printer: Printer, source: Source, places: Sequence[str], rows: TotalRows, many: int) -> str:
    """One row for each unit: its totals ``t{kind}_{group}``, clamped; 0 where it has none."""
    values = list(dict.fromkeys(ValueColumn(*own) for own in rows.columns if own is not None))
    inner = value_rows(printer, source, values, unit=unit_column(source))
    unit, xs = printer.quoted(UNIT), [column_name(printer, place) for place in range(len(values))]
    by_places = f"SELECT {', '.join([*places, unit, *xs])} FROM ({inner}) AS q"
    number = "0"
    for key in source.keys:
        number = f"({number}) * {len(key.domain or ()) + 1} + {printer.quoted(key.name)}"
    numbered = f"{printer.dialect.once}SELECT {', '.join([f'{number} AS g', unit, *xs])} FROM ({by_places}) AS q"
    totals = list[str]()
    for kind, (function, own) in enumerate(zip(rows.functions, rows.columns, strict=True)):
        x = "1" if own is None else xs[values.index(ValueColumn(*own))]
        for group in range(many):
            one = f"CASE WHEN g = {group} THEN {x} END"
            total = printer.call("sum_of_bounded", one) if function == "sum" else f"COUNT({one})"
            totals.append(f"{printer.cast(total, 'BIGINT')} AS t{kind}_{group}")
    added = f"SELECT {', '.join(totals)} FROM ({numbered}) AS q GROUP BY {unit}"
    clamped = [
        f"CASE WHEN {t} < {low} THEN {low} WHEN {t} > {high} THEN {high} ELSE COALESCE({t}, 0) END AS {t}"
        for kind, (low, high, _) in enumerate(rows.binned)
        for t in (f"t{kind}_{group}" for group in range(many))
    ]
    return f"{printer.dialect.once}SELECT {', '.join(clamped)} FROM ({added}) AS q"


def _by_kind(printer: Printer, units: str, many: int, rows: TotalRows) -> str:
    """One row for each unit and kind ``j``: its totals ``t{group}``, its size and its bin.

    Units without anything stay: they add nothing. Spark's optimiser would carry a condition on the size through all
    columns that it is made of, in all ways that they can be named: with 32 of them it finds no end.
    """
    kinds, once = range(len(rows.functions)), printer.dialect.once

    def chosen(texts: Sequence[str]) -> str:
        cases = " ".join(f"WHEN {kind} THEN {text}" for kind, text in enumerate(texts))
        return f"CASE j {cases} END" if len(texts) > 1 else texts[0]

    totals = [f"{chosen([f't{kind}_{group}' for kind in kinds])} AS t{group}" for group in range(many)]
    own = f"SELECT 0 AS j, {', '.join(totals)} FROM ({units}) AS q"
    if len(kinds) > 1:
        own = f"SELECT j, {', '.join(totals)} FROM ({units}) AS q CROSS JOIN {printer.dialect.numbers(kinds, 'j')}"
    each = f"{once}{own}"
    named = ", ".join(f"t{group}" for group in range(many))
    size = " + ".join(f"CASE WHEN t{group} < 0 THEN 0 - t{group} ELSE t{group} END" for group in range(many))
    sized = f"{once}SELECT j, {named}, {size} AS size FROM ({each}) AS q"
    bins = [bin_of("size", edges) for _, _, edges in rows.binned]
    return f"{once}SELECT j, {named}, {chosen(bins)} AS bin FROM ({sized}) AS q"


def _by_bin(printer: Printer, kinds: str, many: int) -> str:
    """One row for each kind and bin: of each group ``n{group}``, ``s{group}`` and ``x{group}``, as `WIRES` has them."""
    groups = range(many)
    first = " ".join(f"WHEN t{group} <> 0 THEN {group}" for group in groups)
    named = ", ".join(f"t{group}" for group in groups)
    placed = f"{printer.dialect.once}SELECT j, bin, {named}, CASE {first} END AS f FROM ({kinds}) AS q"
    texts = list[str]()
    for group in groups:
        first_of = f"CASE WHEN f = {group} THEN {{}} ELSE 0 END"
        sign = first_of.format(f"CASE WHEN t{group} > 0 THEN 1 ELSE 0 - 1 END")
        texts.append(f"{printer.call('sum_of_bounded', first_of.format(1))} AS n{group}")
        texts.append(f"{printer.call('sum_of_bounded', sign)} AS s{group}")
        texts.append(f"{printer.call('sum_of_integers', f't{group}')} AS x{group}")
    return f"SELECT j, bin, {', '.join(texts)} FROM ({placed}) AS q GROUP BY j, bin"


def _apart(
    printer: Printer, bins: str, source: Source, groups: Mapping[int, tuple[Value, ...]], *, several: bool
) -> str:
    """One row for each group, kind and bin, where anything is."""

    def of_group(texts: Iterable[str]) -> str:
        return f"CASE g {' '.join(f'WHEN {group} THEN {text}' for group, text in zip(groups, texts, strict=True))} END"

    shown = list[str]()
    for at, key in enumerate(source.keys):
        kind = key.expression.facts.type
        value = of_group([printer.constant(own[at], kind) for own in groups.values()])
        shown.append(f"{printer.cast(value, WIRE[kind])} AS {printer.quoted(key.name)}")
    shown += [f"{printer.cast('j', 'BIGINT')} AS {printer.quoted(OF)}"] if several else []
    shown.append(f"{printer.cast('bin', 'BIGINT')} AS {printer.quoted('bin')}")
    for (name, wire), own in zip(WIRES[1:], "nsx", strict=True):
        value = of_group([f"{own}{group}" for group in groups])
        shown.append(f"{printer.cast(value, wire)} AS {printer.quoted(name)}")
    cells = f"SELECT {', '.join(shown)} FROM ({bins}) AS q CROSS JOIN {printer.dialect.numbers(groups, 'g')}"
    names = [*(key.name for key in source.keys), *([OF] if several else []), *(name for name, _ in WIRES)]
    some = f"{printer.quoted('units')} <> 0 OR {printer.quoted('total')} <> 0"
    return f"SELECT {', '.join(map(printer.quoted, names))} FROM ({cells}) AS q WHERE {some}"
