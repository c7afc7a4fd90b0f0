"""Whether an answer without noise is the answer of DuckDB: the comparison behind `test_meaning`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import duckdb

import dpsql.testing
from dpsql.answers.answer import Answer, public
from dpsql.answers.computed.intervals import output_intervals
from dpsql.answers.lists import gathered, side_by_side
from dpsql.answers.quotes.batch import ToBuy
from dpsql.answers.released.consistency import consistent
from dpsql.answers.released.release import Released
from dpsql.answers.several import put_together
from dpsql.answers.shown.screen import Ends
from dpsql.audit.remembering import Remembering
from dpsql.charging import Spoken
from dpsql.mechanisms.base import Request
from dpsql.mechanisms.clamped import mechanism as clamped
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.plan.needs import Cells, Sized
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.plans import Output, PublicPlan, Several
from dpsql.plan.types import Type
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.loss import PrivacyLoss
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.sql.corpus import Block
from tests.sql.described import planned
from tests.sql.reference import Edited, key_texts, run, unit_text

__all__ = ["Bench", "Pair", "Row", "compare", "cuts", "exact", "leaves_out", "planned_to_compare"]

Row = tuple[Any, ...]
Plan = Prepared | PublicPlan | ToBuy[Spoken]


class Bench:
    """A proxy without noise, whose engine is asked each statement once, and DuckDB over the same bounded tables.

    Args:
        proxy: Of `tests.sql.databases.open_proxy`; closed with this.
    """

    def __init__(self, proxy: dpsql.testing.TestProxy) -> None:
        self._proxy = proxy
        proxy._backend = replace(proxy._backend, engine=Remembering(proxy._backend.engine))
        self.session = proxy.session(analyst="meaning")
        (file,) = proxy._cache.rglob("bounded.duckdb")
        self._beside(duckdb.connect(str(file), read_only=True))

    def _beside(self, tables: duckdb.DuckDBPyConnection) -> None:
        """Takes DuckDB's side, and what the catalog says of the tables."""
        self.duckdb = tables
        self.duckdb.execute("SET disabled_optimizers = 'statistics_propagation'")  # it is wrong on some left joins
        catalog = self.session._backend.catalog
        self.units = {name: str(table.unit) for name, table in catalog.tables.items() if not table.public}
        self.columns = {column.lower() for table in catalog.tables.values() for column in table.columns}

    def close(self) -> None:
        """Ends both."""
        self.duckdb.close()
        self._proxy.close()


@dataclass(frozen=True, slots=True)
class Pair:
    """Our answer and DuckDB's, ready to be compared.

    Attributes:
        columns, types: Names and types of our columns.
        rows: Our rows.
        ends: Per column and row: between which numbers DuckDB's must lie, for columns that rest on rounded values.
        expected_columns, expected_types, expected: DuckDB's.
        ordered: Whether the order counts.
    """

    columns: list[str]
    types: list[str]
    rows: list[Row]
    ends: list[list[Ends]]
    expected_columns: list[str]
    expected_types: list[str]
    expected: list[Row]
    ordered: bool

    def difference(self) -> str:
        """What differs, in words; empty where nothing does."""
        if self.columns != self.expected_columns:
            return f"columns are {self.columns}, DuckDB's {self.expected_columns}"
        if any(ours not in (theirs, "null") for ours, theirs in zip(self.types, self.expected_types, strict=True)):
            return f"types are {self.types}, DuckDB's {self.expected_types}"
        if len(self.rows) != len(self.expected):
            return f"{len(self.rows)} rows, DuckDB's {len(self.expected)}: {self.rows[:5]} {self.expected[:5]}"
        mine = list(range(len(self.rows)))
        theirs = mine
        if not self.ordered:
            mine = sorted(mine, key=lambda row: _sortable(self.rows[row]))
            theirs = sorted(theirs, key=lambda row: _sortable(self.expected[row]))
        for row, other in zip(mine, theirs, strict=True):
            for column, name in enumerate(self.columns):
                end = self.ends[column][row] if self.ends[column] else None
                if not _same(self.rows[row][column], self.expected[other][column], end):
                    return f"{name} is {self.rows[row]}, DuckDB's {self.expected[other]}, allowed {end}"
        return ""


def compare(bench: Bench, block: Block, plan: Plan | None = None) -> Pair:
    """Our noise-free answer to a statement, over the groups that occur, beside DuckDB's.

    Args:
        bench: Where it is asked.
        block: The statement.
        plan: What `planned_to_compare` makes of it, where that is known.

    Raises:
        UnsupportedQuery, ProgrammingError: It is refused.
        duckdb.Error: DuckDB does not take the statement, or fails on some row.
    """
    plan, outputs, rows, ends = exact(bench, block, plan)
    statement = parse(block.sql)
    assert isinstance(statement, syntax.QueryStatement)
    names = [output.name for output in outputs]
    reference = _reference(bench, plan, statement.select, block)
    ordered = isinstance(statement.select, syntax.Select) and bool(
        statement.select.order_by or statement.select.limit is not None
    )
    return Pair(
        columns=names,
        types=[output.expression.facts.type.value for output in outputs],
        rows=rows,
        ends=ends,
        expected_columns=names if block.reference is not None else reference[0],
        expected_types=reference[1],
        expected=reference[2],
        ordered=ordered,
    )


