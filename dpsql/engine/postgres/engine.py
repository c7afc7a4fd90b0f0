"""The PostgreSQL engine: our SQL over one build of the bounded tables, on a connection that can only read.

What DuckDB's worker verifies with its own parser is verified here by three things together: the protocol takes one
statement at a time; PostgreSQL plans it before the charge, and its plan may read no other tables than were expected and
must give the expected columns; and no function can be reached but PostgreSQL's own (``search_path``), by a role that
may read the bounded tables alone.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from dpsql.engine.base import EngineStatement, PublicTable
from dpsql.engine.guarded import GuardedEngine, Unreached
from dpsql.engine.postgres import bounded
from dpsql.engine.postgres.connecting import connected, driver, settle
from dpsql.engine.postgres.numbers import read_numbers
from dpsql.engine.postgres.words import NEAREST_TO_ZERO
from dpsql.errors import InvariantBroken, OperationalError
from dpsql.worker.process import WorkerFailed
from dpsql.worker.trees import nodes

if TYPE_CHECKING:
    from psycopg import Connection

    from dpsql.engine.postgres.section import PostgresSection
    from dpsql.policy import EngineSection

__all__ = ["PostgresEngine", "open_engine"]

T = TypeVar("T")

MOST_IDLE = 4  # Connections that wait for the next statement. It is a choice: a new one takes some 10 ms.
GRACE = 5.0  # Seconds that a server has beyond the deadline to say that it passed; then the connection is cut.
WIRE = {20: "BIGINT", 1700: "HUGEINT", 701: "DOUBLE", 25: "VARCHAR", 1082: "DATE", 1114: "TIMESTAMP", 16: "BOOLEAN"}
"""The wire type of each of PostgreSQL's types, by its number (pg_type.oid)."""


def open_engine(place: Path, version: int, public: Mapping[str, PublicTable], section: EngineSection) -> PostgresEngine:
    """The engine over a version's directory; see `dpsql.owner.engines.Opening`."""
    own = cast("PostgresSection", section)
    return PostgresEngine(
        own.query_dsn or own.dsn, bounded.read(place), version=version, public=public, deadline=own.deadline_seconds
    )


