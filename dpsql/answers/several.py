"""One answer made of several: their rows joined or one after the other, and what is asked of these. It costs nothing.

A row's interval is that of the answers' rows that it is made of. Where a computation reads several noised numbers, each
is taken at 1 - (1 - confidence)/k for the k of them (union bound). Where noised numbers decide which rows meet, nothing
is claimed.

Tests: tests/unit/answers/test_several.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.answers.computed.far import FAR, as_read
from dpsql.answers.computed.intervals import ends_of, within
from dpsql.answers.computed.postprocess import PostProcess, made_up_rows
from dpsql.answers.finish import Intervals
from dpsql.answers.lists import gathered, side_by_side
from dpsql.answers.quotes.batch import Own
from dpsql.answers.quotes.foreseen_together import columns_together
from dpsql.answers.quotes.quoted import Quote, endless_note
from dpsql.answers.released.consistency import AllGroupings
from dpsql.answers.shown.screen import Ends
from dpsql.engine.dialect import WIRE
from dpsql.engine.over_release import lower_over_release
from dpsql.limits import SATURATION
from dpsql.plan.catalog import TableInfo
from dpsql.plan.known.relations import scans
from dpsql.plan.nodes import Column, Expression, Filter, Join, Project, Relation, Semi, UnionAll
from dpsql.plan.over_answers.members import chooses_by_noise, noise_decides
from dpsql.plan.over_answers.noised import decided_by_noise, is_noised
from dpsql.plan.over_answers.origins import PART, ROW
from dpsql.plan.over_answers.ranged import Ranged, Told
from dpsql.plan.over_answers.roles import roles_of
from dpsql.plan.plans import Plan, Several
from dpsql.plan.values.expressions import columns_of
from dpsql.privacy.loss import PrivacyLoss
from dpsql.privacy.tables import GroupColumns
from dpsql.worker.client import Table

__all__ = ["beside_first", "put_together", "quoted_together", "rehearse_together"]

Origin = Mapping[tuple[str, str], Any]
"""Of one row: what tells where it comes from, by alias and name of the columns that say so."""

_NONE: Ends = (None, None)
PICKED = (
    "Rows are kept for their noised values: intervals of these are taken at a higher level, and come out wider than "
    "what is told of each answer, of one row in 20 about twice as wide, of one in 400 three times."
)
"""What a quote says where LIMIT, HAVING or WHERE over the answers looks at noise."""
FIRST = (
    "Values of sub-queries among the rows are released first. Rows meet what was released, noise included, and "
    "intervals are about the rows that it leaves."
)
BARE = "Noised numbers decide which rows there are, so that none of them keeps its interval."
ALL = " Where UNION makes equal rows one, UNION ALL keeps every row, with its intervals."


def rehearse_together(several: Several, post_process: PostProcess) -> None:
    """Does to made-up answers what follows the releases, before the charge.

    Raises:
        UnsupportedQuery: The worker without data cannot do it.
        OperationalError: The worker does not stand.
    """
    read = {scan.table.name: scan.table for scan in scans(several.rows.relation)}
    tables = {name: made_up_rows(table) for name, table in read.items()}
    post_process.over_release(lower_over_release(several.rows), tables)
    post_process.rehearse(several.after)


def put_together(
    several: Several,
    answers: Sequence[Answer],
    beside: Mapping[str, Table],
    cost: PrivacyLoss,
    post_process: PostProcess,
) -> Answer:
    """The statement's answer.

    Args:
        several: What is made of its parts.
        answers: Theirs.
        beside: Public tables that they are joined with, by name.
        cost: What was charged for all of them.
        post_process: The worker for released values.

    Raises:
        EngineFailed: The worker cannot put them together, which are paid for.
    """
    answers = [side_by_side(part, plan.answer) for part, plan in zip(answers, several.parts, strict=True)]
    tables, cut = dict(beside), False
    for scan in scans(several.rows.relation):
        if scan.table.answer is not None:
            rows = answers[scan.table.answer].rows
            tables[scan.table.name], own = _table(scan.table, rows)
            cut |= own
    stored = [output.name for output in several.rows.stage.outputs]
    met = post_process.over_release(lower_over_release(several.rows), tables, paid=True)
    found = met.groups([f"c{i}" for i in range(len(stored))])
    if cut:
        found = _as_released(several, answers, found)
    plan = several.after.shown
    keys = [stored.index(key.name) for key in plan.keys]
    groups = GroupColumns([[row[key] for row in found] for key in keys], len(found))
    values = {name: [row[i] for row in found] for i, name in enumerate(stored) if name.startswith("a")}
    bars = {name: _bars(several, answers, stored.index(name), found) for name in values}
    shown = post_process.rows(plan, groups, values)
    named, beside_it = [part for part in answers if part.measurements], _beside(several)
    together = Answer(
        columns=tuple(output.name for output in plan.answer),
        types=tuple(output.type for output in plan.answer),
        rows=shown.rows,
        cost=cost,
        measurements=tuple(own for part in answers for own in part.measurements),
        replayed=bool(named) and all(part.replayed for part in named),
        private=all(part.private for part in answers),
        confidence=named[0].confidence if named else answers[0].confidence,
        _intervals=Intervals(
            plan, AllGroupings(groups, values, {}), bars, shown, post_process, by_noise=_by_noise(several)
        ),
        released_from=tuple(dict.fromkeys(name for part in answers for name in part.released_from)),
        caps=tuple(dict.fromkeys([*(cap for part in answers for cap in part.caps), *([FAR] if cut else shown.told)])),
        notices=tuple(dict.fromkeys(notice for part in answers for notice in [*part.notices, *beside_it])),
        _roles=roles_of(several),
    )
    return gathered(together, plan.answer)


def beside_first(answer: Answer, first: Sequence[Answer], cost: PrivacyLoss) -> Answer:
    """An answer that reads values which were released first.

    Args:
        answer: The answer.
        first: Those that show nothing of their own; the same answer without any.
        cost: What was charged for all of them.
    """
    if not first:
        return answer
    every = [*first, answer]
    far = [FAR] if any(type(value) is int and abs(value) > SATURATION for own in first for value in own.rows[0]) else []
    return replace(
        answer,
        cost=cost,
        measurements=tuple(own for part in every for own in part.measurements),
        replayed=all(part.replayed for part in every),
        caps=tuple(dict.fromkeys([*(cap for part in every for cap in part.caps), *far])),
        notices=tuple(dict.fromkeys([FIRST, *(notice for part in every for notice in part.notices)])),
    )


def quoted_together(
    quotes: Sequence[Quote],
    cost: PrivacyLoss,
    repeats_left: int | None,
    *,
    first: int = 0,
    several: Several | None = None,
    parts: Sequence[Own] = (),
) -> Quote:
    """The quote of a statement over several answers.

    Args:
        quotes: Of its parts.
        cost: Of all of them together.
        repeats_left: How often the budget would grant them together.
        first: How many are released for the others to read.
        several: What is made of several answers; None where one reads what is released first.
        parts: What each of them is.
    """
    computed = [] if several is None else columns_together(several, parts)
    told = [
        f"Its {len(quotes)} answers are bought together, each at the price named; what is made of them is free."
        if len(quotes) > 1
        else "What is made of its answer is free.",
        *([FIRST] if first else []),
        *([] if several is None else _beside(several)),
        *([PICKED] if several is not None and chooses_by_noise(several.after) else []),
    ]
    return Quote(
        cost=cost,
        columns=(*computed, *(column for quote in quotes for column in quote.columns)),
        sql="\n".join(dict.fromkeys(quote.sql for quote in quotes)),
        repeats_left=repeats_left,
        notes=tuple(
            dict.fromkeys(
                [*told, *filter(None, map(endless_note, computed)), *(note for quote in quotes for note in quote.notes)]
            )
        ),
    )


def _beside(several: Several) -> list[str]:
    """What is said of all of it: which SELECTs add no row, and that no number keeps its interval, where that is so."""
    relation = several.after.relation
    if not decided_by_noise(relation):
        return [*several.notes]
    return [*several.notes, BARE + (ALL if isinstance(relation, Project) and relation.distinct else "")]


def _by_noise(several: Several) -> bool:
    """Whether noise decides which rows are aggregated: which there are, in the answers, too, or which are chosen."""
    plan = several.after.shown
    chosen = any(isinstance(part, Plan) and chooses_by_noise(part) for part in several.parts)
    if any(stage.aggregates for stage in plan.stages) and (chosen or decided_by_noise(several.after.relation)):
        return True
    return noise_decides(plan)


def _table(table: TableInfo, rows: Sequence[tuple[Any, ...]]) -> tuple[dict[str, tuple[str, Sequence[Any]]], bool]:
    """An answer's rows as a table of the worker's, numbered; and whether it reads a whole number otherwise than it was
    released: these saturate where they are taken to lie.
    """
    held, cut = dict[str, tuple[str, Sequence[Any]]](), False
    for i, column in enumerate([*table.columns.values()][:-1]):
        values = [row[i] for row in rows]
        read = as_read(values, column)
        held[column.name], cut = (WIRE[column.facts.type], read), cut or read is not values
    return {**held, ROW: ("BIGINT", list(range(len(rows))))}, cut


def _as_released(several: Several, answers: Sequence[Answer], rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The joined answers' rows, with whole numbers as they were released where a column only shows one."""
    stage, relation, held = several.rows.stage, several.rows.relation, _Held(answers, 0.5)
    outputs = [output.expression for output in stage.outputs]
    width = len(several.after.outputs)
    told = [(place.alias, place.name) for place in outputs[width:] if isinstance(place, Column)]
    return [
        tuple(
            held.shown(relation, own, dict(zip(told, row[width:], strict=True)), value)
            if type(value) is int and abs(value) >= SATURATION
            else value
            for own, value in zip(outputs, row, strict=True)
        )
        for row in rows
    ]


