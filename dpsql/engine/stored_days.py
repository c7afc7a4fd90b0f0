"""The groups of an open day, read where their units and rows are stored, in the place of the rows of a whole table.

Theorem. They are those that `Aggregates` says.

Proof. All rows of the table count, and none is cut, or of each unit those of its first groups: what is stored says of
each day how many units have it as their first, their second, and so on (`worker.group_ranks`).  QED

Tests: tests/unit/engine/test_stored_days.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.base import EngineStatement
from dpsql.engine.printer import Printer
from dpsql.plan.catalog import DAYS, MOST_FIRST
from dpsql.plan.needs import Measure, MeasureKind, Source
from dpsql.plan.nodes import Column, Scan

__all__ = ["read_days"]

GROUP, UNITS, ROWS = DAYS
STORED = {MeasureKind.UNITS: UNITS, MeasureKind.ROWS: ROWS}


def read_days(printer: Printer, source: Source, measures: Sequence[Measure]) -> EngineStatement | None:
    """The statement that reads them; None where they are not stored, or others are asked."""
    scan, groups = source.relation, (source.cut or source.contribution).groups
    if not isinstance(scan, Scan) or source.cap_rows or source.cap_rows_in_group or not printer.dialect.counts:
        return None
    if len(source.keys) != 1 or (source.cap_groups and groups > MOST_FIRST):
        return None
    (key,), columns = source.keys, [STORED.get(measure.kind) for measure in measures]
    day = key.expression.name if isinstance(key.expression, Column) and key.domain is None else None
    stored = next((own for own in scan.table.open_days if own.column == day), None)
    if stored is None or None in columns:
        return None
    names = [printer.quoted(name) for name in (key.name, *(f"m{at}" for at, _ in enumerate(columns)))]
    totals = [printer.call("sum_of_integers", printer.quoted(str(column))) for column in columns]
    texts = [printer.quoted(stored.column), *(printer.cast(total, "BIGINT") for total in totals)]
    shown = [f"{text} AS {name}" for text, name in zip(texts, names, strict=True)]
    first = f" WHERE {printer.quoted(GROUP)} <= {groups}" if source.cap_groups else ""
    rows = f"{printer.dialect.bounded(stored.name)} AS t{first} GROUP BY {printer.quoted(stored.column)}"
    return EngineStatement(
        sql=f"SELECT {', '.join(names)} FROM (SELECT {', '.join(shown)} FROM {rows}) AS q",
        parameters=(),
        columns=((key.name, "DATE"), *((f"m{at}", "BIGINT") for at, _ in enumerate(columns))),
        tables=frozenset({stored.name}),
        functions=frozenset(printer.functions),
    )
