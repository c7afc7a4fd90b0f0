"""Units' totals added up by how much each unit has, as SQL over their rows, or as rows for the worker to add up.

Tests: tests/unit/engine/test_sized.py, tests/unit/mechanisms/clamped/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.places import placeable
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import numbered
from dpsql.engine.riding import kinds_of
from dpsql.engine.rows import ValueColumn
from dpsql.engine.streamed import Add, few
from dpsql.errors import InvariantBroken
from dpsql.limits import FARTHEST_STEP
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.grids import Bins, saturating_grid
from dpsql.plan.known.relations import unit_of
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.needs import Aggregates, Measure, MeasureKind, Sized, Source, Values
from dpsql.plan.nodes import Column, Expression, PerUnit
from dpsql.plan.types import Grid, Value
from dpsql.worker.ordered import OF

__all__ = [
    "MOST_CELLS",
    "WIRES",
    "TotalRows",
    "bin_of",
    "cells_beside",
    "cells_of",
    "clamped_rows",
    "paired_rows",
    "sized_totals",
    "streams",
    "total_rows",
]

WIRES = (("bin", "BIGINT"), ("units", "BIGINT"), ("signs", "BIGINT"), ("total", "HUGEINT"))
"""The columns of `Sized` behind the keys, with their wire types."""

MOST_CELLS = 1 << 22
"""Groups times bins that are held at once while rows are added up, 128 MiB of them. It is a choice: beyond it the
database adds up, and takes ten times as long (3 million rows in 52,704 groups: measured)."""


@dataclass(frozen=True, slots=True)
class TotalRows:
    """What totals of units are made of, row by row.

    Attributes:
        source: The rows, which have their unit's number, with the keys over them.
        functions: What is added up of them, for each kind of total: ``count_rows``, ``count`` or ``sum``; of plain
            totals also ``units``.
        columns: Its argument with the grid of a sum; None where all rows or units count.
        bins: Of the totals, see `EngineStatement.bins`; () where they are only clamped.
    """

    source: Source
    functions: tuple[str, ...]
    columns: tuple[tuple[Expression, Grid | None] | None, ...]
    bins: tuple[Bins | None, ...]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The columns of what comes, behind the keys."""
        if not self.bins:
            return [(f"m{index}", "HUGEINT") for index in range(len(self.functions))]
        return [*([(OF, "BIGINT")] if len(self.bins) > 1 else []), *WIRES]

    @property
    def binned(self) -> list[Bins]:
        """The bins of those totals that have some."""
        return [own for own in self.bins if own is not None]

    @property
    def adds(self) -> list[Add]:
        """What is added up."""
        return [
            Add("units" if function == "units" else "rows") if own is None else Add(function, ValueColumn(*own))
            for function, own in zip(self.functions, self.columns, strict=True)
        ]


def total_rows(needs: Sequence[Sized | Aggregates]) -> TotalRows | None:
    """The rows behind totals, where they are added up once for all kinds of totals; else None.

    Args:
        needs: Totals of units; behind them plain totals of the same rows (`riding`), each of which is several kinds.

    Raises:
        InvariantBroken: If there are several kinds of totals, and they are not, or not of the same rows.
    """
    kinds = [_total_rows(need) if isinstance(need, Sized) else _plain_rows(need) for need in needs]
    known = [kind for kind in kinds if kind is not None]
    if len(needs) > 1 and (len(known) < len(kinds) or not all(_alike(kind, known[0]) for kind in known)):
        raise InvariantBroken("totals of different rows cannot be added up together")
    if not known:
        return None
    return _joined(known)


def streams(printer: Printer, rows: TotalRows) -> bool:
    """Whether the worker can add up rows as they come, unit by unit."""
    if not printer.dialect.counts or not placeable(rows.source):
        return False
    fits = not rows.bins or _cells([key.domain or () for key in rows.source.keys], rows.bins) <= MOST_CELLS
    return fits and numbered(printer, rows.source.relation) is not None


def _joined(known: Sequence[TotalRows]) -> TotalRows:
    """Several kinds of totals of the same rows."""
    first, *others = known
    return replace(
        first,
        functions=(*first.functions, *(own for other in others for own in other.functions)),
        columns=(*first.columns, *(own for other in others for own in other.columns)),
        bins=(*first.bins, *(own for other in others for own in other.bins)),
    )


