"""Units' totals added up by how much each unit has, as SQL over their rows, or as rows for the worker to add up.

Tests: tests/unit/engine/test_sized.py, tests/unit/mechanisms/clamped/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpsql.engine.base import EngineStatement
from dpsql.engine.counted import placeable, placed
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import lies
from dpsql.errors import InvariantBroken
from dpsql.limits import FARTHEST_STEP
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.grids import saturating_grid
from dpsql.plan.needs import Sized, Source
from dpsql.plan.nodes import Column, Expression, PerUnit
from dpsql.plan.stability import rows_per_unit
from dpsql.plan.types import Grid, Value
from dpsql.worker.sizing import OF, UNIT

__all__ = ["MOST_CELLS", "UNIT", "WIRES", "TotalRows", "added_up", "cells_of", "sized_totals", "total_rows"]

WIRES = (("bin", "BIGINT"), ("units", "BIGINT"), ("signs", "BIGINT"), ("total", "HUGEINT"))
"""The columns of `Sized` behind the keys, with their wire types."""

MOST_CELLS = 1 << 20
"""Groups times bins that are held at once while rows are added up, 32 MiB of them. It is a choice."""


@dataclass(frozen=True, slots=True)
class TotalRows:
    """What totals of units are made of, row by row.

    Attributes:
        source: The rows, which lie unit by unit, with the keys over them.
        functions: What is added up of them, for each kind of total: ``count_rows``, ``count`` or ``sum``.
        columns: Its argument with the grid of a sum; None where all rows count.
        bins: Of the totals; see `EngineStatement.bins`.
    """

    source: Source
    functions: tuple[str, ...]
    columns: tuple[tuple[Expression, Grid | None] | None, ...]
    bins: tuple[tuple[int, int, tuple[int, ...]], ...]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The columns of what comes."""
        of = [(OF, "BIGINT")] if len(self.bins) > 1 else []
        return [*((key.name, "BIGINT") for key in self.source.keys), *of, *WIRES]

    @property
    def listed(self) -> tuple[tuple[str, tuple[Value, ...]], ...]:
        """The keys, which come as places."""
        return tuple((key.name, key.domain or ()) for key in self.source.keys)


def total_rows(printer: Printer, needs: Sequence[Sized]) -> TotalRows | None:
    """The rows behind totals, where an engine can add them up as they lie, unit by unit; else None.

    Raises:
        InvariantBroken: If there are several kinds of totals, and it cannot, or they are not of the same rows.
    """
    kinds = [_total_rows(printer, need) for need in needs]
    known = [kind for kind in kinds if kind is not None]
    if len(needs) > 1 and (len(known) < len(kinds) or any(kind.source != known[0].source for kind in known)):
        raise InvariantBroken("totals of different rows cannot be added up together")
    if not known:
        return None
    first, *others = known
    return replace(
        first,
        functions=(*first.functions, *(own for other in others for own in other.functions)),
        columns=(*first.columns, *(own for other in others for own in other.columns)),
        bins=(*first.bins, *(own for other in others for own in other.bins)),
    )


def _total_rows(printer: Printer, need: Sized) -> TotalRows | None:
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
    column = None if value.argument is None else (value.argument, grid)
    bins = ((need.grid.low, need.grid.high, need.edges),)
    found = TotalRows(replace(need.source, relation=relation.input, keys=keys), (value.function,), (column,), bins)
    return found if cells_of(found) <= MOST_CELLS else None


def cells_of(rows: TotalRows | EngineStatement) -> int:
    """How many cells the worker holds while it adds up rows: groups times bins, for all kinds of totals."""
    return math.prod(len(values) + 1 for _, values in rows.listed) * sum(len(edges) + 1 for _, _, edges in rows.bins)


def _rising(domain: Sequence[Value]) -> tuple[Value, ...]:
    """The values in the database's order, by which a unit's first group is found; NULL last."""
    known: list[Any] = [value for value in domain if value is not None]
    return (*sorted(known), *([None] if None in domain else []))


def added_up(printer: Printer, rows: TotalRows, sql: str, xs: Sequence[str]) -> str:
    """SQL of the rows as `EngineStatement.bins` wants them.

    Args:
        printer: Collects what the text uses.
        rows: What is added up.
        sql: The rows: keys, unit and value.
        xs: The columns of the values, for each kind of total; whatever where all rows count.
    """
    columns = [*(placed(printer, key) for key in rows.source.keys), printer.quoted(UNIT)]
    for index, (function, x) in enumerate(zip(rows.functions, xs, strict=True)):
        match function:
            case "count_rows":
                value = "1"
            case "count":
                value = f"CASE WHEN {x} IS NULL THEN 0 ELSE 1 END"
            case _:
                value = f"COALESCE({x}, 0)"
        columns.append(f"{printer.cast(value, 'BIGINT')} AS {printer.quoted(f'x{index}')}")
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
