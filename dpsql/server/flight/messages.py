"""The messages of Flight and Flight SQL that this door reads and writes; numbers of fields are those of
`Flight.proto` and `FlightSql.proto` (Apache Arrow, format/)."""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.errors import ProgrammingError
from dpsql.server.flight.wire import Fields, field, read

__all__ = [
    "METHODS", "SERVICE", "Ticket", "action_of", "any_message", "command_of", "flight_data", "flight_info", "named",
    "prepared_result", "put_result", "result", "schema_result", "session_options", "ticket_of", "update_result",
]  # fmt: skip

SERVICE = "/arrow.flight.protocol.FlightService/"
METHODS = {
    "Handshake": "stream_stream", "GetFlightInfo": "unary_unary", "GetSchema": "unary_unary", "DoGet": "unary_stream",
    "DoPut": "stream_stream", "DoAction": "unary_stream", "ListActions": "unary_stream", "ListFlights": "unary_stream",
}  # fmt: skip
"""What is served of Flight, and whether requests and responses are streams."""
SQL = "type.googleapis.com/arrow.flight.protocol.sql."
BY_COMMAND = 2  # The type of a FlightDescriptor that holds a command.
UNKNOWN = field(4, -1) + field(5, -1)  # The numbers of rows and of bytes of an answer that was not asked yet.
DATA_BODY = 1000  # The field of FlightData with a record batch's buffers.


@dataclass(frozen=True, slots=True)
class Ticket:
    """What DoGet is to do: a statement whole, so that the server keeps nothing between the two calls.

    Attributes:
        sql: The statement.
        parameters: The record batch with values for its ``?``, as an Arrow stream; or nothing.
        intervals: Whether the ends of intervals are columns.
    """

    sql: str
    parameters: bytes = b""
    intervals: bool = False

    def written(self) -> bytes:
        """As it travels."""
        own = field(1, self.sql) + field(2, self.parameters) + field(3, int(self.intervals))
        return any_message("TicketStatementQuery", field(1, own))


def ticket_of(body: Fields) -> Ticket:
    """A ticket that came back."""
    own = read(body.blob(1))
    return Ticket(own.text(1), own.blob(2), bool(own.number(3)))


def any_message(name: str, body: bytes) -> bytes:
    """A message of Flight SQL inside google.protobuf.Any."""
    return field(1, SQL + name) + field(2, body)


def named(message: bytes) -> tuple[str, Fields]:
    """The name and the fields of a message of Flight SQL.

    Raises:
        ProgrammingError: It is none.
    """
    own = read(message)
    kind = own.text(1)
    if not kind.startswith(SQL):
        raise ProgrammingError("This server speaks Flight SQL alone. Use a Flight SQL client, such as ADBC's.")
    return kind.removeprefix(SQL), read(own.blob(2))


def command_of(descriptor: bytes) -> bytes:
    """The command in a FlightDescriptor.

    Raises:
        ProgrammingError: It has none.
    """
    own = read(descriptor)
    if own.number(1) != BY_COMMAND:
        raise ProgrammingError("A flight is named by a command of Flight SQL, not by a path.")
    return own.blob(2)


def action_of(request: bytes) -> tuple[str, bytes]:
    """The type and the body of an Action."""
    own = read(request)
    return own.text(1), own.blob(2)


def flight_info(schema: bytes, descriptor: bytes, ticket: bytes) -> bytes:
    """A FlightInfo with one endpoint: this server."""
    endpoint = field(1, field(1, ticket))
    return field(1, schema) + field(2, descriptor) + field(3, endpoint) + UNKNOWN


def schema_result(schema: bytes) -> bytes:
    """A SchemaResult."""
    return field(1, schema)


def flight_data(header: bytes, body: bytes, metadata: bytes | None = None) -> bytes:
    """A FlightData."""
    return field(2, header) + field(3, metadata) + field(DATA_BODY, body)


def result(body: bytes) -> bytes:
    """What an action returns."""
    return field(1, body)


def put_result(metadata: bytes) -> bytes:
    """What DoPut returns."""
    return field(1, metadata)


def update_result(rows: int) -> bytes:
    """A DoPutUpdateResult."""
    return field(1, rows)


def prepared_result(handle: bytes, schema: bytes, parameters: bytes) -> bytes:
    """An ActionCreatePreparedStatementResult."""
    own = field(1, handle) + field(2, schema) + field(3, parameters)
    return any_message("ActionCreatePreparedStatementResult", own)


def session_options(values: dict[str, str]) -> bytes:
    """A GetSessionOptionsResult, of texts."""
    return b"".join(field(1, field(1, name) + field(2, field(1, value))) for name, value in values.items())