def _alike(one: TotalRows, other: TotalRows) -> bool:
    """Whether both are of the same rows in the same groups; they may say differently what a unit holds of these."""
    return (one.source.relation, one.source.keys) == (other.source.relation, other.source.keys)


def _plain_rows(need: Aggregates) -> TotalRows | None:
    """The rows behind plain totals, of which each kind is clamped to nothing and has no bins."""
    source, kinds = need.source, kinds_of(need.measures)
    if source.capped or not kinds or unit_of(source.relation) is None:
        return None
    grids = [own[1] for _, own in kinds if own is not None and own[1] is not None]
    most = max((abs(end) for grid in grids for end in (grid.low, grid.high)), default=1)
    if rows_per_unit(source.relation) * max(1, most) > FARTHEST_STEP:
        return None
    return TotalRows(source, tuple(name for name, _ in kinds), tuple(own for _, own in kinds), (None,) * len(kinds))


def cells_beside(need: Aggregates, sized: Sized) -> int:
    """How many cells plain totals take beside totals of units; 0 where they are not of the same rows."""
    plain, rows = _plain_rows(need), _total_rows(sized)
    if plain is None or rows is None or not _alike(plain, rows):
        return 0
    return _cells([key.domain or () for key in plain.source.keys], plain.bins)


def _total_rows(need: Sized) -> TotalRows | None:
    found = _rows(need.source, need.argument, need.grid)
    return None if found is None else replace(found, bins=(need.bins,))


def _rows(source: Source, own: Expression, own_grid: Grid) -> TotalRows | None:
    """The rows behind totals of units, without bins."""
    relation = source.relation
    if not isinstance(relation, PerUnit) or not isinstance(own, Column):
        return None
    value, under = next((v for v in relation.values if v.name == own.name), None), dict(relation.keys)
    keyed = [key.expression for key in source.keys]
    if value is None or not all(isinstance(x, Column) and x.alias == relation.alias and x.name in under for x in keyed):
        return None
    grid = None if value.argument is None or value.function != "sum" else saturating_grid(value.argument.facts)
    most = 1 if grid is None else max(abs(grid.low), abs(grid.high))
    step = 1 if grid is None else grid.step
    if not FUNCTIONS[value.function].additive or step != own_grid.step:
        return None
    if unit_of(relation.input) is None or rows_per_unit(relation.input) * most > FARTHEST_STEP:
        return None
    keys = tuple(
        replace(key, expression=under[key.expression.name]) for key in source.keys if isinstance(key.expression, Column)
    )
    column = None if value.argument is None else (value.argument, grid)
    return TotalRows(replace(source, relation=relation.input, keys=keys), (value.function,), (column,), ())


def clamped_rows(
    printer: Printer, source: Source, measures: Sequence[Measure]
) -> tuple[TotalRows, tuple[tuple[int, int] | None, ...]] | None:
    """The rows behind sums of units' totals, and to which ends each total is clamped; None where the database does it.

    A total of no values is 0 here and NULL there: the same, as 0 lies between the ends.
    """
    if source.capped or not measures or not few(source) or not _one_row(source):
        return None
    found = list[TotalRows]()
    for measure in measures:
        grid = measure.grid
        if measure.kind is not MeasureKind.SUM or measure.argument is None or grid is None or measure.shift:
            return None
        rows = _rows(source, measure.argument, grid)
        if rows is None or not streams(printer, rows) or not grid.low <= 0 <= grid.high:
            return None
        found.append(rows)
    return _joined(found), tuple((m.grid.low, m.grid.high) for m in measures if m.grid is not None)


def paired_rows(printer: Printer, need: Values) -> TotalRows | None:
    """The rows behind values that are units' totals, where the worker adds them up; None where the database does."""
    source = need.source
    other = need.grid is None or need.by is not None or need.missing is not None or need.ranks
    if source.capped or other or not _one_row(source):
        return None
    found = [_rows(source, own, grid) for own, grid in ((need.argument, need.grid), *need.others) if grid is not None]
    known = [rows for rows in found if rows is not None]
    if len(known) < len(found) or not streams(printer, known[0]):
        return None
    return _joined(known)


