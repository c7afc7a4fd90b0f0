"""Keys of groups as places in the lists of their values: whole numbers of few bytes, which travel and compare fast.

Tests: tests/unit/engine/test_places.py, tests/unit/engine/test_sized.py, tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

from dpsql.engine.printer import Printer
from dpsql.plan.catalog import ColumnInfo, place_name
from dpsql.plan.known.relations import scans, unit_scans
from dpsql.plan.needs import Source
from dpsql.plan.nodes import Column, Scan
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type, Value

__all__ = ["by_place", "placeable", "rising"]

FEW = 4  # Values of a key up to which each is compared with each row. It is a choice.
MOST_COMPARED = 64
"""The same of texts that the owner did not list. It is a choice: more of them cost more than to group by texts does."""
MOST_HALVED = 1_024
"""Moments by no even steps: their list is halved until one is left. It is a choice: each is in the statement twice."""
MOST_FOUND = 4_096
"""Texts, or days or whole numbers from least to largest, that are looked up in a list. It is a choice: it stands
in the statement."""
WHOLE = 2**52  # Whole numbers below it, and differences of two of them, are exact in 64 bit floats.
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
        _placed(printer, source, key) if own is None else printer.quoted(key.name)
        for key, own in zip(ordered, stored, strict=True)
    ]
    return replace(source, keys=tuple(keys)), columns


def placeable(source: Source) -> bool:
    """Whether the places of all keys' values in their domains are found fast."""
    return all(key.domain is not None and _fast(source, key) for key in source.keys)


def _fast(source: Source, key: Key) -> bool:
    kind, domain = key.expression.facts.type, key.domain or ()
    most = {Type.TIMESTAMP: MOST_HALVED, Type.TEXT: MOST_FOUND if _owners(source, key) else MOST_COMPARED}
    return len(domain) <= most.get(kind, MOST_COMPARED) or bool(_follow(domain, kind) or _span(domain, kind))


def _owners(source: Source, key: Key) -> bool:
    """Whether a key is a column whose listed texts are the owner's words: no others may stand in a statement."""
    own = _column(scans(source.relation), key)
    return own is not None and own.values is not None and {*(key.domain or ()), None} <= {*own.values, None}


@lru_cache(maxsize=CACHED)
def _span(domain: tuple[Value, ...], kind: Type) -> tuple[Value, ...]:
    """All there is from the least to the largest of some days or whole numbers; () where it is too much, or nothing.

    Moments are days where all of them are midnights.
    """
    known: list[Any] = [value for value in domain if value is not None]
    whole = kind is Type.TIMESTAMP and all(value.time() == time.min for value in known)
    if not (kind in (Type.DATE, Type.INTEGER) or whole) or not known:
        return ()
    low, high, one = min(known), max(known), 1 if kind is Type.INTEGER else timedelta(days=1)
    many = (high - low) // one + 1
    return tuple(low + at * one for at in range(many)) if many <= MOST_FOUND else ()


