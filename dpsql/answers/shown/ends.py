"""Intervals as columns: ``n_low`` and ``n_high`` beside each noised column ``n``, for every door that shows them so.

Names and types follow from those of the columns alone, so that a door can tell them before a statement is asked.

Tests: tests/unit/answers/shown/test_ends.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from dpsql.answers.shown.screen import Ends, half_width, number, percent, safe
from dpsql.plan.types import ListOf, Shown, Type

__all__ = ["WithEnds", "distinct", "footnote", "with_ends"]

LONG = 2**63  # One above the largest signed 64-bit integer.


@dataclass(frozen=True, slots=True)
class WithEnds:
    """The columns of an answer with the ends of its intervals.

    Attributes:
        columns: Their names, all different.
        types: Their types; those of ends are their column's.
        origin: For each of them the answer's column that it shows, from 0; None for an end.
    """

    columns: tuple[str, ...]
    types: tuple[Shown, ...]
    origin: tuple[int | None, ...]

    def rows(self, rows: Sequence[tuple[Any, ...]], ends: Sequence[Sequence[Ends]]) -> list[tuple[Any, ...]]:
        """The answer's rows, with the ends beside the values.

        Args:
            rows: The answer's.
            ends: For each of its columns one interval a row; empty for one that has none. NULL are ends that are not
                known, as those of NULL, ends without a bound, and those of whole numbers that have more than 64 bits:
                the columns' types are told before anything is released.
        """
        wide = list[tuple[Any, ...]]()
        for place, row in enumerate(rows):
            values = list[Any]()
            for at, (origin, kind) in enumerate(zip(self.origin, self.types, strict=True)):
                if origin is not None:
                    values.append(row[origin])
                    if at + 1 < len(self.origin) and self.origin[at + 1] is None:
                        values += _ends(ends[origin][place] if ends[origin] else (None, None), kind)
            wide.append(tuple(values))
        return wide


def with_ends(columns: Sequence[str], types: Sequence[Shown], noised: Sequence[bool]) -> WithEnds:
    """The columns with ``_low`` and ``_high`` behind each one that holds noise.

    Columns that share a name get ``_1``, ``_2`` ..., and so does an end whose name a column has.

    Args:
        columns: An answer's names.
        types: Their types.
        noised: For each of them whether it holds noise.

    >>> integer = Type.INTEGER
    >>> with_ends(("city", "n", "n_low"), (Type.TEXT, integer, integer), (False, True, False)).columns
    ('city', 'n', 'n_low_1', 'n_high', 'n_low')
    """
    named = distinct(columns)
    taken, names, kinds, origin = list(named), list[str](), list[Shown](), list[int | None]()
    for at, (name, kind, own) in enumerate(zip(named, types, noised, strict=True)):
        ends = distinct([*taken, f"{name}_low", f"{name}_high"])[-2:] if own else []
        taken += ends
        names += [name, *ends]
        kinds += [kind] * (1 + len(ends))
        origin += [at, *[None] * len(ends)]
    return WithEnds(tuple(names), tuple(kinds), tuple(origin))


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with ``_1``, ``_2`` ... behind those that were there before.

    >>> distinct(["n", "n", "m", "n"])
    ['n', 'n_1', 'm', 'n_2']
    """
    found: list[str] = []
    for name in names:
        new, count = name, 0
        while new in found:
            count += 1
            new = f"{name}_{count}"
        found.append(new)
    return found


def footnote(columns: Sequence[str], ends: Sequence[Sequence[Ends]], confidence: float) -> str:
    """In one sentence how wide the intervals of an answer are; empty where none is known.

    >>> footnote(["city", "n"], [[], [(1, 3), (None, None), (1, 8)]], 0.95)
    'Half the width of the 95% intervals: n ± 1 to ± 3.5. intervals=True adds their ends.'
    """
    widths = []
    for name, own in zip(distinct(columns), ends, strict=True):
        pairs = [pair for both in own for pair in (zip(*both, strict=True) if isinstance(both[0], list) else [both])]
        known = [half_width(own) for own in pairs if None not in own]
        if known:
            least, most = number(min(known)), number(max(known))
            unit = " days" if any(isinstance(low, date) for low, _ in pairs) else ""
            widths.append(f"{name} ± {least}" + (f" to ± {most}" if least != most else "") + unit)
    told = f"Half the width of the {percent(confidence)}% intervals: {safe(', '.join(widths))}."
    return f"{told} intervals=True adds their ends." if widths else ""


def _ends(ends: Ends, kind: Shown) -> Ends:
    """The ends in the column's type: what is a whole number lies between whole numbers."""
    low, high = ends
    if isinstance(kind, ListOf):
        pairs = [] if low is None else [_ends(own, kind.element) for own in zip(low, high, strict=True)]
        return ([end for end, _ in pairs], [end for _, end in pairs]) if pairs else (None, None)
    if kind is Type.DATE:
        return ends
    if kind is Type.INTEGER:
        return _within(low, math.ceil, LONG), _within(high, math.floor, LONG)
    return _within(low, float, math.inf), _within(high, float, math.inf)


def _within(end: Any, shown: Any, most: float) -> Any:
    return shown(end) if end is not None and abs(end) < most else None
