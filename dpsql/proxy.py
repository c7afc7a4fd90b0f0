"""The owner's side: policy, ledger and engine, opened together.

Tests: tests/unit/test_calls.py, tests/unit/owner/building/test_builder.py.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.answers.budget import Budget
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.shown.notebook import card, heading, known, small, values
from dpsql.answers.shown.screen import safe
from dpsql.backend import Backend, defaults_of
from dpsql.charging import Charging, check_name
from dpsql.closing import Closing
from dpsql.engine.base import Engine
from dpsql.engine.log import keep_in
from dpsql.engine.public_columns import PublicColumns
from dpsql.errors import OperationalError, PolicyError, door
from dpsql.given import PROGRESS, function_given, kind_given
from dpsql.ledger.beside import Beside, beside
from dpsql.ledger.ledger import FACTS, Ledger
from dpsql.ledger.mark import default_folder
from dpsql.ledger.served import Served
from dpsql.ledger.state import Pinned
from dpsql.ledger.waiting import Waiting
from dpsql.owner.advice.advised import advised_tables, with_bounds
from dpsql.owner.building.builder import alone, build, data_digest_of
from dpsql.owner.building.versions import open_engine
from dpsql.owner.catalog import build_catalog
from dpsql.owner.in_use import InUse
from dpsql.owner.jobs import Progress
from dpsql.owner.scratch import cache_root
from dpsql.policy import Limit as PolicyLimit
from dpsql.policy import Policy, load_policy
from dpsql.privacy.accounting import Limits, PolicyLimits
from dpsql.privacy.kinds import Approximate, Loss, Pure
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.session import Session
from dpsql.times import Times

if TYPE_CHECKING:
    from dpsql.mechanisms.metric.row_metric import RowMetric
    from dpsql.owner.advice.advise import ReleasedFacts
    from dpsql.releasing.sharing import Sharing

__all__ = ["Proxy", "current", "open", "open_ledger", "refresh"]


class Proxy(Closing):
    """A policy in force. Made by `open`; close it, or use it in a ``with`` block.

    Args:
        policy: The owner's promises.
        ledger: Its open ledger.
        cache: The private directory of the bounded tables.
        sampler: The source of noise.
        private: False only under a test sampler.
        progress: Told each step of the first build.
        owners: The owner's file beside the ledger; one in memory where absent.
        ends: Called once, when the proxy is closed or forgotten.
    """

    def __init__(
        self,
        policy: Policy,
        ledger: Ledger,
        cache: Path,
        sampler: Sampler,
        *,
        private: bool = True,
        progress: Progress | None = None,
        owners: Beside | None = None,
        ends: Callable[[], None] = lambda: None,
    ) -> None:
        self._ends = weakref.finalize(self, ends)
        self._opened = policy
        self.policy = policy = with_bounds(policy, _facts(ledger))
        self.ledger = ledger
        self.owners = owners or Beside(None)
        self.waiting, self.served = Waiting(self.owners), Served(self.owners)
        self._cache = cache
        self._sampler = sampler
        self._private = private
        if ledger.version() == 0:
            with alone(cache, progress):
                if ledger.version() == 0:  # while this process waited, another may have built it
                    _new_version(policy, ledger, cache, "first opening", progress)
        self._backend = self._open(policy)

    @door
    def session(self, *, analyst: str) -> Session:
        """The analyst's side of this policy.

        Raises:
            ProgrammingError: If the name is empty, ``*``, longer than 200 characters, or cannot be printed.
        """
        check_name(analyst)
        return Session(self._backend, analyst, keeps=self)

    @property
    def releases(self) -> Sharing:
        """The owner's synthetic tables: made for readers, granted, listed, dropped, exported."""
        from dpsql.releasing.sharing import Sharing  # here: few owners share one

        return Sharing(self._backend)

    @door
    def refresh(self, progress: Progress | None = None) -> int:
        """Builds the next table version from the data as they are now; sessions of before stay at theirs.

        Returns:
            The new version. No budget is refreshed by it; free replays of older answers end.
        """
        function_given(progress, "progress", PROGRESS)
        policy = self._advised()
        _require_metrics(policy, self.ledger)
        self._backend.engine.close()
        with alone(self._cache, progress):
            version = _new_version(policy, self.ledger, self._cache, "", progress)
        self._backend.post_process.close()
        self._take(policy)
        return version

    @door
    def renew(self) -> Backend | None:
        """Takes up the newest table version, where another process built it; sessions of before stay at theirs.

        Returns:
            What those share, to be closed once none of them is asked any more; None where there is no newer version.

        Raises:
            Error: It cannot be opened: the one before stays.
        """
        before = self._backend
        if self.ledger.version() == before.version:
            return None
        self._take(self._advised())
        return before

    @property
    def backend(self) -> Backend:
        """What the sessions share that are made from now on."""
        return self._backend

    @door
    def adopt(self, policy: Policy) -> None:
        """Takes up new limits of the policy: of all accounts, and of what waits for the owner.

        The price of a query that names none is that of sessions made from now on.

        Raises:
            PolicyError: The file says more that is new, and needs a new opening: the limits before stay in force. Or
                its limits are less than was spent, or cannot be taken up: then nothing is charged until they can.
            LedgerError: The ledger cannot be written.
        """
        kind_given(policy, Policy, "The policy", "Give one that was read from its file.")
        if _beside_limits(policy) != _beside_limits(self._opened):
            raise PolicyError(
                "More than the limits has changed in the policy. The limits of before stay in force. Open it again, or "
                "start the server again, to take up the whole of it."
            )
        charging = self._backend.charging
        try:
            self.ledger.adopt(limits_of(policy))
        except PolicyError as refused:
            charging.closed = str(refused)
            raise
        self.policy = self.policy.model_copy(update={"budget": policy.budget, "server": policy.server})
        charging.closed, charging.above = None, policy.server.waits_above
        self._backend = replace(self._backend, defaults=defaults_of(policy))

    def __repr__(self) -> str:
        return f"The proxy of {safe(self.policy.name)}: session(analyst=...), refresh(), close()"

    def _repr_html_(self) -> str:
        """The owner's budgets, and the tables that the policy names."""

        def budgets() -> list[str]:
            accounts = [(name, self.ledger.budget(name)) for name in (None, *self.policy.budget.analysts)]
            rows = [(name or "all together", *Budget.of(state).cells()) for name, state in accounts]
            return [values(("analyst", *Budget.TITLES), rows)]

        kinds = [(name, "public" if own.public else "private") for name, own in self.policy.tables.items()]
        return card(
            heading(f"The proxy of {self.policy.name}"),
            *known(budgets),
            values(("table", "kind"), kinds),
            small("An analyst's side is proxy.session(analyst=...)."),
        )

    def close(self) -> None:
        """Ends the processes and closes the ledger."""
        self._backend.close()
        self.served.write()
        self.owners.close()
        self.ledger.close("This proxy was closed. Open the policy again with dpsql.open, and ask a session of that.")
        self._ends()

    def _advised(self) -> Policy:
        """The policy in force, with bounds by the newest facts."""
        now = {"budget": self.policy.budget, "server": self.policy.server}
        return with_bounds(self._opened.model_copy(update=now), _facts(self.ledger))

    def _take(self, policy: Policy) -> None:
        """Puts the newest version in force, which was built by this policy; where nothing may be charged stays so."""
        backend = self._open(policy)
        backend.charging.closed = self._backend.charging.closed
        self._backend, self.policy = backend, policy

    def _engine(self, policy: Policy) -> tuple[Engine, InUse]:
        """The engine over the current version, or over the next where refreshes took that one away meanwhile."""
        while True:
            version = self.ledger.version()
            try:
                return open_engine(policy, self._cache, version)
            except OperationalError:
                if self.ledger.version() == version:
                    raise

    def _open(self, policy: Policy) -> Backend:
        engine, in_use = self._engine(policy)
        advised = advised_tables(policy, _facts(self.ledger), data_digest_of(self._cache, engine.version))
        catalog = build_catalog(policy, engine.public, engine.version, advised, engine.dialect.spelt)
        public = PublicColumns(engine, catalog)
        metrics: dict[str, RowMetric] = {}
        if policy.metrics:
            from dpsql.mechanisms.metric.row_metric import build_metrics  # here: most policies have none

            metrics = build_metrics(policy, engine.public, public)
        return Backend(
            catalog=catalog,
            ledger=self.ledger,
            engine=engine,
            metrics=metrics,
            public=public,
            post_process=PostProcess(policy.engine.memory_bytes),
            sampler=self._sampler,
            defaults=defaults_of(policy),
            private=self._private,
            charging=Charging(self.ledger, self.waiting, policy.server.waits_above, engine.version, catalog.classes),
            served=self.served,
            times=Times(policy.grid),
            database=policy.name,
            in_use=in_use,
        )


