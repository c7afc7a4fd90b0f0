"""The analyst's side: one statement in, one answer out. `Session.query` is the whole pipeline.

Tests: tests/unit/test_calls.py, tests/unit/test_readme.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer, public
from dpsql.answers.budget import Budget
from dpsql.answers.listing import describe_table, list_tables
from dpsql.answers.promise import total_promise
from dpsql.answers.quotes.batch import BatchQuote, Statements, ToBuy, asked_in, at_width, batch_quote
from dpsql.answers.quotes.narrow import widths_of
from dpsql.answers.quotes.quoted import EXPLAINED, Quote
from dpsql.asking import in_turn
from dpsql.backend import Backend
from dpsql.buying import Buying
from dpsql.charging import Spoken
from dpsql.errors import ProgrammingError, door
from dpsql.plan.options import NAMES, Options, as_given, read_options
from dpsql.plan.outline import Outline, outline_of
from dpsql.plan.over_answers.awaited import told
from dpsql.plan.parameters import values_of
from dpsql.plan.plans import AnyPlan, Plan, PublicPlan, Several, groups_listed
from dpsql.plan.public_groups import lists_groups, parsed
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Parameters, Type, Value
from dpsql.prepare import Prepared, refuse_unread
from dpsql.privacy.loss import PrivacyLoss
from dpsql.releasing import SILENT, Agree, Creation, Progress
from dpsql.shelf import Key, exactly
from dpsql.sql import syntax
from dpsql.times import on_time

__all__ = ["Session"]


class Session(Buying):
    """One analyst's questions. Made by `Proxy.session`; threads may share it.

    Args:
        backend: What the proxy shares.
        analyst: Whose account is charged.
        keeps: What must not end before the session: the proxy that made it, which may have no other name.
    """

    def __init__(self, backend: Backend, analyst: str, *, keeps: object = None) -> None:
        super().__init__(backend, analyst)
        self._keeps = keeps
        self._set = Options()

    @door
    @in_turn
    @on_time
    def query(
        self, sql: str, parameters: Parameters = (), *, progress: Progress = SILENT, agree: Agree = None, **options: Any
    ) -> Answer:
        """The answer to one statement, charged before anything is read.

        Args:
            sql: One SELECT, or EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE, SET, CREATE SYNTHETIC TABLE, DROP TABLE.
            parameters: For each ``?`` (or ``$name``, by a mapping) None, bool, number, str, date or datetime.
            progress: Told each public step of a synthetic table that is made, and the share done, 0 to 1; never where
                the policy has ``answer_times``.
            agree: Told what would be charged, before it is; what it raises refuses the statement, uncharged.
            **options: ``epsilon``, ``delta``, ``rho``, ``mechanism``, ``confidence`` and others of the OPTIONS clause.

        Raises:
            UnsupportedQuery: The statement is refused; nothing was spent.
            ProgrammingError: Options or parameters are wrong; nothing was spent.
            BudgetExceeded: The ledger did not grant the price; nothing was spent.
            EngineFailed: After the charge, which stays.
        """
        statement = parsed(sql, self._backend.database, options, self._set)
        match statement:
            case syntax.QueryStatement():
                return self._bought_again(self._ready(sql, statement, parameters, options), agree)
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
                told = SILENT if self._backend.times.grid else progress
                return self._create(statement, parameters, options).made(told, agree)
            case syntax.DropTable():
                return self._releases.drop(statement.name)

    @door
    @in_turn
    @on_time
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
        statement, wanted = parsed(sql, self._backend.database, options, self._set), widths_of(half_width)
        if isinstance(statement, syntax.Explain):
            statement = statement.query
        if isinstance(statement, syntax.CreateSynthetic) and not wanted:
            return self._create(statement, parameters, options).quote()
        if not isinstance(statement, syntax.QueryStatement):
            raise ProgrammingError("Only a SELECT, or CREATE SYNTHETIC TABLE (with alpha for its width), is explained.")
        plan = self._planned(self._known(sql, statement.select, parameters), statement.select, parameters)
        if (isinstance(plan, Several) or (isinstance(plan, Plan) and plan.awaits)) and not plan.empty:
            asked, missing = at_width(self._ready(sql, statement, parameters, options), wanted, self._backend.narrowed)
            if missing:
                raise ProgrammingError(f"No SELECT has a column {min(missing)!r}. half_width names output columns.")
            return self._quoted_alone(asked)
        quote = self._quote(plan, options, wanted)
        return self._releases.advised(quote, statement.select, lambda query: self._plan(query, parameters))

    @door
    @in_turn
    def outline(self, sql: str, parameters: Parameters | None = None) -> Outline:
        """A SELECT's columns and types, or EXPLAIN's, and the types that its ``?`` take. Nothing is priced or read.

        Raises:
            UnsupportedQuery, ProgrammingError: It would be refused, with these parameters or whatever they are, or is
                no SELECT.
        """
        statement = parsed(sql, self._backend.database, {}, self._set)
        asked = statement.query if isinstance(statement, syntax.Explain) else statement
        if not isinstance(asked, syntax.QueryStatement):
            raise ProgrammingError("Only a SELECT has an outline.")
        query = asked.select

        def planned(values: Parameters) -> AnyPlan:
            return self._planned(self._known(sql, query, values), query, values)

        key, catalog = self._known(sql, query, parameters), self._releases.catalog(query)
        own = self._backend.outlines.once(key, lambda: outline_of(query, catalog, planned, parameters))
        return own if asked is statement else Outline(*EXPLAINED, own.parameters, lists=own.lists)

    @door
    @in_turn
    @on_time
    def query_all(
        self,
        statements: Statements,
        *,
        half_width: Mapping[str, float] | None = None,
        agree: Agree = None,
        **options: Any,
    ) -> list[Answer]:
        """The answers to several statements, bought together: what they ask alike is measured, and paid for, once.

        Args:
            statements: SELECTs, each as text, or as text with a list of values for its ``?``.
            half_width: Output column to the 95% half width wanted, in every statement that has it: each of these
                columns is bought at the least price that gives it.
            agree: As in `query`, of what all of them would cost together.
            **options: As in `query`, for each of the statements.

        Returns:
            One answer a statement; its cost is what it added. Each is found again by its statement alone.

        Raises:
            UnsupportedQuery, ProgrammingError, BudgetExceeded: As in `query`: one refusal refuses all, uncharged.
            EngineFailed: After the charge, which stays.
        """
        asked = self._asked(statements, options, half_width)
        for own in (own for one in asked for own in one.parts):
            if isinstance(own, PublicPlan):
                self._releases.verify(self._releases.in_a_batch(own))
        self._agreed(agree, lambda: self._price_together(asked))
        return self._bought(asked)

    @door
    @in_turn
    @on_time
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
        asked = self._asked(statements, options, half_width)
        batch, quotes = self._quoted(asked)
        numbers = [number for number, one in enumerate(asked, 1) for _ in one.priced]
        left = self._backend.ledger.repeats_left(self._analyst, batch.loss)
        return batch_quote(batch, quotes, numbers, left, self._backend.summary)

    @door
    @in_turn
    @on_time
    def price(self, sql: str, parameters: Parameters = (), **options: Any) -> PrivacyLoss:
        """What `query` would charge for a statement now, a first reading among it; nothing where the answer is stored.

        Raises:
            UnsupportedQuery, ProgrammingError, BudgetExceeded: As `query`.
        """
        statement = parsed(sql, self._backend.database, options, self._set)
        if isinstance(statement, syntax.CreateSynthetic):
            made = self._create(statement, parameters, options)
            return PrivacyLoss() if made.owed() else self._backend.charging.payable(self._analyst, made.table.loss)
        if not isinstance(statement, syntax.QueryStatement):
            raise ProgrammingError("Only a SELECT has a price, or CREATE SYNTHETIC TABLE.")
        return self._price(self._ready(sql, statement, parameters, options))

    @door
    @in_turn
    @on_time
    def price_all(
        self, statements: Statements, *, half_width: Mapping[str, float] | None = None, **options: Any
    ) -> PrivacyLoss:
        """What `query_all` would charge for several statements now; nothing where all answers are stored.

        Raises:
            UnsupportedQuery, ProgrammingError, BudgetExceeded: As `query_all`.
        """
        return self._price_together(self._asked(statements, options, half_width))

    @property
    def version(self) -> int:
        """Of the tables that it asks."""
        return self._backend.version

    def over(self, backend: Backend) -> Session:
        """This session over another version of the tables, at prices as they are there; itself where it is the same."""
        if backend.version == self.version:
            return self
        moved = Session(backend, self._analyst, keeps=self._keeps)
        moved._set = self._set
        return moved

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

    def _plan(self, query: syntax.Queryable, parameters: Parameters) -> AnyPlan:
        catalog, cells = self._releases.catalog(query), self._backend.post_process.cells
        read = self._backend.public.combinations
        return self._releases.checked(resolve_query(query, catalog, values_of(parameters, query), cells, read))

    def _known(self, sql: str, query: syntax.Queryable, parameters: Parameters | None) -> Key | None:
        """What the plan of a text depends on, beside what this backend never changes; None where there is more.

        The analyst's own tables come and go: a statement that may name one is planned anew.
        """
        values = exactly(parameters)
        if values is None or self._releases.catalog(query) is not self._backend.catalog:
            return None
        return self._analyst, sql, values, lists_groups(query)

    def _planned(self, key: Key | None, query: syntax.Queryable, parameters: Parameters) -> AnyPlan:
        """What a query means with these parameters, worked out once for what `_known` says of its text."""
        return self._backend.planned.once(key, lambda: self._plan(query, parameters), groups_listed)

    def _ready(
        self, sql: str, statement: syntax.QueryStatement, parameters: Parameters, options: Mapping[str, Any]
    ) -> ToBuy[Spoken]:
        """A text at its own price, ready to be bought; worked out once for all options that are in force."""
        key, told = self._known(sql, statement.select, parameters), exactly(dict(options))
        asking = copy(self)  # what another thread SETs meanwhile is not for this statement
        own = None if key is None or told is None else (*key, told, asking._set, self._backend.defaults)

        def made() -> ToBuy[Spoken]:
            asked = asking._ask(statement, parameters, options, self._planned(key, statement.select, parameters))
            return replace(asked, key=own, fingerprints=self._backend.fingerprints(asked.priced, self._analyst))

        found = self._backend.asked.once(own, made, lambda made: made.groups)
        return replace(found, spoken=Spoken(statement, parameters))

    def _prepare(self, plan: Plan, options: Mapping[str, Any]) -> Prepared:
        own = self._own(plan, options)
        prepared = self._backend.prepared(plan, self._in_force(own))
        refuse_unread(own, prepared.read)
        return prepared

    def _behind(self, plan: Plan, options: Mapping[str, Any], first: list[Prepared]) -> Prepared:
        """A SELECT at its own price; what is released before it is added to ``first``."""
        names = dict[str, str]()
        for number, awaited in enumerate(() if plan.empty else plan.awaits):
            first.append(self._behind(awaited, options, first))
            names[str(number)] = first[-1].named(self.analyst, self._backend.catalog.version)
        return self._prepare(told(plan, names) if names else plan, options)

    def _ask(
        self,
        statement: syntax.QueryStatement,
        parameters: Parameters,
        options: Mapping[str, Any],
        plan: AnyPlan | None = None,
    ) -> ToBuy[Spoken]:
        """A statement at its own price, ready to be bought; planned where ``plan`` is absent."""
        plan, spoken = plan or self._plan(statement.select, parameters), Spoken(statement, parameters)
        first = list[Prepared]()
        if not isinstance(plan, Several):
            only = plan if isinstance(plan, PublicPlan) else self._behind(plan, options, first)
            return ToBuy((only,), spoken, None, tuple(first))
        parts = plan.parts if not plan.empty else ()
        own = [
            self._releases.in_a_batch(part) if isinstance(part, PublicPlan) else self._behind(part, options, first)
            for part in parts
        ]
        return ToBuy(tuple(own), spoken, plan, tuple(first))

    def _asked(
        self, statements: Statements, options: Mapping[str, Any], half_width: Mapping[str, float] | None
    ) -> list[ToBuy[Spoken]]:
        """The statements of a batch, each at its own price."""

        def ask(sql: str, parameters: Parameters) -> ToBuy[Spoken]:
            statement = parsed(sql, self._backend.database, options, self._set)
            if not isinstance(statement, syntax.QueryStatement):
                raise ProgrammingError("only SELECTs are bought together. Ask it alone, or leave it out.")
            return self._ready(sql, statement, parameters, options)

        return asked_in(statements, widths_of(half_width), ask, self._backend.narrowed)

    def _create(
        self, statement: syntax.CreateSynthetic, parameters: Parameters, options: Mapping[str, Any]
    ) -> Creation:
        weaker = self._in_force(Options())
        planned: Callable[[syntax.Queryable], AnyPlan] = lambda query: self._plan(query, parameters)  # noqa: E731
        return self._releases.planned(statement, options, planned, weaker, parameters)

    def _quote(self, plan: AnyPlan, options: Mapping[str, Any], half_width: Mapping[str, float] | None) -> Quote:
        if not isinstance(plan, Plan) or plan.empty:
            return self._free_quote(plan)
        own = self._own(plan, options)
        return self._backend.quoted(plan, own, self._in_force(own), half_width, self._analyst)

    # ------------------------------------------------------------------------------------------------- small things

    def _own(self, plan: Plan, given: Mapping[str, Any]) -> Options:
        """What the statement itself says: keywords and OPTIONS, which may not disagree."""
        return read_options(given).beside(read_options(dict(plan.options)))

    def _in_force(self, own: Options) -> Options:
        """Policy default < SET < the statement's own."""
        return own.over(self._set).over(self._backend.defaults)

    def option(self, name: str) -> str:
        """An option as text that is in force where a statement does not give it: SET's, else the policy's; else ''.

        Args:
            name: Of the option, such as ``epsilon``.

        Raises:
            ProgrammingError: There is no such option.
        """
        if name not in NAMES:
            raise ProgrammingError(f"There is no option {as_given(name)}. There are {', '.join(sorted(NAMES))}.")
        return self._in_force(Options()).shown(name)

    def _remember(self, name: str, value: Value) -> Answer:
        """SET: an option for the rest of this session; NULL forgets it."""
        self._set = read_options({name: value}).over(self._set.without(name))
        shown = "default" if value is None else str(value)
        return public(("option", "value"), (Type.TEXT, Type.TEXT), [(name, shown)])
