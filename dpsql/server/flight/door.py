"""The door: gRPC's calls, each by an authenticated session, each refusal as gRPC's own status with dpsql's text.

Each call has a thread of gRPC's: calls that go through a loop cost twice the time.

Threats and answers: a message longer than the policy's limit is refused by gRPC before it is read whole; connections
and calls at a time are limited, half of the calls for one analyst, and a connection that asks nothing ends soon; no
other process can listen at the same port; strangers' tokens are checked in threads of their own, so that they hold up
no analyst; a client that vanishes cancels what had not begun, and pays for what had.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import unquote

import grpc

from dpsql.answers.shown.extras import of_extra
from dpsql.errors import (
    ApprovalNeeded,
    BudgetExceeded,
    EngineFailed,
    Error,
    InternalError,
    OperationalError,
)
from dpsql.server.core import Server
from dpsql.server.events import tell
from dpsql.server.flight.arrow import refuse_folded, stream_of
from dpsql.server.flight.messages import METHODS, SERVICE, action_of, result
from dpsql.server.flight.sessions import DOOR, Sessions, Visit
from dpsql.server.flight.statements import ACTIONS, Statements
from dpsql.server.flight.wire import BrokenMessage, field, read
from dpsql.server.listening import Listen, Tls
from dpsql.server.refusals import NotAdmitted, Stopping, TooMuch

__all__ = ["FlightDoor", "open_door", "status_of"]

Result = TypeVar("Result")
Context = Any
"""grpc.ServicerContext; grpcio has no types."""
SLACK = 2**16
"""Bytes of a message beside the statement and its parameters. It is a choice: Flight's own words are less."""
ADMITTING = 2  # Threads that check tokens: strangers who try many hold up strangers alone.
CALLS = 4  # Calls at a time for each connection of the policy's limit. It is a choice.
STRANGERS = 200
"""Connections beside the policy's number; more are hung up on. It is a choice: as at PostgreSQL's door."""
SPEAKS = 20_000  # Milliseconds for a connection to begin with gRPC's own words. It is a choice.
SILENT = 60_000
"""Milliseconds after which a connection without a call is closed. It is a choice: clients open another one by
themselves, and their session goes on."""
SWEEP = 30.0  # Seconds between two looks for sessions that were silent too long.
LONGEST = 1500  # Characters of a refusal: gRPC's clients take 8 KiB of trailers, and a character may take 12 bytes.
FAILED = "dpsql failed. Nothing more is told here; the data owner's log has the details."

