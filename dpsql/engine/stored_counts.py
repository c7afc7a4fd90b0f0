"""Counted values of a whole table, read where they are stored, in the place of its rows.

Theorem. They are those that `Values` says: the stored column holds each value in the steps of its grid, which nothing
clamps any further, and all rows count.  QED

Tests: tests/unit/engine/test_stored_counts.py.
"""

from __future__ import annotations

from dpsql.engine.base import EngineStatement
from dpsql.engine.printer import Printer
from dpsql.plan.catalog import COUNTS
from dpsql.plan.needs import Values
from dpsql.plan.nodes import Column, Scan

__all__ = ["read_counts"]


def read_counts(printer: Printer, need: Values) -> EngineStatement | None:
    """The statement that reads them; None where they are not stored, or not of all rows."""
    source, own = need.source, need.argument
    scan = source.relation
    if source.keys or source.capped or need.by or need.others or need.ranks or need.missing is not None:
        return None
    if not isinstance(scan, Scan) or not isinstance(own, Column) or not printer.dialect.counts or need.grid is None:
        return None
    counts = scan.table.counts
    if counts is None or own.name not in counts.columns or not printer.as_stored(own, need.grid):
        return None
    of, value, rows = map(printer.quoted, COUNTS)
    shown = f"{value} AS {printer.quoted('value')}, {rows} AS {printer.quoted('rows')}"
    place = counts.columns.index(own.name)
    return EngineStatement(
        sql=f"SELECT {shown} FROM {printer.dialect.bounded(counts.name)} AS t WHERE {of} = {place}",
        parameters=(),
        columns=(("value", "BIGINT"), ("rows", "BIGINT")),
        tables=frozenset({counts.name}),
        functions=frozenset(),
    )
