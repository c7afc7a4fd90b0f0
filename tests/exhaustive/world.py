"""Every tiny table behind the real engine, under both relations."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.audit.replay import Promise
from dpsql.audit.world import MEMORY, Neighbour
from dpsql.closing import Closing
from dpsql.policy import Policy, load_policy
from dpsql.session import Session
from tests.exhaustive.tables import FAMILIES, LISTED, RELATIONS, Family, Table, policy_text, write

__all__ = ["TinyWorld"]

TOGETHER = 45
"""Tables in one database. Measured: what one of them takes to build grows with their number."""

KEY = bytes(32)
"""The secret key by which caps keep rows: the same for all, as it is for neighbours."""


class TinyWorld(Closing):
    """Sessions over every table of some families.

    Args:
        most: Family to the most rows that a table of it has; by default those whose laws are `LISTED`.
    """

    def __init__(self, most: Mapping[str, int] | None = None) -> None:
        self.most = LISTED if most is None else most
        self._sessions = dict[tuple[str, Table, str], Session]()
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpsql-tiny-")))
            after = PostProcess(MEMORY)
            stack.callback(after.close)
            for name, rows in self.most.items():
                family = FAMILIES[name]
                tables = family.of(rows)
                for start in range(0, len(tables), TOGETHER):
                    own = tables[start : start + TOGETHER]
                    place, fill = folder / f"{name}_{start}", partial(write, family=family, tables=own)
                    there = Neighbour(
                        place, fill, partial(_policy, family, own), _promise(RELATIONS[0]), KEY, after, set()
                    )
                    stack.callback(there.close)
                    for relation in RELATIONS:
                        session = Session(there.backend(_promise(relation)), "ana")
                        self._sessions |= {(name, table, relation): session for table in own}
            self._open = stack.pop_all()

    def session(self, family: Family, table: Table, relation: str) -> Session:
        """A session over the database of that table."""
        return self._sessions[family.name, table, relation]

    def close(self) -> None:
        """Ends the engines, and removes the databases."""
        self._open.close()


def _promise(relation: str) -> Promise:
    return Promise(relation, "zcdp")


@lru_cache
def _read(family: Family, tables: tuple[Table, ...], promise: Promise) -> Policy:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tiny.yaml"
        file.write_text(policy_text(family, tables, promise.neighbours, promise.composition))
        return load_policy(file)


def _policy(family: Family, tables: tuple[Table, ...], folder: Path, promise: Promise) -> Policy:
    """The policy, as if its file lay in the folder."""
    policy = _read(family, tables, promise).model_copy()
    policy._file = folder / "tiny.yaml"
    return policy