def exact(
    bench: Bench, block: Block, plan: Plan | None = None
) -> tuple[Plan, Sequence[Output], list[Row], list[list[Ends]]]:
    """A statement's plan, its columns, its noise-free rows over the groups that occur, and where their values may lie.

    Raises:
        UnsupportedQuery, ProgrammingError: It is refused.
    """
    plan = plan or planned_to_compare(bench, block)
    if isinstance(plan, PublicPlan):
        answer = bench.session._public(plan)
        return plan, plan.stage.outputs, answer.rows, [[] for _ in answer.columns]
    if isinstance(plan, ToBuy) and plan.several is None:
        (only,) = _told(bench.session, plan)
        assert isinstance(only, Prepared)
        return plan, only.plan.answer, *_answer(bench.session, only)
    if isinstance(plan, ToBuy):
        assert plan.several is not None
        answer = side_by_side(_together(bench.session, plan, plan.several), plan.several.answer)
        ends = [answer._intervals(column, 0.5) for column in range(len(plan.several.answer))]
        return plan, plan.several.answer, answer.rows, ends
    return plan, plan.plan.answer, *_answer(bench.session, plan)


def planned_to_compare(bench: Bench, block: Block) -> Plan:
    """A statement's plan, such that without noise nothing is clipped.

    Raises:
        UnsupportedQuery, ProgrammingError: It is refused.
    """
    with patch.object(clamped, "_guess", _as_the_caps_allow):
        return planned(bench.session, block)


def _as_the_caps_allow(_: Request, totals: Sized, *, loose: bool) -> float:
    """The guess with which no clamp is searched for unasked: without noise it would clip, and DuckDB does not."""
    return float(totals.edges[-1])


def cuts(bench: Bench, block: Block) -> bool:
    """Whether the statement leaves out rows or groups of some people, so that DuckDB's answer is another."""
    return leaves_out(planned(bench.session, block))


def leaves_out(plan: Plan) -> bool:
    """The same, of its plan."""
    if isinstance(plan, PublicPlan):
        return False
    parts = (*plan.first, *plan.parts) if isinstance(plan, ToBuy) else (plan,)
    sources = [part.measured[0].request.source for part in parts if isinstance(part, Prepared)]
    return any(source.capped for source in sources)


def _answer(session: Session, plan: Prepared) -> tuple[list[Row], list[list[Ends]]]:
    """The answer over the groups that occur in the data, and how far each number may lie from DuckDB's."""
    released = session._release(plan)
    together = consistent(plan, released)
    occurs = list(_occurring(session, plan, released))
    kept = [row for row, place in enumerate(together.places or range(len(occurs))) if occurs[place]]
    groups = [together.groups[row] for row in kept]
    values = {name: [column[row] for row in kept] for name, column in together.values.items()}
    rows = session._backend.post_process.rows(plan.plan, groups, values)
    asked = {measured.aggregate.name: measured for measured in plan.measured}
    bars = {name: _bars(asked[name], column) for name, column in values.items() if name in asked}
    columns = answer_columns(plan.plan)
    return rows.rows, [output_intervals(column, bars, rows, 0.5) for column in columns]


def _together(session: Session, asked: ToBuy[Spoken], several: Several) -> Answer:
    """What a statement makes of several answers over the groups that occur in the data."""
    parts = []
    for own in _told(session, asked):
        if isinstance(own, PublicPlan):
            parts.append(session._public(own))
            continue
        rows, ends = _answer(session, own)
        names = tuple(output.name for output in own.plan.answer)
        answer = public(names, tuple(output.type for output in own.plan.answer), rows)
        parts.append(gathered(replace(answer, _intervals=_known(ends)), own.plan.answer))
    beside = session._releases.tables_beside(several)
    return put_together(several, parts, beside, PrivacyLoss(), session._backend.post_process)


def _told(session: Session, asked: ToBuy[Spoken]) -> list[Prepared | PublicPlan]:
    """The parts of a statement, with the values that are released before them."""
    values, version = dict[str, Any](), session._backend.catalog.version

    def told(own: Prepared) -> Prepared:
        awaited = {value for reading in own.readings for value in reading.statement.awaited}
        return own.at({value: values[value.name] for value in awaited})

    for own in asked.first:
        rows, _ = _answer(session, told(own))
        values[own.named(session.analyst, version)] = rows[0][0]
    return [told(own) if isinstance(own, Prepared) else own for own in asked.parts]


