"""Keys of groups as places in the lists of their values: whole numbers of few bytes, which travel and compare fast.

Tests: tests/unit/engine/test_sized.py, tests/unit/engine/test_streamed.py, tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dpsql.engine.printer import Printer
from dpsql.plan.catalog import place_name
from dpsql.plan.needs import Source
from dpsql.plan.nodes import Column, Scan
from dpsql.plan.plans import Key
from dpsql.plan.relations import unit_scans
from dpsql.plan.types import Facts, Type, Value

__all__ = ["by_place", "placeable", "rising"]

MOST_SORTED = 64
"""Values of a key that are compared with each row one by one. It is a choice: more of them cost more than texts do."""
CACHED = 64  # Lists that are remembered as following each other, or not. It is a choice between memory and time.


def by_place(printer: Printer, source: Source) -> tuple[Source, list[str]]:
    """The source with its keys' values in the database's order, and over its rows a column of the place of each key.

    Where a table stores just these places the source reads them in the place of the key.
    """
    ordered = [replace(key, domain=rising(key.domain or ())) for key in source.keys]
    tables = unit_scans(source.relation) if printer.dialect.counts else ()
    stored = [_stored(tables, key) for key in ordered]
    keys = [replace(key, expression=own or key.expression) for key, own in zip(ordered, stored, strict=True)]
    columns = [
        _placed(printer, key) if own is None else printer.quoted(key.name)
        for key, own in zip(ordered, stored, strict=True)
    ]
    return replace(source, keys=tuple(keys)), columns


def placeable(key: Key) -> bool:
    """Whether the place of a key's value in its domain is found fast."""
    if key.domain is None or key.expression.facts.type is Type.REAL:
        return False
    return len(key.domain) <= MOST_SORTED or _follow(key.domain, key.expression.facts.type)


@lru_cache(maxsize=CACHED)
def _follow(domain: tuple[Value, ...], kind: Type) -> bool:
    """Whether some listed values follow each other day by day, or one by one: then a difference is the place."""
    values = [value for value in domain if value is not None]
    if kind is Type.DATE:
        numbers = [value.toordinal() for value in values if isinstance(value, date)]
    else:
        numbers = [value for value in values if isinstance(value, int)]
    return 2 < len(numbers) == len(values) and all(b - a == 1 for a, b in pairwise(numbers))


def _placed(printer: Printer, key: Key) -> str:
    """A column of the place of a key's value in its domain; behind its end for all others. NULL is listed last."""
    name, domain = printer.quoted(key.name), key.domain or ()
    kind, cases = key.expression.facts.type, []
    follow = _follow(domain, kind)
    if follow:
        ends = [value for value in domain if value is not None]
        first, last = printer.constant(ends[0], kind), printer.constant(ends[-1], kind)
        printer.functions.add("-")
        far = printer.call("days_between", name, first) if kind is Type.DATE else f"{name} - {first}"
        cases.append(f"WHEN {name} BETWEEN {first} AND {last} THEN {far}")
    for at, value in enumerate(domain):
        if value is None:
            cases.append(f"WHEN {name} IS NULL THEN {at}")
        elif not follow:
            cases.append(f"WHEN {name} = {printer.constant(value, kind)} THEN {at}")
    place = f"CASE {' '.join(cases)} ELSE {len(domain)} END" if cases else "0"
    return f"{printer.dialect.narrowed(place, 0, len(domain))} AS {name}"


def rising(domain: Sequence[Value]) -> tuple[Value, ...]:
    """The values, rising; NULL last."""
    known: list[Any] = [value for value in domain if value is not None]
    return (*sorted(known), *([None] if None in domain else []))


def _stored(tables: Sequence[Scan], key: Key) -> Column | None:
    """The column with the places of a key's values; None where there is none of just these values, in this order."""
    own = key.expression
    scan = next((s for s in tables if isinstance(own, Column) and s.alias == own.alias), None)
    if scan is None or not isinstance(own, Column) or own.name not in scan.table.columns:
        return None
    places = scan.table.columns[own.name].stored_places
    known = tuple(value for value in key.domain or () if value is not None)
    return Column(own.alias, place_name(own.name), Facts(Type.INTEGER)) if places and known == places else None
