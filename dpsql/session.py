"""The analyst's side: one statement in, one answer out. `Session.query` is the whole pipeline."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from dpsql.answer import Answer, Budget, Measurement, Quote, public
from dpsql.consistency import consistent
from dpsql.engines.base import Engine
from dpsql.engines.lower import lower_public
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError, ProgrammingError, door
from dpsql.listing import describe_table, list_tables
from dpsql.mechanisms.base import SelectingRelease
from dpsql.plan import syntax
from dpsql.plan.catalog import Catalog
from dpsql.plan.domains import Cell
from dpsql.plan.expressions import columns_of
from dpsql.plan.nodes import Column, Expression, Plan, PublicPlan
from dpsql.plan.options import Options, read_clause, read_options
from dpsql.plan.parse import normal, parse
from dpsql.plan.requests import Cells, Ordered, Values
from dpsql.plan.resolve import resolve_query
from dpsql.plan.syntax import parameter_count
from dpsql.plan.types import Type, Value
from dpsql.postprocess import (
    MADE_UP_ROWS,
    Bars,
    Ends,
    PostProcess,
    answer_columns,
    level_of_picked,
    output_intervals,
    picking,
    with_interval_ends,
)
from dpsql.prepare import Measured, Prepared, prepare, refuse_unread
from dpsql.privacy.ledger import Ledger
from dpsql.privacy.loss import PrivacyLoss, summary
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.quote import advice, price_for, public_quote, quote
from dpsql.stored import Released, read_released, write_released
from dpsql.totals import several_rows, several_rows_intervals
from dpsql.universe.metrics import PublicRows, RowMetric
from dpsql.universe.prepare import prepare_metric, priced_by_metric
from dpsql.universe.promise import total_promise
from dpsql.whole_tables import prepare_table

__all__ = ["Backend", "Session"]


@dataclass(frozen=True, slots=True)
class Backend:
    """What every session of one proxy shares.

    Attributes:
        catalog: Tables as the plan knows them.
        ledger: Charges and stored releases.
        engine: Where exact numbers come from.
        after: The worker for released values.
        sampler: The source of noise.
        defaults: The policy's options for a query that names none.
        private: False only under a test sampler.
        metrics: The policy's metrics, by name.
        public: Reads whole columns of public tables.
    """

    catalog: Catalog
    ledger: Ledger
    engine: Engine
    after: PostProcess
    sampler: Sampler
    defaults: Options
    private: bool
    metrics: Mapping[str, RowMetric]
    public: PublicRows


class Session:
    """One analyst's questions. Made by `Proxy.session`; threads may share it.

    Args:
        backend: What the proxy shares.
        analyst: Whose account is charged.
        keeps: What must not end before the session: the proxy that made it, which may have no other name.
    """

    def __init__(self, backend: Backend, analyst: str, *, keeps: object = None) -> None:
        self._backend = backend
        self._keeps = keeps
        self._analyst = analyst
        self._set = Options()

    @property
    def analyst(self) -> str:
        """Whose account is charged."""
        return self._analyst

    @door
    def query(self, sql: str, parameters: Sequence[Value] = (), **options: Any) -> Answer:
        """The answer to one statement, charged before anything is read.

        Args:
            sql: One SELECT, or EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE, SET.
            parameters: One value for each ``?``: None, bool, int, finite float, Decimal, str, date or datetime.
            **options: ``epsilon``, ``delta``, ``rho``, ``mechanism``, ``max_groups_per_unit``,
                ``max_rows_per_group``, ``confidence`` and the others of the OPTIONS clause.

        Raises:
            UnsupportedQuery: The statement is refused; nothing was spent.
            ProgrammingError: Options or parameters are wrong; nothing was spent.
            BudgetExceeded: The ledger did not grant the price; nothing was spent.
            EngineFailed: After the charge, which stays.
        """
        statement = _parsed(sql)
        match statement:
            case syntax.Query():
                plan = self._plan(statement.select, parameters)
                if isinstance(plan, PublicPlan):
                    return self._public(plan)
                return self._answer(self._prepare(plan, options), statement)
            case syntax.Explain():
                return self._quote(self._plan(statement.query.select, parameters), options, None).to_answer()
            case syntax.ShowBudget():
                return self.budget().to_answer()
            case syntax.ShowTables():
                return self.tables()
            case syntax.Describe():
                return self.describe(".".join(statement.table.name))
            case syntax.SetOption():
                return self._remember(statement.name, statement.value.value)

    @door
    def explain(
        self,
        sql: str,
        parameters: Sequence[Value] = (),
        *,
        half_width: Mapping[str, float] | None = None,
        **options: Any,
    ) -> Quote:
        """What a statement would cost and how precise it would be. Spends nothing, reads no data.

        Args:
            sql: One SELECT, with or without EXPLAIN in front.
            parameters: As in `query`.
            half_width: Output column to the 95% half width wanted; the quote is then for the epsilon that gives it.
            **options: As in `query`.

        Raises:
            UnsupportedQuery: The statement would be refused.
            ProgrammingError: Options, parameters or the wanted half widths are wrong.
        """
        statement = _parsed(sql)
        if isinstance(statement, syntax.Explain):
            statement = statement.query
        if not isinstance(statement, syntax.Query):
            raise ProgrammingError("Only a SELECT can be explained.")
        return self._quote(self._plan(statement.select, parameters), options, half_width)

    @door
    def budget(self) -> Budget:
        """What this analyst has spent and may still spend."""
        backend = self._backend
        budget = Budget.of(backend.ledger.budget(self._analyst))
        return replace(budget, promise=total_promise(budget, backend.catalog.neighbours, backend.metrics))

    @door
    def tables(self) -> Answer:
        """The tables one may ask about, from the policy alone."""
        return list_tables(self._backend.catalog)

    @door
    def describe(self, table: str) -> Answer:
        """The columns of a table with types, bounds and domains, from the policy alone."""
        return describe_table(self._backend.catalog, table)

    @door
    def kmeans(
        self,
        sql: str,
        parameters: Sequence[Value] = (),
        *,
        k: int,
        bound: float | Decimal,
        scale: tuple[float | Decimal, float | Decimal],
        parts: int | None = None,
        **options: Any,
    ) -> Answer:
        """The centres of k clusters: a row each, with ``id`` and one column for each of the query's.

        Args:
            sql: One SELECT of numbers, one row a privacy unit.
            parameters: As in `query`.
            k: Number of centres.
            bound: Radius of the ball around 0 into which rows are moved, in the columns' unit.
            scale: Least and greatest distance to expect between the same centre of two samples.
            parts: Number of parts that people are dealt into; by default the least that serves at this price.
            **options: As in `query`.

        Raises:
            UnsupportedQuery, ProgrammingError, BudgetExceeded, EngineFailed: As in `query`.
        """
        low, high = scale
        named = f"k => {_number(k)}, bound => {_number(bound)}, scale => ({_number(low)}, {_number(high)})"
        named += "" if parts is None else f", parts => {_number(parts)}"
        return self.query(f"SELECT * FROM dp_kmeans(({sql}), {named})", parameters, **options)

    @door
    def covariance(
        self, sql: str, parameters: Sequence[Value] = (), *, parts: int | None = None, **options: Any
    ) -> Answer:
        """The covariance matrix of a query's columns: a row each, named in ``variable``, with one column for each.

        Args:
            sql: One SELECT of numbers, one row a privacy unit.
            parameters: As in `query`.
            parts: Number of parts that people are dealt into; by default the least that serves at this price.
            **options: As in `query`.

        Raises:
            UnsupportedQuery: Also where the policy does not admit idealised numerics.
            ProgrammingError, BudgetExceeded, EngineFailed: As in `query`.
        """
        named = "" if parts is None else f", parts => {_number(parts)}"
        return self.query(f"SELECT * FROM dp_covariance(({sql}){named})", parameters, **options)

    # -------------------------------------------------------------------------------------------- the way through

    def _plan(self, query: syntax.Queryable, parameters: Sequence[Value]) -> Plan | PublicPlan:
        if isinstance(parameters, str | bytes | Mapping) or not isinstance(parameters, Iterable):
            raise ProgrammingError(
                f"parameters is a {type(parameters).__name__}. Write a list with one value for each ? in the statement."
            )
        given = tuple(_parameter(value) for value in parameters)
        wanted = parameter_count(query)
        if wanted != len(given):
            raise ProgrammingError(f"The statement takes {wanted} values for parameters; {len(given)} came with it.")
        return resolve_query(query, self._backend.catalog, given, self._cells)

    def _prepare(self, plan: Plan, options: Mapping[str, Any]) -> Prepared:
        own = self._own(plan, options)
        prepared = self._prepared(plan, self._in_force(own))
        refuse_unread(own, prepared.read)
        return prepared

    def _prepared(self, plan: Plan, options: Options) -> Prepared:
        backend = self._backend
        if plan.table is not None:
            return prepare_table(plan, options, backend.catalog, backend.ledger.contribution_key)
        if priced_by_metric(options):
            return prepare_metric(plan, options, backend.catalog, backend.metrics, self._cells, backend.public)
        return prepare(plan, options, backend.catalog, backend.ledger.contribution_key)

    def _public(self, plan: PublicPlan) -> Answer:
        """Public tables are returned as they are: exact and free."""
        outputs = plan.stage.outputs
        raw = self._run(lower_public(plan))
        return public(
            tuple(output.name for output in outputs),
            tuple(output.expression.facts.type for output in outputs),
            raw.groups([f"c{i}" for i in range(len(outputs))]),
        )

    def _answer(self, prepared: Prepared, statement: syntax.Query) -> Answer:
        """Charge, then look; or the stored release of the same statement, free."""
        backend = self._backend
        fingerprint = prepared.fingerprint(self._analyst, backend.catalog.version)
        found = backend.ledger.find(fingerprint)
        if found is not None:
            return self._finish(
                prepared, read_released(prepared.plan, [g.keys for g in prepared.groupings], found[0]), replayed=True
            )
        if backend.ledger.suspended(self._analyst):
            raise OperationalError(
                f"Analyst {self._analyst!r} is suspended after three queries that the engine did not finish. "
                "The data owner can lift this: dpsql budget POLICY --analyst NAME --reset --reason TEXT"
            )
        for reading in prepared.readings:  # an engine that does not stand, or reads it otherwise, costs nothing
            backend.engine.verify(reading.statement)
        self._rehearse(prepared)
        charge = backend.ledger.charge(
            self._analyst, prepared.loss, statement=normal(statement), fingerprint=fingerprint
        )
        released = self._release(prepared)
        backend.ledger.store(charge, fingerprint, write_released(released))
        return self._finish(prepared, released, replayed=False)

    def _rehearse(self, prepared: Prepared) -> None:
        """Does what follows the release to made-up values: what cannot be done is refused before the charge."""
        plan = prepared.plan
        rows = self._backend.after.rehearse(plan)
        columns = answer_columns(plan)
        for low, high in ((0.0, 0.0), (-sys.float_info.max, sys.float_info.max), (None, None)):
            ends: list[Ends] = [(low, high)] * MADE_UP_ROWS
            bars = dict.fromkeys((aggregate.name for aggregate in plan.aggregates), lambda _, ends=ends: ends)
            for column in columns:
                output_intervals(column, bars, rows, prepared.options.confidence or 0.95)

    def _release(self, prepared: Prepared) -> Released:
        """Read the raw numbers and turn them into released ones; nothing else holds an engine and a mechanism."""
        raw = [self._run(reading.statement) for reading in prepared.readings]
        tables: dict[str, ReleasedTable] = {}
        groups = [grouping.groups for grouping in prepared.groupings]
        if prepared.selection is not None:
            chooser = prepared.measured[prepared.selection]
            candidates = _candidates(prepared.plan, raw[chooser.reading])
            released = self._noised(chooser, raw, prepared.keys_of(chooser), candidates)
            kept = _selecting(chooser).selected(released)
            groups = [tuple(candidates[row] for row in kept)]
            tables[chooser.name] = ReleasedTable(
                {name: [values[row] for row in kept] for name, values in released.columns.items()}
            )
        for measured in prepared.measured:
            if measured.name not in tables:
                appearing = groups[measured.grouping]
                if appearing is None:
                    raise InvariantBroken("groups must be chosen, but nothing chooses them")
                if measured.place == 0:
                    released = self._noised(measured, raw, prepared.keys_of(measured), appearing)
                tables[measured.name] = released.place(measured.place)
        return Released(tuple(group or () for group in groups), tables)

    def _noised(
        self, measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
    ) -> ReleasedTable:
        table, need = raw[measured.reading], measured.choice.release.need
        if not measured.request.source.keys:  # the rows are not grouped, whatever the answer's rows are called
            keys, groups = (), ((),)
        if isinstance(need, Cells | Ordered):
            own = table
        elif isinstance(need, Values):
            own = table.by_group(keys, groups, need.columns)
        else:
            own = table.aligned(keys, groups, {f"m{i}": name for i, name in enumerate(measured.columns)})
        return measured.choice.release.release(own, self._backend.sampler)

    def _run(self, statement: Any) -> RawTable:
        try:
            return self._backend.engine.run(statement)
        except EngineFailed:
            self._backend.ledger.record_overrun(self._analyst)
            raise
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Interrupted while the engine was at work. The cost stays charged.") from None

    def _finish(self, prepared: Prepared, released: Released, *, replayed: bool) -> Answer:
        plan = prepared.plan
        together = consistent(prepared, released)
        rows = self._backend.after.rows(plan, together.groups, together.values)
        bars = {name: _bars(prepared, released, name, together.moved.get(name)) for name in together.values}
        columns = answer_columns(plan)
        confidence, by = prepared.options.confidence or 0.95, picking(plan)

        def intervals(column: int, level: float) -> list[Ends]:
            expression = columns[column]
            if expression.facts.type.numeric and several_rows(expression):
                return several_rows_intervals(
                    column, plan, together.groups, together.values, bars, rows, self._backend.after, level
                )
            if any(read.name in by for read in columns_of(columns[column])):
                level = level_of_picked(level, len(rows.rows), len(together.groups))
            return output_intervals(columns[column], bars, rows, level)

        return Answer(
            columns=tuple(output.name for output in plan.answer),
            types=tuple(output.expression.facts.type for output in plan.answer),
            rows=with_interval_ends(plan, rows, lambda column: intervals(column, confidence)),
            cost=PrivacyLoss() if replayed else summary(prepared.loss, self._backend.catalog.classes),
            measurements=_measurements(prepared),
            replayed=replayed,
            private=self._backend.private,
            confidence=confidence,
            _intervals=intervals,
        )

    def _quote(
        self, plan: Plan | PublicPlan, options: Mapping[str, Any], half_width: Mapping[str, float] | None
    ) -> Quote:
        backend = self._backend
        if isinstance(plan, PublicPlan):
            return public_quote(lower_public(plan).sql)
        own = self._own(plan, options)
        in_force = self._in_force(own)
        if half_width:
            price = price_for(plan, half_width, lambda x: self._prepared(plan, in_force.at(x)))
            in_force = in_force.at(price)
        prepared = self._prepared(plan, in_force)
        refuse_unread(own, prepared.read)
        return quote(prepared, backend.ledger.repeats_left(self._analyst, prepared.loss), backend.catalog.classes)

    # ------------------------------------------------------------------------------------------------- small things

    def _cells(self, expressions: Sequence[Expression], columns: Sequence[Column], rows: Sequence[Cell]) -> list[Cell]:
        return self._backend.after.cells(expressions, columns, rows)

    def _own(self, plan: Plan, given: Mapping[str, Any]) -> Options:
        """What the statement itself says: keywords and OPTIONS, which may not disagree."""
        return read_options(given).beside(read_clause(dict(plan.options)))

    def _in_force(self, own: Options) -> Options:
        """Policy default < SET < the statement's own."""
        return own.over(self._set).over(self._backend.defaults)

    def _remember(self, name: str, value: Value) -> Answer:
        """SET: an option for the rest of this session; NULL forgets it."""
        self._set = read_options({name: value}).over(self._set.without(name))
        shown = "default" if value is None else str(value)
        return public(("option", "value"), (Type.TEXT, Type.TEXT), [(name, shown)])


