"""What every engine does around its own way of asking: fixed texts for analysts, details for the owner's log alone.

Tests: tests/unit/engine/test_duckdb.py, tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from dpsql.closing import Closing
from dpsql.engine.base import EngineStatement, PublicTable
from dpsql.engine.dialect import Dialect
from dpsql.engine.log import OPERATOR, TELLS
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError
from dpsql.privacy.tables import RawTable
from dpsql.worker.process import WorkerFailed

__all__ = ["NOT_READY", "GuardedEngine", "Unreached"]

T = TypeVar("T")

NOT_READY = f"The engine is not ready. Nothing was spent. {TELLS}"
OTHERWISE = "The engine reads the statement otherwise than it was meant; it was not run."
AGAIN_SECONDS = 0.2  # Between two tries to reach a server. It is a choice: a server starts anew in seconds.


class Unreached(WorkerFailed):
    """Nobody took the statement, or who took it was told to stop: a server that starts anew, or is full."""


class GuardedEngine(Closing):
    """An `Engine`, but for how it asks.

    Args:
        version: The table version that it holds.
        public: Its public tables, by name.
        dialect: Its words.
        patience: Seconds in which a charged statement is brought to a server that does not take it.
    """

    def __init__(
        self, version: int, public: Mapping[str, PublicTable], dialect: Dialect, patience: float = 0.0
    ) -> None:
        self._version, self._public, self._dialect, self._patience = version, public, dialect, patience
        self._told = False  # whether the owner's log says already that the engine does not stand

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
        """How it spells SQL."""
        return self._dialect

    def verify(self, statement: EngineStatement) -> None:
        """Returns if the engine stands, and reads the statement as it was meant; see `Engine.verify`."""
        try:
            self._verify(statement)
        except WorkerFailed as failure:
            OPERATOR.error("the engine is not ready: %s\n%s", failure.detail, statement.sql)
            raise OperationalError(NOT_READY) from failure
        except InvariantBroken as bug:
            raise _otherwise(bug, statement) from None

    def stand(self) -> None:
        """Returns if the engine stands; see `Engine.stand`. The owner's log says it once of one that does not."""
        try:
            self._stand()
        except WorkerFailed as failure:
            if not self._told:
                OPERATOR.error("the engine is not ready: %s", failure.detail)
            self._told = True
            raise OperationalError(NOT_READY) from failure
        self._told = False

    def run(self, statement: EngineStatement) -> RawTable:
        """The statement's exact result; see `Engine.run`."""
        (found,) = self._results([statement], lambda: [self._run(statement)])
        return found

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """The results of several statements; see `Engine.run_all`."""
        return [self.run(statement) for statement in statements]

    def _results(
        self, statements: Sequence[EngineStatement], run: Callable[[], Sequence[Mapping[str, Sequence[Any]]]]
    ) -> list[RawTable]:
        """The results of what runs statements."""
        try:
            return [RawTable(columns) for columns in self._taken(run)]
        except WorkerFailed as failure:
            texts = "\n".join(statement.sql for statement in statements)
            OPERATOR.error("the engine failed: %s\n%s", failure.detail, texts)
            raise EngineFailed from failure
        except InvariantBroken as bug:
            raise _otherwise(bug, *statements) from None

    def _taken(self, run: Callable[[], T]) -> T:
        """As `run`, once a statement is taken. It is charged by now, and its tables stay as they are."""
        end = time.monotonic() + self._patience
        while True:
            try:
                return run()
            except Unreached:
                if time.monotonic() >= end:
                    raise
            time.sleep(AGAIN_SECONDS)

    @abstractmethod
    def _stand(self) -> None:
        """Returns if the engine stands; it is started where it does not.

        Raises:
            WorkerFailed: If it cannot be.
        """

    @abstractmethod
    def _verify(self, statement: EngineStatement) -> None:
        """Returns if the statement can be run, and means what it was meant to.

        Raises:
            WorkerFailed: If the engine does not stand.
            InvariantBroken: If it reads another statement.
        """

    @abstractmethod
    def _run(self, statement: EngineStatement) -> Mapping[str, Sequence[Any]]:
        """The columns of the statement's result.

        Raises:
            WorkerFailed: If there is none.
            InvariantBroken: If the engine reads another statement than was meant. Nothing was run.
        """


def _otherwise(bug: InvariantBroken, *statements: EngineStatement) -> InvariantBroken:
    """A fixed text: what the engine's own parser said is for the owner's log alone."""
    OPERATOR.error("%s\n%s", bug, "\n".join(statement.sql for statement in statements))
    return InvariantBroken(OTHERWISE)
