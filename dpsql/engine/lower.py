"""What mechanisms need, as one engine statement each.

Tests: tests/sql.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.capped import bounded_rows, cut, unit_rows
from dpsql.engine.counted import countable, counted_in_order, counted_rows, counted_totals
from dpsql.engine.dialect import WIRE, Dialect
from dpsql.engine.places import by_place
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import keyed_hash, number_of, numbers_in_order, ordered_by, ranked
from dpsql.engine.rows import UNIT, ValueColumn, column_name, statement_over, unit_column
from dpsql.engine.side_by_side import MOST_BESIDE, beside, side_by_side
from dpsql.engine.sized import WIRES, clamped_rows, sized_totals, streams, total_rows
from dpsql.engine.stored_counts import read_counts
from dpsql.engine.stored_days import read_days
from dpsql.engine.stored_ranks import read_ranks
from dpsql.engine.stored_sizes import read_sizes_by_day, read_sizes_of_rows, read_sizes_of_totals
from dpsql.engine.streamed import (
    cut_by_key,
    cut_statement,
    repeating,
    rows_by_key,
    streamed,
    unit_number,
    whole_key,
)
from dpsql.engine.totals import from_totals
from dpsql.errors import InvariantBroken
from dpsql.limits import MOST_OPEN_GROUPS, MOST_ROWS
from dpsql.plan.known.relations import scans
from dpsql.plan.needs import Aggregates, Cells, Histogram, Measure, MeasureKind, Need, Ordered, Sized, Source, Values
from dpsql.plan.types import Type
from dpsql.worker.making import Firsts, Way

__all__ = ["Lower", "lowering"]

SUM_LIMIT = 2**126
"""Steps of a column's grid: half of what DuckDB's HUGEINT holds, so that no sum of whole numbers overflows it."""


Lower = Callable[[Need | tuple[Sized | Aggregates, ...]], EngineStatement]
"""What a mechanism needs, as the statement that fetches it."""


def lowering(dialect: Dialect, contribution_key: bytes) -> Lower:
    """How needs become statements; several kinds of totals of the same units' rows become one, plain ones last.

    Args:
        dialect: The engine's.
        contribution_key: The ledger's secret key; orders rows and groups where a cap cuts.
    """

    def lower(need: Need | tuple[Sized | Aggregates, ...]) -> EngineStatement:
        source = (need[0] if isinstance(need, tuple) else need).source
        return _lowered(Printer(dialect.over(source.relation)), need, contribution_key)

    return lower


def _lowered(printer: Printer, need: Need | tuple[Sized | Aggregates, ...], contribution_key: bytes) -> EngineStatement:
    match need:
        case Aggregates():
            return _limited(_aggregates(printer, need.source, need.measures, contribution_key), need.source)
        case Histogram():
            kind = MeasureKind.UNITS if need.of_units else MeasureKind.ROWS
            return _limited(_aggregates(printer, need.source, (Measure(kind),), contribution_key), need.source)
        case Cells():
            return _aggregates(printer, need.source, (Measure(MeasureKind.ROWS),), contribution_key)
        case Values():
            values = _values(printer, need, contribution_key)
            return _limited(values, need.source, 2) if need.ranks else values
        case Ordered():
            return _ordered(printer, need, contribution_key)
        case Sized():
            return _limited(_sized(printer, (need,), contribution_key), need.source)
        case tuple():
            return _sized(printer, need, contribution_key)


def _aggregates(printer: Printer, source: Source, measures: Sequence[Measure], key: bytes) -> EngineStatement:
    lying = cut_statement(printer, source, measures) or _clamped(printer, source, measures)
    if lying is not None:
        return lying
    if (days := read_days(printer, source, measures)) is not None:
        part = _part(printer, source, f"{days.sql} WHERE ", "")
        return replace(days, functions=frozenset(printer.functions), parted=part)
    if (ranks := read_ranks(printer, source, measures)) is not None:
        return ranks
    columns, fields = _value_columns(measures), [(k.name, WIRE[k.expression.facts.type]) for k in source.keys]
    units = any(measure.kind is MeasureKind.UNITS for measure in measures) and source.contribution.rows > 1
    number, first = unit_number(printer, source) if units else None, cut_by_key(printer, source, measures)
    texts, ways = [printer.quoted(k.name) for k in source.keys], list[Way]()
    of_units = tuple(at for at, measure in enumerate(measures, len(texts)) if measure.kind is MeasureKind.UNITS)
    if first is None:
        rows = bounded_rows(printer, source, columns, key, unit=number or (unit_column(source) if units else None))
        if number is not None and whole_key(source, measures):
            ways.append(rows_by_key(printer, source, number, of_units))
    else:
        scan, firsts = first
        rows = cut(printer, unit_rows(printer, source, columns, number_of(scan)), source, key).sql
        in_order, digits = numbers_in_order(scan)
        ways.append(rows_by_key(printer, source, in_order, of_units, Firsts(*firsts, digits)))
    grouped = f" GROUP BY {', '.join(texts)}" if texts else ""
    groups = f"FROM ({rows}) AS q{grouped}{_in_order(printer, source)}"
    both = [list(texts), list(texts)]  # with units, and with rows in their place
    for index, measure in enumerate(measures):
        wire = "HUGEINT" if measure.kind in (MeasureKind.SUM, MeasureKind.PRODUCTS) else "BIGINT"
        fields.append((f"m{index}", wire))
        every = measure.kind is MeasureKind.EVERY_ROW
        for shown, own in zip(both, (units, False), strict=True):
            total = _every_row(printer, source) if every else _total(printer, measure, columns, own)
            shown.append(f"{printer.cast(total, wire)} AS {printer.quoted(f'm{index}')}")
    if number is not None:
        ways.append(repeating(printer, texts, both[1], groups, rows, of_units))
    part = _part(printer, source, f"SELECT {', '.join(both[0])} FROM ({rows}) AS q WHERE ", grouped)
    statement = statement_over(printer, f"SELECT {', '.join(both[0])} {groups}", fields, source.relation)
    return replace(statement, ways=tuple(ways), parted=part) if ways or part else statement


def _part(printer: Printer, source: Source, before: str, behind: str) -> tuple[str, str] | None:
    """The text of a part of the groups of an open domain, by a hash of their keys; None where they come whole.

    Args:
        printer: Collects what the text uses.
        source: What is grouped.
        before: The text up to a condition on its rows.
        behind: And from there on.
    """
    if not printer.dialect.counts or not _is_open(source):
        return None
    printer.functions.add("%")
    keys = [printer.quoted(key.name) for key in source.keys]
    return f"{before}{printer.call('key_number', *keys)} % ", behind


def _is_open(source: Source) -> bool:
    return any(key.domain is None for key in source.keys)


def _in_order(printer: Printer, source: Source) -> str:
    """Groups of an open text in order, in which they are released: the database sorts many faster than Python does."""
    texts = any(key.domain is None and key.expression.facts.type is Type.TEXT for key in source.keys)
    named = [f"{printer.quoted(name)} NULLS LAST" for name in source.key_names]
    return f" ORDER BY {', '.join(named)}" if texts and printer.dialect.counts else ""


def _clamped(printer: Printer, source: Source, measures: Sequence[Measure]) -> EngineStatement | None:
    """Sums of units' totals that the worker adds up; None where the database does."""
    found = clamped_rows(printer, source, measures)
    if found is None:
        return None
    rows = from_totals(printer, found[0])
    return streamed(printer, rows.source, rows.adds, rows.fields, found[1])


