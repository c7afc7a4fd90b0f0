"""The analyst's side: one statement in, one answer out. `Session.query` is the whole pipeline.

Tests: tests/unit/test_calls.py, tests/unit/test_readme.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from dpsql.answers.answer import Answer, Quote, public
from dpsql.answers.budget import Budget
from dpsql.answers.finish import exact, finish
from dpsql.answers.listing import describe_table, list_tables
from dpsql.answers.postprocess import PostProcess
from dpsql.answers.promise import total_promise
from dpsql.answers.quote import price_for, public_quote, quote
from dpsql.answers.release import Released, noised, read_released, release, write_released
from dpsql.engine.base import Engine, EngineStatement
from dpsql.engine.lower import lower_public, lowering
from dpsql.errors import EngineFailed, ProgrammingError, door
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.refusals import suspended
from dpsql.mechanisms import under_policy
from dpsql.mechanisms.metric.row_metric import PublicRows, RowMetric
from dpsql.plan.catalog import Catalog
from dpsql.plan.options import Options, read_clause, read_options
from dpsql.plan.parameters import call_text, values_of
from dpsql.plan.plans import Plan, PublicPlan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Type, Value
from dpsql.prepare import Measured, Prepared, prepare, refuse_unread
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.sql import syntax
from dpsql.sql.parse import normal, parse

__all__ = ["Backend", "Session"]


@dataclass(frozen=True, slots=True)
class Backend:
    """What every session of one proxy shares.

    Attributes:
        catalog: Tables as the plan knows them.
        ledger: Charges and stored releases.
        engine: Where exact numbers come from.
        post_process: The worker for released values.
        sampler: The source of noise.
        defaults: The policy's options for a query that names none.
        private: False only under a test sampler.
        metrics: The policy's metrics, by name.
        public: Reads whole columns of public tables.
    """

    catalog: Catalog
    ledger: Ledger
    engine: Engine
    post_process: PostProcess
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
        statement = parse(sql)
        match statement:
            case syntax.QueryStatement():
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
        statement = parse(sql)
        if isinstance(statement, syntax.Explain):
            statement = statement.query
        if not isinstance(statement, syntax.QueryStatement):
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
        named = {"k": k, "bound": bound, "scale": scale, "parts": parts}
        return self.query(call_text("dp_kmeans", sql, named), parameters, **options)

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
        return self.query(call_text("dp_covariance", sql, {"parts": parts}), parameters, **options)

    # -------------------------------------------------------------------------------------------- the way through

    def _plan(self, query: syntax.Queryable, parameters: Sequence[Value]) -> Plan | PublicPlan:
        backend = self._backend
        return resolve_query(query, backend.catalog, values_of(parameters, query), backend.post_process.cells)

    def _prepare(self, plan: Plan, options: Mapping[str, Any]) -> Prepared:
        own = self._own(plan, options)
        prepared = self._prepared(plan, self._in_force(own))
        refuse_unread(own, prepared.read)
        return prepared

    def _prepared(self, plan: Plan, options: Options) -> Prepared:
        backend = self._backend
        lower = lowering(backend.engine.dialect, backend.ledger.contribution_key)
        mechanisms = under_policy(backend.metrics, backend.post_process.cells, backend.public)
        return prepare(plan, options, backend.catalog, lower, mechanisms)

    def _public(self, plan: PublicPlan) -> Answer:
        return exact(plan, self._run(lower_public(plan, self._backend.engine.dialect)))

    def _answer(self, prepared: Prepared, statement: syntax.QueryStatement) -> Answer:
        """Charge, then look; or the stored release of the same statement, free."""
        backend = self._backend
        fingerprint = prepared.fingerprint(self._analyst, backend.catalog.version)
        found = backend.ledger.find(fingerprint)
        if found is not None:
            keys = [grouping.keys for grouping in prepared.groupings]
            return self._finish(prepared, read_released(prepared.plan, keys, found[0]), replayed=True)
        if backend.ledger.suspended(self._analyst):
            raise suspended(self._analyst)
        for reading in prepared.readings:  # an engine that does not stand, or reads it otherwise, costs nothing
            backend.engine.verify(reading.statement)
        backend.post_process.rehearse(prepared.plan)  # nor does what cannot be done afterwards
        charge = backend.ledger.charge(
            self._analyst, prepared.loss, statement=normal(statement), fingerprint=fingerprint
        )
        released = self._release(prepared)
        backend.ledger.store(charge, fingerprint, write_released(released))
        return self._finish(prepared, released, replayed=False)

    def _release(self, prepared: Prepared) -> Released:
        """Read the raw numbers and turn them into released ones; nothing else holds an engine and a mechanism."""
        return release(prepared, [self._run(reading.statement) for reading in prepared.readings], self._noised)

    def _noised(
        self, measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
    ) -> ReleasedTable:
        return noised(measured, raw, keys, groups, self._backend.sampler)

    def _run(self, statement: EngineStatement) -> RawTable:
        try:
            return self._backend.engine.run(statement)
        except EngineFailed:
            self._backend.ledger.record_overrun(self._analyst)
            raise
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Interrupted while the engine was at work. The cost stays charged.") from None

    def _finish(self, prepared: Prepared, released: Released, *, replayed: bool) -> Answer:
        backend = self._backend
        composition, classes = backend.ledger.composition, backend.catalog.classes
        return finish(
            prepared, released, backend.post_process, composition, classes, replayed=replayed, private=backend.private
        )

    def _quote(
        self, plan: Plan | PublicPlan, options: Mapping[str, Any], half_width: Mapping[str, float] | None
    ) -> Quote:
        backend = self._backend
        if isinstance(plan, PublicPlan):
            return public_quote(lower_public(plan, self._backend.engine.dialect).sql)
        own = self._own(plan, options)
        in_force = self._in_force(own)
        if half_width:
            price = price_for(plan, half_width, lambda x: self._prepared(plan, in_force.at(x)))
            in_force = in_force.at(price)
        prepared = self._prepared(plan, in_force)
        refuse_unread(own, prepared.read)
        repeats = backend.ledger.repeats_left(self._analyst, prepared.loss)
        return quote(prepared, repeats, backend.ledger.composition, backend.catalog.classes)

    # ------------------------------------------------------------------------------------------------- small things

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
