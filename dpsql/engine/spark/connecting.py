"""Sessions of a Spark Connect server, with all that bears on what SQL means set to what dpsql means.

Messages go by the protocol itself, not by Spark's own session: each has a deadline, none is sent twice, and no
statement is sent as a command that the server runs when it reads it. No relation has a plan ID: by it a server keeps
what it once read of a relation, and shows the columns and files of a table that is another one since.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from dpsql.engine.log import OPERATOR, TELLS
from dpsql.engine.spark.client import driver
from dpsql.errors import OperationalError

__all__ = ["SETTINGS", "SparkFailed", "SparkSession", "opened"]

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""What the owner's server may have set otherwise."""
QUICKER = {"spark.sql.codegen.hugeMethodLimit": "8000"}
"""What changes no answer, where the server lets it be set. Java compiles no method of more bytes (HotSpot's
HugeMethodLimit): without this, Spark 4.3 makes one of a bounded table, which is then interpreted, byte by byte."""
ANSWER_SECONDS = 60.0  # Until a server that does not answer what costs it nothing is given up. It is a choice.
BUILDING_SECONDS = 3600.0
"""The same while it builds, when it is busy: as long as others wait for a build (`owner.building.builder.PATIENCE`)."""
ALIVE = {"grpc.keepalive_time_ms": 320_000, "grpc.keepalive_timeout_ms": 300_000}
"""How often a server that works is asked for a sign of life, and how long it may take: no statement of a build has an
end in time, and a machine that went without a word would be waited for. gRPC's server in Java, which is Apache Spark's,
ends connections that ask more often than each 300 seconds."""
REFUSES = "Spark does not answer, or does not let dpsql in. Mend engine.remote."
LACKS = "This Spark lacks what dpsql's SQL is made of. Name one of version 4 or newer at engine.remote."
INTERRUPT_SECONDS = 5.0  # The same of what tells it to stop. It is a choice.
_TRIED = "dpsql_tried"  # A view of what is tried of a server.
_NEWEST = (
    "SELECT 1 AS one, TRY_CAST('x' AS BIGINT) AS two, split_part('a', 'b', 1) AS three, "
    "CAST(:day AS TIMESTAMP_NTZ) AS four"
)
"""What that view shows: the newest of what dpsql's SQL is made of. Spark 4 has it all, 3.3 has not."""
_FULL = re.compile("RESOURCE_EXHAUSTED|No space left|OutOfMemory|Resources exhausted")
"""How Spark, Sail and the systems below them say that they are at an end."""


class SparkFailed(Exception):  # noqa: N818 - a server's word, made into one of `dpsql.errors` by who asked
    """The server said no, or nothing.

    Attributes:
        late: Whether the deadline passed.
        gone: Whether there is no server.
        full: Whether it is out of disk or memory.
        lacking: Whether it lacks what dpsql's SQL is made of.
    """

    def __init__(self, what: str, *, late: bool = False, gone: bool = False) -> None:
        super().__init__(what)
        self.late = late
        self.gone = gone
        self.full = _FULL.search(what) is not None
        self.lacking = False


def opened(remote: str, seconds: float = ANSWER_SECONDS) -> SparkSession:
    """A settled session.

    Args:
        remote: ``sc://host:port/;token=..``: all that Spark Connect's connection strings may say.
        seconds: How long the server may take to answer what costs it nothing.

    Raises:
        OperationalError: If there is none. What the server said is its cause, for the owner's log.
    """
    try:
        builder = driver().channel(remote)
        builder.setChannelOption("grpc.use_local_subchannel_pool", 1)  # else what failed before would fail for a while
        for option, value in ALIVE.items():
            builder.setChannelOption(option, value)
        session = SparkSession(builder, builder.session_id or _name(), builder.userId or "dpsql", seconds)
    except OperationalError:
        raise
    except Exception as error:  # pyspark raises what it likes at a string that it cannot read
        raise OperationalError(
            "engine.remote is no connection string of Spark Connect. Write such as sc://localhost:15002."
        ) from error
    try:
        session.settle()
    except SparkFailed as error:
        session.close()
        OPERATOR.error("Spark: %s", error)
        raise OperationalError(f"{LACKS if error.lacking else REFUSES} {TELLS}") from error
    return session