def _limited(statement: EngineStatement, source: Source, rows: int = 1) -> EngineStatement:
    """The statement, which fails, or comes in parts, where an open domain has more groups, of so many rows, than are
    read at once.
    """
    return replace(statement, most_rows=rows * MOST_OPEN_GROUPS) if _is_open(source) else statement


def _value_columns(measures: Sequence[Measure]) -> list[ValueColumn]:
    """The distinct columns of values that the measures read: equal arguments are computed, and summed, once."""
    sums = [m for measure in measures for m in (measure, measure.by) if m is not None and m.grid is not None]
    columns = [ValueColumn(m.argument, m.grid) for m in sums if m.argument is not None]
    for measure in measures:
        plain = measure.argument is not None and measure.grid is None
        shared = measure.kind is MeasureKind.VALUES and any(c.argument == measure.argument for c in columns)
        if plain and not shared and measure.argument is not None:
            columns.append(ValueColumn(measure.argument, None))
    return list(dict.fromkeys(columns))


def _column(printer: Printer, columns: Sequence[ValueColumn], measure: Measure) -> str:
    """The column a measure reads. A value is NULL exactly where its grid integer is, so a count may read either."""
    for index, column in enumerate(columns):
        counted = measure.kind is MeasureKind.VALUES
        if column.argument == measure.argument and (counted or column.grid == measure.grid):
            return column_name(printer, index)
    raise InvariantBroken("a measure without its column")