def _parsed(sql: str) -> syntax.Statement:
    if not isinstance(sql, str):
        raise ProgrammingError(f"The statement is of type {type(sql).__name__}. Write SQL as text.")
    return parse(sql)


def _number(value: Any) -> str:
    """A finite number as it is written in SQL."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        raise ProgrammingError(f"An argument is {value!r}. Pass a finite number.")
    return f"{Decimal(repr(float(value)) if isinstance(value, float) else value):f}"


def _parameter(value: Any) -> Value:
    if isinstance(value, float):
        if value - value != 0:
            raise ProgrammingError(f"A parameter is {value}. Pass finite numbers.")
        value = Decimal(repr(float(value)))  # numpy's floats are floats, and print otherwise
    if value is None or isinstance(value, bool | int | Decimal | str | datetime | date):
        if isinstance(value, Decimal) and not value.is_finite():
            raise ProgrammingError(f"A parameter is {value}. Pass finite numbers.")
        if isinstance(value, datetime) and value.tzinfo is not None:
            raise ProgrammingError("A parameter carries a time zone. Pass a naive datetime.")
        if isinstance(value, int | Decimal) and not _moderate(value):
            raise ProgrammingError("A parameter is beyond 10^300, or nearer to 0 than 10^-300. Pass a number within.")
        if isinstance(value, str) and not _encodes(value):
            raise ProgrammingError("A parameter holds half of a surrogate pair, which is no character. Pass text.")
        return value
    if isinstance(value, list | tuple | set | frozenset):
        raise ProgrammingError(f"A parameter is a {type(value).__name__}. Write one ? for each value: IN (?, ?, ?).")
    raise ProgrammingError(
        f"A parameter is of type {type(value).__name__}. Pass None, bool, int, float, Decimal, str, date or datetime."
    )


def _moderate(value: int | Decimal) -> bool:
    """Whether a number is a double of full precision (0, or 10^-300 to 10^300), and its exact fraction is small."""
    if isinstance(value, int):
        return abs(value) < 10**300
    inside = -300 <= value.adjusted() < 300 or not value
    return inside and abs(int(value.as_tuple().exponent)) <= 1000


def _encodes(text: str) -> bool:
    """Whether a text is Unicode that can be written: engine, ledger and answer take UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _selecting(measured: Measured) -> SelectingRelease:
    release = measured.choice.release
    if not hasattr(release, "selected"):
        raise InvariantBroken(f"{release.mechanism} cannot choose groups")
    return release  # type: ignore[return-value]  # has `selected`, checked above