@door
def open(path: str | PathLike[str], *, progress: Progress | None = None) -> Proxy:  # noqa: A001 - dpsql.open
    """The proxy of a policy file; the first opening builds the bounded tables.

    Args:
        path: The policy file.
        progress: Told each public step of the first build and the share done, 0 to 1.

    Raises:
        PolicyError: The policy cannot be used; the text names file, line and what to write.
        LedgerError: The ledger cannot be trusted; only the owner can mend it.
        OperationalError: The data changed since the bounded tables were built, or cannot be read.
    """
    policy = load_policy(path)
    ledger, end_log = open_ledger(policy), keep_in(owners_folder(policy))
    try:
        if ledger.version() == 0:
            _require_metrics(policy, ledger)
        cache = cache_directory(policy, ledger)
        owners = Beside(beside(policy.resolve(policy.budget.ledger)))
        return Proxy(policy, ledger, cache, ExactSampler(), progress=progress, owners=owners, ends=end_log)
    except BaseException:
        ledger.close()
        end_log()
        raise


@door
def refresh(path: str | PathLike[str], *, progress: Progress | None = None) -> int:
    """Builds the next table version of a policy from the data as they are now; the owner's.

    Args:
        path: The policy file.
        progress: Told each public step and the share done, 0 to 1.

    Returns:
        The new version. No budget is refreshed by it; free replays of older answers end.

    Raises:
        PolicyError, LedgerError, OperationalError: As `open`; the old version then stays.
    """
    policy = load_policy(path)
    with open_ledger(policy) as ledger:
        _require_metrics(policy, ledger)
        policy = with_bounds(policy, _facts(ledger))
        cache, end_log = cache_directory(policy, ledger), keep_in(owners_folder(policy))
        try:
            with alone(cache, progress):
                return _new_version(policy, ledger, cache, "", progress)
        finally:
            end_log()


