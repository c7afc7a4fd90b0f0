"""How much wider intervals are of rows that are kept for their own noised values: by ORDER BY with LIMIT, or by HAVING.

The largest of many noised values are mostly those whose noise was upward. So an answer takes their intervals at a
higher level (`answers.computed.intervals.level_of_picked`), and a quote tells how wide they are then.

Tests: tests/unit/answers/quotes/test_picked.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction

from dpsql.answers.computed.intervals import level_of_picked
from dpsql.answers.quotes.foreseen_rows import RowsForeseen
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.ranked import SURE, Ranked
from dpsql.plan.known.guesses import OPEN_GROUPS
from dpsql.plan.over_answers.members import picking
from dpsql.prepare import Measured, Prepared

__all__ = ["beside_picked", "picked_of", "wider"]


def picked_of(prepared: Prepared, names: Collection[str]) -> Fraction:
    """Of how many rows one is kept for the noised values of some aggregates; 1 where all are, or nothing tells."""
    plan = prepared.plan
    limits = [own for own in (plan.limit, *(stage.limit for stage in plan.stages)) if own is not None]
    if not limits or prepared.candidates is not None or picking(plan).isdisjoint(names):
        return Fraction(1)
    rows = RowsForeseen(prepared).count or OPEN_GROUPS
    return max(Fraction(1), Fraction(rows, max(1, min(limits))))


def wider(prepared: Prepared, measured: Measured) -> float:
    """Half the width of an interval that is told of a released column, in its unit."""
    release = measured.choice.release
    of = picked_of(prepared, {measured.aggregate.name})
    if of == 1 or not release.bracketed:
        return release.half_width
    level = level_of_picked(0.95, of.denominator, of.numerator)
    if isinstance(release, Ranked) and level > SURE:
        return release.most
    if type(release) is NoisedRelease:
        return float(release.law.quantile(level) * release.step)
    return release.half_width * math.log(20 * of) / math.log(20)  # Laplace noise's


def beside_picked(prepared: Prepared) -> tuple[str, ...]:
    """That intervals are taken at a higher level, one sentence for each way."""
    notes = dict[str, None]()
    kept = picking(prepared.plan)
    for measured in prepared.told:
        name = measured.aggregate.name
        if name not in kept or prepared.candidates is not None or not measured.choice.release.bracketed:
            continue
        of = picked_of(prepared, {name})
        if of > 1:
            about = "about " * (RowsForeseen(prepared).count is None)
            notes[
                f"Rows are kept for their noised {measured.aggregate.text}, one of {about}{float(of):.3g}: so its "
                "intervals are taken at a higher level, and the half width is for that."
            ] = None
        else:
            notes[
                f"Where few rows are kept for their noised {measured.aggregate.text}, its intervals are wider: of one "
                "in 20 about twice as wide."
            ] = None
    return tuple(notes)
