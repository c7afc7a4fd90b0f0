"""The rows behind a need, cut to the caps in force.

Tests: tests/unit/engine/test_ranked.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.engine.printer import Printer
from dpsql.engine.ranked import UnitRows, cut_groups, cut_rows, lies, stored_ranks, with_least_rank
from dpsql.engine.rows import UNIT, ValueColumn, unit_column, value_rows
from dpsql.plan.needs import Source
from dpsql.plan.nodes import Column, Scan

__all__ = ["bounded_rows", "cut", "unit_rows"]


def bounded_rows(
    printer: Printer, source: Source, columns: Sequence[ValueColumn], key: bytes, *, unit: Column | None = None
) -> str:
    """Rows with ``k0...``, ``u`` and the values ``x0...``, cut to the contribution bounds in force."""
    if not source.capped:
        return value_rows(printer, source, columns, unit=unit)
    return cut(printer, unit_rows(printer, source, columns), source, key).sql


def unit_rows(
    printer: Printer, source: Source, columns: Sequence[ValueColumn], number: Column | None = None
) -> UnitRows:
    """The rows with what orders those of one unit: ``r0...`` beside their keys, unit (or its number) and values."""
    source = replace(source, relation=with_least_rank(source.relation))
    ranks = stored_ranks(source.relation) or ()
    sql = value_rows(printer, source, columns, unit=number or unit_column(source), ranks=ranks)
    said = [*(k.name for k in source.keys), *(f"x{index}" for index in range(len(columns)))]
    unit, named = printer.quoted(UNIT), map(printer.quoted, said)
    placed = [printer.quoted(f"r{index}") for index in range(len(ranks))]
    whole = isinstance(source.relation, Scan) and bool(ranks)
    return UnitRows(sql, unit, [unit, *named], placed, lies(printer, source.relation), whole)


def cut(printer: Printer, rows: UnitRows, source: Source, key: bytes) -> UnitRows:
    """The rows of `unit_rows` that the caps of a source leave."""
    held, keys = source.cut or source.contribution, [printer.quoted(k.name) for k in source.keys]
    if source.cap_rows:
        rows = cut_rows(printer, rows, (), held.rows, key)
    if source.cap_rows_in_group:
        rows = cut_rows(printer, rows, keys, held.rows_in_group, key)
    if source.cap_groups and keys:
        rows = cut_groups(printer, rows, keys, held.groups, key)
    return rows
