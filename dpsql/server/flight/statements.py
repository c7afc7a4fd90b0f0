"""What a session asks of this door: descriptions, which are free; answers, which are charged once; prepared statements.

A description (GetFlightInfo, GetSchema, CreatePreparedStatement) never charges; GetFlightInfo of SET
sets. DoGet does charge: its ticket is the statement itself, so that the same ticket again is the stored answer, for
nothing. These calls take their time, and are made in the server's pool.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

import pyarrow as pa

from dpsql.answers.answer import Answer
from dpsql.answers.switch import intervals_set
from dpsql.dbapi import set_statement
from dpsql.errors import Error, NotSupportedError, ProgrammingError
from dpsql.plan.types import Value
from dpsql.server.flight import catalogue
from dpsql.server.flight.arrow import answer_table, parameter_schema, parameters_of, schema_of, stream
from dpsql.server.flight.messages import (
    Ticket,
    any_message,
    command_of,
    flight_info,
    named,
    prepared_result,
    put_result,
    schema_result,
    session_options,
    ticket_of,
    update_result,
)
from dpsql.server.flight.sessions import PreparedSql, Visit
from dpsql.server.flight.wire import Fields, field, read
from dpsql.server.outlines import with_intervals
from dpsql.server.refusals import TooMuch
from dpsql.shelf import Key, Shelf, exactly
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["ACTIONS", "Statements"]

AGAIN = "Asking the same again is free, and gives the same numbers."
QUERIES = ("CommandStatementQuery", "CommandPreparedStatementQuery")
UPDATES = ("CommandStatementUpdate", "CommandPreparedStatementUpdate")
TRANSACTION = b"-"
"""The one transaction there is: nothing can be changed or taken back, so it begins and ends for nothing."""
NO_SET = (
    "SET holds in a session that one login made, by user and token. This one is shared by all who send the same "
    "token. Log in, or write OPTIONS (...) in the statement."
)
ACTIONS = {
    "CreatePreparedStatement": "Describes a statement, for nothing.",
    "ClosePreparedStatement": "Forgets it.",
    "BeginTransaction": "Does nothing.",
    "EndTransaction": "Does nothing: what was charged stays charged.",
    "CancelQuery": "Forgets a statement that was not fetched, which costs nothing.",
    "CancelFlightInfo": "Forgets a statement that was not fetched, which costs nothing.",
    "SetSessionOptions": "SET, for each of them.",
    "GetSessionOptions": "The catalogue, and the cost of the last answer.",
    "CloseSession": "Ends the session.",
}
"""The actions there are, with what each does."""
SMALL = 1000
"""Cells of an answer whose messages are kept for who asks again. It is a choice: what a dashboard draws."""
CLOSED = CANCELLED = 1  # The status of a session that was closed, and of a statement that was given up.
INVALID = 2  # The error of a session option whose value will not do.


class Statements:
    """What may be asked, for all sessions.

    Args:
        name: The policy's.
        most: The most bytes of parameters.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._streams = Shelf[tuple[bytes, ...]]()

    def info(self, kept: Visit, descriptor: bytes, *, intervals: bool) -> bytes:
        """A FlightInfo: the columns, and the ticket that fetches them. Nothing is charged.

        Args:
            kept: Who asks.
            descriptor: About what.
            intervals: Whether the call itself asks for the ends of intervals.
        """
        schema, ticket = self._described(kept, command_of(descriptor), intervals, sets=True)
        return flight_info(_bytes(schema), descriptor, ticket)

    def schema(self, kept: Visit, descriptor: bytes, *, intervals: bool) -> bytes:
        """The columns alone, as a SchemaResult."""
        return schema_result(_bytes(self._described(kept, command_of(descriptor), intervals)[0]))

    def get(self, kept: Visit, request: bytes) -> Iterable[bytes]:
        """The rows that a ticket names, as FlightData; here a statement is charged."""
        command = read(request).blob(1)
        name, body = named(command)
        if name == "TicketStatementQuery":
            return self._asked(kept, ticket_of(body))
        if catalogue.schema_named(name, body) is None:
            raise ProgrammingError("The ticket is none of this server's. Ask GetFlightInfo for one.")
        kept.guest.admit(len(command))
        return stream(catalogue.listed(name, body, kept.guest, self._name))

    def put(self, kept: Visit, descriptor: bytes, parameters: bytes) -> bytes:
        """Values for a prepared statement, or a statement without rows (SET, DROP TABLE, CREATE SYNTHETIC TABLE)."""
        name, body = named(command_of(descriptor))
        if len(parameters) > self._most:
            raise TooMuch(f"The parameters have {len(parameters)} bytes, and {self._most} are the most.")
        if name == "CommandPreparedStatementQuery":
            values = parameters_of(parameters)
            prepared = _prepared(kept, body)
            prepared.parameters, prepared.outline = (
                parameters,
                kept.guest.outline(prepared.sql, values, intervals=False),
            )
            return put_result(b"")
        if name not in UPDATES:
            raise NotSupportedError("Tables of this server cannot be written.")
        own = PreparedSql(body.text(1)) if name == "CommandStatementUpdate" else _prepared(kept, body)
        if isinstance(parse(own.sql), syntax.QueryStatement):
            raise ProgrammingError("A SELECT has rows: ask it as a query. Nothing was charged.")
        self._query(kept, own.sql, parameters_of(parameters) if parameters else ())
        return put_result(update_result(0))

    def act(self, kept: Visit, kind: str, body: bytes) -> list[bytes]:
        """What an action returns."""
        match kind:
            case "CreatePreparedStatement":
                return [self._prepare(kept, named(body)[1].text(1))]
            case "ClosePreparedStatement":
                kept.prepared.pop(named(body)[1].blob(1), None)
                return []
            case "BeginTransaction":
                return [any_message("ActionBeginTransactionResult", field(1, TRANSACTION))]
            case "EndTransaction":
                return []
            case "CancelQuery":  # its ticket was not fetched, or DoGet's own call is cancelled
                return [any_message("ActionCancelQueryResult", field(1, CANCELLED))]
            case "CancelFlightInfo":
                return [field(1, CANCELLED)]
            case "SetSessionOptions":
                return [self._set_options(kept, read(body))]
            case "GetSessionOptions":
                return [session_options({"catalog": self._name, "schema": catalogue.SCHEMA, **kept.told})]
            case "CloseSession":
                return [field(1, CLOSED)]
        raise NotSupportedError(f"There is no action {kind[:40]!a}. There are {', '.join(ACTIONS)}.")

    # ------------------------------------------------------------------------------------------------------ statements

    def _described(
        self, kept: Visit, command: bytes, intervals: bool, *, sets: bool = False
    ) -> tuple[pa.Schema, bytes]:
        """The columns of what a command asks for, and the ticket that fetches it."""
        name, body = named(command)
        if name in QUERIES:
            own = PreparedSql(body.text(1)) if name == QUERIES[0] else _prepared(kept, body)
            outline = own.outline or kept.guest.outline(own.sql, (), intervals=False)
            if sets and _sets(own.sql):  # now, for a client may fetch its rows after the next statement, or never
                kept.remember(own.sql, self._query(kept, own.sql, ())[0])
            wide = intervals or kept.guest.intervals
            schema = schema_of(with_intervals(outline) if wide else outline)
            return schema, Ticket(own.sql, own.parameters, wide).written()
        schema = catalogue.schema_named(name, body)
        if schema is None:
            raise NotSupportedError(f"{name[:60]!a} is not served. Ask a statement, or for tables.")
        kept.guest.admit(len(command))
        return schema, command

    def _prepare(self, kept: Visit, sql: str) -> bytes:
        outline = kept.guest.outline(sql, intervals=False)
        schema = schema_of(with_intervals(outline) if kept.guest.intervals else outline)
        known = None if outline.parameters else outline
        return prepared_result(
            kept.prepare(PreparedSql(sql, outline=known)), _bytes(schema), _bytes(parameter_schema(outline))
        )

    def _asked(self, kept: Visit, ticket: Ticket) -> Iterable[bytes]:
        values = parameters_of(ticket.parameters) if ticket.parameters else ()
        was_set = kept.was_set.get(ticket.sql)
        if was_set is not None:
            answer, told = was_set, kept.told
        else:
            answer, told = self._query(kept, ticket.sql, values, intervals=ticket.intervals)
        if len(answer.rows) * len(answer.columns) > SMALL:
            return stream(answer_table(answer, told))
        key = _key(kept, answer, told)
        return self._streams.once(key, lambda: tuple(stream(answer_table(answer, told))))

    def _query(
        self, kept: Visit, sql: str, values: tuple[Value, ...], *, intervals: bool = False
    ) -> tuple[Answer, dict[str, str]]:
        """An answer, and what is told of it: of several at once each has its own, and the session that of the last."""
        if not kept.own and _sets(sql):
            raise ProgrammingError(NO_SET)
        answer = kept.guest.query(sql, values, intervals=intervals)
        told = {
            "cost": answer.paid_briefly,
            "left": kept.guest.left(),
            "replayed": "true" if answer.replayed else "false",
            "confidence": f"{answer.confidence:g}",
            "notes": "\n".join(answer.notes),
            "again": AGAIN,
        }
        kept.told = told
        return answer, told

    def _set_options(self, kept: Visit, body: Fields) -> bytes:
        """SET for each option; what will not do is named in the result."""
        wrong = b""
        for entry in map(read, body.blobs(1)):
            name, value = entry.text(1), _option(read(entry.blob(2)))
            try:
                if (name, value) not in (("catalog", self._name), ("schema", catalogue.SCHEMA)):
                    self._query(kept, set_statement(name, value), ())
            except (ProgrammingError, NotSupportedError):
                wrong += field(1, field(1, name) + field(2, field(1, INVALID)))
        return wrong