def _one_row(source: Source) -> bool:
    """Whether a unit has one row at most in each group: the keys are all those of the totals."""
    relation, unit = source.relation, unit_of(source.relation)
    if not isinstance(relation, PerUnit) or unit is None:
        return False
    own = {key.expression.name for key in source.keys if isinstance(key.expression, Column)}
    return {name for name, _ in relation.keys} <= own | {unit.name}


def cells_of(statement: EngineStatement) -> int:
    """How many cells the worker holds while it adds up rows: groups times bins, for all kinds of totals."""
    return _cells([values for _, values in statement.listed], statement.bins)


def _cells(domains: Sequence[Sequence[Value]], bins: Sequence[Bins | None]) -> int:
    each = sum(1 if own is None else len(own[2]) + 1 for own in bins)
    return math.prod(len(values) + 1 for values in domains) * each


def sized_totals(printer: Printer, keys: Sequence[str], bins: Bins, rows: str, x: str, unit: str | None) -> str:
    """SQL of what `Sized` describes: the keys, and `WIRES`.

    Args:
        printer: Collects what the text uses.
        keys: The columns of the keys.
        bins: Of the totals.
        rows: SQL of one row for each unit and group: its keys, the unit where it has several, and the total.
        x: The column of the total, in grid steps.
        unit: The column of the unit; None where each has one row.
    """
    size, first, held = (printer.quoted(name) for name in ("size", "first", "bin"))
    (low, _, edges), several, once = bins, unit is not None, printer.dialect.once
    signed, columns = low < 0, [*keys, x]
    printer.functions |= {*(["-"] if signed else []), "row_number" if several else "count"}
    whole = f"CASE WHEN {x} < 0 THEN 0 - {x} ELSE {x} END" if signed else x
    read = list(columns)
    if unit is not None:  # what the unit has in all groups, and the one group in which it is counted
        whole, order = printer.call("sum_within", whole, unit), ", ".join(f"{key} NULLS LAST" for key in keys)
        read.append(f"row_number() OVER (PARTITION BY {unit} ORDER BY {order}) AS {first}")
        columns.append(first)
    rows = f"{once}SELECT {', '.join(read)}, {whole} AS {size} FROM ({rows}) AS q WHERE {x} <> 0"
    rows = f"{once}SELECT {', '.join(columns)}, {bin_of(size, edges)} AS {held} FROM ({rows}) AS q"

    def of_firsts(one: str) -> str:
        return printer.call("sum_of_integers", f"CASE WHEN {first} = 1 THEN {one} ELSE 0 END" if several else one)

    units = of_firsts("1") if several else "COUNT(*)"
    signs = of_firsts(f"CASE WHEN {x} > 0 THEN 1 ELSE 0 - 1 END") if signed else units
    values = [f"{printer.cast(held, 'BIGINT')} AS {held}"]
    for (name, wire), value in zip(WIRES[1:], (units, signs, printer.call("sum_of_integers", x)), strict=True):
        values.append(f"{printer.cast(value, wire)} AS {printer.quoted(name)}")
    by = ", ".join([*keys, held])
    return f"SELECT {', '.join([*keys, *values])} FROM ({rows}) AS q GROUP BY {by} ORDER BY {by}"


def bin_of(size: str, edges: Sequence[int], first: int = 0) -> str:
    """SQL of a size's bin: the place of the first edge that is not below it, else behind all.

    The edges are halved again and again, so that a row meets few of them.

    >>> bin_of("s", [2, 5, 9])
    'CASE WHEN s <= 5 THEN CASE WHEN s <= 2 THEN 0 ELSE 1 END ELSE CASE WHEN s <= 9 THEN 2 ELSE 3 END END'
    """
    if not edges:
        return str(first)
    middle = len(edges) // 2
    below, above = bin_of(size, edges[:middle], first), bin_of(size, edges[middle + 1 :], first + middle + 1)
    return f"CASE WHEN {size} <= {int(edges[middle])} THEN {below} ELSE {above} END"