@lru_cache(maxsize=CACHED)
def _follow(domain: tuple[Value, ...], kind: Type) -> int:
    """How far listed values are apart, in either order, where a difference tells the place: days and whole numbers one
    by one, reals that are whole by as much each, and moments by as many microseconds; 0 where they lie otherwise."""
    values: list[Any] = [value for value in domain if value is not None]
    if len(values) <= 2 or kind not in (Type.DATE, Type.INTEGER, Type.REAL, Type.TIMESTAMP):
        return 0
    if kind is Type.REAL and not all(value.is_integer() and abs(value) < WHOLE for value in values):
        return 0
    one = {Type.DATE: timedelta(days=1), Type.TIMESTAMP: timedelta(microseconds=1)}.get(kind, 1)
    apart = {int((b - a) // one) for a, b in pairwise(values)}
    step = abs(apart.pop()) if len(apart) == 1 else 0
    return step if kind in (Type.REAL, Type.TIMESTAMP) or step == 1 else 0


def _placed(printer: Printer, source: Source, key: Key) -> str:
    """A column of the place of a key's value in its domain; behind its end for all others. NULL is listed last."""
    name, domain = printer.quoted(key.name), key.domain or ()
    kind, counts = key.expression.facts.type, printer.dialect.counts
    values = [value for value in domain if value is not None]
    span = _span(domain, kind) if counts else ()
    cases, last = list[str](), str(len(domain))
    if step := _follow(domain, kind):
        cases.append(_by_steps(printer, name, kind, values, step))
    elif len(values) > FEW and span:
        at = {value: place for place, value in enumerate(domain)}
        places = [str(at.get(value, len(domain))) for value in span]
        printer.functions |= {"list_value", "+"}
        place = printer.call("at_place", _far(printer, name, kind, span[0]), *places)
        cases.append(f"WHEN {_between(printer, name, kind, span)} THEN {place}")
    elif len(values) > FEW and kind is Type.TEXT and counts and _owners(source, key):
        last = f"COALESCE({printer.call('place_of_text', name, *map(printer.dialect.text, map(str, values)))}, {last})"
    elif len(values) > FEW and kind is Type.TIMESTAMP and counts:
        last = _halved(name, [printer.constant(value, kind) for value in values], 0, len(domain))
    else:
        cases += [f"WHEN {name} = {printer.constant(value, kind)} THEN {at}" for at, value in enumerate(values)]
    if None in domain:
        cases.append(f"WHEN {name} IS NULL THEN {len(values)}")
    place = f"CASE {' '.join(cases)} ELSE {last} END" if cases else last if values else "0"
    return f"{printer.dialect.narrowed(place, 0, len(domain))} AS {name}"


def _by_steps(printer: Printer, name: str, kind: Type, values: Sequence[Value], step: int) -> str:
    """A case of what lies from the first to the last of some values, and is one of them: how many steps it is away."""
    if kind not in (Type.REAL, Type.TIMESTAMP):
        return f"WHEN {_between(printer, name, kind, values)} THEN {_far(printer, name, kind, values[0])}"
    first, last = (printer.constant(value, kind) for value in (values[0], values[-1]))
    within = f"{name} BETWEEN {first} AND {last}"
    if kind is Type.REAL:  # all of these are exact for values of the list, and no others are met by one of them
        printer.functions |= {"-", "*", "+"}
        one = printer.real(step)
        steps = printer.call("floor", printer.call("real_quotient", f"({name} - {first})", one))
        return f"WHEN {within} AND {first} + {steps} * {one} = {name} THEN {printer.cast(steps, 'BIGINT')}"
    far, one = printer.call("microseconds_between", name, first), printer.bound(step, "BIGINT")
    within = f"{within} AND {printer.call('whole_remainder', far, one)} = 0"
    return f"WHEN {within} THEN {printer.call('whole_quotient', far, one)}"


def _between(printer: Printer, name: str, kind: Type, values: Sequence[Value]) -> str:
    """SQL of whether a value lies from the first of some to the last, and is a midnight where it is a moment."""
    within = f"{name} BETWEEN {printer.constant(values[0], kind)} AND {printer.constant(values[-1], kind)}"
    if kind is not Type.TIMESTAMP:
        return within
    return f"{within} AND {name} = {printer.call('timestamp_from_date', printer.call('date_from_timestamp', name))}"


def _far(printer: Printer, name: str, kind: Type, first: Value) -> str:
    """SQL of how many days or whole numbers a value is behind the first."""
    printer.functions.add("-")
    if kind is Type.TIMESTAMP and isinstance(first, datetime):
        name, first, kind = printer.call("date_from_timestamp", name), first.date(), Type.DATE
    low = printer.constant(first, kind)
    return printer.call("days_between", name, low) if kind is Type.DATE else f"{name} - {low}"


def _halved(name: str, known: Sequence[str], first: int, behind: int) -> str:
    """SQL of a value's place among rising ones, from a place on; it meets as many as halving takes.

    >>> print(_halved("k", ["2", "5", "9"], 0, 3))  # doctest: +NORMALIZE_WHITESPACE
    CASE WHEN k <= 2 THEN CASE WHEN k = 2 THEN 0 ELSE 3 END
                     ELSE CASE WHEN k = 5 THEN 1 WHEN k = 9 THEN 2 ELSE 3 END END
    """
    if len(known) <= 2:
        cases = " ".join(f"WHEN {name} = {value} THEN {first + at}" for at, value in enumerate(known))
        return f"CASE {cases} ELSE {behind} END"
    half = len(known) // 2
    lower, upper = _halved(name, known[:half], first, behind), _halved(name, known[half:], first + half, behind)
    return f"CASE WHEN {name} <= {known[half - 1]} THEN {lower} ELSE {upper} END"


def rising(domain: Sequence[Value]) -> tuple[Value, ...]:
    """The values, rising; NULL last."""
    known: list[Any] = [value for value in domain if value is not None]
    return (*sorted(known), *([None] if None in domain else []))


def _stored(tables: Sequence[Scan], key: Key) -> Column | None:
    """The column with the places of a key's values; None where there is none of just these values, in this order."""
    own, listed = key.expression, _column(tables, key)
    known = tuple(value for value in key.domain or () if value is not None)
    if not isinstance(own, Column) or listed is None or not known or listed.stored_places != known:
        return None
    return Column(own.alias, place_name(own.name), Facts(Type.INTEGER))


def _column(tables: Sequence[Scan], key: Key) -> ColumnInfo | None:
    """The column of one of the tables that a key is; None for whatever else it is."""
    own = key.expression
    if not isinstance(own, Column):
        return None
    return next((scan.table.columns.get(own.name) for scan in tables if scan.alias == own.alias), None)