# ------------------------------------------------------------------------------------------------------ intervals


def _bars(
    several: Several, answers: Sequence[Answer], column: int, rows: Sequence[tuple[Any, ...]]
) -> Callable[[float], list[Ends]]:
    """The intervals of one column of the joined answers, by confidence."""
    stage, relation = several.rows.stage, several.rows.relation
    expression, width = stage.outputs[column].expression, len(several.after.outputs)
    places = [output.expression for output in stage.outputs[width:]]
    told = [(place.alias, place.name) for place in places if isinstance(place, Column)]

    def bars(level: float) -> list[Ends]:
        if decided_by_noise(several.after.relation):
            return [_NONE] * len(rows)
        held = _Held(answers, level)
        return [held.ends(relation, expression, dict(zip(told, row[width:], strict=True)), row[column]) for row in rows]

    return bars


class _Held:
    """Intervals of the parts' answers.

    Args:
        answers: Theirs.
        level: At which they are taken where an expression reads one noised number alone.
    """

    def __init__(self, answers: Sequence[Answer], level: float) -> None:
        self._answers, self._level = answers, level
        self._known: dict[tuple[int, int, float], list[Ends]] = {}
        self._ranged: dict[int, Ranged] = {}

    def ends(self, relation: Relation, expression: Expression, origin: Origin, value: Any) -> Ends:
        """The interval of an expression over one row.

        Args:
            relation: What it is over.
            expression: The expression.
            origin: Where the row comes from.
            value: What it is in this row; where it holds no noise, that is its interval.
        """
        relation, expression, origin = _lowest(relation, expression, origin)
        noised = [column for column in columns_of(expression) if is_noised(relation, column)]
        if not noised:
            return (value, value) if expression.facts.type.numeric else _NONE
        level = 1 - (1 - self._level) / len(noised)
        ends = {column: self._of_answer(relation, column, origin, level) for column in noised}
        if isinstance(expression, Column):
            return ends[expression]
        if not expression.facts.type.numeric:
            return _NONE
        box: dict[Expression, Told] = {column: within(column, own) for column, own in ends.items()}
        if id(expression) not in self._ranged:  # they are parts of the statement, which lives as long
            self._ranged[id(expression)] = Ranged(expression)
        bounds = self._ranged[id(expression)].over(box.get)
        return ends_of(bounds)

    def shown(self, relation: Relation, expression: Expression, origin: Origin, value: Any) -> Any:
        """What a column shows of an answer as it was released; any other expression's value as it is."""
        relation, expression, origin = _lowest(relation, expression, origin)
        found = _place(relation, expression, origin) if isinstance(expression, Column) else None
        return value if found is None else self._answers[found[0]].rows[found[2]][found[1]]

    def _of_answer(self, relation: Relation, column: Column, origin: Origin, level: float) -> Ends:
        """What an answer says of its own column, or (None, None) where it says nothing of this row."""
        found = _place(relation, column, origin)
        if found is None:
            return _NONE
        number, place, row = found
        asked = number, place, level
        if asked not in self._known:
            self._known[asked] = self._answers[number]._intervals(place, level)
        ends = self._known[asked]
        return ends[row] if ends else _NONE


