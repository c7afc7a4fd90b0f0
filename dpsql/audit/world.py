"""One database and its neighbours, each behind a real engine, asked the same questions with the same noise.

Tests: tests/attacks/test_replay_audit.py, tests/unit/audit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.audit.facts import STAGES, FactCounts
from dpsql.audit.remembering import Remembering
from dpsql.audit.replay import Promise, Replay, Run, neighbours_of
from dpsql.audit.template import Template
from dpsql.audit.watched import asked
from dpsql.backend import Backend
from dpsql.closing import Closing
from dpsql.engine.base import EngineStatement
from dpsql.ledger.ledger import Ledger
from dpsql.mechanisms.metric.row_metric import RowMetric
from dpsql.owner.building.builder import counted
from dpsql.owner.catalog import build_catalog
from dpsql.owner.shape import shape_of
from dpsql.policy import Policy
from dpsql.proxy import Proxy, limits_of, pinned_of
from dpsql.testing_samplers import FixedSampler

__all__ = ["Neighbour", "Neighbours"]

MEMORY = 2 << 30  # Bytes for the worker without data: what policies have where they name none.


def as_it_is(backend: Backend) -> Backend:
    """The backend."""
    return backend


class Neighbour:
    """One database behind a real engine, asked under one promise or several.

    Args:
        folder: Where it is made.
        fill: Writes the database into that folder.
        policies: The policy of each promise, as if its file lay in that folder.
        first: The promise under which the bounded tables are built: they are the same for all.
        key: The secret key that orders a unit's rows. Neighbours share it: the proofs hold for each value of it.
        after: The worker without data; it may be that of the neighbours, too.
        verified: As for `Remembering`.
        behind: What is done to the backend before it is asked.
    """

    def __init__(
        self,
        folder: Path,
        fill: Callable[[Path], None],
        policies: Callable[[Path, Promise], Policy],
        first: Promise,
        key: bytes,
        after: PostProcess,
        verified: set[EngineStatement],
        behind: Callable[[Backend], Backend] = as_it_is,
    ) -> None:
        folder.mkdir()
        fill(folder)
        self._folder, self._policies, self._key = folder, policies, key
        self._proxy = Proxy(
            policies(folder, first), self.ledger(first), folder / "cache", FixedSampler(0), private=False
        )
        self._engine = Remembering(self._proxy._backend.engine, verified)
        self._after, self._behind, self._first = after, behind, first
        self._counts: FactCounts | None = None

    @property
    def metrics(self) -> Mapping[str, RowMetric]:
        """Those of the policy."""
        return self._proxy._backend.metrics

    def close(self) -> None:
        """Ends its processes."""
        self._proxy.close()

    def ledger(self, promise: Promise) -> Ledger:
        """A new ledger, in memory."""
        policy = self._policies(self._folder, promise)
        ledger = Ledger.open(None, pinned=pinned_of(policy), limits=limits_of(policy))
        ledger._state.contribution_key = self._key
        return ledger

    def backend(self, promise: Promise) -> Backend:
        """What a session under that promise is made of, on a ledger of its own."""
        own, policy = self._proxy._backend, self._policies(self._folder, promise)
        catalog = build_catalog(policy, own.engine.public, own.engine.version)
        return self._behind(
            replace(own, engine=self._engine, post_process=self._after, catalog=catalog, ledger=self.ledger(promise))
        )

    @property
    def counts(self) -> FactCounts:
        """The exact counts behind facts, as the owner's process has them."""
        if self._counts is None:
            shape = shape_of(self._policies(self._folder, self._first))
            place = self._folder / "facts"
            place.mkdir(mode=0o700)
            sizes, totals = (
                counted(shape, key=self._key, directory=place, stage=stage, heavy=stage == STAGES[0])
                for stage in STAGES
            )
            self._counts = FactCounts([*sizes["counts"], *totals["counts"]], [dict(found) for found in sizes["heavy"]])
        return self._counts

    def ask(self, templates: Sequence[Template], promise: Promise, seed: int) -> list[Run]:
        """The templates in order, on a ledger of their own."""
        backend = self.backend(promise)
        runs = [asked(backend, template, promise, f"{seed}, {template}") for template in templates]
        backend.ledger.close()
        return runs


class Neighbours(Closing):
    """Databases by their names, as `neighbours_of` tells neighbours by them.

    Args:
        fills: Name to what writes the database into a folder.
        policies, first, key, behind: As for `Neighbour`.
        told: Called with the name of each database before it is made.
    """

    def __init__(
        self,
        fills: Mapping[str, Callable[[Path], None]],
        policies: Callable[[Path, Promise], Policy],
        first: Promise,
        key: bytes,
        behind: Callable[[Backend], Backend] = as_it_is,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpsql-audit-")))
            self._databases = dict[str, Neighbour]()
            after, verified = PostProcess(MEMORY), set[EngineStatement]()
            stack.callback(after.close)
            for number, (name, fill) in enumerate(fills.items()):
                told(name)
                database = Neighbour(folder / str(number), fill, policies, first, key, after, verified, behind)
                stack.callback(database.close)
                self._databases[name] = database
            self._open = stack.pop_all()

    @property
    def names(self) -> list[str]:
        """Those of the databases, in the order in which they were made."""
        return list(self._databases)

    @property
    def metrics(self) -> Mapping[str, RowMetric]:
        """Those of the policy, as the first of them has them: they follow from public tables."""
        return next(iter(self._databases.values())).metrics

    def counts(self, name: str) -> FactCounts:
        """The exact counts behind facts, of one database."""
        return self._databases[name].counts

    def close(self) -> None:
        """Ends their processes, and removes them."""
        self._open.close()

    def replay(
        self,
        templates: Sequence[Template],
        promises: Sequence[Promise],
        databases: Collection[str] = (),
        seed: int = 0,
    ) -> Replay:
        """Every template under every promise on every database (or those named), with the noise of one seed.

        Databases that have no neighbour under a promise are not asked.
        """
        names = [name for name in self._databases if not databases or name in databases]
        on = {
            promise: dict.fromkeys(name for pair in neighbours_of(names, promise) for name in pair) or names
            for promise in promises
        }
        return Replay(
            {
                (promise, name): self._databases[name].ask(templates, promise, seed)
                for promise in promises
                for name in on[promise]
            }
        )