def _known(ends: list[list[Ends]]) -> Callable[[int, float], list[Ends]]:
    return lambda column, _: ends[column]


def _occurring(session: Session, plan: Prepared, released: Released) -> Iterator[bool]:
    """For each released group whether any row belongs to it; the group of a statement without keys is always there."""
    for index, grouping in enumerate(plan.groupings):
        measured = next(measured for measured in plan.measured if measured.grouping == index)
        if isinstance(measured.choice.release.need, Cells):  # cells are no groups: all groups must occur in the data
            yield from [True] * len(released.groups[index])
            continue
        if not grouping.keys:
            yield from [True] * len(released.groups[index])
            continue
        statement = plan.readings[measured.reading].statement
        occurring = set(session._backend.engine.run(statement).groups(plan.keys_of(measured)))
        for group in released.groups[index]:
            yield group in occurring


def _bars(measured: Measured, values: Sequence[Any]) -> Any:
    """How far an exact aggregate of unrounded values may lie from the aggregate of values on the grid."""
    grid, counts = measured.request.grid, measured.aggregate.function.startswith("count")
    step = 0.0 if grid is None else float(grid.step)
    if measured.aggregate.function == "sum":
        step *= 10_000  # at least the rows of any test table
    whole = measured.aggregate.argument is not None and measured.aggregate.argument.facts.type is Type.INTEGER
    if counts or (whole and measured.aggregate.function == "sum"):
        step = 0.0

    def bars(_: float) -> list[Ends]:
        return [
            (None, None)
            if value is None or isinstance(value, str)
            else (value, value)
            if step == 0.0 and isinstance(value, int)
            else (value - step / 2 - abs(value) * 1e-12, value + step / 2 + abs(value) * 1e-12)
            for value in values
        ]

    return bars


def _reference(
    bench: Bench, plan: Plan, query: syntax.Queryable, block: Block
) -> tuple[list[str], list[str], list[Row]]:
    """DuckDB's column names and types for the plain text, and its rows for the edited one."""
    if block.reference is not None:
        return run(bench.duckdb, block.reference, ())
    plain = Edited.of(block.sql).plain()
    parameters = block.parameters if "?" in plain.text or "$" in plain.text else ()
    names, types, rows = run(bench.duckdb, plain.text, parameters)
    if isinstance(plan, PublicPlan | ToBuy):
        return names, types, rows
    assert isinstance(query, syntax.Select) and not plan.plan.stages, "write -- reference: for this statement"
    keys = key_texts(query, bench.columns) if plan.plan.keys else []
    conditions = [
        f"{text} IS NOT NULL"
        for text, key in zip(keys, plan.plan.written, strict=True)
        if key.domain is not None and None not in key.domain
    ]
    if plan.selection is not None:
        release = plan.measured[plan.selection].choice.release
        assert isinstance(release, ThresholdRelease) and query.source is not None
        conditions.append(f"COUNT(DISTINCT {unit_text(query.source, bench.units)}) > {release.threshold}")
    centres = {
        m.aggregate.position: _centre(m)
        for m in plan.measured
        if m.aggregate.function == "avg" and m.aggregate.position is not None
    }
    edited = Edited.of(block.sql).plain().nothing_is(centres)
    if isinstance(query.group_by, syntax.GroupAll):
        edited.grouped(keys)
    edited.having(conditions)
    if query.limit is not None or query.offset:
        edited.ordered(keys)
    return names, types, run(bench.duckdb, edited.text, parameters)[2]


def _centre(measured: Measured) -> str:
    """What the mean of nothing is: the declared centre within the bounds, else their middle, on the grid; or NULL."""
    if measured.choice.release.mechanism == "friendly_core":
        return "NULL::DOUBLE"
    grid, argument = measured.request.grid, measured.aggregate.argument
    assert grid is not None and argument is not None
    declared = argument.facts.centre
    steps = (grid.low + grid.high) // 2 if declared is None else round(declared / grid.step)
    inside = min(max(steps, grid.low), grid.high)  # of bounds that conditions narrow
    return repr(float(inside * grid.step)) + "::DOUBLE"


def _same(ours: Any, theirs: Any, end: Ends | None) -> bool:
    if isinstance(ours, bool) or isinstance(theirs, bool) or ours is None or theirs is None:
        return ours is theirs
    if isinstance(ours, float) or (end is not None and isinstance(ours, int)):
        low, high = end if end is not None else (ours, ours)
        slack = 1e-9 * max(abs(float(theirs)), 1e-9)
        return (low is None or low - slack <= theirs) and (high is None or theirs <= high + slack)
    return bool(ours == theirs)


def _sortable(row: Row) -> Any:
    """Exact columns first, then reals by their first digits, which rounding hardly moves."""
    exact = [
        (value is None, str(type(value)), value) if value is None else (False, "", str(value))
        for value in row
        if not isinstance(value, float)
    ]
    return exact, [f"{value:+.6e}" for value in row if isinstance(value, float)]