@dataclass(eq=False)
class SparkSession:
    """A session of a server. Safe to share between threads.

    Attributes:
        builder: pyspark's reading of the connection string.
        name: The session's, at the server: two of one name and user are the same.
        user: Whose it is.
        seconds: How long the server may take to answer what costs it nothing.
    """

    builder: Any
    name: str
    user: str
    seconds: float = ANSWER_SECONDS
    _channel: Any = field(init=False, repr=False)
    _stub: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._channel = self.builder.toChannel()
        self._stub = driver().proto.SparkConnectServiceStub(self._channel)

    def close(self) -> None:
        """Lets go of the server. A session that the connection string names stays there, with its tables."""
        if self.builder.session_id is None:
            with contextlib.suppress(SparkFailed):
                self._asked("ReleaseSession", self._request("ReleaseSessionRequest"), INTERRUPT_SECONDS)
        self._channel.close()

    def settle(self) -> None:
        """Sets all that bears on what SQL means to what dpsql means.

        Raises:
            SparkFailed: If the server does not answer, or does not let it.
        """
        self._set(SETTINGS)
        with contextlib.suppress(SparkFailed):
            self._set(QUICKER)
        try:
            self.view(_TRIED, self.relation(_NEWEST, {"day": "2024-01-01"}))
        except SparkFailed as error:
            error.lacking = not (error.gone or error.full)
            raise

    def _set(self, settings: Mapping[str, str]) -> None:
        request = self._request("ConfigRequest")
        for name, value in settings.items():
            request.operation.set.pairs.add(key=name, value=value)
        self._asked("Config", request)

    def stands(self, mark: str) -> bool:
        """Whether the server still has this session with that view in it."""
        try:
            self.columns(f"SELECT * FROM {mark}")
        except SparkFailed:
            return False
        return True

    def relation(self, sql: str, values: Mapping[str, Any] | None = None) -> Any:
        """A query's rows, with values for its named parameters."""
        relation = driver().proto.Relation()
        relation.sql.query = sql
        for name, value in (values or {}).items():
            relation.sql.named_arguments[name].literal.CopyFrom(_literal(value))
        return relation

    def text(self, path: str) -> Any:
        """The lines of text files."""
        return self._read("text", path)

    def parquet(self, path: str, columns: str = "") -> Any:
        """The rows of Parquet files, a folder of them or a pattern; ``columns`` are names with types, as DDL."""
        relation = self._read("parquet", path)
        if columns:
            relation.read.data_source.schema = columns
        return relation

    def _read(self, kind: str, path: str) -> Any:
        relation = driver().proto.Relation()
        relation.read.data_source.format = kind
        relation.read.data_source.paths.append(path)
        return relation

    def given(self, table: Any) -> Any:
        """The rows of a small Arrow table, which travel with what is asked."""
        arrow = driver().arrow
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        relation = driver().proto.Relation()
        relation.local_relation.data = sink.getvalue().to_pybytes()
        return relation

    def view(self, name: str, relation: Any) -> None:
        """Names a relation, for the life of the session."""
        plan = driver().proto.Plan()
        made = plan.command.create_dataframe_view
        made.name, made.replace, made.is_global = name, True, False
        made.input.CopyFrom(relation)
        self._run(plan)

    def write(self, relation: Any, *, path: str = "", table: str = "", mode: str = "ERROR_IF_EXISTS") -> None:
        """Writes rows inside of the cluster: as Parquet in a folder, or as a table of its catalogue."""
        proto = driver().proto
        plan = proto.Plan()
        written = plan.command.write_operation
        written.input.CopyFrom(relation)
        written.mode = getattr(proto.WriteOperation.SaveMode, f"SAVE_MODE_{mode}")
        if path:
            written.source, written.path = "parquet", path
        else:
            written.table.table_name = table
            written.table.save_method = proto.WriteOperation.SaveTable.TableSaveMethod.TABLE_SAVE_METHOD_SAVE_AS_TABLE
        self._run(plan)

    def told(self, sql: str) -> None:
        """Has the server do something: the owner's side alone, of words of its own."""
        plan = driver().proto.Plan()
        plan.command.sql_command.input.CopyFrom(self.relation(sql))
        self._run(plan)

    def columns(self, sql: str, values: Mapping[str, Any] | None = None) -> list[tuple[str, Any]]:
        """(name, Spark's type) of the columns of a query, which is not run. What is no query is refused."""
        return self.columns_of(self.relation(_as_query(sql), values))

    def columns_of(self, relation: Any) -> list[tuple[str, Any]]:
        """The same of a relation."""
        return _fields(self._asked("AnalyzePlan", self._schema(relation)))

    def explained(self, sql: str, values: Mapping[str, Any] | None = None) -> tuple[list[tuple[str, Any]], str]:
        """`columns` of a query, and the server's plans of it, asked for at the same time. It is not run."""
        relation = self.relation(_as_query(sql), values)
        request = self._request("AnalyzePlanRequest")
        request.explain.plan.root.CopyFrom(relation)
        request.explain.explain_mode = driver().proto.AnalyzePlanRequest.Explain.EXPLAIN_MODE_EXTENDED
        columns, plans = (self._sent("AnalyzePlan", one) for one in (self._schema(relation), request))
        return _fields(columns()), str(plans().explain.explain_string)

    def _schema(self, relation: Any) -> Any:
        request = self._request("AnalyzePlanRequest")
        request.schema.plan.root.CopyFrom(relation)
        return request

    def files(self, relation: Any) -> list[str]:
        """Where the rows of a relation lie."""
        request = self._request("AnalyzePlanRequest")
        request.input_files.plan.root.CopyFrom(relation)
        return list(self._asked("AnalyzePlan", request).input_files.files)

    def rows(
        self,
        sql: str,
        values: Mapping[str, Any] | None = None,
        *,
        seconds: float | None = None,
        most: int | None = None,
    ) -> Any:
        """The Arrow table of a query's result.

        Args:
            sql: The query.
            values: Of its named parameters.
            seconds: How long it may take; None for as long as it takes.
            most: How many rows it may have.

        Raises:
            SparkFailed: If there is none.
        """
        plan = driver().proto.Plan(root=self.relation(sql, values))
        batches, count = [], 0
        with contextlib.closing(self._answers(plan, seconds)) as answers:
            for answer in answers:
                if answer.HasField("arrow_batch"):
                    with driver().arrow.ipc.open_stream(answer.arrow_batch.data) as stream:
                        batches += list(stream)
                    count = sum(batch.num_rows for batch in batches)
                if most is not None and count > most:
                    raise SparkFailed(f"it has more than {most:,} rows")
        if not batches:
            raise SparkFailed("the server sent no table")
        return driver().arrow.Table.from_batches(batches)

    def _run(self, plan: Any) -> None:
        for _ in self._answers(plan, None):
            pass

    def _answers(self, plan: Any, seconds: float | None) -> Generator[Any, None, None]:
        """What the server says of a plan that it runs. Whoever stops listening, or waits too long, stops it there."""
        request = self._request("ExecutePlanRequest", operation_id=_name())
        request.plan.CopyFrom(plan)
        done = False
        try:
            yield from self._stub.ExecutePlan(request, metadata=self.builder.metadata(), timeout=seconds)
            done = True
        except (driver().grpc.RpcError, ValueError) as error:
            failure = _failure(error)
            done = not failure.late
            raise failure from error
        finally:
            if not done:
                self._interrupt(request.operation_id)

    def _interrupt(self, operation: str) -> None:
        request = self._request("InterruptRequest", operation_id=operation)
        request.interrupt_type = driver().proto.InterruptRequest.InterruptType.INTERRUPT_TYPE_OPERATION_ID
        with contextlib.suppress(SparkFailed):
            self._asked("Interrupt", request, INTERRUPT_SECONDS)

    def _request(self, kind: str, **more: str) -> Any:
        request = getattr(driver().proto, kind)(session_id=self.name, client_type="dpsql", **more)
        request.user_context.user_id = self.user
        return request

    def _asked(self, what: str, request: Any, seconds: float | None = None) -> Any:
        return self._sent(what, request, seconds)()

    def _sent(self, what: str, request: Any, seconds: float | None = None) -> Callable[[], Any]:
        """Sends a message, and does not wait for its answer, which the result gives."""
        with _understood():
            sent = getattr(self._stub, what).future(
                request, metadata=self.builder.metadata(), timeout=seconds or self.seconds
            )

        def answer() -> Any:
            with _understood():
                return sent.result()

        return answer


