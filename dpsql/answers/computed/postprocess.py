"""After the noise: arithmetic, HAVING, ORDER BY and LIMIT over released values.

Runs in a second locked worker that holds no data. Nothing here can cost anything.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from itertools import product
from typing import Any

from dpsql.answers.computed.far import as_read, as_released, fitting, plain, told_of
from dpsql.answers.computed.intervals import AnswerRows, output_intervals
from dpsql.answers.released.row_order import rows_as_written
from dpsql.answers.shown.screen import Ends
from dpsql.engine.base import EngineStatement
from dpsql.engine.dialect import WIRE
from dpsql.engine.log import OPERATOR
from dpsql.engine.released import lower_cells, lower_released
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError, UnsupportedQuery
from dpsql.limits import SATURATION
from dpsql.plan.catalog import TableInfo
from dpsql.plan.measured.domains import Cell
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.over_answers.grouping import GROUPING_SET
from dpsql.plan.over_answers.members import Members, with_members
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.over_answers.stages import RELEASED
from dpsql.plan.plans import Plan
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.expressions import columns_of
from dpsql.plan.values.ranges import RELEASED as ENDS
from dpsql.plan.values.ranges import uncut
from dpsql.prepare import Prepared
from dpsql.privacy.tables import Group, GroupColumns, RawTable, listed
from dpsql.worker.client import Table, WorkerFailed
from dpsql.worker.pool import Pool

__all__ = ["MADE_UP", "MADE_UP_ROWS", "PostProcess", "made_up", "made_up_rows", "passed_on"]

DEADLINE = 30.0  # In seconds. It is a choice: no data lie behind it, so that a slow statement tells nothing.
CACHED_CELLS = 500_000
"""Public cells that are kept, for analysts ask for the same keys again and again. It is a choice between memory and
time."""
DAYS = ("DATE", "TIMESTAMP")  # Wire types of which equal values are the same.
MOST_REHEARSED = 1000  # Statements remembered as rehearsed. It is a choice: one takes about a hundred bytes.
MADE_UP_ROWS = 4  # In rows, of which a rehearsal takes some multiple: the values that `MADE_UP` has of a type.
MADE_UP: Mapping[Type, Sequence[Value]] = {
    Type.INTEGER: (-SATURATION, 0, SATURATION, None),
    Type.REAL: (-1e308, 0.0, 1e308, None),
    Type.BOOLEAN: (False, True, True, None),
    Type.TEXT: ("", "a", "\U0010ffff", None),
    Type.DATE: (date.min, date(2000, 1, 1), date.max, None),
    Type.TIMESTAMP: (datetime.min, datetime(2000, 1, 1), datetime.max, None),
    Type.NULL: (None, None, None, None),
}
"""Released values to rehearse with: the ends of each type, something between, and NULL."""
OPPOSITE = (2, 1, 0, 3)  # The places of these values with the ends exchanged.
LARGEST = sys.float_info.max
MADE_UP_ENDS: Sequence[Ends] = ((0.0, 0.0), (-LARGEST, LARGEST), (None, None))
NOT_READY = "The worker for released values is not ready. Nothing was spent."


class PostProcess:
    """The worker without data, and what it is asked.

    Args:
        memory: Bytes of address space it may take.
    """

    def __init__(self, memory: int) -> None:
        self._workers = Pool(None, memory, 1, threads=1)  # where several ask, they take turns
        self._known: dict[tuple[str, tuple[Cell, ...]], list[Cell]] = {}
        self._rehearsed: set[str] = set()

    def close(self) -> None:
        """Ends the process."""
        self._workers.close()

    def cells(self, expressions: Sequence[Expression], columns: Sequence[Column], rows: Sequence[Cell]) -> list[Cell]:
        """Expressions over public cells: one tuple of results a cell, in the cells' order."""
        table: dict[str, tuple[str, Sequence[Value]]] = {
            f"c{i}": (WIRE[column.facts.type], [row[i] for row in rows]) for i, column in enumerate(columns)
        } | {"row": ("BIGINT", range(len(rows)))}
        statement = lower_cells(expressions, columns)
        # As text: 0.0 and -0.0, or 1 and True, are equal but not the same. Equal days are, and there are many.
        days = tuple((kind, *values) for kind, values in table.values() if kind in DAYS)
        others = {name: own for name, own in table.items() if own[0] not in DAYS}
        asked = hashlib.sha256(repr((statement, others)).encode()).hexdigest(), days
        cells = self._known.get(asked)
        if cells is None:
            result = self._ran(statement, table)
            cells = list(zip(*(listed(result[f"e{i}"]) for i in range(len(expressions))), strict=True))
            if len(cells) + sum(map(len, list(self._known.values()))) > CACHED_CELLS:
                self._known.clear()
            self._known[asked] = cells
        return cells

    def rows(self, plan: Plan, groups: Sequence[Group], released: Mapping[str, Sequence[Any]]) -> AnswerRows:
        """The answer's rows: outputs, HAVING, ORDER BY, LIMIT. Without ORDER BY they come in the order of the keys.

        Args:
            plan: The statement.
            groups: The groups that appear, in the order of the keys; None for a key that a grouping set leaves out.
            released: Per aggregate name, one value per group.

        Raises:
            EngineFailed: The worker cannot do it, for what is paid for.
        """
        known = _known_columns(plan)
        exact = {
            key.name: plain(column, key.expression.facts.type)
            for column, key in zip(GroupColumns.of(groups, len(plan.keys)).columns, plan.keys, strict=True)
        }
        grouped = dict(exact)
        for name, column in known.items():
            if name in released:
                exact[name] = plain(released[name], column.facts.type)
        if (names := _bare(plan)) is not None:
            return AnswerRows(list(zip(*(exact[name] for name in names), strict=True)), range(len(groups)))
        table: dict[str, tuple[str, Sequence[Any]]] = {
            name: (WIRE[known[name].facts.type], as_read(values, known[name])) for name, values in exact.items()
        }
        table["row"] = ("BIGINT", range(len(groups)))
        with _failing(paid=True):
            rows = self._worked(plan, table)
        cut = {name: values for name, values in exact.items() if table[name][1] is not values}
        rows = replace(rows, rows=as_released(plan, rows.rows, rows.origin, cut), told=told_of(plan, exact))
        return replace(rows, grouped=grouped)

    def members(self, prepared: Prepared) -> tuple[Members, ...] | None:
        """Which of the listed groups each row of a query over the answer will aggregate; None where it is not known.

        No noise decides it (`plan.over_answers.members`), so that the worker says it before anything is released.
        """
        plan, asked = prepared.plan, with_members(prepared.plan)
        listed_groups = [own.groups for own in prepared.groupings]
        if asked is None or plan.repeats or None in listed_groups or any(own.rest for own in prepared.measured):
            return None
        columns: dict[str, list[Any]] = {name: [] for name in (*(key.name for key in plan.keys), GROUPING_SET.name)}
        for number, grouping in enumerate(prepared.groupings):
            listed_here = GroupColumns.of(grouping.groups or (), len(grouping.keys))
            places = rows_as_written(prepared, listed_here)
            for group in listed_here if places is None else listed_here.take(places):
                held = dict(zip(grouping.keys, group, strict=True))
                for place, key in enumerate(plan.keys):
                    columns[key.name].append(held.get(place))
                columns[GROUPING_SET.name].append(number)
        count = len(columns[GROUPING_SET.name])
        table: dict[str, tuple[str, Sequence[Any]]] = {
            name: (WIRE[own.facts.type], as_read(columns.get(name, [None] * count), own))
            for name, own in _known_columns(plan).items()
        }
        table["row"] = ("BIGINT", range(count))
        with _failing(paid=False):
            result = self._ran(lower_released(asked.alone), table)
        each = (listed(result[f"c{i}"]) for i in range(len(asked.alone.answer)))
        return tuple(asked.told(list(zip(*each, strict=True))))

    def over_release(self, statement: EngineStatement, tables: Mapping[str, Table], *, paid: bool = False) -> RawTable:
        """What a statement makes of synthetic and public tables, or of answers: column to wire type and values.

        Args:
            statement: It reads them by their names.
            tables: They.
            paid: Whether they are paid for by the same charge.

        Raises:
            UnsupportedQuery: The worker cannot do it, and nothing was spent.
            EngineFailed: It cannot do it for what is paid for.
        """
        with _failing(paid=paid):
            return RawTable(self._ran_over(statement, tables))

    def rehearse(self, plan: Plan) -> None:
        """Does what follows the release to made-up values at the ends of their types, intervals too, before the charge.

        So a statement that the worker cannot bind, or whose functions fail, is refused while it is free. It sees the
        plan alone: no data, no stored answer. What was rehearsed once is not rehearsed again.

        Raises:
            OperationalError: The worker does not stand.
            UnsupportedQuery: The worker cannot do it.
        """
        if _bare(plan) is not None:
            return
        table = _made_up_table({name: column.facts for name, column in _known_columns(plan).items()})
        count = len(table["row"][1])
        names = [aggregate.name for aggregate in plan.aggregates]
        done = plan.outputs, plan.having, plan.order_by, plan.limit, plan.offset, plan.stages
        asked = hashlib.sha256(repr((done, table, names)).encode()).hexdigest()
        if asked in self._rehearsed:
            return
        try:
            rows = self._worked(plan, table)
        except InvariantBroken as otherwise:
            OPERATOR.error("a rehearsal failed: %s", otherwise)
            raise _impossible() from otherwise
        except WorkerFailed as failure:
            with _failing(paid=False, culprit=self._culprit(plan, table) if failure.answered else ""):
                raise
        for column, ends in product(answer_columns(plan), MADE_UP_ENDS):
            bars = dict.fromkeys(names, lambda _, ends=ends: [ends] * count)
            output_intervals(column, bars, rows, 0.95)
        if len(self._rehearsed) >= MOST_REHEARSED:
            self._rehearsed.clear()
        self._rehearsed.add(asked)

    def _culprit(self, plan: Plan, table: Table) -> str:
        """The column of a plan that fails by itself over some released values, or its HAVING; '' where none does."""
        alone = replace(plan, outputs=(), having=None, order_by=(), limit=None, offset=0, stages=())
        parts = [(f"column {output.label}", replace(alone, outputs=(output,))) for output in plan.outputs]
        for name, part in [*parts, ("HAVING", replace(alone, outputs=plan.outputs[:1], having=plan.having))]:
            try:
                self._ran(lower_released(part), table)
            except WorkerFailed:
                return name
        return ""

    def _ran(self, statement: EngineStatement, table: Table) -> dict[str, Sequence[Any]]:
        """What the worker makes of a statement over the table ``released``."""
        return self._ran_over(statement, {"released": table})

    def _ran_over(self, statement: EngineStatement, tables: Mapping[str, Table]) -> dict[str, Sequence[Any]]:
        """What the worker makes of a statement; why it made nothing is in the owner's log."""
        try:
            return self._workers.run(statement, deadline=DEADLINE, tables=tables)
        except WorkerFailed as failure:
            OPERATOR.error("the worker without data failed: %s\n%s", failure.detail, statement.sql)
            raise

    def _worked(self, plan: Plan, table: Table) -> AnswerRows:
        """The plan's statement over a table of released values, run by the worker; and what its rows are made of."""
        asked, width = with_members(plan), len(plan.answer)
        answered = plan if asked is None else asked.plan
        result = self._ran(lower_released(answered), table)
        columns = [listed(result[f"c{i}"]) for i in range(len(answered.answer))]
        origin = [None if row is None else int(row) for row in result["row"]]
        rows = list(zip(*columns, strict=True)) if columns else []
        if asked is None:
            return AnswerRows(rows, origin)
        return AnswerRows([row[:width] for row in rows], origin, asked.told(rows))


