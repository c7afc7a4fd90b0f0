"""One charge, then a look: what a session does once all that can be refused was refused.

`Buying.bought` is the whole way from prepared statements to their answers. Nothing else but `dpsql.releasing` runs an
engine and a mechanism.

Tests: tests/unit/test_buying.py, tests/attacks/test_charged_then_failed.py, tests/attacks/test_batches.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from dpsql.answers.again import handed_out, kept, weight
from dpsql.answers.answer import Answer
from dpsql.answers.computed.postprocess import made_up, passed_on
from dpsql.answers.finish import exact, finish
from dpsql.answers.quotes.batch import ToBuy, is_priced
from dpsql.answers.quotes.described import described, described_quote
from dpsql.answers.quotes.quoted import Quote, for_nothing, released_before
from dpsql.answers.released.release import Released, noised, release
from dpsql.answers.released.written import write_released
from dpsql.answers.several import beside_first, put_together, quoted_together, rehearse_together
from dpsql.backend import Backend
from dpsql.calls import Calls
from dpsql.charging import Spoken, Wish
from dpsql.engine.base import EngineStatement
from dpsql.engine.over_release import lower_over_release
from dpsql.engine.released import lower_public
from dpsql.errors import EngineFailed, LedgerError, OperationalError
from dpsql.given import AGREE, function_given
from dpsql.ledger.refusals import ChargeStands, suspended
from dpsql.plan.known.relations import scans
from dpsql.plan.plans import AnyPlan, PublicPlan
from dpsql.plan.types import Awaited, Parameters, Value
from dpsql.prepare import Measured, Prepared
from dpsql.prepare.batch import Batch, readings_for
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import Composed, PrivacyLoss
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.releasing import Agree, Releases
from dpsql.sql import syntax
from dpsql.worker.client import Table

__all__ = ["Buying"]

T = TypeVar("T")

NO_PUBLIC_ANSWER = "The engine gave no answer over public tables. Nothing was spent. Ask for less at once."


class Buying(Calls):
    """What is charged and read for one analyst.

    Args:
        backend: What the proxy shares.
        analyst: Whose account is charged.
    """

    def __init__(self, backend: Backend, analyst: str) -> None:
        super().__init__(analyst)
        self._backend = backend
        self._releases = Releases(backend, analyst, self._run)

    def refusing(self) -> AbstractContextManager[None]:
        """Around what a door says of a statement before it is asked: a refusal leaves when that of `query` would."""
        return self._backend.times.kept(refusals_alone=True)

    def asking(self) -> AbstractContextManager[None]:
        """Around what a door says of a statement and its answer: together they leave as one answer does."""
        return self._backend.times.kept()

    @abstractmethod
    def _plan(self, query: syntax.Queryable, parameters: Parameters) -> AnyPlan:
        """What a query means to this analyst."""

    def _price(self, asked: ToBuy[Spoken]) -> PrivacyLoss:
        """What would be charged for one statement now.

        Raises:
            BudgetExceeded: The budget would not grant it.
        """
        if asked.parts and not asked.priced:
            own = asked.parts[0]
            return self._releases.price(own) if isinstance(own, PublicPlan) else PrivacyLoss()
        return self._price_together([asked])

    def _price_together(self, statements: Sequence[ToBuy[Spoken]]) -> PrivacyLoss:
        """What would be charged for several statements now, none of which pays for a first reading.

        Raises:
            BudgetExceeded: The budget would not grant it.
        """
        priced = [own for asked in statements for own in asked.priced]
        if not priced:
            return PrivacyLoss()
        batch, _ = self._backend.together(priced, self._analyst)
        return self._backend.charging.payable(self._analyst, batch.loss)

    def _agreed(self, agree: Agree, price: Callable[[], PrivacyLoss]) -> None:
        """Tells whoever is to agree what would be charged; what it raises refuses it."""
        function_given(agree, "agree", AGREE)
        if agree is not None:
            agree(price())

    def _bought_again(self, asked: ToBuy[Spoken], agree: Agree = None) -> Answer:
        """The answer to one statement. What is stored, and was asked like that before, is handed out as it was made."""
        self._agreed(agree, lambda: self._price(asked))
        backend, made = self._backend, list[Answer]()
        stored = backend.stored(asked.fingerprints) if asked.key and asked.fingerprints else None
        if asked.key is None or not stored:
            return self._bought([asked])[0]
        outdated = backend.outdated()

        def make() -> Answer:
            made.extend(self._found([asked]))
            return kept(made[0])

        answer = handed_out(backend.replayed.once((*asked.key, *stored), make, weight))
        for fingerprint in () if made else asked.fingerprints:
            backend.served.count(self._analyst, fingerprint)
        return _noted(answer, outdated)

    def _bought(self, statements: Sequence[ToBuy[Spoken]]) -> list[Answer]:
        """The answers, which say where there is a newer version of the tables."""
        outdated = self._backend.outdated()
        return [_noted(answer, outdated) for answer in self._found(statements)]

    def _found(self, statements: Sequence[ToBuy[Spoken]]) -> list[Answer]:
        """The answers. Those of public tables, or without a row, are free, and found first: they may fail."""
        beside = [self._rehearsed(asked) for asked in statements]
        free = [[None if is_priced(own) or _pays(own) else self._free(own) for own in a.parts] for a in statements]
        priced = [(own, asked.spoken) for asked in statements for own in asked.priced]
        answers, losses = self._answers(priced) if priced else ([], [])
        if priced and any(_pays(own) for asked in statements for own in asked.parts):
            self._backend.times.step()  # what a first reading costs is seen as soon as it is charged
        bought, found = iter(zip(answers, losses, strict=True)), []
        for asked, tables, known in zip(statements, beside, free, strict=True):
            before = [next(bought) for _ in asked.first]
            parts = [
                next(bought) if is_priced(own) else (self._free(own) if there is None else there, Composed(()))
                for own, there in zip(asked.parts, known, strict=True)
            ]
            own = [answer for answer, _ in parts]
            if asked.several is None and not before:
                found.append(own[0])
                continue
            cost = self._backend.summary(Composed(tuple(loss for _, loss in [*before, *parts])))
            if asked.several is None:
                answer = own[0]
            elif asked.several.empty:
                answer = described(asked.several)
            else:
                answer = put_together(asked.several, own, tables, cost, self._backend.post_process)
                answer = self._releases.told_beside(asked.several, answer)
            found.append(beside_first(answer, [answer for answer, _ in before], cost))
        return [
            replace(answer, _left=lambda: self.budget().left) if answer.measurements else answer for answer in found
        ]

    def _rehearsed(self, asked: ToBuy[Spoken]) -> dict[str, Table]:
        """The public tables that a statement joins its answers with, after all that follows the charge was tried."""
        if asked.several is None or asked.several.empty:
            return {}
        rehearse_together(asked.several, self._backend.post_process)
        for own in asked.parts:
            if isinstance(own, PublicPlan):
                self._releases.verify(own)
        return self._releases.tables_beside(asked.several)

    def _free(self, own: Prepared | PublicPlan) -> Answer:
        plan = own.plan if isinstance(own, Prepared) else own
        return self._public(plan) if isinstance(plan, PublicPlan) and not plan.empty else described(plan)

    def _public(self, plan: PublicPlan) -> Answer:
        """What is public.

        Raises:
            OperationalError: The engine gave no answer.
        """
        free = self._releases.over(plan)
        if free is not None:
            return free
        if not scans(plan.relation):  # constants need no database
            return exact(plan, self._backend.post_process.over_release(lower_over_release(plan), {}))
        engine = self._backend.engine
        statement = lower_public(plan, engine.dialect)
        engine.verify(statement)  # one that does not stand says so, and not that too much was asked
        try:
            return exact(plan, engine.run(statement))
        except EngineFailed as failure:
            raise OperationalError(NO_PUBLIC_ANSWER) from failure

    def _answers(self, asked: Sequence[tuple[Prepared, Spoken]]) -> tuple[list[Answer], list[Loss]]:
        """Charge once for all that is new, then look; what was released before is free. And what each paid."""
        own = [prepared for prepared, _ in asked]
        for prepared in own:  # what cannot be done afterwards costs nothing
            self._backend.post_process.rehearse(prepared.plan)
        batch, stored, notices = self._backend.bought(own, self._analyst, partial(self._released, asked))
        answers = []
        for index, fingerprint in enumerate(batch.fingerprints):
            first = batch.fingerprints.index(fingerprint)  # of two that ask the same of the tables
            replayed, prepared = index not in batch.fresh, batch.together[index]
            answer = self._finish(replace(prepared, plan=prepared.plan.shown), stored[first], replayed=replayed)
            if replayed:
                self._backend.served.count(self._analyst, fingerprint)
            else:
                answer = replace(answer, cost=self._backend.summary(batch.paid[index]), notices=tuple(notices))
            answers.append(answer)
        return answers, list(batch.paid)

    def _released(
        self, asked: Sequence[tuple[Prepared, Spoken]], batch: Batch, stored: dict[int, Released]
    ) -> Sequence[str]:
        """Charges for what is new of a batch, releases and stores it beside what was; returns the charge's notices."""
        if not batch.fresh:
            return ()
        drawn = {draw: stored[index].tables[name] for draw, (index, name) in batch.known.items()}
        version = self._backend.catalog.version
        charge, notices = self._charged(batch, [asked[index][1] for index in batch.fresh])
        for index in batch.fresh:
            prepared = self._told(asked, batch, index, stored)
            released, prices = self._release(prepared, batch.draws(index), drawn), batch.prices(index)
            bought_as = batch.together[index].fingerprint(self._analyst, version) if prices else ""
            stored[index] = replace(released, prices=prices, bought_as=bought_as)
            kept = write_released(stored[index])
            store = partial(self._backend.ledger.store, charge, batch.fingerprints[index], kept)
            self._backend.times.at_leaving(store)
        return notices

    def _told(
        self, asked: Sequence[tuple[Prepared, Spoken]], batch: Batch, index: int, stored: Mapping[int, Released]
    ) -> Prepared:
        """A statement with the values that were released before it."""
        prepared = batch.together[index]
        awaited = {value for reading in prepared.readings for value in reading.statement.awaited}
        if not awaited:
            return prepared
        names = [own.named(self._analyst, self._backend.catalog.version) for own, _ in asked]
        return prepared.at({value: self._awaited(value, names.index(value.name), batch, stored) for value in awaited})

    def _awaited(self, value: Awaited, index: int, batch: Batch, stored: Mapping[int, Released]) -> Value:
        """What was released for others to read, by a statement."""
        first = batch.fingerprints.index(batch.fingerprints[index])
        answer = self._finish(batch.together[index], stored[first], replayed=True)
        return passed_on(answer.rows[0][0], value.type)

    def _charged(self, batch: Batch, spoken: Sequence[Spoken]) -> tuple[int, list[str]]:
        """The one charge for what is new of a batch, after all that can be refused was refused; and its notices."""
        backend = self._backend
        if backend.ledger.suspended(self._analyst):
            raise suspended(self._analyst)
        for prepared in (batch.together[index] for index in batch.fresh):
            for reading in prepared.readings:  # an engine that does not stand, or reads it otherwise, costs nothing
                for statement in made_up(reading.statement):
                    backend.engine.verify(statement)
        fresh = [batch.together[index] for index in batch.fresh]
        first, *beside = (batch.fingerprints[index] for index in batch.fresh)
        spoken = [one for place, one in enumerate(spoken) if one not in spoken[:place]]  # a statement over several
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
                statement=wish.text,
                fingerprint=first,
                beside=beside,
                mechanisms=tuple(mechanisms),
                listed={name: own.listed for name, own in backend.metrics.items() if own.listed},
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
        wanted = [reading.statement for index, reading in enumerate(prepared.readings) if index in read]
        once = list(dict.fromkeys(wanted))
        found = dict(zip(once, self._run_all(once), strict=True))
        raw = [
            reading.own(found[reading.statement]) if index in read else RawTable({})
            for index, reading in enumerate(prepared.readings)
        ]
        return release(prepared, raw, noise)

    def _noised(
        self, measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
    ) -> ReleasedTable:
        return noised(measured, raw, keys, groups, self._backend.sampler)

    def _quoted(self, asked: Sequence[ToBuy[Spoken]]) -> tuple[Batch, list[Quote]]:
        """Statements as they are bought together, and the quote of each."""
        backend = self._backend
        batch, _ = backend.together([own for one in asked for own in one.priced], self._analyst)
        each = [
            backend.quote(own, self._analyst, paid, free)
            for own, paid, free in zip(batch.together, batch.paid, batch.free, strict=True)
        ]
        told = [for_nothing(own) if index in batch.settled else own for index, own in enumerate(each)]
        quotes, losses = iter(told), iter(batch.paid)
        found = []
        for one in asked:
            own = [next(quotes) for _ in one.first]
            own += [next(quotes) if is_priced(part) else self._free_quote(part) for part in one.parts]
            loss = Composed(tuple(next(losses) for _ in one.priced))
            if one.several is None and not one.first:
                found.append(own[0])
                continue
            left = backend.ledger.repeats_left(self._analyst, loss)
            cost, first = backend.summary(loss), len(one.first)
            quote = quoted_together(own, cost, left, first=first, several=one.several, parts=one.parts)
            found.append(self._releases.quoted_beside(one.several, quote) if own else described_quote())
        return batch, found

    def _quoted_alone(self, asked: ToBuy[Spoken]) -> Quote:
        """The quote of one statement."""
        batch, (own,) = self._quoted([asked])
        stored = batch.own and not batch.fresh and not any(map(_pays, asked.parts))
        return released_before(own) if stored else own

    def _free_quote(self, own: Prepared | AnyPlan) -> Quote:
        """The quote of what costs nothing, or only a first reading."""
        plan = own.plan if isinstance(own, Prepared) else own
        return self._releases.quote(plan) if isinstance(plan, PublicPlan) and not plan.empty else described_quote()

    def _run(self, statement: EngineStatement) -> RawTable:
        return self._read(lambda: self._backend.engine.run(statement))

    def _run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """The results of all that is to be read at once."""
        if len(statements) == 1:
            return [self._run(*statements)]
        return self._read(lambda: self._backend.engine.run_all(statements))

    def _read(self, run: Callable[[], T]) -> T:
        """What an engine found. A failure is put on record."""
        try:
            return run()
        except EngineFailed:
            self._backend.times.at_leaving(self._record_overrun)
            raise
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Interrupted while the engine was at work. The cost stays charged.") from None

    def _record_overrun(self) -> None:
        try:
            self._backend.ledger.record_overrun(self._analyst)
        except LedgerError as unwritten:
            raise ChargeStands(unwritten) from unwritten

    def _finish(self, prepared: Prepared, released: Released, *, replayed: bool) -> Answer:
        backend = self._backend
        composition, private = backend.ledger.composition, backend.private
        return finish(prepared, released, backend.post_process, composition, replayed=replayed, private=private)


def _noted(answer: Answer, notes: Sequence[str]) -> Answer:
    """The answer, with what is to be known of the tables' version: none bears on synthetic tables alone."""
    apart = bool(answer.released_from) and not answer.measurements
    return replace(answer, notices=(*answer.notices, *notes)) if notes and not apart else answer


def _pays(own: Prepared | PublicPlan) -> bool:
    """Whether a reading of synthetic tables is paid for, apart from all else that is asked."""
    return isinstance(own, PublicPlan) and any(scan.table.unread for scan in scans(own.relation))
