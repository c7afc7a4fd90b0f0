"""As few engine statements as the releases allow.

Tests: tests/unit/prepare.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.lower import Lower
from dpsql.plan.needs import Aggregates, Histogram, Measure, MeasureKind, Need, Source
from dpsql.prepare.prepared import Reading

__all__ = ["readings_of"]


def readings_of(needs: Sequence[Need], lower: Lower) -> tuple[tuple[Reading, ...], list[tuple[int, tuple[str, ...]]]]:
    """As few engine statements as the needs allow, and where each release finds its raw columns."""
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
    return tuple(Reading(need, lower(need)) for _, need in merged), where


def _measures(need: Need) -> tuple[Measure, ...] | None:
    match need:
        case Aggregates():
            return need.measures
        case Histogram():
            return (Measure(MeasureKind.UNITS if need.of_units else MeasureKind.ROWS),)
        case _:
            return None
