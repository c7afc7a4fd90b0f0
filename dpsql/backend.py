"""What the sessions of one proxy share, and how statements are prepared over it: nothing here is run or charged.

Tests: tests/unit/test_calls.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

from dpsql.answers.answer import Answer
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.quotes.batch import ToBuy
from dpsql.answers.quotes.narrow import guesses_of, price_for, split_for
from dpsql.answers.quotes.quote import public_quote, quote
from dpsql.answers.quotes.quoted import Quote, released_before
from dpsql.answers.released.release import Released
from dpsql.answers.released.written import may_be_repriced, read_released
from dpsql.charging import Charging, Spoken
from dpsql.engine.base import Engine
from dpsql.engine.lower import Lower, lowering
from dpsql.engine.public_columns import PublicColumns
from dpsql.engine.released import lower_public
from dpsql.errors import BudgetExceeded, LedgerError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.refusals import ReleasedMeanwhile
from dpsql.ledger.served import Served
from dpsql.mechanisms import under_policy
from dpsql.mechanisms.base import Mechanism
from dpsql.owner.in_use import InUse
from dpsql.plan.catalog import Catalog
from dpsql.plan.options import Options
from dpsql.plan.outline import Outline
from dpsql.plan.over_answers.no_rows import refuse_no_rows
from dpsql.plan.plans import AnyPlan, Plan, PublicPlan
from dpsql.prepare import Prepared, prepare, refuse_unread
from dpsql.prepare.batch import Batch, Prices, batch_of, priced_at, repriced, separable
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import PrivacyLoss, summary
from dpsql.privacy.sampling import Sampler
from dpsql.shelf import Shelf
from dpsql.times import Times

if TYPE_CHECKING:
    from dpsql.mechanisms.metric.row_metric import RowMetric
    from dpsql.policy import Policy

__all__ = ["Backend", "defaults_of"]


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
        public: Reads whole columns of public tables, and their combinations.
        charging: What stands around an analyst's charge.
        served: Counts answers that came from the store.
        times: When answers leave.
        database: The policy's name, by which tools call the database.
        in_use: That the version of the tables is used, and so stays on the disk.
        outlines: Those of statements over the catalog alone, by analyst, text and parameters.
        planned: Their plans, by the same.
        asked: What they are at their own price, by the same and all options.
        replayed: Their answers, by that and by what is stored of them. None of these four is ever another backend's.
    """

    catalog: Catalog
    ledger: Ledger
    engine: Engine
    post_process: PostProcess
    sampler: Sampler
    defaults: Options
    private: bool
    metrics: Mapping[str, RowMetric]
    public: PublicColumns
    charging: Charging
    served: Served
    times: Times = field(default_factory=Times)
    database: str = ""
    in_use: InUse = field(default_factory=lambda: InUse(None))
    outlines: Shelf[Outline] = field(default_factory=Shelf, init=False)
    planned: Shelf[AnyPlan] = field(default_factory=Shelf, init=False)
    asked: Shelf[ToBuy[Spoken]] = field(default_factory=Shelf, init=False)
    replayed: Shelf[Answer] = field(default_factory=Shelf, init=False)

    @property
    def version(self) -> int:
        """Of the tables."""
        return self.catalog.version

    def outdated(self) -> tuple[str, ...]:
        """That there is a newer version of the tables, which is public; nothing where there is none.

        To be asked before private data are read: when it is asked must not show how long that took.
        """
        try:
            newest = self.ledger.version()
        except LedgerError:  # whatever needs the ledger says so itself
            return ()
        if newest == self.version:
            return ()
        return (
            f"This is of version {self.version} of the tables; the data owner has made version {newest}. A server goes "
            "over to it by itself; elsewhere open the policy again. There it is charged anew.",
        )

    def close(self) -> None:
        """Ends its processes; its version of the tables may go. Harmless when repeated."""
        self.engine.close()
        self.post_process.close()
        self.in_use.close()

    @property
    def lower(self) -> Lower:
        """How what mechanisms need becomes the engine's statements."""
        return lowering(self.engine.dialect, self.ledger.contribution_key)

    @property
    def mechanisms(self) -> Sequence[Mechanism]:
        """Who may answer under the policy."""
        return under_policy(self.metrics, self.post_process.cells, self.public)

    def prepared(self, plan: Plan, options: Options) -> Prepared:
        """A statement with these options in force.

        Raises:
            UnsupportedQuery, ProgrammingError: As `prepare.prepare`, or the answer would have no row.
        """
        refuse_no_rows(plan, self.post_process.cells)
        own = self._prepared(plan, options)
        return replace(own, members=self.post_process.members(own))

    def at(self, prepared: Prepared, prices: Prices) -> Prepared:
        """The same statement at other prices of its aggregates, by their names."""
        own = self._prepared(prepared.plan, priced_at(prepared.options, prices), prices)
        return replace(own, members=prepared.members)  # no price decides which groups are listed

    def _prepared(self, plan: Plan, options: Options, prices: Prices | None = None) -> Prepared:
        return prepare(plan, options, self.catalog, self.lower, self.mechanisms, prices)

    def narrowed(self, own: Prepared, half_width: Mapping[str, float]) -> Prepared:
        """The same statement at the least price that makes columns as narrow as wanted.

        Args:
            own: The statement.
            half_width: Output column to half width, in the column's unit, > 0.

        Raises:
            ProgrammingError: As `answers.quotes.narrow.price_for`.
        """
        if separable(own):
            return split_for(own, half_width, self.at)

        def at(price: Fraction) -> Prepared:
            return self.prepared(own.plan, own.options.at(price))

        return at(price_for(own.plan, half_width, at))

    def summary(self, loss: Loss) -> PrivacyLoss:
        """A loss as people read it."""
        return summary(loss, self.ledger.composition, self.catalog.classes)

    def quote(
        self, prepared: Prepared, analyst: str, paid: Loss | None = None, free: Collection[str] = frozenset()
    ) -> Quote:
        """What a statement would cost an analyst and how precise it would be; refused as it would be when asked.

        Args:
            prepared: The statement.
            analyst: Who asks.
            paid: What it pays for where it is bought with others; its own loss where absent.
            free: Its measurements, by name, that others pay for.
        """
        self.post_process.rehearse(prepared.plan)
        loss = prepared.loss if paid is None else paid
        repeats = self.ledger.repeats_left(analyst, loss)
        own = quote(prepared, repeats, self.ledger.composition, self.catalog.classes, loss, free)
        return replace(own, notes=(*own.notes, *self.outdated()))

    def bought(
        self,
        own: Sequence[Prepared],
        analyst: str,
        release: Callable[[Batch, dict[int, Released]], Sequence[str]],
    ) -> tuple[Batch, dict[int, Released], Sequence[str]]:
        """How statements are bought, all their answers, and notices; one at a time of those who ask the same.

        Whoever buys something has the turn until the answer leaves (`times`).

        Args:
            own: The statements.
            analyst: Who asks.
            release: Charges for what is new of them and adds its answers to those that were stored; gives notices.
        """
        fingerprints = self.fingerprints(own, analyst)
        batch, stored = self._found(own, fingerprints, analyst)
        if not batch.fresh:  # all of it is free: nobody need wait for another
            return batch, stored, ()
        with ExitStack() as turn:
            if turn.enter_context(self.charging.turns.of(fingerprints)):
                self.times.begin_anew()
            batch, stored = self._found(own, fingerprints, analyst)
            try:
                return batch, stored, release(batch, stored)
            except ReleasedMeanwhile:  # by another process: now it is found
                batch, stored = self._found(own, fingerprints, analyst)
                return batch, stored, release(batch, stored)
            except BudgetExceeded:  # before anything was read: who asks the same need not wait for this refusal
                turn.close()
                raise
            finally:
                if batch.fresh:
                    self.times.at_leaving(turn.pop_all().close)

    def fingerprints(self, own: Sequence[Prepared], analyst: str) -> tuple[str, ...]:
        """What tells the releases of statements from all others."""
        return tuple(prepared.fingerprint(analyst, self.catalog.version) for prepared in own)

    def stored(self, fingerprints: Sequence[str]) -> list[str] | None:
        """What tells the stored answers of these from all others; None where one is not stored as it was asked."""
        found = [self.ledger.find(fingerprint) for fingerprint in fingerprints]
        if any(own is None or may_be_repriced(own[0]) for own in found):
            return None
        return [sha256(own[0]).hexdigest() for own in found if own is not None]

    def together(self, own: Sequence[Prepared], analyst: str) -> tuple[Batch, dict[int, Released]]:
        """How statements are bought together, and the stored answers of those that were released before."""
        return self._found(own, self.fingerprints(own, analyst), analyst)

    def _found(
        self, own: Sequence[Prepared], fingerprints: Sequence[str], analyst: str
    ) -> tuple[Batch, dict[int, Released]]:
        names, at, stored = list[str](), list[Prepared](), dict[int, Released]()
        for index, (prepared, fingerprint) in enumerate(zip(own, fingerprints, strict=True)):
            name, then, found = self._released(prepared, fingerprint, analyst)
            names.append(name)
            at.append(then)
            if found is not None:
                stored[index] = found
        return batch_of(at, names, stored, self.at, self.lower), stored

    def _released(self, own: Prepared, fingerprint: str, analyst: str) -> tuple[str, Prepared, Released | None]:
        """Under what a statement is stored, the statement at the prices at which it was released, and that release.

        What was bought at the prices of a batch answers those alone whose release is the same at these, too: of two
        statements with one release at their own prices, another mechanism may serve each there.
        """
        found = self.ledger.find(fingerprint)
        if found is None:
            return fingerprint, own, None
        released = read_released(own.plan, [grouping.keys for grouping in own.groupings], found[0])
        if not released.prices:
            return fingerprint, own, released
        then = repriced(own, released.prices, self.at)
        if then.fingerprint(analyst, self.catalog.version) == released.bought_as:
            return fingerprint, then, released
        return self._released(own, sha256(f"{fingerprint}, not {released.bought_as}".encode()).hexdigest(), analyst)

    def quoted(
        self, plan: Plan, own: Options, in_force: Options, half_width: Mapping[str, float] | None, analyst: str
    ) -> Quote:
        """The quote of a plan under options in force, of which the statement's own must bear on its answer.

        Args:
            plan: What is asked.
            own: What the statement itself says.
            in_force: With the session's and the policy's.
            half_width: Output column to the half width wanted: the quote is then for the price that gives it.
            analyst: Who asks.
        """
        if half_width:
            in_force = in_force.at(price_for(plan, half_width, lambda x: self.prepared(plan, in_force.at(x))))
        prepared = self.prepared(plan, in_force)
        refuse_unread(own, prepared.read)
        quote = self.quote(prepared, analyst)
        *_, stored = self._released(prepared, prepared.fingerprint(analyst, self.version), analyst)
        if stored is not None:
            quote = released_before(quote)
        return replace(quote, notes=(*quote.notes, *guesses_of(prepared, half_width))) if half_width else quote

    def public_quote(self, plan: PublicPlan) -> Quote:
        """The quote of a statement over public tables alone."""
        own = public_quote(lower_public(plan, self.engine.dialect).sql)
        return replace(own, notes=(*own.notes, *self.outdated()))


def defaults_of(policy: Policy) -> Options:
    """The policy's ``per_query`` price."""
    price = policy.budget.per_query
    if price is None:
        return Options()
    return Options(
        epsilon=None if price.epsilon is None else Fraction(price.epsilon),
        delta=Fraction(price.delta) or None,
        rho=None if price.rho is None else Fraction(price.rho),
    )
