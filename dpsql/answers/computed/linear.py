"""Intervals of sums, means, differences and windows over an answer, by the law of their noise.

Where each released value has a noise of its own, independent of the others and of a known law, the noise of what adds
them up (`answers.computed.forms`) has a law that is known as well: noises of both signs make up for one another, and
the interval grows with the root of the number of values, where the union bound over them grows with their number.

Theorem. Let an expression be a function of k forms of noised values, whose weights and whose choice of rows follow from
what is public and from which groups appear. Take each form's interval to miss with chance (1 - confidence) / k. Then
the range of the function over the box of these intervals holds its noise-free value at the confidence.

Proof. The noises are drawn after all of that is settled, so that each form's error is the weighted sum of independent
draws, and its interval misses with no more than its chance (`noise.weighted`). The union bound over k forms.  QED

So it is not where noise decides which rows there are (HAVING, WHERE or LIMIT by a noised value), in which order a
window reads them, or how values move (clipping, totals made to agree, the number itself by which a group is chosen).
There `answers.computed.totals` and `answers.computed.intervals` take every value at once.

Tests: tests/unit/answers/computed/test_linear.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpsql.answers.computed.forms import (
    FARTHEST,
    ONE,
    Form,
    NoisedValue,
    NotLinearError,
    Over,
    RowsRead,
    constant,
    form,
    parted,
)
from dpsql.answers.computed.intervals import (
    MOST_NODES,
    AnswerRows,
    Bars,
    ends_of,
    known_value,
    within,
)
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.computed.totals import MOST_GROUPS, several_rows
from dpsql.answers.released.consistency import PLAIN, AllGroupings
from dpsql.answers.released.release import Released
from dpsql.answers.shown.screen import Ends
from dpsql.errors import EngineFailed
from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.clamped.release import ClampedRelease
from dpsql.mechanisms.noise.laws import Law
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.shared import SharedRelease
from dpsql.plan.aggregates import FUNCTIONS as AGGREGATES
from dpsql.plan.nodes import Apply, Column, Expression, Windowed
from dpsql.plan.over_answers.members import MEMBERS, ROW, Members, numbers, picking
from dpsql.plan.over_answers.ranged import Ranged, Told
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.over_answers.stages import RELEASED
from dpsql.plan.over_answers.written_out import written_size
from dpsql.plan.plans import Output, Plan
from dpsql.plan.rows.windows import FUNCTIONS, SHOWING, between_stages
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import columns_of, substituted
from dpsql.plan.values.possible import NULL
from dpsql.plan.values.ranges import RELEASED as SATURATED
from dpsql.prepare import Prepared
from dpsql.privacy.tables import ReleasedTable, listed

__all__ = ["Cells", "cells_of", "linear_intervals", "most_rows", "noise_of"]

Cells = Mapping[str, Sequence[NoisedValue]]
"""By the name of a released column, its values, one a row; only of columns whose noise is known cell by cell."""

MOST_READ = 1_000
"""Released rows of which it is asked which a window reads, where it may read all. It is a choice: a running sum over so
many reads 500,000."""
MOST_BESIDE = 100  # Rows of a frame that are few. It is a choice: a season's days.


def most_rows(over: Sequence[Over]) -> int:
    """Of how many released rows intervals are worked out so, if these read several: fewer where each may read all."""
    return MOST_GROUPS if all(map(_reads_few, over)) else MOST_READ


def _reads_few(own: Over) -> bool:
    if not isinstance(own, Windowed):
        return False
    start, end = (None, None) if own.frame is None else (own.frame.start, own.frame.end)
    narrow = start is not None and end is not None and end - start < MOST_BESIDE
    return own.function.name in SHOWING or narrow


def noise_of(release: Offer, released: ReleasedTable | None = None) -> tuple[Law, Fraction, str] | None:
    """The law and the step of a release's noise, and which of its numbers holds it; None where it is not all of it.

    Args:
        release: How values are noised.
        released: What it released; None for what is foretold.
    """
    if isinstance(release, ClampedRelease):
        law = release.unclipped(released)
        return None if law is None else (law, release.need.grid.step, "noised")
    if release.mechanism not in PLAIN:
        return None
    if isinstance(release, SharedRelease):
        part = release.parts[release.at]
        return (part.law, part.step, release.reads[release.at][0]) if type(part) is NoisedRelease else None
    return (release.law, release.step, "steps") if type(release) is NoisedRelease else None


def cells_of(prepared: Prepared, released: Released, together: AllGroupings) -> Cells:
    """The released values whose noises are independent of one another, each of a known law.

    Args:
        prepared: The statement.
        released: What its releases made.
        together: The released values, grouping after grouping.
    """
    found = dict[str, Sequence[NoisedValue]]()
    noises = dict[str, list[tuple[Law, Fraction, tuple[Any, ...]] | None]]()
    number = 0  # of the release: its aggregates stand one after the other
    for measured in prepared.measured:
        number += measured.place == 0
        table = released.tables[measured.name]
        noise, rows = noise_of(measured.choice.release, table), len(listed(table.values))
        own = None if noise is None else (noise[0], noise[1], (number, noise[2]))
        noises.setdefault(measured.aggregate.name, []).extend([own] * rows)
    for name, laws in noises.items():
        if name in together.moved or name in together.exchanged:
            continue
        values = listed(together.values[name])
        places = range(len(values)) if together.places is None else [at for at in together.places if at < len(laws)]
        cells = [_cell(laws[place], place, value) for place, value in zip(places, values, strict=True)]
        if None not in cells:
            found[name] = [cell for cell in cells if cell is not None]
    return found


def _cell(noise: tuple[Law, Fraction, tuple[Any, ...]] | None, place: int, value: Any) -> NoisedValue | None:
    if noise is None or value is None:
        return None
    law, step, source = noise
    most = FARTHEST if isinstance(value, int) else SATURATED[Type.REAL]
    if not max(abs(value), law.spread * float(step)) < most:
        return None
    return NoisedValue((*source, place), law, step, Fraction(value))


@dataclass(frozen=True, slots=True)
class _Behind:
    """The released rows behind one row of the answer.

    Attributes:
        cells: The released values.
        grouped: What all released rows are grouped by, by the name of the key.
        members: Which of them the row is made of.
        known: What several rows read of one.
        read: Which rows each window or sub-query reads.
    """

    cells: Cells
    grouped: Mapping[str, Sequence[Any]]
    members: Members
    known: dict[tuple[int, int], Form | None]
    read: Mapping[Expression, Sequence[int]] = field(default_factory=dict)

    def column(self, column: Column, row: int) -> Form | None:
        if column.name in self.cells:
            return Form(Fraction(0), {self.cells[column.name][row]: ONE})
        if column.name not in self.grouped:
            raise NotLinearError
        return constant(self.grouped[column.name][row])

    def over(self, node: Over) -> tuple[Expression | None, Sequence[int]]:
        if isinstance(node, Apply):
            return self.members.counted(node)
        if node not in self.read:
            raise NotLinearError
        return node.arguments[0] if node.arguments else None, self.read[node]


def linear_intervals(
    column: int,
    plan: Plan,
    together: AllGroupings,
    cells: Callable[[], Cells],
    bars: Mapping[str, Bars],
    rows: AnswerRows,
    after: PostProcess,
    confidence: float,
) -> list[Ends] | None:
    """One interval a row of a column of the answer; None where it is no function of forms, or one of bare columns.

    Args:
        column: Which, from 0.
        plan: The statement.
        together: The released groups and values.
        cells: What finds those values whose noise is known cell by cell.
        bars: Intervals of the released values, by name.
        rows: The answer's rows.
        after: The worker that is asked which rows a window reads.
        confidence: Between 0 and 1.
    """
    expression = answer_columns(plan)[column]
    if isinstance(expression, Column) or not expression.facts.type.numeric or picking(plan) & set(bars):
        return None
    noised = {own.name for own in columns_of(expression)} & set(bars)
    known = cells() if noised else {}
    if not noised & set(known):
        return None
    found = parted(expression, bars.keys(), known.keys())
    over, grouped = several_rows(expression), any(stage.aggregates for stage in plan.stages)
    most = MOST_NODES // max(1, len(together.groups))
    if found is None or not found.nearer or written_size(expression, MOST_NODES)[0] > most:
        return None
    behind = _behind(plan, together, known, rows, over, after, grouped=grouped)
    ranged, chance = Ranged(found.whole), (1 - confidence) / len(found.forms)
    if behind is None or len(behind) * ranged.size > MOST_NODES:
        return None
    ends = {own: bars[own.name](1 - chance) for own in found.forms.values() if isinstance(own, Column)}
    keys = [own for own in columns_of(found.whole) if own.name in rows.grouped]
    result: list[Ends] = []
    try:
        for origin in behind:
            if origin is None:
                result.append((None, None))
                continue
            row, own = origin
            box: dict[Expression, Told] = {key: known_value(rows.grouped[key.name][row]) for key in keys}
            for part, whole in found.forms.items():
                if isinstance(whole, Column):
                    box[part] = within(part, ends[whole][row])
                else:
                    box[part] = _lies(part, form(whole, row, own), chance)
            result.append(ends_of(ranged.over(box.get)))
    except NotLinearError:
        return None
    return result


def _lies(part: Column, own: Form | None, chance: float) -> Told:
    if own is None:
        return NULL
    around = own.around(chance)
    return within(part, (around.low, around.high))


def _behind(
    plan: Plan,
    together: AllGroupings,
    cells: Cells,
    rows: AnswerRows,
    over: Sequence[Over],
    after: PostProcess,
    *,
    grouped: bool,
) -> list[tuple[int, RowsRead] | None] | None:
    """For each row of the answer a released row that has its keys, and what it reads; None where that is not known."""
    if len(together.groups) > most_rows(over):
        return None
    known = dict[tuple[int, int], Form | None]()
    if not grouped:
        read = [{}] * len(rows.rows) if not over else _read(plan, together, rows, after)
        if read is None:
            return None
        return [
            None if row is None else (row, _Behind(cells, rows.grouped, Members(()), known, own))
            for row, own in zip(rows.origin, read, strict=True)
        ]
    if rows.members is None or over:
        return None
    return [(own.rows[0], _Behind(cells, rows.grouped, own, known)) if own.rows else None for own in rows.members]


# ------------------------------------------------------------------------------------------------- what windows read


def _read(
    plan: Plan, together: AllGroupings, rows: AnswerRows, after: PostProcess
) -> list[dict[Expression, Sequence[int]]] | None:
    """For each row of the answer which released rows every window and sub-query reads, in order, by the worker."""
    extended, nodes = _asking(plan)
    try:
        found = after.rows(extended, together.groups, together.values)
    except EngineFailed:
        return None
    if found.origin != rows.origin:
        return None
    width = len(plan.answer)
    return [{node: numbers(own) for node, own in zip(nodes, row[width:], strict=True)} for row in found.rows]


def _asking(plan: Plan) -> tuple[Plan, list[Expression]]:
    """The plan with a column more for each window and sub-query, of the rows that it reads; and these, written out."""
    nodes, carried, stages = list[Expression](), tuple[Output, ...](), list[tuple[Output, ...]]()
    over: dict[str, Expression] = {}
    for outputs in (plan.outputs, *(stage.outputs for stage in plan.stages)):
        here = dict.fromkeys(node for output in outputs for node in several_rows(output.expression))
        asked = {substituted(node, over): question for node in here if (question := _question(node)) is not None}
        nodes += asked
        own = (*carried, *(Output(f"read{i}", question) for i, question in enumerate(asked.values())))
        stages.append((*outputs, *own))
        over = {f"c{i}": between_stages(substituted(output.expression, over)) for i, output in enumerate(outputs)}
        facts = [output.expression.facts for output in own]
        carried = tuple(
            Output(f"read{i}", Column(RELEASED, f"c{len(outputs) + i}", held)) for i, held in enumerate(facts)
        )
    extended = tuple(replace(stage, outputs=own) for stage, own in zip(plan.stages, stages[1:], strict=True))
    return replace(plan, outputs=stages[0], stages=extended), nodes


def _question(node: Over) -> Over | None:
    """The same over the numbers of rows; None where it reads none of them."""
    if isinstance(node, Apply):
        return None
    name = node.function.name
    if name in SHOWING:  # without what LAG and LEAD show where there is no row
        arguments = (ROW, *node.arguments[1:2])
        function = FUNCTIONS[name, tuple(own.facts.type for own in arguments)]
        return replace(node, function=function, arguments=arguments, facts=Facts(Type.INTEGER))
    if name != "avg" and not (name in AGGREGATES and AGGREGATES[name].additive):
        return None
    return replace(node, function=MEMBERS, arguments=(ROW,), facts=Facts(Type.TEXT))
