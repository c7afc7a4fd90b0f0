"""The awkward clinic and its neighbours, each behind a real engine, asked the same questions with the same noise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

from dpsql.audit.replay import BOTH, Promise, Replay
from dpsql.audit.template import Template
from dpsql.audit.world import Neighbours
from dpsql.policy import Policy
from tests.attacks.neighbours import AWKWARD, policy_in, units, write_database
from tests.settled import settled

__all__ = ["SOME", "World"]

SOME = ("everybody", "without in all groups", "without the heaviest", "without one above the caps")
"""Everybody, and neighbours that lose the most: what every statement is asked on."""


class World(Neighbours):
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
        fills = {name: partial(_fill, seed, there) for name, there in present.items()}
        super().__init__(fills, _policy, BOTH[0], bytes([seed % 256]) * 32, behind=settled)

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
        """As `Neighbours.replay`, under both promises."""
        return super().replay(templates, promises, databases, seed)


def _fill(seed: int, present: Collection[str], folder: Path) -> None:
    write_database(folder / "clinic.duckdb", seed, present)


def _policy(folder: Path, promise: Promise) -> Policy:
    return policy_in(folder, promise.neighbours, promise.composition)