def _total(printer: Printer, measure: Measure, columns: Sequence[ValueColumn], units: bool) -> str:
    """SQL of one exact integer per group."""
    match measure.kind:
        case MeasureKind.ROWS:
            printer.functions.add("count")
            return "COUNT(*)"
        case MeasureKind.UNITS:  # with one row a unit the rows are counted: the same number, without a table of units
            printer.functions.add("count")
            return f"COUNT(DISTINCT {printer.quoted(UNIT)})" if units else "COUNT(*)"
        case MeasureKind.VALUES:
            printer.functions.add("count")
            return f"COUNT({_column(printer, columns, measure)})"
        case MeasureKind.DISTINCT:
            printer.functions.add("count")
            return f"COUNT(DISTINCT {_column(printer, columns, measure)})"
        case MeasureKind.SUM:
            _prove_sum(_reach(measure))
            x = _column(printer, columns, measure)
            total = f"COALESCE({printer.call('sum_of_integers', x)}, 0)"
            if not measure.shift:
                return total
            printer.functions |= {"count", "-", "*"}  # the shift once per group, instead of once per row
            return f"{total} - {printer.cast(str(measure.shift), 'HUGEINT')} * COUNT({x})"
        case MeasureKind.PRODUCTS:
            by = measure.by or measure
            _prove_sum(_reach(measure) * _reach(by))
            printer.functions |= {"*", "-"}
            wide = "BIGINT" if _reach(measure) * _reach(by) < 2**62 else "HUGEINT"
            factors = [f"({printer.cast(_column(printer, columns, m), wide)} - {m.shift})" for m in (measure, by)]
            return f"COALESCE({printer.call('sum_of_integers', ' * '.join(factors))}, 0)"
        case MeasureKind.EVERY_ROW:
            raise InvariantBroken("the rows of a whole table are counted apart from a group's")


def _every_row(printer: Printer, source: Source) -> str:
    """The number of rows of the one table that is read, whatever is asked of them."""
    (scan,) = scans(source.relation)
    printer.functions.add("count")
    return f"(SELECT COUNT(*) {printer.rows(scan)})"


def _reach(measure: Measure) -> int:
    """Largest magnitude of one value, before and after its shift."""
    if measure.grid is None:
        raise InvariantBroken("a sum without a grid")
    ends = measure.grid.low, measure.grid.high
    return max(abs(end - shift) for end in ends for shift in (0, measure.shift))


def _prove_sum(largest: int) -> None:
    """No sum over any permitted table overflows.

    Raises:
        InvariantBroken: One could; the mechanism must ask for a coarser grid.
    """
    if largest * MOST_ROWS >= SUM_LIMIT:
        raise InvariantBroken("a sum that could overflow")


