"""Units' totals added up by how much each unit has, as SQL over their rows, or as rows for the worker to add up.

Tests: tests/unit/engine/test_sized.py, tests/unit/mechanisms/clamped/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpsql.engine.counted import placeable, placed
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import lies
from dpsql.limits import FARTHEST_STEP
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.grids import saturating_grid
from dpsql.plan.needs import Sized, Source
from dpsql.plan.nodes import Column, Expression, PerUnit
from dpsql.plan.stability import rows_per_unit
from dpsql.plan.types import Grid, Value
from dpsql.worker.sizing import UNIT

__all__ = ["UNIT", "WIRES", "TotalRows", "added_up", "sized_totals", "total_rows"]

WIRES = (("bin", "BIGINT"), ("units", "BIGINT"), ("signs", "BIGINT"), ("total", "HUGEINT"))
"""The columns of `Sized` behind the keys, with their wire types."""

MOST_CELLS = 1 << 20
"""Groups times bins that are held at once while rows are added up, 32 MiB of them. It is a choice."""


@dataclass(frozen=True, slots=True)
class TotalRows:
    """What totals of units are made of, row by row.

    Attributes:
        source: The rows, which lie unit by unit, with the keys over them.
        function: What is added up of them: ``count_rows``, ``count`` or ``sum``.
        columns: Its argument with the grid of a sum; none where all rows count.
        bins: Of the totals; see `EngineStatement.bins`.
    """

    source: Source
    function: str
    columns: tuple[tuple[Expression, Grid | None], ...]
    bins: tuple[int, int, tuple[int, ...]]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The columns of what comes."""
        return [*((key.name, "BIGINT") for key in self.source.keys), *WIRES]

    @property
    def listed(self) -> tuple[tuple[str, tuple[Value, ...]], ...]:
        """The keys, which come as places."""
        return tuple((key.name, key.domain or ()) for key in self.source.keys)


def total_rows(printer: Printer, need: Sized) -> TotalRows | None:
    """The rows behind totals, where an engine can add them up as they lie, unit by unit; else None."""
    relation, own = need.source.relation, need.argument
    if not isinstance(relation, PerUnit) or not isinstance(own, Column) or not printer.dialect.counts:
        return None
    value, under = next((v for v in relation.values if v.name == own.name), None), dict(relation.keys)
    keyed = [key.expression for key in need.source.keys]
    if value is None or not all(isinstance(x, Column) and x.alias == relation.alias and x.name in under for x in keyed):
        return None
    grid = None if value.argument is None or value.function != "sum" else saturating_grid(value.argument.facts)
    most = 1 if grid is None else max(abs(grid.low), abs(grid.high))
    step = 1 if grid is None else grid.step
    if not FUNCTIONS[value.function].additive or step != need.grid.step:
        return None
    if not lies(printer, relation.input) or rows_per_unit(relation.input) * most > FARTHEST_STEP:
        return None
    if not all(map(placeable, need.source.keys)):
        return None
    keys = tuple(
        replace(key, expression=under[key.expression.name], domain=_rising(key.domain or ()))
        for key in need.source.keys
        if isinstance(key.expression, Column)
    )
    cells = math.prod(len(key.domain or ()) + 1 for key in keys) * (len(need.edges) + 1)
    if cells > MOST_CELLS:
        return None
    columns = () if value.argument is None else ((value.argument, grid),)
    bins = need.grid.low, need.grid.high, need.edges
    return TotalRows(replace(need.source, relation=relation.input, keys=keys), value.function, columns, bins)


def _rising(domain: Sequence[Value]) -> tuple[Value, ...]:
    """The values in the database's order, by which a unit's first group is found; NULL last."""
    known: list[Any] = [value for value in domain if value is not None]
    return (*sorted(known), *([None] if None in domain else []))


def added_up(printer: Printer, rows: TotalRows, sql: str, x: str) -> str:
    """SQL of the rows as `EngineStatement.bins` wants them.

    Args:
        printer: Collects what the text uses.
        rows: What is added up.
        sql: The rows: keys, unit and value.
        x: The column of the value.
    """
    match rows.function:
        case "count_rows":
            value = "1"
        case "count":
            value = f"CASE WHEN {x} IS NULL THEN 0 ELSE 1 END"
        case _:
            value = f"COALESCE({x}, 0)"
    columns = [placed(printer, key) for key in rows.source.keys]
    columns += [printer.quoted(UNIT), f"{printer.cast(value, 'BIGINT')} AS {printer.quoted('x0')}"]
    return f"SELECT {', '.join(columns)} FROM ({sql}) AS q"


def sized_totals(printer: Printer, need: Sized, rows: str, x: str, unit: str) -> str:
    """SQL of what `Sized` describes.

    Args:
        printer: Collects what the text uses.
        need: What is wanted.
        rows: SQL of one row for each unit and group: its keys, the unit where it has several, and the total.
        x: The column of the total, in grid steps.
        unit: The column of the unit.
    """
    keys = [printer.quoted(key.name) for key in need.source.keys]
    size, first, held = (printer.quoted(name) for name in ("size", "first", "bin"))
    several = bool(keys) and not need.single
    printer.functions |= {"-", "row_number"} if several else {"-"}
    whole, place = f"CASE WHEN {x} < 0 THEN 0 - {x} ELSE {x} END", "1"
    if several:  # what the unit has in all groups, and the one group in which it is counted
        whole = printer.call("sum_within", whole, unit)
        place = f"row_number() OVER (PARTITION BY {unit} ORDER BY {', '.join(f'{key} NULLS LAST' for key in keys)})"
    columns = ", ".join([*keys, x])
    rows = f"SELECT {columns}, {whole} AS {size}, {place} AS {first} FROM ({rows}) AS q WHERE {x} <> 0"
    bins = " ".join(f"WHEN {size} <= {int(edge)} THEN {index}" for index, edge in enumerate(need.edges))
    rows = f"SELECT {columns}, {first}, CASE {bins} ELSE {len(need.edges)} END AS {held} FROM ({rows}) AS q"
    one = f"CASE WHEN {first} = 1 THEN 1 ELSE 0 END"
    sign = f"CASE WHEN {first} <> 1 OR {x} = 0 THEN 0 WHEN {x} > 0 THEN 1 ELSE 0 - 1 END"
    values = [f"{printer.cast(held, 'BIGINT')} AS {held}"]
    for (name, wire), value in zip(WIRES[1:], (one, sign, x), strict=True):
        total = printer.cast(printer.call("sum_of_integers", value), wire)
        values.append(f"{total} AS {printer.quoted(name)}")
    by = ", ".join([*keys, held])
    return f"SELECT {', '.join([*keys, *values])} FROM ({rows}) AS q GROUP BY {by} ORDER BY {by}"
