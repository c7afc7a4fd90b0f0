"""The plan of a whole statement: what is measured, in which groups, and what is done with the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpsql.plan.nodes import Aggregate, Column, Expression, OptionValue, Order, Position, Relation
from dpsql.plan.types import ListOf, Shown, Type, Value

__all__ = [
    "REPORTS",
    "WHOLE",
    "AnyPlan",
    "Combined",
    "Cut",
    "Key",
    "Output",
    "Plan",
    "PublicPlan",
    "Several",
    "ShownColumn",
    "Stage",
    "TableFunction",
    "deciding",
    "groups_listed",
    "shown",
]


REPORTS = ("JSON", "PROTO")
"""Formats of a value with its interval as one text."""


@dataclass(frozen=True, slots=True)
class Key:
    """One grouping key.

    Attributes:
        name: Its column in released tables (``k0``, ``k1``, ...).
        expression: What is grouped by.
        domain: Every value it can take that the answer lists, in order, NULL last where it is a group; None: open.
        position: Where it is written, for messages.
    """

    name: str
    expression: Expression
    domain: tuple[Value, ...] | None
    position: Position | None = field(default=None, compare=False)


def deciding(order: tuple[Order, ...], keys: Sequence[Key]) -> tuple[Order, ...]:
    """The terms of an order of groups until all keys are among them: no two groups are alike in these."""
    left = {key.name for key in keys}
    for place, term in enumerate(order):
        left -= {term.expression.name} if isinstance(term.expression, Column) else set()
        if not left:
            return order[: place + 1]
    return order


@dataclass(frozen=True, slots=True)
class Combined:
    """Keys that are columns of one public table, and which of their values stand together in its rows.

    Attributes:
        keys: Which keys, by index.
        groups: One value for each of them: all that the answer lists, in the order of their domains.
    """

    keys: tuple[int, ...]
    groups: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Output:
    """One column of the answer, over released values (`Column` s with alias ``released``).

    Attributes:
        name: What it is called.
        expression: What it holds.
        end: For DP_INTERVAL_LOW and DP_INTERVAL_HIGH: the output column whose interval it shows, and 0 or 1; then
            ``expression`` is a NULL in its place.
        report: The format of `REPORTS` in which value and interval are shown as one text; empty where they are not.
        element: Where it is one element of a list: its place there, from 0. The elements of a list stand side by side,
            and only what leaves has the list (`shown`).
    """

    name: str
    expression: Expression
    end: tuple[str, int] | None = None
    report: str = ""
    element: int | None = None

    @property
    def label(self) -> str:
        """What a quote calls it: elements of a list by their places, from 1."""
        return self.name if self.element is None else f"{self.name}[{self.element + 1}]"

    @property
    def type(self) -> Type:
        """The type that the analyst sees."""
        return Type.TEXT if self.report else self.expression.facts.type


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """One column of the answer as it leaves.

    Attributes:
        name: What it is called.
        type: Its type.
        places: The outputs that it is made of, from 0: one, or the elements of a list.
        listed: Whether it is a list, or the report of one.
    """

    name: str
    type: Shown
    places: tuple[int, ...]
    listed: bool


def shown(outputs: Sequence[Output]) -> tuple[ShownColumn, ...]:
    """The columns that the analyst sees: lists are one each."""
    found = list[ShownColumn]()
    for place, output in enumerate(outputs):
        if output.element:  # of the list that was begun before
            found[-1] = replace(found[-1], places=(*found[-1].places, place))
        else:
            listed = output.element is not None
            kind = ListOf(output.type) if listed and not output.report else output.type
            found.append(ShownColumn(output.name, kind, (place,), listed))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Cut:
    """Which rows of an answer are shown: ``SELECT * FROM (..) LIMIT n OFFSET m``, which changes nothing else.

    Attributes:
        limit: Most rows, or None.
        offset: Rows skipped before.
    """

    limit: int | None = None
    offset: int = 0

    def then(self, limit: int | None, offset: int) -> Cut:
        """This cut, and another of what it leaves.

        >>> Cut(10, 2).then(100, 3)
        Cut(limit=7, offset=5)
        """
        left = None if self.limit is None else max(0, self.limit - offset)
        return Cut(min((most for most in (left, limit) if most is not None), default=None), self.offset + offset)


WHOLE = Cut()
"""All rows."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A query over the answer of the one before it: released values alone, so it costs nothing.

    Its expressions are over `Column` s with alias ``released``, named ``c0``, ``c1``, ... as the columns before.

    Attributes:
        outputs: Its columns; they may aggregate.
        where: Condition on the rows before, or None.
        group_by: What they are grouped by.
        having: Condition on groups, or None.
        order_by: Terms.
        limit: Most rows, or None.
        offset: Rows skipped before.
        aggregates: Whether its rows are groups.
    """

    outputs: tuple[Output, ...]
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    aggregates: bool = False


@dataclass(frozen=True, slots=True)
class TableFunction:
    """A function of all rows at once, whose answer is a table: one release for all its columns.

    Attributes:
        name: ``dp_kmeans`` or ``dp_covariance``.
        text: How messages name it.
        columns: Names and numbers of one row.
        named: Its arguments, exactly.
        position: Where it stands in the text.
    """

    name: str
    text: str
    columns: tuple[tuple[str, Expression], ...]
    named: tuple[tuple[str, tuple[Fraction, ...]], ...]
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """One statement, ready for mechanisms to offer.

    Attributes:
        relation: What is aggregated.
        keys: Grouping keys; none means one group.
        aggregates: Distinct aggregates. Neither their order nor that of keys is that of the text (`plan.one_order`).
        outputs: The answer's columns.
        having: Condition on released values, or None.
        order_by: Terms over released values; without any, rows come sorted by key.
        limit: Most rows of the answer, or None.
        offset: Rows skipped before.
        options: The statement's own options (``WITH DIFFERENTIAL_PRIVACY OPTIONS``), by name.
        sets: For GROUPING SETS, ROLLUP and CUBE: the keys (by index) of each set, each once; None for a plain GROUP BY.
        repeats: For each set as it is written, which of ``sets`` it is; empty where each is written once. A set that
            is written again is measured once, and its rows are shown again.
        stages: Queries over the answer, the innermost first.
        table: The table function that the plan is of, or None: then its keys number the function's rows, and its
            aggregates are the columns.
        cut: Which rows of the answer are shown. No mechanism reads it, and it tells no statement from another: it cuts
            an answer that was released before, too.
        awaits: What is released before, and read as values: by their numbers, the columns of
        `plan.over_answers.awaited`.
        combined: Which keys are not combined freely (`plan.measured.combined`). No sensitivity rests on it.
        rows_by: The keys by index, as they are written: the order of rows without ORDER BY. Empty for that of ``keys``.
        told_by: The aggregates by index, as they are written: the order in which they are told of. Empty for their own.
    """

    relation: Relation
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    options: tuple[tuple[str, OptionValue], ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None
    repeats: tuple[int, ...] = ()
    stages: tuple[Stage, ...] = ()
    table: TableFunction | None = None
    cut: Cut = WHOLE
    awaits: tuple[Plan, ...] = ()
    combined: tuple[Combined, ...] = ()
    rows_by: tuple[int, ...] = ()
    told_by: tuple[int, ...] = ()

    @property
    def written(self) -> tuple[Key, ...]:
        """The keys as they are written."""
        return tuple(self.keys[place] for place in self.rows_by) or self.keys

    @property
    def answer(self) -> tuple[Output, ...]:
        """The columns that the analyst sees."""
        return self.stages[-1].outputs if self.stages else self.outputs

    @property
    def shown_sets(self) -> tuple[tuple[int, ...], ...]:
        """The keys (by index) of each set of rows, as often as it is shown; one of all keys for a plain GROUP BY."""
        if self.sets is None:
            return (tuple(range(len(self.keys))),)
        return tuple(self.sets[number] for number in self.repeats or range(len(self.sets)))

    @property
    def empty(self) -> bool:
        """Whether LIMIT 0 leaves no row, whatever is measured."""
        last = self.stages[-1].limit if self.stages else self.limit
        return 0 in (last, self.cut.limit)

    @property
    def shown(self) -> Plan:
        """The plan whose own last SELECT shows the rows that the cut leaves."""
        if self.cut == WHOLE:
            return self
        last: Plan | Stage = self.stages[-1] if self.stages else self
        cut = Cut(last.limit, last.offset).then(self.cut.limit, self.cut.offset)
        if not self.stages:
            return replace(self, limit=cut.limit, offset=cut.offset, cut=WHOLE)
        stage = replace(self.stages[-1], limit=cut.limit, offset=cut.offset)
        return replace(self, stages=(*self.stages[:-1], stage), cut=WHOLE)


@dataclass(frozen=True, slots=True)
class PublicPlan:
    """A statement over public tables alone: its answer is exact and costs nothing.

    Attributes:
        relation: The rows.
        stage: What is selected of them; its expressions are over the relation's columns.
    """

    relation: Relation
    stage: Stage

    @property
    def answer(self) -> tuple[Output, ...]:
        """The columns that the analyst sees."""
        return self.stage.outputs

    @property
    def empty(self) -> bool:
        """Whether LIMIT 0 leaves no row."""
        return self.stage.limit == 0


@dataclass(frozen=True, slots=True)
class Several:
    """A statement over several answers, such as UNION ALL: each is bought, and what is made of them costs nothing.

    Attributes:
        parts: What is answered: a release each, or public tables. They know nothing of each other.
        rows: The answers as tables, joined and one after the other; its columns are those of ``after`` by name, then
            for each row where it comes from (`plan.over_answers.several`).
        after: What is made of these rows, as of one release: ``k0``, ``k1``, ... hold no noise, ``a0``, ``a1``, ... do.
        notes: What is said beside the answer: of SELECTs that add no row.
    """

    parts: tuple[Plan | PublicPlan, ...]
    rows: PublicPlan
    after: Plan
    notes: tuple[str, ...] = ()

    @property
    def answer(self) -> tuple[Output, ...]:
        """The columns that the analyst sees."""
        return self.after.answer

    @property
    def empty(self) -> bool:
        """Whether LIMIT 0 leaves no row."""
        return self.after.empty

    def then(self, stage: Stage) -> Several:
        """The same with one more query over its rows."""
        return replace(self, after=replace(self.after, stages=(*self.after.stages, stage)))


AnyPlan = Plan | PublicPlan | Several
"""What a query means."""


def groups_listed(plan: AnyPlan) -> int:
    """How many values and groups the keys of a plan list, those of its parts and of what it awaits included."""
    if isinstance(plan, Several):
        return sum(map(groups_listed, plan.parts))
    if isinstance(plan, PublicPlan):
        return 0
    together = sum(len(own.keys) * len(own.groups) for own in plan.combined)
    return together + sum(len(key.domain or ()) for key in plan.keys) + sum(map(groups_listed, plan.awaits))