def _name() -> str:
    """A new name of a session or of what is run in it: no noise, so not of the kernel's own tap, which tests count."""
    return str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))


def _as_query(sql: str) -> str:
    """A query around a query: in its place nothing else is read, whatever the text says."""
    return f"SELECT * FROM ({sql}) AS asked"


def _fields(answer: Any) -> list[tuple[str, Any]]:
    """(name, Spark's type) of the columns that a server says of a relation."""
    return [(column.name, column.data_type) for column in answer.schema.schema.struct.fields]


@contextlib.contextmanager
def _understood() -> Iterator[None]:
    """Makes what gRPC raises a `SparkFailed`."""
    try:
        yield
    except (driver().grpc.RpcError, ValueError) as error:
        raise _failure(error) from error


def _failure(error: Any) -> SparkFailed:
    """What the server said, or that it says nothing. A channel that was closed raises ValueError."""
    grpc = driver().grpc
    if not isinstance(error, grpc.RpcError):
        return SparkFailed(str(error), gone=True)
    code = error.code()
    late = code == grpc.StatusCode.DEADLINE_EXCEEDED
    return SparkFailed(f"{code.name}: {error.details()}", late=late, gone=late or code == grpc.StatusCode.UNAVAILABLE)


_1970 = datetime(1970, 1, 1)


def _literal(value: Any) -> Any:
    """A value as the protocol has it."""
    literal = driver().proto.Expression.Literal
    match value:
        case None:
            unknown = literal()
            unknown.null.null.SetInParent()
            return unknown
        case bool():
            return literal(boolean=value)
        case int():
            return literal(long=value)
        case float():
            return literal(double=value)
        case str():
            return literal(string=value)
        case datetime():
            return literal(timestamp_ntz=(value - _1970) // timedelta(microseconds=1))
        case date():
            return literal(date=(value - _1970.date()).days)
    raise ValueError(f"a parameter of type {type(value).__name__}")
