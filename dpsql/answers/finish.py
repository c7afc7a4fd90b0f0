"""Released to answered: totals that agree, rows, intervals, and what was measured.

Tests: tests/unit/answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from dpsql.answers.answer import Answer, Measurement, public
from dpsql.answers.computed.intervals import (
    AnswerRows,
    Bars,
    level_of_picked,
    output_intervals,
    with_interval_ends,
)
from dpsql.answers.computed.linear import Cells, cells_of, linear_intervals
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.computed.rounding import widened
from dpsql.answers.computed.totals import several_rows, several_rows_intervals
from dpsql.answers.lists import gathered
from dpsql.answers.quotes.apart import columns_apart
from dpsql.answers.quotes.beyond import beyond_bounds
from dpsql.answers.quotes.chance import left_to_chance
from dpsql.answers.quotes.listed import beside_answer
from dpsql.answers.quotes.means import means_written_out
from dpsql.answers.quotes.quote import advice, caps, clipped, summary_fields
from dpsql.answers.quotes.shorter import shorter
from dpsql.answers.released.consistency import AllGroupings, consistent
from dpsql.answers.released.in_order import reaching
from dpsql.answers.released.release import Released
from dpsql.answers.report import with_reports
from dpsql.answers.shown.noted import caller
from dpsql.answers.shown.screen import Ends
from dpsql.mechanisms.foretold import foretold_answer
from dpsql.plan.over_answers.members import noise_decides, picking
from dpsql.plan.over_answers.roles import answer_columns, roles_of
from dpsql.plan.over_answers.stages import aggregates_in
from dpsql.plan.plans import Plan, PublicPlan
from dpsql.plan.values.expressions import columns_of
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.account import Composition
from dpsql.privacy.loss import PrivacyLoss
from dpsql.privacy.tables import RawTable

__all__ = ["Intervals", "exact", "finish"]


def exact(plan: PublicPlan, raw: RawTable) -> Answer:
    """Public tables as they are: exact and free.

    Args:
        plan: The statement.
        raw: What the engine found, columns ``c0``, ``c1``, ...
    """
    outputs = plan.stage.outputs
    return public(
        tuple(output.name for output in outputs),
        tuple(output.expression.facts.type for output in outputs),
        raw.groups([f"c{i}" for i in range(len(outputs))]),
    )


def finish(
    prepared: Prepared,
    released: Released,
    post_process: PostProcess,
    composition: Composition,
    *,
    replayed: bool,
    private: bool,
) -> Answer:
    """The answer that follows from what was released; it costs nothing more, and whoever paid says what that was.

    Args:
        prepared: The statement.
        released: What its releases made.
        post_process: The worker for released values.
        composition: How the ledger adds losses up.
        replayed: Whether it was released before, and is free.
        private: False only under a test sampler.
    """
    plan = prepared.plan
    together = consistent(prepared, released)
    rows = post_process.rows(plan, together.groups, together.values)
    noised = dict.fromkeys(measured.aggregate.name for measured in prepared.measured)
    bars = {name: _bars(prepared, released, name, together) for name in noised}
    cells = cache(lambda: cells_of(prepared, released, together))  # of thousands of rows they take milliseconds
    intervals = Intervals(plan, together, bars, rows, post_process, cells, noise_decides(plan))
    confidence = prepared.options.confidence or 0.95
    flat = Answer(
        columns=tuple(output.name for output in plan.answer),
        types=tuple(output.type for output in plan.answer),
        rows=with_interval_ends(plan, rows, lambda column: intervals(column, confidence)),
        cost=PrivacyLoss(),
        measurements=_measurements(prepared, released, composition),
        replayed=replayed,
        private=private,
        confidence=confidence,
        caps=(
            *caps(prepared),
            *clipped(prepared),
            *beyond_bounds(prepared.plan),
            *beside_answer(prepared, released),
            *shorter(prepared, released),
            *left_to_chance(prepared),
            *means_written_out(prepared.plan),
            *columns_apart(prepared.plan),
            *rows.told,
        ),
        _intervals=intervals,
        _roles=roles_of(plan),
    )
    return with_reports(plan, gathered(flat, plan.answer))


@dataclass(frozen=True, slots=True)
class Intervals:
    """What works out the intervals of an answer's columns, when they are asked for.

    Attributes:
        plan: The statement.
        together: The released values.
        bars: Intervals of the released values, by name.
        rows: The answer's rows.
        post_process: The worker for released values.
        cells: What finds those released values whose noise is known cell by cell.
        by_noise: Whether noise decides which rows are aggregated.
    """

    plan: Plan
    together: AllGroupings
    bars: Mapping[str, Bars]
    rows: AnswerRows
    post_process: PostProcess
    cells: Callable[[], Cells] = dict
    by_noise: bool = False

    def __call__(self, column: int, level: float) -> list[Ends]:
        """One interval a row of an output, counted from 0; empty where it holds no noise."""
        expression = answer_columns(self.plan)[column]
        groups, values = self.together.groups, self.together.values
        if self.by_noise and expression.facts.type.numeric and aggregates_in(expression):
            return [(None, None)] * len(self.rows.rows)
        found = linear_intervals(
            column, self.plan, self.together, self.cells, self.bars, self.rows, self.post_process, level
        )
        if found is not None:
            return found
        if expression.facts.type.numeric and several_rows(expression):
            return several_rows_intervals(
                column, self.plan, groups, values, self.bars, self.rows, self.post_process, level
            )
        if picking(self.plan).intersection(read.name for read in columns_of(expression)):
            level = level_of_picked(level, len(self.rows.rows), len(groups))
        return output_intervals(expression, self.bars, self.rows, level)


def _bars(prepared: Prepared, released: Released, name: str, together: AllGroupings) -> Bars:
    """The releases' own intervals of one aggregate, grouping after grouping, by confidence; moved with their values."""
    own = [measured for measured in prepared.measured if measured.aggregate.name == name]
    moved = together.moved.get(name)

    def bars(level: float) -> list[Ends]:
        each = (widened(m.choice.release.intervals(released.tables[m.name], level), m.request) for m in own)
        found = [ends for intervals in each for ends in intervals]
        if together.places is not None:
            found = [found[place] for place in together.places]
        if name in together.exchanged:
            return reaching(found, together.values[name])
        if moved is None:
            return found
        return [
            (None if low is None else low + by, None if high is None else high + by)
            for (low, high), by in zip(found, moved, strict=True)
        ]

    return bars


