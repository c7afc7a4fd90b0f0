"""Rows of whole numbers for the worker to count: sorting them costs a fraction of what GROUP BY does.

Tests: tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.printer import Printer
from dpsql.plan.needs import Values
from dpsql.plan.plans import Key
from dpsql.plan.types import Type

__all__ = ["countable", "counted_rows"]

MOST_SORTED = 64
"""Values of a key that are compared with each row one by one. It is a choice: more of them cost more than texts do."""
FEW = 1 << 17
"""Points of a grid up to which the database's own groups are few, and cost less than sorting all rows. It is a choice:
over 6 million rows 5,000 points take a fifth of the time by GROUP BY, 11 million four times as long (measured)."""


def countable(need: Values) -> bool:
    """Whether all that tells rows apart are whole numbers of many, or values of short lists."""
    if need.grid is None or need.grid.high - need.grid.low < FEW:
        return False
    keys = [key for key in need.source.keys if key.expression.facts.type is not Type.REAL]
    listed = [key for key in keys if key.domain is not None and len(key.domain) <= MOST_SORTED]
    return need.by is None and len(listed) == len(need.source.keys)


def counted_rows(printer: Printer, need: Values, xs: Sequence[str], ends: str) -> list[str]:
    """SQL of the columns of `Values` but ``rows``, for each row: a key is its value's place in the key's domain.

    Args:
        printer: Collects what the text uses.
        need: What is `countable`.
        xs: The coordinates, and the class of the rank.
        ends: 1 for a unit's last row, else NULL; '' where ranks are not asked for.
    """
    names = [name for name in need.columns if name not in ("units", "rows")]
    shown = [f"{_place(printer, key)} AS {printer.quoted(key.name)}" for key in need.source.keys]
    shown += [f"{printer.cast(x, 'BIGINT')} AS {printer.quoted(name)}" for x, name in zip(xs, names, strict=True)]
    if ends:
        mark = printer.cast(f"CASE WHEN {ends} = 1 THEN 1 ELSE 0 END", "BIGINT")
        shown.append(f"{mark} AS {printer.quoted('units')}")
    return shown


def _place(printer: Printer, key: Key) -> str:
    """The place of a key's value in its domain; behind its end for all others."""
    name, domain = printer.quoted(key.name), key.domain or ()
    kind, cases = key.expression.facts.type, []
    for place, value in enumerate(domain):
        test = f"{name} IS NULL" if value is None else f"{name} = {printer.constant(value, kind)}"
        cases.append(f"WHEN {test} THEN {place}")
    return printer.cast(f"CASE {' '.join(cases)} ELSE {len(domain)} END" if cases else "0", "BIGINT")
