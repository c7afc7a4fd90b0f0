"""Rows of whole numbers for the worker to count: that costs a fraction of what GROUP BY does.

Tests: tests/unit/worker/test_counting.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.places import placeable
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import UnitRows
from dpsql.engine.rows import statement_by_place
from dpsql.engine.sized import paired_rows
from dpsql.engine.streamed import streamed
from dpsql.engine.totals import from_totals
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.needs import Values
from dpsql.worker.making import Added, Counted
from dpsql.worker.ordered import PLACE, UNIT

__all__ = ["countable", "counted_in_order", "counted_rows", "counted_totals"]

FEW = 1 << 17
"""Points of a grid, in all listed groups, up to which the database's own groups are few, and cost less than sorting all
rows. It is a choice: over 6 million rows 5,000 points take a fifth of the time by GROUP BY, 11 million four times as
long (measured). Where it has to look back for each row's place it takes twice the worker's time over 1,000 points, too.
"""

NARROW = 30
"""Binary digits of values that travel in 32 bits, where the least has no more of them. Whatever else stood there would
be seen: less the least value it would have more digits, also where 32 bits do not hold the difference."""
WORD = 62  # Binary digits of a number that stands for a row: all of int64 but its sign, and one to spare.
ANY = 64  # In binary digits: of a column that stands alone in its number as it is.


def countable(need: Values, *, in_order: bool) -> bool:
    """Whether all that tells rows apart are whole numbers of many, or values of short lists.

    Args:
        need: What is counted.
        in_order: Whether rows come unit by unit, and the worker finds the place of each, so that few points do, too.
    """
    if need.grid is None or need.by is not None or not placeable(need.source):
        return False
    groups = math.prod(len(key.domain or ()) + 1 for key in need.source.keys)
    return in_order or (need.grid.high - need.grid.low) * groups >= FEW


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
        elif words and digits <= left:
            words[-1].append((low, digits))
            left -= digits
        else:
            words.append([(low, digits)])
            left = WORD - digits
    return tuple(map(tuple, words))


def counted_rows(
    printer: Printer, need: Values, shown: Sequence[str], xs: Sequence[str], ends: str, rows: str
) -> EngineStatement:
    """The statement whose rows the worker counts: a key is its value's place in the key's domain.

    Args:
        printer: Collects what the text uses.
        need: What is `countable`, by place.
        shown: The places of the keys.
        xs: The coordinates, and the class of the rank.
        ends: 1 for a unit's last row, else NULL; '' where ranks are not asked for.
        rows: What stands behind FROM.
    """
    columns = _whole(printer, need, xs)
    if ends:
        columns.append(printer.dialect.narrowed(f"CASE WHEN {ends} = 1 THEN 1 ELSE 0 END", 0, 1))
    names = [name for name in need.columns if name != "rows"]
    return _counted(printer, need, [*shown, *_named(printer, columns, names)], rows)


def counted_in_order(
    printer: Printer, need: Values, shown: Sequence[str], xs: Sequence[str], held: UnitRows
) -> EngineStatement:
    """The same for rows in the order of unit and rank, as one table lies, or sorted: the worker finds each one's place
    within its unit.

    Args:
        printer: Collects what the text uses.
        need: What is `countable`, by place, with ranks.
        shown: The places of the keys.
        xs: The coordinates.
        held: The rows that count, with the number of their unit.
    """
    rank = printer.dialect.narrowed(held.ranks[0], 0, rows_per_unit(need.source.relation))
    columns = [*_whole(printer, need, xs), held.unit, rank]
    names = [*(name for name in need.columns if name not in ("rank", "units", "rows")), UNIT, PLACE]
    order = "" if held.lie else f" ORDER BY {held.unit}, {held.ranks[0]}"
    own = _counted(printer, need, [*shown, *_named(printer, columns, names)], f"({held.sql}) AS q{order}")
    return replace(own, made=_made(need, edges=need.ranks))


def counted_totals(printer: Printer, need: Values) -> EngineStatement | None:
    """The same for units' totals, which the worker adds up before it counts them; None where the database does."""
    found = paired_rows(printer, need)
    if found is None or need.grid is None:
        return None
    rows, grids = from_totals(printer, found), [need.grid, *(grid for _, grid in need.others)]
    clamps = [(grid.low, grid.high) for grid in grids]
    own = streamed(printer, rows.source, rows.adds, [(name, "BIGINT") for name in need.columns], clamps)
    return replace(own, made=_made(need, of=own.made if isinstance(own.made, Added) else None))


def _whole(printer: Printer, need: Values, xs: Sequence[str]) -> list[str]:
    """Coordinates as whole numbers of as few bytes as the worker can read them in, and the class of the rank."""
    grids = [need.grid, *(grid for _, grid in need.others)]
    spans = [(grid.low, grid.high) for grid in grids if grid is not None] + [(0, len(need.ranks))]
    columns = list[str]()
    for x, (low, high) in zip(xs, spans, strict=False):
        narrow = (high - low).bit_length() <= NARROW and low.bit_length() <= NARROW
        columns.append(
            printer.dialect.narrowed(x, -(1 << NARROW), 1 << NARROW) if narrow else printer.cast(x, "BIGINT")
        )
    return columns


def _named(printer: Printer, columns: Sequence[str], names: Sequence[str]) -> list[str]:
    return [f"{column} AS {printer.quoted(name)}" for column, name in zip(columns, names, strict=True)]


def _counted(printer: Printer, need: Values, shown: Sequence[str], rows: str) -> EngineStatement:
    fields = [(name, "BIGINT") for name in need.columns]
    own = statement_by_place(printer, f"SELECT {', '.join(shown)} FROM {rows}", need.source, fields)
    return replace(own, made=_made(need))


def _made(need: Values, edges: tuple[int, ...] = (), of: Added | None = None) -> Counted:
    return Counted(_words(need), bool(need.ranks), edges, of)