def _values(printer: Printer, need: Values, key: bytes) -> EngineStatement:
    known = read_counts(printer, need) or counted_totals(printer, need)
    if known is not None:
        return known
    coordinates = [ValueColumn(need.argument, need.grid), *(ValueColumn(*other) for other in need.others)]
    split = [] if need.by is None else [ValueColumn(need.by, None)]
    keys = [printer.quoted(k.name) for k in need.source.keys]
    xs = [column_name(printer, i) for i in range(len(coordinates) + len(split))]
    if need.missing is not None:
        xs[0] = f"COALESCE({xs[0]}, {int(need.missing)})"
    present = " AND ".join(f"{x} IS NOT NULL" for x in xs[: len(coordinates)])
    cut_apart = need.source.cap_groups or need.source.cap_rows_in_group
    number = None if cut_apart or not need.ranks else ordered_by(printer, need.source.relation)
    last, ends, counts = "", "", printer.dialect.counts and countable(need, in_order=number is not None)
    source, shown = by_place(printer, need.source) if counts else (need.source, [])
    if counts:
        need = replace(need, source=source)
    if not need.ranks:
        rows = bounded_rows(printer, source, [*coordinates, *split], key)
    elif need.missing is not None:
        raise InvariantBroken("a missing value has no rank")
    else:  # of the rows that count
        held = cut(printer, unit_rows(printer, source, [*coordinates, *split], number if counts else None), source, key)
        held = replace(held, sql=f"SELECT {held.every} FROM ({held.sql}) AS q WHERE {present}", whole=False)
        if counts and number is not None:
            return counted_in_order(printer, need, shown, xs, held)
        rows, rank, ends = ranked(printer, held, need.ranks, key)
        xs.append(rank if counts else printer.cast(rank, "BIGINT"))
        last = f"{printer.cast(f'COUNT({ends})', 'BIGINT')} AS {printer.quoted('units')}, "
    if counts:
        return counted_rows(printer, need, shown, xs, ends, f"({rows}) AS q WHERE {present}")
    by = ", ".join([*keys, *xs])
    names = [name for name in need.columns if name not in ("units", "rows")]
    shown = [*keys, *(f"{x} AS {printer.quoted(name)}" for x, name in zip(xs, names, strict=True))]
    printer.functions.add("count")
    sql = (
        f"SELECT {', '.join(shown)}, {last}{printer.cast('COUNT(*)', 'BIGINT')} AS {printer.quoted('rows')} "
        f"FROM ({rows}) AS q WHERE {present}"
    )
    grouped = f" GROUP BY {by} ORDER BY {by}"
    fields = [(k.name, WIRE[k.expression.facts.type]) for k in need.source.keys]
    wires = ["BIGINT" if c.grid is not None else WIRE[c.argument.facts.type] for c in [*coordinates, *split]]
    wires += ["BIGINT"] * (len(need.columns) - len(wires))
    part = _part(printer, need.source, f"{sql} AND ", grouped) if need.ranks else None
    columns = [*fields, *zip(need.columns, wires, strict=True)]
    return replace(statement_over(printer, sql + grouped, columns, need.source.relation), parted=part)


def _ordered(printer: Printer, need: Ordered, key: bytes) -> EngineStatement:
    x, rows = (
        column_name(printer, 0),
        bounded_rows(printer, need.source, [ValueColumn(need.argument, need.grid)], key, unit=unit_column(need.source)),
    )
    value, unit = printer.cast(x, "BIGINT"), printer.quoted(UNIT)
    present = printer.call("bigint_from_boolean", f"({x} IS NOT NULL)")
    order = keyed_hash(printer, [unit], key)  # of the id alone: nobody's value moves anybody to another place
    sql = (
        f"SELECT COALESCE({value}, 0) AS {printer.quoted('value')}, {present} AS {printer.quoted('rows')} "
        f"FROM ({rows}) AS q ORDER BY {order}, {unit}"
    )
    return statement_over(printer, sql, [("value", "BIGINT"), ("rows", "BIGINT")], need.source.relation)


def _sized(printer: Printer, needs: Sequence[Sized | Aggregates], key: bytes) -> EngineStatement:
    sized, rows_of = [need for need in needs if isinstance(need, Sized)], total_rows(needs)
    _prove_sum(max(abs(end) for need in sized for end in (need.grid.low, need.grid.high)))
    if rows_of is not None and streams(printer, rows_of):
        lying = from_totals(printer, rows_of)
        read = read_sizes_by_day if lying is rows_of else read_sizes_of_totals
        if (stored := read(printer, lying)) is not None:
            return stored
        own = streamed(printer, lying.source, lying.adds, lying.fields)
        return replace(own, bins=lying.bins, by_unit=own.by_unit or lying is not rows_of)
    if rows_of is not None and 0 < beside(rows_of) <= MOST_BESIDE:
        return side_by_side(printer, from_totals(printer, rows_of))
    if len(needs) > 1:
        raise InvariantBroken("totals that are added up each by itself were asked for together")
    need = sized[0]
    if (stored := read_sizes_of_rows(printer, need)) is not None:
        return stored
    unit = unit_column(need.source) if need.source.keys and not need.single else None
    rows = bounded_rows(printer, need.source, [ValueColumn(need.argument, need.grid)], key, unit=unit)
    keys, named = [printer.quoted(key.name) for key in need.source.keys], None if unit is None else printer.quoted(UNIT)
    sql = sized_totals(printer, keys, need.bins, rows, column_name(printer, 0), named)
    fields = [(k.name, WIRE[k.expression.facts.type]) for k in need.source.keys]
    return statement_over(printer, sql, [*fields, *WIRES], need.source.relation)
