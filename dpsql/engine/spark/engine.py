"""The Spark engine: our SQL over one build of the bounded tables, in a session that names nothing else.

What DuckDB's worker verifies with its own parser is verified here by three things together: the server reads each
statement in the place of a sub-query, where nothing but a query can stand; it must give the expected columns; and its
plan, made before the charge, may read no other tables than the expected views.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from dpsql.engine.base import EngineStatement, PublicTable
from dpsql.engine.guarded import GuardedEngine, Unreached
from dpsql.engine.spark import bounded
from dpsql.engine.spark.connecting import SparkFailed, SparkSession, opened
from dpsql.engine.spark.plans import unexpected
from dpsql.engine.spark.types import wire_type
from dpsql.errors import InvariantBroken, OperationalError
from dpsql.worker.process import WorkerFailed

if TYPE_CHECKING:
    from dpsql.engine.spark.section import SparkSection
    from dpsql.policy import EngineSection

__all__ = ["SparkEngine", "open_engine"]

MOST_MEANT = 1_000  # Statements that are remembered as read the way they were meant. It is a choice.
T = TypeVar("T")


def open_engine(place: Path, version: int, public: Mapping[str, PublicTable], section: EngineSection) -> SparkEngine:
    """The engine over a version's directory; see `dpsql.owner.engines.Opening`."""
    own = cast("SparkSection", section)
    return SparkEngine(own.remote, bounded.read(place), version=version, public=public, deadline=own.deadline_seconds)


class SparkEngine(GuardedEngine):
    """An `Engine` over one build. Safe to share between threads, which share its session.

    Args:
        remote: The server.
        tables: The build.
        version: The table version that it holds.
        public: Its public tables, by name.
        deadline: Seconds that one statement may run.
    """

    def __init__(
        self,
        remote: str,
        tables: bounded.ClusterBuild,
        *,
        version: int,
        public: Mapping[str, PublicTable],
        deadline: float,
    ) -> None:
        super().__init__(version, public, tables.dialect, deadline)
        self._remote, self._tables, self._deadline = remote, tables, deadline
        self._session: SparkSession | None = None
        self._meant: set[tuple[Any, ...]] = set()  # what this session was asked to read before
        self._lock = threading.Lock()

    def close(self) -> None:
        """Ends the session. Harmless when repeated."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def _stand(self) -> None:
        self._held(lambda _: None)

    def _verify(self, statement: EngineStatement) -> None:
        self._held(lambda session: self._read_as_meant(session, statement))

    def _run(self, statement: EngineStatement) -> Mapping[str, Sequence[Any]]:
        return self._held(lambda session: self._columns(session, statement))

    def _held(self, work: Callable[[SparkSession], T]) -> T:
        """What is done in a session that stands.

        Raises:
            WorkerFailed: If the server does not answer, or says that the statement failed.
            Unreached: If there is no server that takes it.
        """
        try:
            session = self._standing()
        except SparkFailed as error:
            raise (Unreached if error.gone else WorkerFailed)(str(error)) from error
        except OperationalError as error:
            raise Unreached(f"{error} {error.__cause__ or ''}") from error
        try:
            return work(session)
        except SparkFailed as error:
            raise WorkerFailed(str(error), overrun=error.late, answered=not error.gone) from error

    def _standing(self) -> SparkSession:
        """The session, or a new one where the server has forgotten it."""
        with self._lock:
            if self._session is not None and self._session.stands(self._tables.mark):
                return self._session
            old, self._session = self._session, None
            if old is not None:
                old.close()
            fresh = opened(self._remote)
            try:
                self._tables.show(fresh)
            except SparkFailed:
                fresh.close()
                raise
            self._session = fresh
            self._meant.clear()
            return fresh

    def _read_as_meant(self, session: SparkSession, statement: EngineStatement) -> None:
        """Returns if the server reads the statement as one query of the expected tables.

        Raises:
            InvariantBroken: It reads other tables, or gives other columns.
        """
        meaning = _meaning(statement)
        if meaning in self._meant:
            return
        expected = frozenset(map(self._dialect.bounded, statement.tables))
        in_one_line = {
            name: value.replace("\n", " ") if isinstance(value, str) else value
            for name, value in _bound(statement).items()
        }  # a plan shows constants as they are
        columns, plans = session.explained(statement.sql, in_one_line)
        _require(columns, statement)
        found = unexpected(plans, expected)
        if found is not None:
            raise InvariantBroken(f"Spark reads {found}, which was not expected")
        if len(self._meant) >= MOST_MEANT:
            self._meant.clear()
        self._meant.add(meaning)

    def _columns(self, session: SparkSession, statement: EngineStatement) -> dict[str, Sequence[Any]]:
        if _meaning(statement) not in self._meant:
            _require(session.columns(statement.sql, _bound(statement)), statement)  # and so it is a query
        table = session.rows(statement.sql, _bound(statement), seconds=self._deadline, most=statement.most_rows)
        if table.column_names != [name for name, _ in statement.columns]:
            raise InvariantBroken(f"Spark sent columns {table.column_names}")
        return {
            name: _column(wire, column) for (name, wire), column in zip(statement.columns, table.columns, strict=True)
        }


def _meaning(statement: EngineStatement) -> tuple[Any, ...]:
    """All that the server's reading of a statement hangs on, but for the views, which stay what they are."""
    return statement.sql, tuple(map(type, statement.parameters)), statement.columns, statement.tables


def _require(columns: Sequence[tuple[str, Any]], statement: EngineStatement) -> None:
    found = [(name, wire_type(kind)) for name, kind in columns]
    if found != list(statement.columns):
        raise InvariantBroken(f"Spark gives columns {found}, not {list(statement.columns)}")


def _bound(statement: EngineStatement) -> dict[str, Any]:
    """The parameters by their names."""
    return {f"p{number}": value for number, value in enumerate(statement.parameters, 1)}


def _column(wire: str, column: Any) -> Sequence[Any]:
    if wire in _NUMPY and column.null_count == 0:
        return np.asarray(column.to_numpy(), _NUMPY[wire])  # type: ignore[return-value]  # an array, as other engines
    if wire == "HUGEINT":
        return [None if value is None else int(value) for value in column.to_pylist()]
    return list(column.to_pylist())


_NUMPY = {"BIGINT": np.int64, "DOUBLE": np.float64}