@contextmanager
def _failing(*, paid: bool, culprit: str = "") -> Iterator[None]:
    """What the worker cannot do, as an error that says whether it is paid for."""
    try:
        yield
    except WorkerFailed as failure:
        if paid:
            raise EngineFailed from failure
        raise (_impossible(culprit) if failure.answered else OperationalError(NOT_READY)) from failure


def _impossible(culprit: str = "") -> UnsupportedQuery:
    where = f"in {culprit} " if culprit else ""
    return UnsupportedQuery(
        f"what it does {where}with the released values cannot be done where these lie far out.", construct="SELECT",
        hint="Nothing was spent. Ask for the aggregates alone, and work on the answer.",
    )  # fmt: skip


def _bare(plan: Plan) -> list[str] | None:
    """The released columns that are the whole answer, row by row, as in most GROUP BYs; None if there is more to do."""
    if plan.stages or plan.having is not None or plan.order_by or plan.limit is not None or plan.offset:
        return None
    columns = [output.expression for output in plan.outputs]
    names = [column.name for column in columns if isinstance(column, Column)]
    return names if len(names) == len(columns) else None


def _made_up_values(facts: Facts) -> Sequence[Value]:
    """`MADE_UP` for one column; of a key with bounds, such as a public table's, nothing beyond them can occur.

    >>> from fractions import Fraction
    >>> _made_up_values(Facts(Type.INTEGER, Fraction(10), Fraction(60)))
    [10, 10, 60, None]
    """
    values, low, high = MADE_UP[facts.type], facts.low, facts.high
    if low is None or high is None:
        return values
    kept: Any = float if facts.type is Type.REAL else int if facts.type is Type.INTEGER else lambda own: own
    held: list[Any] = [own if own is None else min(max(own, low), high) for own in values]
    return [None if own is None else kept(own) for own in held]


