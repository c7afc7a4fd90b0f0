"""Units' totals from what is stored of each unit, in the place of all its rows.

Theorem. It is the same number: a stored count or sum is that of a unit's rows in the bounded table (by listed columns:
in one cell of theirs), as whole numbers, and these add up to the same as the rows do. Where the groups are the cells, a
group has as many units as stored rows.

Tests: tests/unit/engine/test_totals.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from dpsql.engine.printer import Printer
from dpsql.engine.sized import TotalRows
from dpsql.plan.catalog import ColumnInfo, StoredTotals, TableInfo
from dpsql.plan.known.relations import filtered_scan
from dpsql.plan.nodes import Column, Expression, Filter, Relation, Scan
from dpsql.plan.types import Facts, Grid, Type
from dpsql.plan.values.expressions import columns_of

__all__ = ["from_totals", "stored_column"]


def from_totals(printer: Printer, rows: TotalRows) -> TotalRows:
    """Rows that have the same totals: the stored ones, where these are enough, else as they are."""
    found = filtered_scan(rows.source.relation)
    if found is None:
        return rows
    scan, conditions = found
    read = _names(key.expression for key in rows.source.keys) | _names(conditions)
    keys = {own.name if isinstance(own := key.expression, Column) else None for key in rows.source.keys}
    for totals in (own for own in scan.table.totals if read <= set(own.keys)):
        kinds = zip(rows.functions, rows.columns, strict=True)
        stored = [_kind(printer, scan, totals, *kind, cells=keys == set(totals.keys)) for kind in kinds]
        known = [kind for kind in stored if kind is not None]
        if len(known) == len(stored):
            relation = _over(rows.source.relation, _table(scan.table, totals))
            return replace(
                rows,
                source=replace(rows.source, relation=relation),
                functions=tuple(function for function, _ in known),
                columns=tuple(own for _, own in known),
            )
    return rows


def _names(expressions: Iterable[Expression]) -> set[str]:
    return {column.name for expression in expressions for column in columns_of(expression)}


def _kind(
    printer: Printer,
    scan: Scan,
    totals: StoredTotals,
    function: str,
    own: tuple[Expression, Grid | None] | None,
    *,
    cells: bool,
) -> tuple[str, tuple[Expression, Grid] | None] | None:
    """What is added up of stored rows for a kind of total; None where they do not tell it.

    Args:
        printer: Writes its argument.
        scan: The table.
        totals: What is stored of it.
        function: What is added up of the table's rows.
        own: Its argument, with the grid of a sum.
        cells: Whether the groups are the cells of what is stored.
    """
    if function == "units":
        return ("count_rows", None) if cells else None
    value = _value(printer, scan, totals, function, own)
    return None if value is None else ("sum", value)


def _value(
    printer: Printer, scan: Scan, totals: StoredTotals, function: str, own: tuple[Expression, Grid | None] | None
) -> tuple[Expression, Grid] | None:
    """The column that holds a total of each unit; None where none does."""
    name = stored_column(printer, function, own)
    if name is None or name not in totals.numbers(totals.columns):
        return None
    most, grid = scan.table.rows_per_unit, None if own is None else own[1]
    low, high = (0, 1) if grid is None else (min(grid.low, 0), max(grid.high, 0))
    return _whole(scan, name, most * low, most * high)


def stored_column(printer: Printer, function: str, own: tuple[Expression, Grid | None] | None) -> str | None:
    """The column of `StoredTotals` that holds what rows are added up to; None where none could.

    Args:
        printer: Writes its argument.
        function: What is added up of rows.
        own: Its argument, with the grid of a sum.
    """
    if own is None:
        return StoredTotals.rows if function == "count_rows" else None
    argument, grid = own
    if not isinstance(argument, Column):
        return None
    if grid is None:
        return StoredTotals.count(argument.name) if function == "count" else None
    if not printer.as_stored(argument, grid):  # it is clamped first
        return None
    return StoredTotals.sum(argument.name) if function == "sum" else None


def _whole(scan: Scan, name: str, low: int, high: int) -> tuple[Expression, Grid]:
    facts = Facts(Type.INTEGER, Fraction(low), Fraction(high), step=Fraction(1))
    return Column(scan.alias, name, facts), Grid(Fraction(1), low, high)


def _over(relation: Relation, table: TableInfo) -> Relation:
    """The same conditions on another table."""
    match relation:
        case Filter():
            return replace(relation, input=_over(relation.input, table))
        case Scan():
            return replace(relation, table=table)
    return relation


def _table(table: TableInfo, totals: StoredTotals) -> TableInfo:
    columns: dict[str, ColumnInfo] = {name: table.columns[name] for name in (str(table.unit), *totals.keys)}
    return replace(
        table,
        name=totals.name,
        columns=columns,
        ranked=False,
        totals=(),
        sizes=totals.sizes,
        days=(),
        ranks=None,
        counts=None,
    )
