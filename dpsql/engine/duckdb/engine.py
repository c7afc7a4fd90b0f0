"""The DuckDB engine: locked workers over one version of the bounded file.

Tests: tests/unit/engine/test_duckdb.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.engine.base import EngineStatement, PublicTable
from dpsql.engine.duckdb import FILE
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.guarded import GuardedEngine
from dpsql.privacy.tables import RawTable
from dpsql.worker.pool import Pool, at_once

if TYPE_CHECKING:
    from dpsql.policy import EngineSection

__all__ = ["DuckDBEngine", "open_engine"]


def open_engine(place: Path, version: int, public: Mapping[str, PublicTable], section: EngineSection) -> DuckDBEngine:
    """The engine over a version's directory; see `dpsql.owner.engines.Opening`."""
    return DuckDBEngine(
        place / FILE, version=version, public=public, deadline=section.deadline_seconds, memory=section.memory_bytes
    )


class DuckDBEngine(GuardedEngine):
    """An `Engine` over one bounded file. Safe to share between threads: as many are at work as there are workers.

    Args:
        file: The bounded file; whoever opens the engine knows that it is sound.
        version: The table version that it holds.
        public: Its public tables, by name.
        deadline: Seconds that one statement may run.
        memory: Bytes that one worker may take.
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
        super().__init__(version, public, DUCKDB)
        self._deadline = deadline
        self._workers = Pool(file, memory, at_once(memory))
        self._workers.warm()

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """The results of several statements, which go to one worker together; see `Engine.run_all`."""
        if any(map(self._is_public, statements)):  # what is free has its own turns
            return super().run_all(statements)
        return self._results(statements, lambda: self._workers.run_all(statements, deadline=self._deadline))

    def close(self) -> None:
        """Frees the workers. Harmless when repeated."""
        self._workers.close()

    def _stand(self) -> None:
        self._workers.stand()

    def _verify(self, statement: EngineStatement) -> None:
        self._workers.verify(statement, deadline=self._deadline, public=self._is_public(statement))

    def _run(self, statement: EngineStatement) -> Mapping[str, Sequence[Any]]:
        return self._workers.run(statement, deadline=self._deadline, public=self._is_public(statement))

    def _is_public(self, statement: EngineStatement) -> bool:
        return statement.tables <= self.public.keys()