def _place(relation: Relation, column: Column, origin: Origin) -> tuple[int, int, int] | None:
    """The answer, the column of it, and the row, that a column shows; None where it shows none."""
    scan = next((scan for scan in scans(relation) if scan.alias == column.alias), None)
    row = origin.get((column.alias, ROW))
    if scan is None or scan.table.answer is None or row is None:
        return None
    return scan.table.answer, int(column.name[1:]), row


def _lowest(relation: Relation, expression: Expression, origin: Origin) -> tuple[Relation, Expression, Origin]:
    """An expression over a row, or what it shows in the answer that the row is of."""
    while isinstance(expression, Column) and (below := _below(relation, expression, origin)) is not None:
        relation, expression, origin = below
    return relation, expression, origin


def _below(relation: Relation, column: Column, origin: Origin) -> tuple[Relation, Expression, Origin] | None:
    """What a column of answers one after the other is in the answer that a row is of; None for any other column."""
    match relation:
        case Filter() | Semi():
            return _below(relation.input, column, origin)
        case Join():
            return _below(relation.left, column, origin) or _below(relation.right, column, origin)
        case UnionAll() if relation.alias == column.alias and (column.alias, PART) in origin:
            part, columns = relation.parts[origin[column.alias, PART]]
            at = relation.names.index(PART) + 1
            places = zip(relation.names[at:], columns[at:], strict=True)
            inner = {
                (place.alias, place.name): origin[column.alias, name]
                for name, place in places
                if isinstance(place, Column)
            }
            return part, columns[relation.names.index(column.name)], inner
    return None
