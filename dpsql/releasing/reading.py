"""An analyst's synthetic tables: listed beside the policy's, read for nothing, dropped.

Tests: tests/unit/releasing/test_creating.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer, public
from dpsql.answers.computed.postprocess import made_up_rows
from dpsql.answers.finish import exact
from dpsql.answers.quotes.quoted import Quote
from dpsql.answers.shown.costs import cost_text
from dpsql.backend import Backend
from dpsql.engine.base import EngineStatement
from dpsql.engine.dialect import WIRE
from dpsql.engine.over_release import lower_over_release
from dpsql.engine.released import lower_public
from dpsql.errors import BudgetExceeded, OperationalError, ProgrammingError, UnsupportedQuery
from dpsql.ledger.synthetic import SyntheticTable
from dpsql.ledger.tables import LedgerTables
from dpsql.plan.catalog import Catalog, TableInfo
from dpsql.plan.known.relations import column_of, scans
from dpsql.plan.nodes import Scan
from dpsql.plan.options import Options
from dpsql.plan.over_answers.roles import roles_of
from dpsql.plan.plans import AnyPlan, Output, PublicPlan, Several, Stage
from dpsql.plan.synthetic import tables_named
from dpsql.plan.types import Parameters, Type
from dpsql.privacy.loss import Composed, PrivacyLoss
from dpsql.privacy.tables import RawTable
from dpsql.releasing.creation import Creation, beside, planned
from dpsql.releasing.instead import Planned, break_even, free_statement
from dpsql.releasing.names import lost
from dpsql.releasing.payers import Analyst
from dpsql.releasing.stored import StoredTable, read_stored, unread, without_null
from dpsql.sql import syntax
from dpsql.worker.client import Table

__all__ = ["Releases"]

MOST_BESIDE = 1_000_000
"""Rows of a public table that is read beside a synthetic one: they travel with each statement. It is a choice."""
FREE = "Synthetic rows are read: that is free, and what is made of them has their errors."


class Releases:
    """The synthetic tables of one analyst.

    Args:
        backend: What the proxy shares.
        analyst: Whose they are.
        run: Runs a statement over private data, after its charge.
    """

    def __init__(self, backend: Backend, analyst: str, run: Callable[[EngineStatement], RawTable]) -> None:
        self._backend, self._analyst, self._run = backend, analyst, run
        self._known: dict[str, StoredTable] = {}

    def catalog(self, query: syntax.Queryable | None = None) -> Catalog:
        """The policy's tables and this analyst's; where a query is given, those of these that it may name."""
        catalog, mine = self._backend.catalog, LedgerTables(self._backend.ledger).of(self._analyst)
        if not mine:
            return catalog
        named = None if query is None else {name.lower() for name in tables_named(query)}
        if named and not named <= {*mine, *(name.lower() for name in catalog.tables)}:
            named = None  # a name that is nothing, or of WITH: what there is may have to be said
        own = {}
        for name, table in mine.items():
            stored = self._stored(name, table.fingerprint) if named is None or name in named else None
            if stored is not None:
                price = cost_text(self._backend.summary(table.loss))
                own[name] = stored.info if table.paid else unread(stored, price)
            elif named is not None and name in named:
                raise lost(table, self._backend.ledger)
        return replace(catalog, tables={**own, **catalog.tables}) if own else catalog

    def checked(self, plan: AnyPlan) -> AnyPlan:
        """The plan.

        Raises:
            UnsupportedQuery: If a synthetic table is read beside private rows.
        """
        if isinstance(plan, Several):
            for part in plan.parts:
                self.checked(part)
            return plan
        read = [scan.table for scan in scans(plan.relation)]
        name = next((table.name for table in read if table.released), None)
        private = next((table.name for table in read if not table.public), None)
        if name is not None and private is not None:
            raise UnsupportedQuery(
                f"synthetic rows are nobody's, and {private} holds people's.", construct=name,
                hint=f"Ask {name} beside public and synthetic tables alone; it can be released with what it lacks.",
            )  # fmt: skip
        return plan

    def over(self, plan: PublicPlan) -> Answer | None:
        """The answer of a plan over a synthetic table, free but for first readings; None where it reads none.

        What cannot be done costs nothing: public tables are read, and the statement is rehearsed, before a charge.
        """
        read = _read(plan)
        names = tuple(name for name, table in read.items() if table.released)
        if not names:
            return None
        post_process, statement = self._backend.post_process, lower_over_release(plan)
        tables = {name: self._rows(table) for name, table in read.items() if not table.released}
        first = {name: str(read[name].released) for name in names if read[name].unread}
        if first:
            post_process.over_release(statement, {name: made_up_rows(table) for name, table in read.items()})
        cost, notices = self._paid(first)
        tables |= {name: self._rows(read[name]) for name in names}
        answer = exact(plan, post_process.over_release(statement, tables, paid=bool(first)))
        stored = self._stored(names[0], read[names[0]].released or "")
        if stored is None:
            bounds = answer._intervals
        else:
            from dpsql.releasing.bounds import bounds_of  # here: few sessions read a table

            bounds = bounds_of(plan, stored, post_process, answer.rows)
        return replace(
            answer,
            cost=cost,
            notices=(*notices, *self._left_out(read)),
            released_from=names,
            private=self._backend.private,
            _intervals=bounds,
            _roles=roles_of(plan),
        )

    def quote(self, plan: PublicPlan) -> Quote:
        """The quote of a statement over public and synthetic tables."""
        quote, read = self._backend.public_quote(plan), _read(plan)
        prices = {name: table.unread for name, table in read.items() if table.unread}
        if not any(scan.table.released for scan in scans(plan.relation)):
            return quote
        notes = tuple(f"The first reading of {name} costs {price}." for name, price in prices.items())
        left = quote.repeats_left
        if prices:
            try:
                LedgerTables(self._backend.ledger).payable(self._analyst, list(prices))
            except BudgetExceeded:
                left = 0
        return replace(
            quote,
            cost=self._prices(list(prices)),
            repeats_left=left,
            notes=(*(notes or (FREE,)), *self._left_out(read)),
        )

    def price(self, plan: PublicPlan) -> PrivacyLoss:
        """What a statement over public and synthetic tables costs now.

        Raises:
            BudgetExceeded: The budget would not grant it.
        """
        names = [scan.table.name for scan in scans(plan.relation) if scan.table.unread]
        if plan.empty or not names:
            return PrivacyLoss()
        LedgerTables(self._backend.ledger).payable(self._analyst, names)
        return self._prices(names)

    def _left_out(self, read: Mapping[str, TableInfo]) -> tuple[str, ...]:
        """Which rows are not in the tables that are read and paid for: their intervals know nothing of these."""
        found = (
            (name, self._stored(name, table.released))
            for name, table in read.items()
            if table.released and not table.unread
        )
        said = ((name, without_null(stored.left_out)) for name, stored in found if stored is not None)
        return tuple(f"{name}: {sentence}" for name, sentence in said if sentence)

    def quoted_beside(self, several: Several | None, quote: Quote) -> Quote:
        """The quote of several answers, with what is to be said of the synthetic tables that they are joined with."""
        told = () if several is None or several.empty else self._left_out(_read(several.rows))
        return replace(quote, notes=tuple(dict.fromkeys((*quote.notes, *told)))) if told else quote

    def told_beside(self, several: Several, answer: Answer) -> Answer:
        """The answer put together of several, with the same, and the names of these tables."""
        read = _read(several.rows)
        names = (*answer.released_from, *(name for name, table in read.items() if table.released))
        notices = dict.fromkeys((*answer.notices, *self._left_out(read)))
        return replace(answer, notices=tuple(notices), released_from=tuple(dict.fromkeys(names)))

    def tables_beside(self, several: Several) -> dict[str, Table]:
        """The tables that several answers are joined with, by name: public ones, and synthetic ones that are paid for.

        Raises:
            ProgrammingError: As `in_a_batch`.
        """
        self.in_a_batch(several.rows)
        return {name: self._rows(table) for name, table in _read(several.rows).items() if table.answer is None}

    def in_a_batch(self, plan: PublicPlan) -> PublicPlan:
        """The plan, if it costs nothing: a batch has one charge.

        Raises:
            ProgrammingError: It would read a table for the first time.
        """
        for scan in scans(plan.relation):
            if scan.table.unread and not plan.empty:
                name, price = scan.table.name, scan.table.unread
                raise ProgrammingError(
                    f"The first reading of {name} costs {price}: ask it once alone, then in a batch."
                )
        return plan

    @contextmanager
    def named_instead(self, statements: Sequence[syntax.QueryStatement], planned: Planned) -> Iterator[None]:
        """A refusal for want of budget names the free statements that answer the same from this analyst's tables."""
        try:
            yield
        except BudgetExceeded as short:
            held = self._paid_for()
            free = [text for one in statements if (text := free_statement(one.select, held, planned))]
            if not free:
                raise
            told = f"{short} Free, from synthetic rows: {'; '.join(free)}"
            raise BudgetExceeded(told, needed=short.needed, remaining=short.remaining) from None

    def advised(self, quote: Quote, query: syntax.Queryable, planned: Planned) -> Quote:
        """The quote, with a note where a synthetic table would have been cheaper than what was spent on its columns."""
        if not 0 < quote.cost.epsilon < math.inf:
            return quote
        spent = LedgerTables(self._backend.ledger).charges(self._analyst)
        note = break_even(query, quote.cost.epsilon, spent, planned, lambda loss: self._backend.summary(loss).epsilon)
        return replace(quote, notes=(*quote.notes, note)) if note else quote

    def _paid_for(self) -> list[tuple[SyntheticTable, StoredTable]]:
        """This analyst's tables that cost nothing more."""
        held = LedgerTables(self._backend.ledger).of(self._analyst)
        return [
            (table, stored)
            for name, table in held.items()
            if table.paid and (stored := self._stored(name, table.fingerprint)) is not None
        ]

    def verify(self, plan: PublicPlan) -> None:
        """Nothing, where the engine reads a plan over public tables as it is meant, or has nothing to do with it."""
        if not any(scan.table.released for scan in scans(plan.relation)):
            self._backend.engine.verify(lower_public(plan, self._backend.engine.dialect))

    def planned(
        self,
        statement: syntax.CreateSynthetic,
        options: Mapping[str, Any],
        plan: Callable[[syntax.Queryable], AnyPlan],
        weaker: Options,
        parameters: Parameters = (),
    ) -> Creation:
        """How a table would be made: `creation.planned`, for this analyst.

        Raises:
            UnsupportedQuery, ProgrammingError: It cannot be.
        """
        payer = Analyst(self._backend.ledger, self._analyst, self._backend.charging)
        return planned(self._backend, payer, self._run, beside(statement, options), plan, weaker, parameters)

    def drop(self, name: str) -> Answer:
        """Forgets a table; nothing is given back."""
        LedgerTables(self._backend.ledger).drop(self._analyst, name)
        return public(("table", "state"), (Type.TEXT, Type.TEXT), [(name, "dropped; what it cost stays charged")])

    def _paid(self, first: Mapping[str, str]) -> tuple[PrivacyLoss, list[str]]:
        """What first readings cost, after they are charged, and the notices that follow."""
        if not first:
            return PrivacyLoss(), []
        with self._backend.charging.granted(self._analyst) as notices:
            cost = self._prices(list(first))
            LedgerTables(self._backend.ledger).read(self._analyst, first)
        return cost, notices

    def _prices(self, names: Sequence[str]) -> PrivacyLoss:
        """What the first readings of these cost together."""
        held = LedgerTables(self._backend.ledger).of(self._analyst)
        if not names:
            return PrivacyLoss()
        # One that was dropped a moment ago costs nothing: whatever reads it is refused.
        return self._backend.summary(Composed(tuple(held[name].loss for name in dict.fromkeys(names) if name in held)))

    def _rows(self, table: TableInfo) -> Table:
        """All rows of a synthetic or public table, as a worker takes them."""
        if table.released:
            stored = self._stored(table.name, table.released)
            if stored is not None:
                return stored.counted()
        if table.rows > MOST_BESIDE:
            raise OperationalError(
                f"{table.name} has {table.rows:,} rows; beside a synthetic table SQL reads {MOST_BESIDE:,}."
            )
        scan = Scan(table, "t0")
        outputs = tuple(Output(name, column_of(scan, name)) for name in table.columns)
        raw = self._run(lower_public(PublicPlan(scan, Stage(outputs)), self._backend.engine.dialect))
        rows = raw.groups([f"c{i}" for i in range(len(outputs))])
        return {
            output.name: (WIRE[output.expression.facts.type], [row[i] for row in rows])
            for i, output in enumerate(outputs)
        }

    def _stored(self, name: str, fingerprint: str) -> StoredTable | None:
        """A table of the ledger's; None where a lost process kept nothing of it."""
        if fingerprint not in self._known:
            found = self._backend.ledger.find(fingerprint)
            if found is None:
                return None
            self._known[fingerprint] = read_stored(name, fingerprint, found[0])
        return self._known[fingerprint]


def _read(plan: PublicPlan) -> dict[str, TableInfo]:
    """The tables that a plan reads, by name."""
    return {scan.table.name: scan.table for scan in scans(plan.relation)}
