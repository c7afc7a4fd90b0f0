"""The rows behind a need: its keys, units and ranks, and its values as whole numbers.

Tests: tests/sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.printer import Printer
from dpsql.errors import InvariantBroken
from dpsql.plan.known.relations import scans, unit_of
from dpsql.plan.needs import Source
from dpsql.plan.nodes import Column, Expression, Relation
from dpsql.plan.types import Grid

__all__ = ["UNIT", "ValueColumn", "column_name", "statement_by_place", "statement_over", "unit_column", "value_rows"]

UNIT = "u"  # The column of the unit in inner rows.


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column of values in the inner rows: an argument as integers of a grid, or as it is."""

    argument: Expression
    grid: Grid | None


def column_name(printer: Printer, index: int) -> str:
    """The column of the values with this index."""
    return printer.quoted(f"x{index}")


def unit_column(source: Source) -> Column:
    """The unit of a source's rows.

    Raises:
        InvariantBroken: If they have none.
    """
    unit = unit_of(source.relation)
    if unit is None:
        raise InvariantBroken("rows without a unit cannot be cut")
    return unit


def value_rows(
    printer: Printer,
    source: Source,
    columns: Sequence[ValueColumn],
    *,
    unit: Column | None = None,
    ranks: Sequence[Column] = (),
) -> str:
    """Rows with keys, unit, ranks and values; what is no integer of its grid yet becomes one a level further out."""
    inner = [f"{printer.expression(k.expression)} AS {printer.quoted(k.name)}" for k in source.keys]
    outer = [printer.quoted(k.name) for k in source.keys]
    named = [] if unit is None else [(UNIT, unit)]
    named += [(f"r{index}", rank) for index, rank in enumerate(ranks)]
    for name, column in named:
        inner.append(f"{printer.qualified(column)} AS {printer.quoted(name)}")
        outer.append(printer.quoted(name))
    plain = True
    for index, own in enumerate(columns):
        x = column_name(printer, index)
        text, stored = printer.argument(own.argument, own.grid)
        inner.append(f"{text} AS {x}")
        value = printer.grid_integer(own.argument, own.grid, x, stored)
        plain = plain and value == x
        outer.append(f"{value} AS {x}")
    inside = f"SELECT {', '.join(inner) or '1 AS one'} {printer.rows(source.relation)}"
    return inside if plain else f"SELECT {', '.join(outer)} FROM ({printer.dialect.once}{inside}) AS r"


def statement_over(
    printer: Printer, sql: str, columns: Sequence[tuple[str, str]], relation: Relation
) -> EngineStatement:
    """A statement over the tables of a relation, with what its printer collected."""
    return EngineStatement(
        sql=sql,
        parameters=tuple(printer.parameters),
        columns=tuple(columns),
        tables=frozenset(scan.table.name for scan in scans(relation)),
        functions=frozenset(printer.functions),
    )


def statement_by_place(
    printer: Printer, sql: str, source: Source, fields: Sequence[tuple[str, str]]
) -> EngineStatement:
    """The same, whose keys come as the places of their values in the keys' domains, before other columns."""
    columns = [*((name, "BIGINT") for name in source.key_names), *fields]
    listed = tuple((key.name, key.domain or ()) for key in source.keys)
    return replace(statement_over(printer, sql, columns, source.relation), listed=listed)
