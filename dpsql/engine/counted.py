"""Rows of whole numbers for the worker to count: sorting them costs a fraction of what GROUP BY does.

Tests: tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from dpsql.engine.printer import Printer
from dpsql.plan.needs import Values
from dpsql.plan.plans import Key
from dpsql.plan.types import Type

__all__ = ["countable", "counted_rows", "placeable", "placed"]

MOST_SORTED = 64
"""Values of a key that are compared with each row one by one. It is a choice: more of them cost more than texts do."""
FEW = 1 << 17
"""Points of a grid up to which the database's own groups are few, and cost less than sorting all rows. It is a choice:
over 6 million rows 5,000 points take a fifth of the time by GROUP BY, 11 million four times as long (measured)."""


def countable(need: Values) -> bool:
    """Whether all that tells rows apart are whole numbers of many, or values of short lists."""
    if need.grid is None or need.grid.high - need.grid.low < FEW:
        return False
    return need.by is None and all(map(placeable, need.source.keys))


def placeable(key: Key) -> bool:
    """Whether the place of a key's value in its domain is found fast."""
    if key.domain is None or key.expression.facts.type is Type.REAL:
        return False
    return len(key.domain) <= MOST_SORTED or _follow(key)


def _follow(key: Key) -> bool:
    """Whether some listed values follow each other day by day, or one by one: then a difference is the place."""
    values = [value for value in key.domain or () if value is not None]
    if key.expression.facts.type is Type.DATE:
        numbers = [value.toordinal() for value in values if isinstance(value, date)]
    else:
        numbers = [value for value in values if isinstance(value, int)]
    return 2 < len(numbers) == len(values) and all(b - a == 1 for a, b in pairwise(numbers))


def placed(printer: Printer, key: Key) -> str:
    """A column of the place of a key's value in its domain; behind its end for all others. NULL is listed last."""
    name, domain = printer.quoted(key.name), key.domain or ()
    kind, cases, follow = key.expression.facts.type, [], _follow(key)
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
    place = printer.cast(f"CASE {' '.join(cases)} ELSE {len(domain)} END" if cases else "0", "BIGINT")
    return f"{place} AS {name}"


def counted_rows(printer: Printer, need: Values, xs: Sequence[str], ends: str) -> list[str]:
    """SQL of the columns of `Values` but ``rows``, for each row: a key is its value's place in the key's domain.

    Args:
        printer: Collects what the text uses.
        need: What is `countable`.
        xs: The coordinates, and the class of the rank.
        ends: 1 for a unit's last row, else NULL; '' where ranks are not asked for.
    """
    names = [name for name in need.columns if name not in ("units", "rows")]
    shown = [placed(printer, key) for key in need.source.keys]
    shown += [f"{printer.cast(x, 'BIGINT')} AS {printer.quoted(name)}" for x, name in zip(xs, names, strict=True)]
    if ends:
        mark = printer.cast(f"CASE WHEN {ends} = 1 THEN 1 ELSE 0 END", "BIGINT")
        shown.append(f"{mark} AS {printer.quoted('units')}")
    return shown
