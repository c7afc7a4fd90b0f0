"""Rows for the worker to add up, unit by unit: small whole numbers, in one pass.

Theorem. What is added up is what the database finds by grouping: the same rows, with the same keys and values, come in
the order of their units, which have numbers in that order, and a worker that finds them otherwise gives no answer. A
type holds all values that its column may have: those of its grid, less its shift.

Rows of one table lie in that order. Those of a join are sorted by the number that their unit has in the largest of its
tables, where each row has a row of the same unit, and of that unit alone; or they are grouped by it, where a unit has
many more rows than there are groups: then the worker gets one row for each unit and group, with all totals together. So
are the values of one table where there are no groups, and few units of many rows: the database adds these up with all
its threads, and only rows are counted faster as they come. One row for each unit, without groups, needs no number and
no order: who it is of is nothing to what it adds.

Tests: tests/unit/engine/test_sized.py, tests/unit/engine/test_streamed.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.dialect import WIRE
from dpsql.engine.places import by_place, placeable
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import lies, number_of, numbered, numbers_in_order
from dpsql.engine.rows import UNIT, ValueColumn, column_name, statement_by_place, value_rows
from dpsql.errors import InvariantBroken
from dpsql.limits import FARTHEST_STEP
from dpsql.plan.known.relations import filtered_scan, scans
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.needs import Measure, MeasureKind, Source
from dpsql.plan.nodes import Column, Expression, Scan
from dpsql.plan.values.expressions import columns_of
from dpsql.worker.making import Added, ByKey, Firsts, Repeats
from dpsql.worker.ordered import KEY, WHOLE

__all__ = [
    "Add",
    "cut_by_key",
    "cut_statement",
    "few",
    "repeating",
    "rows_by_key",
    "streamed",
    "unit_number",
    "whole_key",
]

MOST_CUT = 32
"""Groups of which each unit's are held at once: a table of all units of a piece has a place for each. It is a choice:
with a row a unit at worst, 2^17 rows a piece and 40 bytes a place at the peak, 170 MB of them."""


MOST_FIRST = 64
"""Groups to which each unit is cut as its rows stream by, by a key. It is a choice: they are found one after the other,
each in 4 ns for a row that is left; a database takes 400 ns a row for as many as there are (measured)."""

FEW_UNITS = 1 << 16
"""Units, each with as many rows as one may have, that make up a table: up to there the database adds up each unit. It
is a choice: mostly units have a few times fewer rows, and DuckDB has a place for each of some 2^19 in a table without
hashes. 4.3 million rows of 100,000 units take 54 ms of processor time so, on all threads, and 65 otherwise; 2 million
that are only counted take 39 so, and 32 otherwise (measured).
"""

MANY_ROWS = 16  # Rows that a unit may have, from which on that pays. It is a choice.


MOST_SORTED = 20_000_000
"""Rows of a table that a database sorts in its memory, 1 GB of them at worst. It is a choice."""

SHARED = 16
"""Rows that a unit may have for each group, up to which a join's rows are sorted by unit and not grouped. It is a
choice: 3 million rows of 200,000 units and 200 groups take 60 ms to sort, and 500 to group; in 4 groups 60 and 165
(measured). But what is grouped by unit serves other totals of the same rows, too."""


@dataclass(frozen=True, slots=True)
class Add:
    """What is added up of rows.

    Attributes:
        function: ``rows``, ``units``, ``count`` or ``sum``.
        of: The column of values, but for rows and units.
        shift: Grid steps subtracted from each value.
    """

    function: str
    of: ValueColumn | None = None
    shift: int = 0


def streamed(
    printer: Printer,
    source: Source,
    adds: Sequence[Add],
    fields: Sequence[tuple[str, str]],
    clamps: Sequence[tuple[int, int] | None] = (),
    firsts: tuple[int, int] = (0, 0),
) -> EngineStatement:
    """Rows that have their unit's number, with what is added up of them.

    Args:
        printer: Collects what the text uses.
        source: The rows, with keys whose places are found; nothing is cut.
        adds: What is added up.
        fields: The columns of what comes, behind the keys.
        clamps: Where each total of a unit is clamped to, by group; None where it is not.
        firsts: How many rows and groups of each unit count, its first ones; 0 for all.
    """
    ranked = any(firsts)
    found, digits = filtered_scan(source.relation), 0
    number = numbered(printer, source.relation) if found is None else number_of(found[0])
    if ranked and found is not None:
        number, digits = numbers_in_order(found[0])
    if number is None or (ranked and found is None):
        raise InvariantBroken("rows without the number or the order of their units were to be added up")
    keys, columns = by_place(printer, source)
    values = list(dict.fromkeys((add.of, add.shift) for add in adds if add.of is not None and add.of.grid is not None))
    known = {own.argument: (own, shift) for own, shift in values}
    plain = [add.of for add in adds if add.of is not None and add.of.grid is None and add.of.argument not in known]
    values += [(own, 0) for own in dict.fromkeys(plain)]
    rows = value_rows(printer, keys, [own for own, _ in values], unit=number)
    columns.append(printer.quoted(UNIT))
    few_units = found is not None and not ranked and not source.keys and _few_units(found[0])
    sorts = found is None and _sorts(source, adds)
    by_unit, alone = (found is None and not sorts) or few_units, False
    columns += [_value(printer, index, *own, narrow=not few_units) for index, own in enumerate(values)]
    wanted = [_wanted(add, values, known) for add in adds]
    sql = f"SELECT {', '.join(columns)} FROM ({rows}) AS q"
    if sorts:
        sql += f" ORDER BY {printer.quoted(UNIT)}"
    elif found is None or (few_units and any(add.function != "rows" for add in adds)):
        sql, wanted = _by_unit(printer, [key.name for key in keys.keys], sql, wanted)
        alone = not keys.keys
    made = Added(tuple(wanted), alone, tuple(clamps), Firsts(*firsts, digits))
    return replace(statement_by_place(printer, sql, keys, fields), made=made, by_unit=by_unit)


def _wanted(
    add: Add, values: Sequence[tuple[ValueColumn, int]], known: Mapping[Expression, tuple[ValueColumn, int]]
) -> tuple[str, int]:
    """What the worker adds up, and of which column; a value is NULL exactly where its grid integer is."""
    if add.of is None:
        return add.function, -1
    if add.of.grid is not None:
        return add.function, values.index((add.of, add.shift))
    if add.of.argument in known:
        return "count", values.index(known[add.of.argument])
    return "sum", values.index((add.of, 0))


def _by_unit(
    printer: Printer, keys: Sequence[str], rows: str, adds: Sequence[tuple[str, int]]
) -> tuple[str, list[tuple[str, int]]]:
    """One row for each unit and group, in the order of the units, and what is added up of these: each total once.

    A group has as many units as such rows. Without groups they say nothing of their unit, and need no order.
    """
    printer.functions.add("count")
    by = ", ".join(map(printer.quoted, [*keys, UNIT]))
    totals, known = list[str](), [add for add in dict.fromkeys(adds) if add[0] != "units"]
    for index, (function, at) in enumerate(known):
        x = "*" if function == "rows" else column_name(printer, at)
        total = printer.call("sum_of_integers", x) if function == "sum" else f"COUNT({x})"
        totals.append(f"{printer.cast(total, 'BIGINT')} AS {column_name(printer, index)}")
    shown, last = ([by], f" ORDER BY {printer.quoted(UNIT)}") if keys else ([], "")
    sql = f"SELECT {', '.join([*shown, *totals])} FROM ({rows}) AS q GROUP BY {by}{last}"
    return sql, [("rows", -1) if add[0] == "units" else ("sum", known.index(add)) for add in adds]


def _sorts(source: Source, adds: Sequence[Add]) -> bool:
    """Whether the rows of a join are sorted by unit, and not grouped: where most rows of a unit are of other groups."""
    known = scans(source.relation)
    single = {scan.alias for scan in known if not scan.table.public and scan.table.rows_per_unit == 1}
    varying = [key for key in source.keys if {column.alias for column in columns_of(key.expression)} - single]
    groups, most = math.prod(len(key.domain or ()) for key in varying), rows_per_unit(source.relation)
    rows = max(scan.table.rows_about for scan in known)
    units = any(add.function == "units" for add in adds)  # which are counted of one row each
    return bool(varying) and not units and rows <= MOST_SORTED and groups >= most / SHARED


def _few_units(scan: Scan) -> bool:
    """Whether a table is expected to have few units, of many rows each; stored totals have one row of each."""
    table = scan.table
    return table.ranked and table.rows_per_unit >= MANY_ROWS and table.rows_about <= FEW_UNITS * table.rows_per_unit


def _value(printer: Printer, index: int, own: ValueColumn, shift: int, *, narrow: bool) -> str:
    """A column of values: whole numbers, or for others 1 where there is one; in few bytes where it travels."""
    x = column_name(printer, index)
    if own.grid is None:
        text, low, high = f"CASE WHEN {x} IS NULL THEN 0 ELSE 1 END", 0, 1
    else:
        if shift:
            printer.functions.add("-")
        moved = f"{x} - {shift}" if shift >= 0 else f"{x} - ({shift})"
        text, low, high = moved if shift else x, own.grid.low - shift, own.grid.high - shift
    return f"{printer.dialect.narrowed(text, low, high) if narrow else text} AS {x}"


def cut_statement(printer: Printer, source: Source, measures: Sequence[Measure]) -> EngineStatement | None:
    """Rows of which each unit's first ones, or first groups, are added up by the worker; None where the database does.

    It does, too, where a stored rank says which rows these are.
    """
    firsts = rows, groups = _firsts(source)
    stored = not groups and isinstance(source.relation, Scan)
    if not (rows or groups) or stored or source.cap_rows_in_group or not few(source):
        return None
    if not printer.dialect.counts or not lies(printer, source.relation) or not placeable(source):
        return None
    adds = [_add(measure) for measure in measures]
    known = [add for add in adds if add is not None]
    far = max((_reach(add) for add in known), default=0)
    if len(known) < len(adds) or rows_per_unit(source.relation) * far > FARTHEST_STEP:
        return None
    fields = [(f"m{index}", "HUGEINT" if add.function == "sum" else "BIGINT") for index, add in enumerate(known)]
    return streamed(printer, source, known, fields, (None,) * len(known), firsts)


def unit_number(printer: Printer, source: Source) -> Column | None:
    """The number of a row's unit, where the worker may find how many units each group has; else None.

    Where a unit has more than twice as many rows as there are groups, most of them repeat one: the database counts.
    """
    found = filtered_scan(source.relation)
    known = [len(key.domain) for key in source.keys if key.domain is not None]
    repeats = len(known) == len(source.keys) and source.contribution.rows > 2 * math.prod(known)
    if found is None or source.capped or repeats or not source.keys:
        return None
    if not printer.dialect.counts or not lies(printer, source.relation):
        return None
    return number_of(found[0])


def repeating(
    printer: Printer, keys: Sequence[str], shown: Sequence[str], groups: str, rows: str, of_units: tuple[int, ...]
) -> Repeats:
    """How the worker finds how many units each group has by its rows.

    Args:
        printer: Collects what the texts use.
        keys: Their columns.
        shown: The columns of the groups, with rows in the place of units.
        groups: FROM the rows, and GROUP BY.
        rows: SQL of the rows, in order, with the numbers of their units.
        of_units: The places of the columns of units.
    """
    number = f"{printer.call('key_number', *keys)} AS {printer.quoted(KEY)}"
    return Repeats(
        f"SELECT {', '.join([*shown, number])} {groups}",
        f"SELECT {number}, {printer.quoted(UNIT)} FROM ({rows}) AS q",
        of_units,
    )


def whole_key(source: Source, measures: Sequence[Measure]) -> bool:
    """Whether the worker may count groups by their key itself: it is one whole number, and all else counts."""
    plain = all(measure.kind in (MeasureKind.ROWS, MeasureKind.UNITS) for measure in measures)
    return plain and len(source.keys) == 1 and WIRE[source.keys[0].expression.facts.type] in WHOLE


def cut_by_key(printer: Printer, source: Source, measures: Sequence[Measure]) -> tuple[Scan, tuple[int, int]] | None:
    """The table, where the worker may cut each unit to its first rows and groups, and count by key.

    Beside it how many rows, and how many groups of each unit count; 0 for all.
    """
    found, firsts = filtered_scan(source.relation), _firsts(source)
    if found is None or source.cap_rows_in_group or not any(firsts) or firsts[1] > MOST_FIRST:
        return None
    if not whole_key(source, measures):
        return None
    if not printer.dialect.counts or not lies(printer, source.relation):
        return None
    return found[0], firsts


def rows_by_key(
    printer: Printer, source: Source, number: Column, of_units: tuple[int, ...], firsts: Firsts | None = None
) -> ByKey:
    """How the worker counts by the key itself, of rows with a number of their unit; by default all."""
    rows, key = value_rows(printer, source, (), unit=number), printer.quoted(source.key_names[0])
    sql = f"SELECT {printer.quoted(UNIT)}, {key} AS {printer.quoted(KEY)} FROM ({rows}) AS q"
    return ByKey(sql, of_units, firsts or Firsts())


def _firsts(source: Source) -> tuple[int, int]:
    """How many rows of each unit count, its first ones, and of how many groups; 0 for all."""
    held = source.cut or source.contribution
    return held.rows if source.cap_rows else 0, held.groups if source.cap_groups and source.keys else 0


def few(source: Source) -> bool:
    """Whether its groups are few enough to hold those of all units of a piece."""
    return math.prod(len(key.domain or ()) + 1 for key in source.keys) <= MOST_CUT


def _add(measure: Measure) -> Add | None:
    """A measure as what is added up; None of those that are not."""
    match measure.kind:
        case MeasureKind.ROWS:
            return Add("rows")
        case MeasureKind.UNITS:
            return Add("units")
        case MeasureKind.SUM if measure.argument is not None and measure.grid is not None:
            return Add("sum", ValueColumn(measure.argument, measure.grid), measure.shift)
        case _:
            return None


def _reach(add: Add) -> int:
    """The largest magnitude of what is added."""
    if add.of is None or add.of.grid is None:
        return 1
    return max(abs(end - add.shift) for end in (add.of.grid.low, add.of.grid.high))
