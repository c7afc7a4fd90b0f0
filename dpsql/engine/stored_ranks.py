"""Counts and sums over a whole table, read where they are stored by rank, in the place of its rows.

Theorem. They are those that `Aggregates` says.

Proof. All rows of the table count, or each unit's first k in the order of their ranks. These are distinct and count
from 1 in each unit (`owner.building.caps.placed`), so the first k are those of ranks up to k; whole numbers add up to
the same in any order. A unit that has rows has one of rank 1, so as many rows have that rank as there are units.  QED

Tests: tests/unit/engine/test_stored_ranks.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.base import EngineStatement
from dpsql.engine.printer import Printer
from dpsql.engine.totals import stored_column
from dpsql.plan.catalog import RANK, StoredRanks, StoredTotals
from dpsql.plan.needs import Measure, MeasureKind, Source
from dpsql.plan.nodes import Scan

__all__ = ["read_ranks"]

FUNCTIONS = {MeasureKind.ROWS: "count_rows", MeasureKind.VALUES: "count", MeasureKind.SUM: "sum"}


def read_ranks(printer: Printer, source: Source, measures: Sequence[Measure]) -> EngineStatement | None:
    """The statement that reads them; None where they are not stored, or others are asked."""
    scan, most = source.relation, (source.cut or source.contribution).rows
    ranks = scan.table.ranks if isinstance(scan, Scan) and printer.dialect.counts else None
    if ranks is None:
        return None
    if source.keys or source.cap_groups or source.cap_rows_in_group:
        return None
    texts = [_total(printer, ranks, measure) for measure in measures]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return None
    wires = ["HUGEINT" if measure.kind is MeasureKind.SUM else "BIGINT" for measure in measures]
    fields = [(f"m{at}", wire) for at, wire in enumerate(wires)]
    shown = [
        f"{printer.cast(text, wire)} AS {printer.quoted(name)}"
        for text, (name, wire) in zip(known, fields, strict=True)
    ]
    first = f" WHERE {printer.quoted(RANK)} <= {int(most)}" if source.cap_rows else ""
    return EngineStatement(
        sql=f"SELECT {', '.join(shown)} FROM {printer.dialect.bounded(ranks.name)} AS t{first}",
        parameters=(),
        columns=tuple(fields),
        tables=frozenset({ranks.name}),
        functions=frozenset(printer.functions),
    )


def _total(printer: Printer, ranks: StoredRanks, measure: Measure) -> str | None:
    """SQL of one number; None where it is not stored."""
    if measure.kind is MeasureKind.UNITS:
        first, rows = printer.quoted(RANK), printer.quoted(StoredTotals.rows)
        return _sum(printer, f"CASE WHEN {first} = 1 THEN {rows} END")
    own = None if measure.argument is None else (measure.argument, measure.grid)
    name, held = stored_column(printer, FUNCTIONS.get(measure.kind, ""), own), StoredTotals.numbers(ranks.columns)
    if name is None or name not in held:
        return None
    total, column = _sum(printer, printer.quoted(name)), held[name]
    if not measure.shift or column is None:
        return total
    values = _sum(printer, printer.quoted(StoredTotals.count(column)))
    printer.functions |= {"-", "*"}
    return f"{total} - {printer.cast(str(measure.shift), 'HUGEINT')} * {values}"


def _sum(printer: Printer, text: str) -> str:
    """SQL of a sum; of nothing it is 0."""
    return f"COALESCE({printer.call('sum_of_integers', text)}, 0)"
