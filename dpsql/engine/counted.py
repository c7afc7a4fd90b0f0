"""Rows of whole numbers for the worker to count: that costs a fraction of what GROUP BY does.

Tests: tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from dpsql.engine.base import EngineStatement
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import UnitRows
from dpsql.plan.needs import Values
from dpsql.plan.plans import Key
from dpsql.plan.relations import scans
from dpsql.plan.types import Type
from dpsql.worker.ordered import PLACE, UNIT

__all__ = ["countable", "counted_in_order", "counted_rows", "placeable", "placed"]

MOST_SORTED = 64
"""Values of a key that are compared with each row one by one. It is a choice: more of them cost more than texts do."""
FEW = 1 << 17
"""Points of a grid up to which the database's own groups are few, and cost less than sorting all rows. It is a choice:
over 6 million rows 5,000 points take a fifth of the time by GROUP BY, 11 million four times as long (measured)."""

ALONE = 1 << 30
"""Up to this magnitude values come in 32 bits, where one column is a number of its own of no more digits. Then whatever
else stood there would be seen: less the least value it would leave these digits, also where 32 bits do not hold it."""
WORD = 62  # Binary digits of a number that stands for a row: all of int64 but its sign, and one to spare.
ANY = 64  # In binary digits: of a column that stands alone in its number as it is.


def countable(need: Values) -> bool:
    """Whether all that tells rows apart are whole numbers of many, or values of short lists."""
    if need.grid is None or need.grid.high - need.grid.low < FEW:
        return False
    return need.by is None and all(map(placeable, need.source.keys))


def _words(need: Values) -> tuple[tuple[tuple[int, int], ...], ...]:
    """What the worker puts together of the columns of `counted_rows`: as much as a number holds, by public bounds."""
    spans = [(0, len(key.domain or ())) for key in need.source.keys]
    spans += [(grid.low, grid.high) for grid in (need.grid, *(grid for _, grid in need.others)) if grid is not None]
    spans += [(0, len(need.ranks)), (0, 1)] if need.ranks else []
    words: list[list[tuple[int, int]]] = []
    left = 0
    for low, high in spans:
        digits = (high - low).bit_length()
        if digits > WORD:
            words.append([(0, ANY)])
            left = 0
        elif digits <= left:
            words[-1].append((low, digits))
            left -= digits
        else:
            words.append([(low, digits)])
            left = WORD - digits
    return tuple(map(tuple, words))


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


def placed(printer: Printer, key: Key, *, narrow: bool = False) -> str:
    """A column of the place of a key's value in its domain; behind its end for all others. NULL is listed last.

    It is a BIGINT, or ``narrow``, of as few bytes as hold it.
    """
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
    place = f"CASE {' '.join(cases)} ELSE {len(domain)} END" if cases else "0"
    place = printer.dialect.narrowed(place, 0, len(domain)) if narrow else printer.cast(place, "BIGINT")
    return f"{place} AS {name}"


def counted_rows(printer: Printer, need: Values, xs: Sequence[str], ends: str, rows: str) -> EngineStatement:
    """The statement whose rows the worker counts: a key is its value's place in the key's domain.

    Args:
        printer: Collects what the text uses.
        need: What is `countable`.
        xs: The coordinates, and the class of the rank.
        ends: 1 for a unit's last row, else NULL; '' where ranks are not asked for.
        rows: What stands behind FROM.
    """
    mark = [printer.cast(f"CASE WHEN {ends} = 1 THEN 1 ELSE 0 END", "BIGINT")] if ends else []
    names = [name for name in need.columns if name != "rows"]
    words = _words(need)
    ((low, digits), *others), alone = words[0], len(words) == 1
    if alone and not others and digits < ALONE.bit_length() and abs(low) <= ALONE:
        coordinates = [printer.dialect.narrowed(x, -ALONE, ALONE) for x in xs]
    else:
        coordinates = [printer.cast(x, "BIGINT") for x in xs]
    return _counted(printer, need, [*coordinates, *mark], names, rows)


def counted_in_order(printer: Printer, need: Values, xs: Sequence[str], held: UnitRows) -> EngineStatement:
    """The same for rows that come as they lie, by unit and rank: the worker finds each one's place within its unit.

    Args:
        printer: Collects what the text uses.
        need: What is `countable`, with ranks.
        xs: The coordinates.
        held: The rows that count.
    """
    columns = [*(printer.cast(x, "BIGINT") for x in xs), held.unit, printer.cast(held.ranks[0], "BIGINT")]
    names = [*(name for name in need.columns if name not in ("rank", "units", "rows")), UNIT, PLACE]
    return replace(_counted(printer, need, columns, names, f"({held.sql}) AS q"), edges=need.ranks)


def _counted(
    printer: Printer, need: Values, columns: Sequence[str], names: Sequence[str], rows: str
) -> EngineStatement:
    source, shown = need.source, [placed(printer, key) for key in need.source.keys]
    shown += [f"{column} AS {printer.quoted(name)}" for column, name in zip(columns, names, strict=True)]
    return EngineStatement(
        sql=f"SELECT {', '.join(shown)} FROM {rows}",
        parameters=tuple(printer.parameters),
        columns=tuple((name, "BIGINT") for name in (*source.key_names, *need.columns)),
        tables=frozenset(scan.table.name for scan in scans(source.relation)),
        functions=frozenset(printer.functions),
        words=_words(need),
        marked=bool(need.ranks),
        listed=tuple((key.name, key.domain) for key in source.keys if key.domain is not None),
    )
