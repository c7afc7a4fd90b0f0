"""A Flight SQL client of few words: gRPC's calls with messages written by hand."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import Any, Self

import grpc
import pyarrow as pa

from dpsql.server.flight.messages import SERVICE, any_message
from dpsql.server.flight.wire import Fields, field, read

__all__ = ["Client", "stream_messages"]

PATIENCE = 60  # Seconds for a call.


def stream_messages(table: pa.Table, compression: str | None = None) -> list[tuple[bytes, bytes]]:
    """The header and body of each message of a table's Arrow stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    messages = pa.ipc.MessageReader.open_stream(sink.getvalue())
    return [(own.metadata.to_pybytes(), own.body.to_pybytes() if own.body else b"") for own in messages]


class Client:
    """One connection.

    Args:
        where: The door's address.
        header: The header ``authorization``; empty for none.
    """

    def __init__(self, where: str, header: str = "") -> None:
        self._channel = grpc.insecure_channel(
            where.partition("://")[2], options=[("grpc.use_local_subchannel_pool", 1)]
        )
        self.where, self.header, self.last = where, header, b""
        self.more: tuple[tuple[str, str], ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def call(self, method: str, shape: str, request: Any) -> Any:
        """One call; for streams of responses a list."""
        found = getattr(self._channel, shape)(SERVICE + method)(request, timeout=PATIENCE, metadata=self.metadata)
        return list(found) if shape.endswith("stream") else found

    def start(self, method: str, request: bytes) -> None:
        """A call whose answer nobody waits for."""
        self._started = self._channel.unary_stream(SERVICE + method)(request, timeout=PATIENCE, metadata=self.metadata)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The headers of each call."""
        return ((("authorization", self.header),) if self.header else ()) + self.more

    def login(self, name: str, token: str) -> None:
        """By user and token; the bearer that comes back is used from now on."""
        basic = b64encode(f"{name}:{token}".encode()).decode().rstrip("=")
        call = self._channel.stream_stream(SERVICE + "Handshake")
        answered = call(iter([b""]), timeout=PATIENCE, metadata=(("authorization", f"Basic {basic}"),))
        list(answered)
        self.header = dict(answered.initial_metadata())["authorization"]

    def info(self, name: str, body: bytes) -> Fields:
        """GetFlightInfo of a command."""
        descriptor = field(1, 2) + field(2, any_message(name, body))
        return read(self.call("GetFlightInfo", "unary_unary", descriptor))

    def get(self, info: Fields) -> pa.Table:
        """DoGet of its ticket."""
        return self.fetch(read(info.blob(3)).blob(1))

    def fetch(self, ticket: bytes) -> pa.Table:
        """DoGet of a ticket; ``last`` has what came with the last rows."""
        arrow = b""
        for data in map(read, self.call("DoGet", "unary_stream", ticket)):
            header, self.last = data.blob(2), data.blob(3)
            arrow += b"\xff\xff\xff\xff" + len(header).to_bytes(4, "little") + header + data.blob(1000)
        return pa.ipc.open_stream(arrow + b"\xff\xff\xff\xff\x00\x00\x00\x00").read_all()

    def query(self, sql: str) -> pa.Table:
        """The answer to a statement."""
        return self.get(self.info("CommandStatementQuery", field(1, sql)))

    def act(self, kind: str, body: bytes = b"") -> list[bytes]:
        """What an action returns."""
        return [read(own).blob(1) for own in self.call("DoAction", "unary_stream", field(1, kind) + field(2, body))]

    def prepare(self, sql: str) -> Fields:
        """A prepared statement: its handle, columns and parameters."""
        (own,) = self.act("CreatePreparedStatement", any_message("ActionCreatePreparedStatementRequest", field(1, sql)))
        return read(read(own).blob(2))

    def put(self, name: str, body: bytes, messages: list[tuple[bytes, bytes]]) -> list[Fields]:
        """DoPut of a command with an Arrow stream."""
        descriptor = field(1, field(1, 2) + field(2, any_message(name, body)))
        requests = [field(2, header) + field(1000, own) for header, own in messages] or [b""]
        requests[0] = descriptor + requests[0]
        return [read(own) for own in self.call("DoPut", "stream_stream", iter(requests))]