def _prepared(kept: Visit, body: Fields) -> PreparedSql:
    """The prepared statement that a command names.

    Raises:
        ProgrammingError: There is none.
    """
    own = kept.prepared.get(body.blob(1))
    if own is None:
        raise ProgrammingError(
            "There is no such prepared statement: it was closed, or its session ended. Prepare it anew."
        )
    return own


def _key(kept: Visit, answer: Answer, said: dict[str, str]) -> Key | None:
    """What the messages of an answer depend on; None where some value of it cannot be compared."""
    rows, told = exactly(answer.rows), exactly(said)
    if rows is None:
        return None
    return (kept.guest.analyst, *answer.columns, *answer.types, rows, told, answer.private, answer.footnote)


def _sets(sql: str) -> bool:
    """Whether a statement is SET; what cannot be read is none."""
    try:
        return intervals_set(sql) is not None or isinstance(parse(sql), syntax.SetOption)
    except Error:
        return False


def _option(value: Fields) -> str | float | Decimal:
    """The value of a session option: text, boolean, whole number or double; a text that is a number is one."""
    if value.optional(1) is not None:
        try:
            return Decimal(value.text(1))
        except InvalidOperation:
            return value.text(1)
    for number, kind in ((3, "<q"), (4, "<d")):
        if own := value.blob(number):
            found: float = struct.unpack(kind, own)[0]
            return found
    return bool(value.number(2))


def _bytes(schema: pa.Schema) -> bytes:
    own: bytes = schema.serialize().to_pybytes()
    return own