class PostgresEngine(GuardedEngine):
    """An `Engine` over one build. Safe to share between threads: each has a connection of its own.

    Args:
        dsn: How to connect.
        tables: The build.
        version: The table version that it holds.
        public: Its public tables, by name.
        deadline: Seconds that one statement may run.
    """

    def __init__(
        self, dsn: str, tables: bounded.Bounded, *, version: int, public: Mapping[str, PublicTable], deadline: float
    ) -> None:
        super().__init__(version, public, tables.dialect, deadline)
        self._dsn, self._tables, self._deadline = dsn, tables, deadline
        self._idle: list[Connection[Any]] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes the connections. Harmless when repeated."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _stand(self) -> None:
        self._held(lambda _: None)

    def _verify(self, statement: EngineStatement) -> None:
        self._held(lambda connection: self._planned(connection, statement))

    def _run(self, statement: EngineStatement) -> Mapping[str, Sequence[Any]]:
        return self._held(lambda connection: self._columns(connection, statement))

    def _held(self, work: Callable[[Connection[Any]], T]) -> T:
        """What is done on a connection, by the deadline. One that failed is not used again.

        Raises:
            WorkerFailed: If the server does not answer, or says that the statement failed.
            Unreached: If it does not take it, or ended the connection for a reason of its own.
        """
        psycopg = driver()
        late = threading.Event()
        connection = self._connection()

        def give_up() -> None:
            late.set()
            connection.pgconn.finish()

        watch = threading.Timer(self._deadline + GRACE, give_up)
        watch.daemon = True
        watch.start()
        try:
            done = work(connection)
        except (psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown) as error:
            connection.close()
            raise Unreached(str(error)) from error
        except psycopg.Error as error:
            over = late.is_set() or isinstance(error, psycopg.errors.QueryCanceled)
            stands = isinstance(error, psycopg.errors.DatabaseError) and not connection.closed
            connection.close()
            raise WorkerFailed(f"{type(error).__name__}: {error}", overrun=over, answered=stands) from error
        except BaseException:  # Ctrl-C included: an answer may still be on its way
            connection.close()
            raise
        finally:
            watch.cancel()
        with self._lock:
            keep = len(self._idle) < MOST_IDLE
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()
        return done

    def _connection(self) -> Connection[Any]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None and not connection.closed and _stands(connection):
            return connection
        try:
            fresh = connected(self._dsn)
            settle(fresh, default_transaction_read_only="on", statement_timeout=f"{int(self._deadline * 1000)}ms")
        except OperationalError as error:
            raise Unreached(f"{error} {error.__cause__ or ''}") from error
        read_numbers(fresh)
        return fresh

    def _planned(self, connection: Connection[Any], statement: EngineStatement) -> None:
        """Returns if the server's plan reads what was expected. A statement with binary results is a single one.

        Raises:
            InvariantBroken: It reads other tables, or gives other columns.
        """
        ((plans,),) = connection.execute(
            f"EXPLAIN (FORMAT JSON, VERBOSE) {statement.sql}".encode(), _bound(statement), binary=True
        ).fetchall()
        prefix, schema = self._dialect.prefix, self._tables.schema
        expected = {(schema, prefix + name) for name in statement.tables}
        found = {(node.get("Schema"), node["Relation Name"]) for node in nodes(plans) if "Relation Name" in node}
        if not found <= expected:
            raise InvariantBroken(f"PostgreSQL reads {sorted(map(str, found - expected))}, which were not expected")
        self._require_columns(connection, statement)

    def _require_columns(self, connection: Connection[Any], statement: EngineStatement) -> None:
        prepared = connection.pgconn.prepare(b"", statement.sql.encode(), None)
        described = connection.pgconn.describe_prepared(b"")
        if prepared.error_message or described.error_message:
            raise InvariantBroken("PostgreSQL does not read the statement")
        found = [
            ((described.fname(place) or b"").decode(), WIRE.get(described.ftype(place), "?"))
            for place in range(described.nfields)
        ]
        if found != list(statement.columns):
            raise InvariantBroken(f"PostgreSQL gives columns {found}, not {list(statement.columns)}")

    def _columns(self, connection: Connection[Any], statement: EngineStatement) -> dict[str, Sequence[Any]]:
        sql, most = statement.sql, statement.most_rows
        if most is not None:
            sql = f"SELECT * FROM ({sql}) AS limited LIMIT {most + 1}"
        cursor = connection.execute(sql.encode(), _bound(statement), binary=True)
        found = [(c.name, WIRE.get(c.type_code, "?")) for c in cursor.description or ()]
        if found != list(statement.columns):
            raise InvariantBroken(f"PostgreSQL gives columns {found}, not {list(statement.columns)}")
        rows = cursor.fetchall()
        if most is not None and len(rows) > most:
            raise WorkerFailed(f"it has more than {most:,} rows", answered=True)
        columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * len(found)
        return {name: _column(wire, values) for (name, wire), values in zip(found, columns, strict=True)}


def _stands(connection: Connection[Any]) -> bool:
    """Whether the server still speaks on a connection that waited."""
    try:
        connection.execute("SELECT 1")
    except driver().Error:
        connection.close()
        return False
    return True


def _bound(statement: EngineStatement) -> list[Any]:
    """The parameters; a real number that the dialect counts as 0 is one."""
    return [
        0.0 if isinstance(value, float) and abs(value) < NEAREST_TO_ZERO else value for value in statement.parameters
    ]


def _column(wire: str, values: Sequence[Any]) -> Sequence[Any]:
    if wire in _NUMPY and None not in values:
        return np.array(values, _NUMPY[wire])  # type: ignore[return-value]  # an array, as the other engines give
    return list(values)


_NUMPY = {"BIGINT": np.int64, "DOUBLE": np.float64}