def _measurements(prepared: Prepared, released: Released, composition: Composition) -> tuple[Measurement, ...]:
    """What was measured, each release named by all that it answers; losses as the ledger's composition adds them up."""
    releases: list[list[Measured]] = []
    for measured in prepared.measured:
        if measured.place == 0:
            releases.append([])
        releases[-1].append(measured)
    places = {measured.name: place for place, measured in enumerate(prepared.told)}
    releases = [sorted(own, key=lambda measured: places[measured.name]) for own in releases]
    releases.sort(key=lambda own: places[own[0].name])
    return tuple(_measurement(prepared, released, composition, own) for own in releases)


def _measurement(
    prepared: Prepared, released: Released, composition: Composition, own: Sequence[Measured]
) -> Measurement:
    """One release, with the notes of all that it answers."""
    rows, first, called = foretold_answer(prepared.plan), own[0], caller(prepared.plan)
    noted = dict.fromkeys(
        (called(each.aggregate), note)
        for each in own
        for note in (*each.notes(released.tables[each.name]), *advice(each.aggregate), *rows)
    )
    subjects = tuple(subject for subject, _ in noted)
    text = ", ".join(dict.fromkeys(each.aggregate.text for each in own))
    return Measurement(
        *summary_fields(text, first, composition),
        notes=tuple(note for _, note in noted),
        subjects=subjects if any(subject != text for subject in subjects) else (),
    )