def _made_up_table(known: Mapping[str, Facts]) -> dict[str, tuple[str, Sequence[Value]]]:
    """A table of released values to rehearse with: two columns have the same ends in some row, and opposite in another.

    A row for each of the values of `MADE_UP`; then, for each binary digit of the columns' numbers, the same rows once
    more, with the ends of those columns exchanged whose digit is 1: two numbers differ in a digit.
    """
    digits, plain = range(len(known).bit_length()), range(MADE_UP_ROWS)
    table: dict[str, tuple[str, Sequence[Value]]] = {}
    for number, (name, facts) in enumerate(known.items()):
        values = _made_up_values(facts)
        places = [*plain, *(i for digit in digits for i in (OPPOSITE if number >> digit & 1 else plain))]
        table[name] = WIRE[facts.type], [values[i] for i in places]
    table["row"] = "BIGINT", range(MADE_UP_ROWS * (1 + len(digits)))
    return table


def made_up_rows(table: TableInfo) -> Table:
    """Made-up rows of a table that is read beside others, for the worker."""
    return {column.name: (WIRE[column.facts.type], MADE_UP[column.facts.type]) for column in table.columns.values()}


def made_up(statement: EngineStatement) -> Sequence[EngineStatement]:
    """A statement with made-up values for those that are released before it; itself where there are none."""
    awaited = statement.awaited
    if not awaited:
        return (statement,)
    places = range(len(MADE_UP[Type.NULL]))
    return [
        statement.at({value: passed_on(MADE_UP[value.type][place], value.type) for value in awaited})
        for place in places
    ]