def _candidates(plan: Plan, raw: RawTable) -> list[Group]:
    """Discovered groups inside the listed domains, in the order of their keys: never in the order of the data."""
    domains = [None if key.domain is None else frozenset(key.domain) for key in plan.keys]
    found = [
        tuple(value + 0.0 if isinstance(value, float) else value for value in group)  # 0.0 for -0.0, which it equals
        for group in raw.groups([key.name for key in plan.keys])
        if all(domain is None or value in domain for value, domain in zip(group, domains, strict=True))
    ]
    return sorted(found, key=lambda group: tuple((value is None, 0 if value is None else value) for value in group))


def _bars(prepared: Prepared, released: Released, name: str, moved: Sequence[Any] | None) -> Bars:
    """The releases' own intervals of one aggregate, grouping after grouping, by confidence; moved with their values."""
    own = [measured for measured in prepared.measured if measured.aggregate.name == name]

    def bars(level: float) -> list[Ends]:
        found = [ends for m in own for ends in m.choice.release.intervals(released.tables[m.name], level)]
        if moved is None:
            return found
        return [
            (None if low is None else low + by, None if high is None else high + by)
            for (low, high), by in zip(found, moved, strict=True)
        ]

    return bars


def _measurements(prepared: Prepared) -> tuple[Measurement, ...]:
    """What was measured, each release named by all that it answers."""
    names: list[tuple[Measured, list[str]]] = []
    for measured in prepared.measured:
        if measured.place == 0:
            names.append((measured, []))
        names[-1][1].append(measured.aggregate.text)
    return tuple(_measurement(first, ", ".join(dict.fromkeys(texts))) for first, texts in names)


def _measurement(measured: Measured, name: str) -> Measurement:
    release = measured.choice.release
    return Measurement(
        name=name,
        mechanism=release.mechanism,
        loss=summary(release.loss),
        sensitivity=release.sensitivity,
        scale=release.scale,
        half_width=release.half_width,
        notes=(*measured.notes, *advice(measured.aggregate)),
    )
