"""The analyst's side: one statement in, one answer out. `Session.query` is the whole pipeline.

Tests: tests/unit/test_calls.py, tests/unit/test_readme.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

from dpsql.answers.answer import Answer, public
from dpsql.answers.batch import BatchQuote, Statements, asked_in, batch_quote
from dpsql.answers.budget import Budget
from dpsql.answers.described import described, described_quote
from dpsql.answers.finish import exact, finish
from dpsql.answers.listing import describe_table, list_tables
from dpsql.answers.promise import total_promise
from dpsql.answers.quoted import Quote
from dpsql.answers.release import Released, noised, release, write_released
from dpsql.backend import Backend
from dpsql.calls import Calls
from dpsql.charging import Spoken, Wish
from dpsql.engine.base import EngineStatement
from dpsql.engine.lower import lower_public
from dpsql.errors import EngineFailed, ProgrammingError, door
from dpsql.ledger.refusals import suspended
from dpsql.plan.options import Options, read_options
from dpsql.plan.outline import Outline, outline_of
from dpsql.plan.parameters import values_of
from dpsql.plan.plans import Plan, PublicPlan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Parameters, Type, Value
from dpsql.prepare import Measured, Prepared, refuse_unread
from dpsql.prepare.batch import Batch, readings_for
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.releasing import SILENT, Creation, Progress, Releases
from dpsql.sql import syntax
from dpsql.sql.parse import normal, parse

__all__ = ["Session"]


class Session(Calls):
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
        self._releases = Releases(backend, analyst, self._run)

    @property
    def analyst(self) -> str:
        """Whose account is charged."""
        return self._analyst

    @door
    def query(self, sql: str, parameters: Parameters = (), *, progress: Progress = SILENT, **options: Any) -> Answer:
        """The answer to one statement, charged before anything is read.

        Args:
            sql: One SELECT, or EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE, SET, CREATE SYNTHETIC TABLE, DROP TABLE.
            parameters: One value for each ``?``: None, bool, int, finite float, Decimal, str, date or datetime.
            progress: Told each public step of a synthetic table that is made, and the share done, 0 to 1.
            **options: ``epsilon``, ``delta``, ``rho``, ``mechanism``, ``confidence`` and others of the OPTIONS clause.

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
                own = plan if isinstance(plan, PublicPlan) else self._prepare(plan, options)
                return self._bought([(own, Spoken(statement, parameters))])[0]
            case syntax.Explain():
                return self.explain(sql, parameters, **options).to_answer()
            case syntax.ShowBudget():
                return self.budget().to_answer()
            case syntax.ShowTables():
                return self.tables()
            case syntax.Describe():
                return self.describe(".".join(statement.table.name))
            case syntax.SetOption():
                return self._remember(statement.name, statement.value.value)
            case syntax.CreateSynthetic():
                return self._create(statement, parameters, options).made(progress)
            case syntax.DropTable():
                return self._releases.drop(statement.name)

    @door
    def explain(
        self,
        sql: str,
        parameters: Parameters = (),
        *,
        half_width: Mapping[str, float] | None = None,
        **options: Any,
    ) -> Quote:
        """What a statement would cost and how precise it would be. Spends nothing, reads no data.

        Args:
            sql: One SELECT, or CREATE SYNTHETIC TABLE, with or without EXPLAIN in front.
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
        if isinstance(statement, syntax.CreateSynthetic) and not half_width:
            return self._create(statement, parameters, options).quote()
        if not isinstance(statement, syntax.QueryStatement):
            raise ProgrammingError("Only a SELECT, or CREATE SYNTHETIC TABLE (with alpha for its width), is explained.")
        quote = self._quote(self._plan(statement.select, parameters), options, half_width)
        return self._releases.advised(quote, statement.select, lambda query: self._plan(query, parameters))

    @door
    def outline(self, sql: str, parameters: Parameters | None = None) -> Outline:
        """A SELECT's columns and types, and the types that its ``?`` take. Nothing is priced, no data is read.

        Raises:
            UnsupportedQuery, ProgrammingError: It would be refused, with these parameters or whatever they are, or is
                no SELECT.
        """
        statement = parse(sql)
        if not isinstance(statement, syntax.QueryStatement):
            raise ProgrammingError("Only a SELECT has an outline.")
        query, known = statement.select, None if parameters is None else tuple(parameters)
        return outline_of(query, self._releases.catalog(query), lambda values: self._plan(query, values), known)

    @door
    def query_all(
        self, statements: Statements, *, half_width: Mapping[str, float] | None = None, **options: Any
    ) -> list[Answer]:
        """The answers to several statements, bought together: what they ask alike is measured, and paid for, once.

        Args:
            statements: SELECTs, each as text, or as text with a list of values for its ``?``.
            half_width: Output column to the 95% half width wanted, in every statement that has it: each of these
                columns is bought at the least price that gives it.
            **options: As in `query`, for each of the statements.

        Returns:
            One answer a statement; its cost is what it added. Each is found again by its statement alone.

        Raises:
            UnsupportedQuery, ProgrammingError, BudgetExceeded: As in `query`: one refusal refuses all, uncharged.
            EngineFailed: After the charge, which stays.
        """
        asked = self._asked(statements, options, half_width)
        for own, _ in asked:
            if isinstance(own, PublicPlan):
                self._releases.verify(own)
        return self._bought(asked)

    @door
    def quote(
        self, statements: Statements, *, half_width: Mapping[str, float] | None = None, **options: Any
    ) -> BatchQuote:
        """What several statements would cost together, and one by one. Spends nothing, reads no data.

        Args:
            statements: As in `query_all`.
            half_width: As in `query_all`.
            **options: As in `query`.

        Raises:
            UnsupportedQuery, ProgrammingError: One of them would be refused.
        """
        asked = [own for own, _ in self._asked(statements, options, half_width)]
        priced = [own for own in asked if _priced(own)]
        batch, _ = self._backend.together(priced, self._analyst)
        quotes = iter([self._backend.quote(prepared, self._analyst) for prepared in batch.together])
        return batch_quote(
            batch,
            [next(quotes) if _priced(own) else self._free_quote(own) for own in asked],
            [number for number, own in enumerate(asked, 1) if _priced(own)],
            self._backend.ledger.repeats_left(self._analyst, batch.loss),
            self._backend.summary,
        )

    @door
    def budget(self) -> Budget:
        """What this analyst has spent and may still spend."""
        backend = self._backend
        budget = Budget.of(backend.ledger.budget(self._analyst))
        return replace(budget, promise=total_promise(budget, backend.catalog.neighbours, backend.metrics))

    @door
    def tables(self) -> Answer:
        """The tables one may ask about, from the policy alone."""
        return list_tables(self._releases.catalog())

    @door
    def describe(self, table: str) -> Answer:
        """The columns of a table with types, bounds and domains, from the policy alone."""
        return describe_table(self._releases.catalog(), table)

    def _plan(self, query: syntax.Queryable, parameters: Parameters) -> Plan | PublicPlan:
        catalog, cells = self._releases.catalog(query), self._backend.post_process.cells
        return self._releases.checked(resolve_query(query, catalog, values_of(parameters, query), cells))

    def _prepare(self, plan: Plan, options: Mapping[str, Any]) -> Prepared:
        own = self._own(plan, options)
        prepared = self._backend.prepared(plan, self._in_force(own))
        refuse_unread(own, prepared.read)
        return prepared

    def _asked(
        self, statements: Statements, options: Mapping[str, Any], half_width: Mapping[str, float] | None
    ) -> list[tuple[Prepared | PublicPlan, Spoken]]:
        """The statements of a batch, each at its own price."""

        def ask(sql: str, parameters: Parameters) -> tuple[Prepared | PublicPlan, Spoken]:
            statement = parse(sql)
            if not isinstance(statement, syntax.QueryStatement):
                raise ProgrammingError("only SELECTs are bought together. Ask it alone, or leave it out.")
            plan = self._plan(statement.select, parameters)
            if isinstance(plan, PublicPlan):
                return self._releases.in_a_batch(plan), Spoken(statement, parameters)
            return self._prepare(plan, options), Spoken(statement, parameters)

        return asked_in(statements, half_width or {}, ask, self._backend.narrowed)

    def _bought(self, asked: Sequence[tuple[Prepared | PublicPlan, Spoken]]) -> list[Answer]:
        """The answers, of which some are free: what is public, or shows no row."""
        priced = [(own, spoken) for own, spoken in asked if _priced(own)]
        answers = iter(self._answers(priced) if priced else [])
        return [next(answers) if _priced(own) else self._free(own) for own, _ in asked]

    def _free(self, own: Prepared | PublicPlan) -> Answer:
        plan = own.plan if isinstance(own, Prepared) else own
        return self._public(plan) if isinstance(plan, PublicPlan) and not plan.empty else described(plan)

    def _public(self, plan: PublicPlan) -> Answer:
        free = self._releases.over(plan)
        return exact(plan, self._run(lower_public(plan, self._backend.engine.dialect))) if free is None else free

    def _create(
        self, statement: syntax.CreateSynthetic, parameters: Parameters, options: Mapping[str, Any]
    ) -> Creation:
        weaker = self._in_force(Options())
        made = self._releases.planned(statement, options, lambda query: self._plan(query, parameters), weaker)
        return replace(made, parameters=parameters)

    def _answers(self, asked: Sequence[tuple[Prepared, Spoken]]) -> list[Answer]:
        """Charge once for all that is new, then look; what was released before is free."""
        own, spoken = [prepared for prepared, _ in asked], [spoken for _, spoken in asked]
        batch, stored, notices = self._backend.bought(own, self._analyst, partial(self._released, spoken))
        answers = []
        for index, fingerprint in enumerate(batch.fingerprints):
            first = batch.fingerprints.index(fingerprint)  # of two that ask the same
            replayed = index not in batch.fresh
            shown = replace(batch.together[first].plan, cut=asked[index][0].plan.cut).shown
            answer = self._finish(replace(batch.together[first], plan=shown), stored[first], replayed=replayed)
            if replayed:
                self._backend.served.count(self._analyst, fingerprint)
            else:
                answer = replace(answer, cost=self._backend.summary(batch.paid[index]), notices=tuple(notices))
            answers.append(answer)
        return answers

    def _released(self, spoken: Sequence[Spoken], batch: Batch, stored: dict[int, Released]) -> Sequence[str]:
        """Charges for what is new of a batch, releases and stores it beside what was; returns the charge's notices."""
        if not batch.fresh:
            return ()
        drawn = {draw: stored[index].tables[name] for draw, (index, name) in batch.known.items()}
        charge, notices = self._charged(batch, [spoken[index] for index in batch.fresh])
        for index in batch.fresh:
            prepared = batch.together[index]
            stored[index] = replace(self._release(prepared, batch.draws(index), drawn), prices=batch.prices(index))
            self._backend.ledger.store(charge, batch.fingerprints[index], write_released(stored[index]))
        return notices

    def _charged(self, batch: Batch, spoken: Sequence[Spoken]) -> tuple[int, list[str]]:
        """The one charge for what is new of a batch, after all that can be refused was refused; and its notices."""
        backend = self._backend
        if backend.ledger.suspended(self._analyst):
            raise suspended(self._analyst)
        for prepared in (batch.together[index] for index in batch.fresh):
            for reading in prepared.readings:  # an engine that does not stand, or reads it otherwise, costs nothing
                backend.engine.verify(reading.statement)
            backend.post_process.rehearse(prepared.plan)  # nor does what cannot be done afterwards
        fresh = [batch.together[index] for index in batch.fresh]
        first, *beside = (batch.fingerprints[index] for index in batch.fresh)
        statements = [one.statement for one in spoken if isinstance(one.statement, syntax.QueryStatement)]
        mechanisms = dict.fromkeys(measured.choice.release.mechanism for own in fresh for measured in own.measured)
        wish = Wish(batch.loss, (first, *beside), spoken, [prepared.options for prepared in fresh])
        with (
            self._releases.named_instead(statements, lambda query: self._plan(query, ())),
            backend.charging.of(self._analyst, wish) as notices,
        ):
            charge = backend.ledger.charge(
                self._analyst,
                batch.loss,
                statement=";\n".join(map(normal, statements)),
                fingerprint=first,
                beside=beside,
                mechanisms=tuple(mechanisms),
            )
        return charge, notices

    def _release(
        self, prepared: Prepared, draws: Mapping[str, str] | None = None, drawn: dict[str, ReleasedTable] | None = None
    ) -> Released:
        """Read the raw numbers and turn them into released ones; nothing else holds an engine and a mechanism.

        Args:
            prepared: The statement.
            draws: What tells the draw of each measurement from all others, by its name; by default the name.
            drawn: What was drawn already, and is neither read nor drawn again; what is drawn here is added.
        """
        draws = draws or {measured.name: measured.name for measured in prepared.measured}
        drawn = {} if drawn is None else drawn

        def noise(
            measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
        ) -> ReleasedTable:
            draw = draws[measured.name]
            if draw not in drawn:
                drawn[draw] = self._noised(measured, raw, keys, groups)
            return drawn[draw]

        read = readings_for(prepared, {name for name, draw in draws.items() if draw in drawn})
        raw = [
            self._run(reading.statement) if index in read else RawTable({})
            for index, reading in enumerate(prepared.readings)
        ]
        return release(prepared, raw, noise)

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
        priced, private = (backend.ledger.composition, backend.catalog.classes), backend.private
        return finish(prepared, released, backend.post_process, *priced, replayed=replayed, private=private)

    def _quote(
        self, plan: Plan | PublicPlan, options: Mapping[str, Any], half_width: Mapping[str, float] | None
    ) -> Quote:
        if isinstance(plan, PublicPlan) or plan.empty:
            return self._free_quote(plan)
        own = self._own(plan, options)
        return self._backend.quoted(plan, own, self._in_force(own), half_width, self._analyst)

    def _free_quote(self, own: Prepared | Plan | PublicPlan) -> Quote:
        """The quote of what costs nothing, or only a first reading."""
        plan = own.plan if isinstance(own, Prepared) else own
        return self._releases.quote(plan) if isinstance(plan, PublicPlan) and not plan.empty else described_quote()

    # ------------------------------------------------------------------------------------------------- small things

    def _own(self, plan: Plan, given: Mapping[str, Any]) -> Options:
        """What the statement itself says: keywords and OPTIONS, which may not disagree."""
        return read_options(given).beside(read_options(dict(plan.options)))

    def _in_force(self, own: Options) -> Options:
        """Policy default < SET < the statement's own."""
        return own.over(self._set).over(self._backend.defaults)

    def _remember(self, name: str, value: Value) -> Answer:
        """SET: an option for the rest of this session; NULL forgets it."""
        self._set = read_options({name: value}).over(self._set.without(name))
        shown = "default" if value is None else str(value)
        return public(("option", "value"), (Type.TEXT, Type.TEXT), [(name, shown)])


def _priced(own: Prepared | PublicPlan) -> TypeGuard[Prepared]:
    """Whether a statement measures something: not what is public, or shows no row."""
    return isinstance(own, Prepared) and not own.plan.empty