def passed_on(value: Value, type_: Type) -> Value:
    """A released value as an engine takes it: it saturates where it is taken to lie, and NaN is NULL.

    So what is proved of a row's expressions holds whatever was released: whether a statement fails tells of no row.

    >>> passed_on(float("inf"), Type.REAL), passed_on(float("nan"), Type.REAL), passed_on(7, Type.INTEGER)
    (1e+30, None, 7)
    """
    (own,) = fitting([value], type_)
    if isinstance(own, float):
        most = float(ENDS[Type.REAL])
        return None if own != own else max(-most, min(most, own))
    return own


def _known_columns(plan: Plan) -> dict[str, Column]:
    """By name the columns of the table of released values: keys, and what is mentioned of them and of aggregates."""
    keys = {key.name: uncut(Column(RELEASED, key.name, key.expression.facts), key.expression) for key in plan.keys}
    return keys | {column.name: column for column in _released_columns(plan)}


def _released_columns(plan: Plan) -> list[Column]:
    """Every released column that outputs, HAVING or ORDER BY mention."""
    expressions = [output.expression for output in plan.outputs] + [order.expression for order in plan.order_by]
    if plan.having is not None:
        expressions.append(plan.having)
    return list(dict.fromkeys(column for expression in expressions for column in columns_of(expression)))
