"""One database and its neighbours, each behind a real engine, asked the same questions with the same noise."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

from dpsql.answers.postprocess import PostProcess
from dpsql.engine.base import Engine, EngineStatement, PublicTable
from dpsql.engine.dialect import Dialect
from dpsql.ledger.ledger import Ledger
from dpsql.owner.catalog import build_catalog
from dpsql.policy import Policy
from dpsql.privacy.tables import RawTable
from dpsql.proxy import Proxy, limits_of, pinned_of
from dpsql.testing_samplers import FixedSampler
from tests.attacks.neighbours import AWKWARD, policy_in, units, write_database
from tests.attacks.replay import BOTH, Promise, Replay, Run, asked, neighbours_of
from tests.attacks.templates import Template

__all__ = ["SOME", "World"]

MEMORY = 2 << 30  # bytes for the worker without data


class Remembering:
    """An engine that runs a statement once, however many promises it is asked under: its rows do not change.

    Args:
        engine: The engine.
        verified: The statements that it, or that of a neighbour, has read as they were meant: their tables are alike.
    """

    def __init__(self, engine: Engine, verified: set[EngineStatement]) -> None:
        self._engine = engine
        self._verified = verified
        self._results: dict[tuple[EngineStatement, tuple[type, ...]], RawTable] = {}

    @property
    def version(self) -> int:
        """The table version."""
        return self._engine.version

    @property
    def public(self) -> Mapping[str, PublicTable]:
        """The public tables."""
        return self._engine.public

    @property
    def dialect(self) -> Dialect:
        """How the engine spells SQL."""
        return self._engine.dialect

    def verify(self, statement: EngineStatement) -> None:
        """As the engine does, once for all neighbours; before it runs a statement, each looks itself."""
        if statement not in self._verified:
            self._engine.verify(statement)
            self._verified.add(statement)

    def run(self, statement: EngineStatement) -> RawTable:
        """The engine's exact result."""
        key = _told_apart(statement)
        if key not in self._results:
            self._results[key] = self._engine.run(statement)
        return self._results[key]

    def close(self) -> None:
        """Ends the engine."""
        self._engine.close()


def _told_apart(statement: EngineStatement) -> tuple[EngineStatement, tuple[type, ...]]:
    """What sets a statement apart: 1, 1.0 and True are equal, but not the same parameters."""
    return statement, tuple(type(value) for value in statement.parameters)


class Database:
    """One database behind a real engine, asked under several promises.

    Args:
        folder: Where it is made.
        seed: As for `World`.
        present: The units that are there.
        after: The worker without data; it may be that of the neighbours, too.
        verified: As for `Remembering`.
    """

    def __init__(
        self, folder: Path, seed: int, present: Collection[str], after: PostProcess, verified: set[EngineStatement]
    ) -> None:
        folder.mkdir()
        write_database(folder / "clinic.duckdb", seed, present)
        self._folder = folder
        self._key = bytes([seed % 256]) * 32
        first = BOTH[0]
        self._proxy = Proxy(self._policy(first), self._ledger(first), folder / "cache", FixedSampler(0), private=False)
        self._engine = Remembering(self._proxy._backend.engine, verified)
        self._after = after

    def close(self) -> None:
        """Ends its processes."""
        self._proxy.close()

    def _policy(self, promise: Promise) -> Policy:
        return policy_in(self._folder, promise.neighbours, promise.composition)

    def _ledger(self, promise: Promise) -> Ledger:
        policy = self._policy(promise)
        ledger = Ledger.open(None, pinned=pinned_of(policy), limits=limits_of(policy))
        # Neighbours share the secret key that orders rows: the proofs hold for each value of it.
        ledger._state.contribution_key = self._key
        return ledger

    def ask(self, templates: Sequence[Template], promise: Promise, seed: int) -> list[Run]:
        """The templates in order, on a ledger of their own."""
        ledger = self._ledger(promise)
        own = self._proxy._backend
        catalog = build_catalog(self._policy(promise), own.engine.public, own.engine.version)
        backend = replace(own, engine=self._engine, post_process=self._after, catalog=catalog, ledger=ledger)
        runs = [asked(backend, template, promise, f"{seed}, {template}") for template in templates]
        ledger.close()
        return runs


SOME = ("everybody", "without in all groups", "without the heaviest", "without one above the caps")
"""Everybody, and neighbours that lose the most: what every statement is asked on."""


class World:
    """One database and its neighbours: without each of the given units, with one unit alone, and with nobody.

    Args:
        seed: Moves the ordinary values, the order of rows and the secret key.
        removed: Which units are left out, one at a time.
        last: Units that are left alone, one at a time; with any there is a database of nobody too.
    """

    def __init__(
        self, seed: int, removed: Collection[str] = tuple(AWKWARD), last: Collection[str] = ("in all groups",)
    ) -> None:
        everybody = units(seed).keys()
        present = {"everybody": set(everybody)}
        present |= {f"without {name}": set(everybody) - {name} for name in removed}
        present |= {f"only {name}": {name} for name in last} | ({"nobody": set()} if last else {})
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="replay-")))
            self._databases = {}
            after, verified = PostProcess(MEMORY), set[EngineStatement]()
            stack.callback(after.close)
            for number, (name, there) in enumerate(present.items()):
                database = Database(folder / str(number), seed, there, after, verified)
                stack.callback(database.close)
                self._databases[name] = database
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def in_turns(self, templates: Sequence[Template], promises: Sequence[Promise] = BOTH) -> list[Replay]:
        """Every template on `SOME` and on half of the other databases: each of these has every second template."""
        others = [name for name in self._databases if name not in SOME]
        return [self.replay(templates[turn::2], promises, (*SOME, *others[turn::2])) for turn in (0, 1)]

    def replay(
        self,
        templates: Sequence[Template],
        promises: Sequence[Promise] = BOTH,
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