STATUSES: tuple[tuple[type[Exception], grpc.StatusCode], ...] = (
    (NotAdmitted, grpc.StatusCode.UNAUTHENTICATED),
    (TooMuch, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (Stopping, grpc.StatusCode.UNAVAILABLE),
    (BudgetExceeded, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (ApprovalNeeded, grpc.StatusCode.FAILED_PRECONDITION),
    (EngineFailed, grpc.StatusCode.INTERNAL),  # no status that clients try again by themselves: it would be charged
    (OperationalError, grpc.StatusCode.FAILED_PRECONDITION),
    (InternalError, grpc.StatusCode.INTERNAL),
    (Error, grpc.StatusCode.INVALID_ARGUMENT),
)
"""The first that fits is the status of a refusal."""


def status_of(error: Error) -> tuple[grpc.StatusCode, str]:
    """The status and the text of a refusal."""
    text = str(error)
    code = next(code for kind, code in STATUSES if isinstance(error, kind))
    return code, text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def open_door(server: Server) -> FlightDoor:
    """The door; it needs the extra ``flight``."""
    of_extra("pyarrow", "flight")
    return FlightDoor(server)


class FlightDoor(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Flight SQL for one server.

    Args:
        server: Whose.
        speaks: Milliseconds for a connection to begin with gRPC's own words; tests give their own.
        silent: Milliseconds that a connection without a call stays open; tests give their own.
    """

    def __init__(self, server: Server, *, speaks: int = SPEAKS, silent: int = SILENT) -> None:
        self._server = server
        self._speaks, self._silent = speaks, silent
        self.sessions = Sessions(server)
        self._statements = Statements(server.policy.name, server.limits.statement_bytes)
        self._admitting = ThreadPoolExecutor(ADMITTING, thread_name_prefix="admit")
        self._most = CALLS * server.limits.connections
        self._own = -(-self._most // 2)
        self._calling, self._lock = Counter[str](), Lock()
        self._calls = ThreadPoolExecutor(self._most, thread_name_prefix="call")
        self._grpc: Any = None
        self._sweeping: asyncio.Task[None] | None = None

    async def start(self, listen: Listen, tls: Tls | None) -> str:
        """Opens it."""
        limits = self._server.limits
        options = [
            ("grpc.max_receive_message_length", 2 * limits.statement_bytes + SLACK),
            ("grpc.so_reuseport", 0),
            ("grpc.max_allowed_incoming_connections", limits.connections + STRANGERS),
            ("grpc.server_handshake_timeout_ms", self._speaks),
            ("grpc.max_connection_idle_ms", self._silent),
            ("grpc.keepalive_time_ms", self._silent),  # the calls of a client that vanished end
        ]
        self._grpc = grpc.server(self._calls, handlers=[self], options=options, maximum_concurrent_rpcs=self._most)
        host = f"unix:{listen.path}" if listen.path else str(listen)
        try:
            if tls is None:
                port = self._grpc.add_insecure_port(host)
            else:
                pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
                port = self._grpc.add_secure_port(host, grpc.ssl_server_credentials([pair]))
        except RuntimeError as error:
            raise OSError(0, str(error)) from None
        self._grpc.start()
        self._sweeping = asyncio.create_task(self._sweep())
        scheme = "grpc+tls" if tls else "grpc"
        if listen.path:
            return f"{scheme}+unix://{listen.path}"
        return f"{scheme}://{Listen(listen.host, port)}"

    async def stop(self) -> None:
        """Lets nobody in any more; statements at work have the engine's deadline to end."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        if self._grpc is not None:
            ended = self._grpc.stop(self._server.policy.engine.deadline_seconds)
            for wait in (ended.wait, self._calls.shutdown):
                await asyncio.get_running_loop().run_in_executor(None, wait)
        self.sessions.close()
        self._admitting.shutdown(wait=False, cancel_futures=True)

    def service(self, details: Any) -> Any:
        """The handler of a call, by its name; None where there is none."""
        name = details.method.removeprefix(SERVICE)
        shape = METHODS.get(name)
        if shape is None or not details.method.startswith(SERVICE):
            return None
        calls = {
            "Handshake": self._handshake, "GetFlightInfo": self._get_flight_info, "GetSchema": self._get_schema,
            "DoGet": self._do_get, "DoPut": self._do_put, "DoAction": self._do_action,
            "ListActions": self._list_actions, "ListFlights": self._list_flights,
        }  # fmt: skip
        return getattr(grpc, f"{shape}_rpc_method_handler")(calls[name])

    # ------------------------------------------------------------------------------------------------------- the calls

    def _handshake(self, requests: Iterator[bytes], context: Context) -> Iterator[bytes]:
        """User and token in the header ``authorization`` (Basic); the session's bearer comes back in the same."""
        header = _header(context, "authorization")
        bearer = self._admitted(context, lambda: self.sessions.login(header, _address(context)))
        context.send_initial_metadata((("authorization", f"Bearer {bearer}"),))
        yield field(2, bearer)

    def _get_flight_info(self, request: bytes, context: Context) -> bytes:
        wide = _intervals(context)
        with self._visited(context) as kept:
            return self._work(context, kept, lambda: self._statements.info(kept, request, intervals=wide))

    def _get_schema(self, request: bytes, context: Context) -> bytes:
        wide = _intervals(context)
        with self._visited(context) as kept:
            return self._work(context, kept, lambda: self._statements.schema(kept, request, intervals=wide))

    def _do_get(self, request: bytes, context: Context) -> Iterator[bytes]:
        with self._visited(context) as kept:
            yield from self._work(context, kept, lambda: self._statements.get(kept, request))

    def _do_action(self, request: bytes, context: Context) -> Iterator[bytes]:
        with self._visited(context) as kept:
            ended = list[str]()

            def act() -> list[bytes]:
                kind, body = action_of(request)
                ended.append(kind)
                return self._statements.act(kept, kind, body)

            for own in self._work(context, kept, act):
                yield result(own)
            if ended == ["CloseSession"]:
                self.sessions.end(kept)

    def _do_put(self, requests: Iterator[bytes], context: Context) -> Iterator[bytes]:
        with self._visited(context) as kept:
            descriptor, arrow = self._put(requests, context)
            yield self._work(context, kept, lambda: self._statements.put(kept, descriptor, arrow))

    def _put(self, requests: Iterator[bytes], context: Context) -> tuple[bytes, bytes]:
        """What a DoPut is about, and its Arrow stream, which may be no longer than the policy allows."""
        descriptor, arrow = b"", bytearray()
        most = 2 * self._server.limits.statement_bytes + SLACK
        for request in requests:
            try:
                own = read(request)
                descriptor = descriptor or own.blob(1)
                if header := own.blob(2):
                    refuse_folded(header)
                    arrow += stream_of(header, own.blob(1000))
                if len(arrow) > most:
                    raise TooMuch(f"The parameters have more than {most} bytes, which are the most.")
            except Error as refusal:
                context.abort(*status_of(refusal))
        return descriptor, bytes(arrow)

    def _list_actions(self, request: bytes, context: Context) -> Iterator[bytes]:
        with self._visited(context):
            for name, words in ACTIONS.items():
                yield field(1, name) + field(2, words)

    def _list_flights(self, request: bytes, context: Context) -> Iterator[bytes]:
        """None: what can be asked is not listed, but for the tables."""
        with self._visited(context):
            yield from ()

    # ---------------------------------------------------------------------------------------------- around every call

    def _kept(self, context: Context) -> Visit:
        """The session of a call; without one it ends here."""
        header = _header(context, "authorization")
        kept = self.sessions.find(header)
        if kept is not None:
            return kept
        return self._admitted(context, lambda: self.sessions.open(header, _address(context)))

    @contextlib.contextmanager
    def _visited(self, context: Context) -> Iterator[Visit]:
        """The session of a call while it lasts. One analyst has half of all calls: those that send nothing more, or do
        not read what they asked for, last as long as they like.
        """
        kept = self._kept(context)
        analyst = kept.guest.analyst
        with self._lock:
            full = self._calling[analyst] >= self._own
            self._calling[analyst] += not full
        if full:
            told = TooMuch(f"You have {self._own} calls at work, which is your most. Let one end.")
            context.abort(*status_of(told))
        try:
            yield kept
        finally:
            with self._lock:
                self._calling[analyst] -= 1
                self._calling += Counter()  # forgets who has none

    def _work(self, context: Context, kept: Visit, work: Callable[[], Result]) -> Result:
        return self._done(context, lambda: self._server.done(kept.guest.analyst, work, context.is_active))

    def _admitted(self, context: Context, work: Callable[[], Result]) -> Result:
        return self._done(context, lambda: self._submitted(work).result())

    def _submitted(self, work: Callable[[], Result]) -> Future[Result]:
        try:
            return self._admitting.submit(work)
        except RuntimeError:  # the door has stopped
            raise Stopping from None

    def _done(self, context: Context, work: Callable[[], Result]) -> Result:
        """What the work returns; a refusal ends the call with its status."""
        try:
            return work()
        except Error as refusal:
            code, text = status_of(refusal)
            if isinstance(refusal, BrokenMessage):  # what else is refused, the guest has told
                tell("broken message", door=DOOR, address=_address(context))
        except Exception as bug:  # noqa: BLE001 - whatever it is, the client learns nothing of it
            tell("bug", door=DOOR, address=_address(context), bug=type(bug).__name__)
            code, text = grpc.StatusCode.INTERNAL, FAILED
        context.abort(code, text)
        raise AssertionError  # abort raises

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            with contextlib.suppress(Exception):
                self.sessions.sweep()


def _header(context: Context, name: str) -> str:
    """A header of the call; empty where there is none."""
    for key, value in context.invocation_metadata() or ():
        if key == name:
            return value if isinstance(value, str) else value.decode(errors="replace")
    return ""


def _intervals(context: Context) -> bool:
    """Whether the call's header ``dpsql-intervals`` asks for the ends of intervals."""
    return _header(context, "dpsql-intervals").lower() in ("on", "true", "1")


def _address(context: Context) -> str:
    """From where a call comes, without its port.

    Peers are written ``ipv4:192.0.2.7:50123``, ``ipv6:%5B2001:db8::7%5D:50123`` or ``unix:``.
    """
    kind, _, rest = unquote(context.peer()).partition(":")
    return kind if kind == "unix" else rest.rpartition(":")[0].strip("[]")