def _require_metrics(policy: Policy, ledger: Ledger) -> None:
    """Refuses a policy with a metric that is none, or is not what it was, before anything is built."""
    if policy.metrics:
        from dpsql.owner.checking.metric_report import metrics_of  # here: most policies have none

        ledger.refuse_relisted({name: own.listed for name, own in metrics_of(policy).items() if own.listed})


def current(policy: Policy) -> tuple[Path, int]:
    """Where the versions of the bounded tables lie, and which of them is asked; 0 before the first is built.

    Raises:
        LedgerError, OperationalError: As `open`.
    """
    if not policy.resolve(policy.budget.ledger).exists():
        return Path(), 0
    with open_ledger(policy) as ledger:
        return cache_directory(policy, ledger), ledger.version()


def _facts(ledger: Ledger) -> ReleasedFacts | None:
    """The newest facts that the ledger has; None where it has none."""
    if not ledger.releases(FACTS):
        return None
    from dpsql.owner.advice.advise import newest  # here: few ledgers have any

    return newest(ledger)


def _new_version(policy: Policy, ledger: Ledger, cache: Path, reason: str, progress: Progress | None) -> int:
    """Built first, then on record: the ledger never names a version that does not exist. To be done under `alone`."""
    version = ledger.version() + 1
    build(policy, key=ledger.contribution_key, version=version, directory=cache, progress=progress)
    ledger.new_version(reason, version)
    return version


def open_ledger(policy: Policy) -> Ledger:
    """The policy's ledger, made where there is none and never was."""
    return Ledger.open(
        policy.resolve(policy.budget.ledger),
        pinned=pinned_of(policy),
        limits=limits_of(policy),
        mark=owners_folder(policy),
        begins=facts_price(policy),
    )


def facts_price(policy: Policy) -> Loss | None:
    """What the facts cost whose consequences the policy holds; None where it holds none."""
    price = policy.budget.advised
    if price is None:
        return None
    epsilon, delta = Fraction(price.epsilon), Fraction(price.delta)
    return Approximate(epsilon, delta) if delta else Pure(epsilon)


def owners_folder(policy: Policy) -> Path:
    """Where the ledger's mark lies, and beside it the owner's log."""
    return default_folder() if policy.budget.mark is None else policy.resolve(policy.budget.mark)


def cache_directory(policy: Policy, ledger: Ledger) -> Path:
    """Where a ledger's bounded tables lie: the policy's choice, else the user's state directory."""
    return cache_root(policy) / "tables" / ledger.id


def pinned_of(policy: Policy) -> Pinned:
    """What a ledger's numbers mean under this policy."""
    unit = next(table.unit_column for table in policy.tables.values() if not table.public)
    classes = ", ".join(f"{name!a} {share}" for name, share in sorted(policy.classes.items()))  # quoted: no two alike
    return Pinned(unit, policy.neighbours, policy.budget.composition, classes)


def limits_of(policy: Policy) -> PolicyLimits:
    """All limits of the policy."""
    analysts = {name: _limits(limit) for name, limit in policy.budget.analysts.items()}
    metric = {name: {on: Fraction(most) for on, most in own.limits.items()} for name, own in policy.metrics.items()}
    total = replace(_limits(policy.budget.total), metric=metric, classes=policy.classes)
    metrics = {name: own.definition(policy.tables[own.table].columns) for name, own in policy.metrics.items()}
    return PolicyLimits(total, analysts, metrics=metrics)


def _limits(limit: PolicyLimit) -> Limits:
    return Limits(Fraction(limit.epsilon), Fraction(limit.delta), Fraction(limit.gamma))


def _beside_limits(policy: Policy) -> dict[str, Any]:
    """All of a policy but what a running server takes up."""
    return policy.model_dump(exclude={"server": True, "budget": {"total", "analysts", "per_query"}})
