"""The awkward clinic and its neighbours, each behind a real engine, asked the same questions with the same noise."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dpsql.audit.replay import BOTH, Promise, Replay, Run
from dpsql.audit.template import Template
from dpsql.audit.world import Neighbours
from dpsql.policy import EngineSection, Policy
from tests.attacks.neighbours import AWKWARD, policy_in, units, write_database
from tests.settled import settled

__all__ = ["SOME", "World"]

_BUILD = re.compile(r'(?<=")[0-9a-f]{8}:|\bb[0-9a-f]{8}_')
"""With what the bounded tables of PostgreSQL and of Spark begin: random digits of each build."""

SOME = ("everybody", "without in all groups", "without the heaviest", "without one above the caps")
"""Everybody, and neighbours that lose the most: what every statement is asked on."""


class World(Neighbours):
    """One database and its neighbours: without each of the given units, with one unit alone, and with nobody.

    Args:
        seed: Moves the ordinary values, the order of rows and the secret key.
        removed: Which units are left out, one at a time.
        last: Units that are left alone, one at a time; with any there is a database of nobody too.
        moved: Brings the DuckDB file of a folder to another engine, and says where the policy finds it there.
    """

    def __init__(
        self,
        seed: int,
        removed: Collection[str] = tuple(AWKWARD),
        last: Collection[str] = ("in all groups",),
        moved: Callable[[Path], EngineSection] | None = None,
    ) -> None:
        self._moved, self._sections = moved, dict[Path, EngineSection]()
        everybody = units(seed).keys()
        present = {"everybody": set(everybody)}
        present |= {f"without {name}": set(everybody) - {name} for name in removed}
        present |= {f"only {name}": {name} for name in last} | ({"nobody": set()} if last else {})
        fills = {name: partial(self._fill, seed, there) for name, there in present.items()}
        super().__init__(fills, self._policy, BOTH[0], bytes([seed % 256]) * 32, behind=settled)

    def in_turns(self, templates: Sequence[Template], promises: Sequence[Promise]) -> list[Replay]:
        """Every template on `SOME` and on a third of the other databases: each of these has every third template."""
        others = [name for name in self._databases if name not in SOME]
        return [self.replay(templates[turn::3], promises, (*SOME, *others[turn::3])) for turn in range(3)]

    def replay(
        self,
        templates: Sequence[Template],
        promises: Sequence[Promise] = BOTH,
        databases: Collection[str] = (),
        seed: int = 0,
    ) -> Replay:
        """As `Neighbours.replay`, under both promises. What an engine calls its builds is left out of statements."""
        found = super().replay(templates, promises, databases, seed)
        return Replay({asked: [_without_builds(run) for run in runs] for asked, runs in found.runs.items()})

    def _fill(self, seed: int, present: Collection[str], folder: Path) -> None:
        write_database(folder / "clinic.duckdb", seed, present)
        if self._moved is not None:
            self._sections[folder] = self._moved(folder / "clinic.duckdb")

    def _policy(self, folder: Path, promise: Promise) -> Policy:
        policy = policy_in(folder, promise.neighbours, promise.composition)
        return policy.model_copy(update={"engine": self._sections.get(folder, policy.engine)})


def _without_builds(run: Run) -> Run:
    return replace(run, statements=tuple((_BUILD.sub("", sql), values, spent) for sql, values, spent in run.statements))
