"""As few engine statements as the releases allow.

Tests: tests/unit/prepare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.lower import Lower
from dpsql.engine.riding import kinds_of
from dpsql.engine.side_by_side import MOST_BESIDE
from dpsql.engine.sized import MOST_CELLS, cells_beside, cells_of
from dpsql.plan.needs import Aggregates, Histogram, Measure, MeasureKind, Need, Sized, Source
from dpsql.plan.nodes import PerUnit
from dpsql.prepare.prepared import Reading

__all__ = ["readings_of"]


def readings_of(
    needs: Sequence[Need], lower: Lower, most_cells: int = MOST_CELLS
) -> tuple[tuple[Reading, ...], list[tuple[int, tuple[str, ...]]]]:
    """As few engine statements as the needs allow, and where each release finds its raw columns.

    Args:
        needs: What the releases need.
        lower: How a need becomes a statement.
        most_cells: Groups times bins that one statement's totals may have.
    """
    merged: list[tuple[Source | None, Need]] = []
    where: list[tuple[int, tuple[str, ...]]] = []
    for need in needs:
        measures = _measures(need)
        if measures is None:
            at = next((i for i, (source, read) in enumerate(merged) if source is None and read == need), len(merged))
            if at == len(merged):
                merged.append((None, need))
            where.append((at, ("group", "value", "rows")))
            continue
        at = next((i for i, (source, _) in enumerate(merged) if source == need.source), len(merged))
        if at == len(merged):
            merged.append((need.source, Aggregates(need.source, ())))
        known = _measures(merged[at][1]) or ()
        known += tuple(measure for measure in dict.fromkeys(measures) if measure not in known)
        merged[at] = (need.source, Aggregates(need.source, known))
        where.append((at, tuple(f"m{known.index(measure)}" for measure in measures)))
    return _together([Reading(need, lower(need)) for _, need in merged], lower, most_cells), where


def _together(readings: Sequence[Reading], lower: Lower, most_cells: int) -> tuple[Reading, ...]:
    """The readings, those of totals of the same rows that are added up in one pass as parts of one statement.

    Plain totals of these rows ride along where that costs less than a pass of their own.
    """

    def room(pack: Sequence[int], own: EngineStatement) -> bool:
        held = [readings[index].statement for index in pack]
        cells = sum(map(cells_of, [*held, own]))
        return cells <= most_cells and sum(one.beside for one in [*held, own]) <= MOST_BESIDE

    found, packs = list(readings), list[tuple[tuple[Source, bool, bool], list[int]]]()
    for index, reading in enumerate(readings):
        own = reading.statement
        if isinstance(reading.need, Sized) and (own.bins or own.beside):
            kind = _rows_of(reading.need.source), bool(own.bins), own.made is not None  # what is stored is read apart
            pack = next((pack for known, pack in packs if known == kind and room(pack, own)), None)
            if pack is None:
                packs.append((kind, [index]))
            else:
                pack.append(index)
    riders = [index for index, reading in enumerate(readings) if isinstance(reading.need, Aggregates)]
    for _, pack in packs:
        parts = _riding(readings, pack, riders, lower, most_cells) or _packed(readings, pack, lower)
        riders = [index for index in riders if index not in parts]
        for index, part in parts.items():
            found[index] = part
    return tuple(found)


def _packed(readings: Sequence[Reading], pack: Sequence[int], lower: Lower) -> dict[int, Reading]:
    """The readings with these indices, as parts of one statement; {} for one alone."""
    needs = tuple(need for index in pack if isinstance(need := readings[index].need, Sized | Aggregates))
    if len(needs) == 1:
        return {}
    statement, found, of = lower(needs), dict[int, Reading](), 0
    for index, need in zip(pack, needs, strict=True):
        found[index] = replace(readings[index], statement=statement, of=of)
        of += len(kinds_of(need.measures)) if isinstance(need, Aggregates) else 1
    return found


def _riding(
    readings: Sequence[Reading], pack: Sequence[int], riders: Sequence[int], lower: Lower, most_cells: int
) -> dict[int, Reading]:
    """Totals of units, and plain totals that ride along with them, as parts of one statement; {} where none do.

    They do where the rows that are added up are few, one of a unit in a group, and from no other tables than without
    them: elsewhere the database finds plain totals faster than rows travel, or than it adds up what is stored.
    """
    host, statements = readings[pack[0]], [readings[index].statement for index in pack]
    cells, taken = sum(map(cells_of, statements)), list[int]()
    for index in riders:
        need = readings[index].need
        if host.statement.by_unit and isinstance(need, Aggregates) and isinstance(host.need, Sized):
            more = cells_beside(need, host.need)
            if more and cells + more <= most_cells:
                cells += more
                taken.append(index)
    found = _packed(readings, [*pack, *taken], lower) if taken else {}
    tables = {name for statement in statements for name in statement.tables}
    few = all(reading.statement.by_unit and reading.statement.tables <= tables for reading in found.values())
    return found if few else {}


def _rows_of(source: Source) -> Source:
    """Which rows totals of units are made of, whatever the totals."""
    relation = source.relation
    return replace(source, relation=replace(relation, values=()) if isinstance(relation, PerUnit) else relation)


def _measures(need: Need) -> tuple[Measure, ...] | None:
    match need:
        case Aggregates():
            return need.measures
        case Histogram():
            return (Measure(MeasureKind.UNITS if need.of_units else MeasureKind.ROWS),)
        case _:
            return None
