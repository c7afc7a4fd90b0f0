"""The DuckDB engine: a locked worker over one version of the bounded file.

Tests: tests/unit/engine/test_duckdb.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.engine.base import EngineStatement, PublicTable
from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb import FILE
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.log import OPERATOR, TELLS
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError
from dpsql.privacy.tables import RawTable
from dpsql.worker.client import Worker, WorkerFailed

if TYPE_CHECKING:
    from dpsql.policy import EngineSection

__all__ = ["DuckDBEngine", "open_engine"]

NOT_READY = f"The engine is not ready. Nothing was spent. {TELLS}"


def open_engine(place: Path, version: int, public: Mapping[str, PublicTable], section: EngineSection) -> DuckDBEngine:
    """The engine over a version's directory; see `dpsql.owner.engines.Opening`."""
    return DuckDBEngine(
        place / FILE, version=version, public=public, deadline=section.deadline_seconds, memory=section.memory_bytes
    )


class DuckDBEngine:
    """An `Engine` over one bounded file. Safe to share between threads: they take turns.

    Args:
        file: The bounded file; whoever opens the engine knows that it is sound.
        version: The table version that it holds.
        public: Its public tables, by name.
        deadline: Seconds that one statement may run.
        memory: Bytes that the worker may take.
    """

    def __init__(
        self,
        file: Path,
        *,
        version: int,
        public: Mapping[str, PublicTable],
        deadline: float,
        memory: int,
    ) -> None:
        self._version = version
        self._public = public
        self._deadline = deadline
        self._worker = Worker(file, memory)
        self._worker.warm()

    @property
    def version(self) -> int:
        """The table version."""
        return self._version

    @property
    def public(self) -> Mapping[str, PublicTable]:
        """The public tables, by name."""
        return self._public

    @property
    def dialect(self) -> Dialect:
        """DuckDB's words."""
        return DUCKDB

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
