"""The groups of an open day, read where their units and rows are stored, in the place of the rows of a whole table.

Theorem. They are those that `Aggregates` says: all rows of the table count, and none is cut.  QED

Tests: tests/unit/engine/test_stored_days.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.base import EngineStatement
from dpsql.engine.printer import Printer
from dpsql.plan.catalog import DAYS
from dpsql.plan.needs import Measure, MeasureKind, Source
from dpsql.plan.nodes import Column, Scan

__all__ = ["read_days"]

STORED = {MeasureKind.UNITS: DAYS[0], MeasureKind.ROWS: DAYS[1]}


def read_days(printer: Printer, source: Source, measures: Sequence[Measure]) -> EngineStatement | None:
    """The statement that reads them; None where they are not stored, or not of all rows, or something else is asked."""
    scan, capped = source.relation, source.cap_rows or source.cap_groups or source.cap_rows_in_group
    if not isinstance(scan, Scan) or capped or len(source.keys) != 1 or not printer.dialect.counts:
        return None
    (key,), columns = source.keys, [STORED.get(measure.kind) for measure in measures]
    day = key.expression.name if isinstance(key.expression, Column) and key.domain is None else None
    stored = next((own for own in scan.table.open_days if own.column == day), None)
    if stored is None or None in columns:
        return None
    shown = {key.name: stored.column} | {f"m{at}": str(column) for at, column in enumerate(columns)}
    named = ", ".join(f"{printer.quoted(own)} AS {printer.quoted(called)}" for called, own in shown.items())
    days = f"SELECT {named} FROM {printer.dialect.bounded(stored.name)} AS t"
    return EngineStatement(
        sql=f"SELECT {', '.join(map(printer.quoted, shown))} FROM ({days}) AS q",
        parameters=(),
        columns=((key.name, "DATE"), *((called, "BIGINT") for called in list(shown)[1:])),
        tables=frozenset({stored.name}),
        functions=frozenset(printer.functions),
    )
