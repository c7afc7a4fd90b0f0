"""The DuckDB engine: a locked worker over one version of the bounded file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.engine.base import EngineStatement, PublicTable
from dpsql.engine.log import OPERATOR, TELLS
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError
from dpsql.owner.builder import FACTS, FILE, unchanged, version_directory
from dpsql.owner.facts import public_table
from dpsql.owner.shape import shape_of
from dpsql.privacy.tables import RawTable
from dpsql.worker import wire
from dpsql.worker.client import Worker, WorkerFailed

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["DuckDBEngine"]

NOT_READY = f"The engine is not ready. Nothing was spent. {TELLS}"


class DuckDBEngine:
    """An `Engine` over one version of the bounded tables. Safe to share between threads: they take turns.

    Args:
        policy: What the version was built from.
        directory: Where its versions lie.
        version: The table version.
        threads: How many threads the engine may use; by default one per processor.

    Raises:
        OperationalError: If the version is not there, or the data or the policy's tables changed since it was built.
    """

    def __init__(self, policy: Policy, directory: Path, version: int, *, threads: int | None = None) -> None:
        place = version_directory(directory, version)
        try:
            facts = wire.decode((place / FACTS).read_bytes())
        except FileNotFoundError:
            raise _stale(f"Version {version} of the bounded tables is not in {directory}") from None
        shape = shape_of(policy)
        if facts["shape"] != shape.digest:
            raise _stale(f"The policy's tables changed since version {version} was built")
        if not unchanged(shape, facts, place):
            raise _stale(f"The data changed since version {version} was built")
        self._version = version
        self._public = {name: public_table(name, table) for name, table in facts["public"].items()}
        self._deadline = policy.engine.deadline_seconds
        self._worker = Worker(place / FILE, policy.engine.memory_bytes, threads)
        self._worker.warm()

    @property
    def version(self) -> int:
        """The table version."""
        return self._version

    @property
    def public(self) -> Mapping[str, PublicTable]:
        """The public tables, by name."""
        return self._public

    def verify(self, statement: EngineStatement) -> None:
        """Returns if the worker stands, and reads the statement as it was meant; see `Engine.verify`."""
        try:
            self._worker.verify(statement, deadline=self._deadline)
        except WorkerFailed as failure:
            OPERATOR.error("the engine is not ready: %s\n%s", failure.detail, statement.sql)
            raise OperationalError(NOT_READY) from failure
        except InvariantBroken as bug:
            raise _otherwise(bug, statement) from None

    def run(self, statement: EngineStatement) -> RawTable:
        """The statement's exact result; see `Engine.run`."""
        try:
            return RawTable(self._worker.run(statement, deadline=self._deadline))
        except WorkerFailed as failure:
            OPERATOR.error("the engine failed: %s\n%s", failure.detail, statement.sql)
            raise EngineFailed from failure
        except InvariantBroken as bug:
            raise _otherwise(bug, statement) from None

    def close(self) -> None:
        """Frees the worker. Harmless when repeated."""
        self._worker.close()


def _otherwise(bug: InvariantBroken, statement: EngineStatement) -> InvariantBroken:
    """A fixed text: what the engine's own parser said is for the owner's log alone."""
    OPERATOR.error("%s\n%s", bug, statement.sql)
    return InvariantBroken("The engine reads the statement otherwise than it was meant; it was not run.")


def _stale(what: str) -> OperationalError:
    return OperationalError(f"{what}. The data owner must run: dpsql refresh POLICY")
