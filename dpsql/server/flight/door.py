"""The door: gRPC's calls, each by an authenticated session, each refusal as gRPC's own status with dpsql's text.

Threats and answers: a message longer than the policy's limit is refused by gRPC before it is read whole; calls at a
time are limited; no other process can listen at the same port; strangers' tokens are checked in threads of their own,
so that they hold up no analyst; a client that vanishes cancels what had not begun, and pays for what had.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import unquote

import grpc

from dpsql.answers.extras import of_extra
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
from dpsql.server.flight.arrow import refuse_folded, stream, stream_of
from dpsql.server.flight.messages import METHODS, SERVICE, action_of, result
from dpsql.server.flight.sessions import DOOR, Sessions, Visit
from dpsql.server.flight.statements import ACTIONS, Statements
from dpsql.server.flight.wire import BrokenMessage, field, read
from dpsql.server.listening import Listen, Tls
from dpsql.server.refusals import NotAdmitted, Stopping, TooMuch

__all__ = ["FlightDoor", "open_door", "status_of"]

Result = TypeVar("Result")
Context = Any
"""grpc.aio.ServicerContext; grpcio has no types."""
SLACK = 2**16
"""Bytes of a message beside the statement and its parameters. It is a choice: Flight's own words are less."""
ADMITTING = 2  # Threads that check tokens: strangers who try many hold up strangers alone.
CALLS = 4  # Calls at a time for each connection of the policy's limit. It is a choice.
LONGEST_IDLE = 2**31 - 1  # Milliseconds: the largest that gRPC takes.
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
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.sessions = Sessions(server)
        self._statements = Statements(server.policy.name, server.limits.statement_bytes)
        self._admitting = ThreadPoolExecutor(ADMITTING, thread_name_prefix="admit")
        self._grpc: Any = None
        self._sweeping: asyncio.Task[None] | None = None

    async def start(self, listen: Listen, tls: Tls | None) -> str:
        """Opens it."""
        limits = self._server.limits
        options = [
            ("grpc.max_receive_message_length", 2 * limits.statement_bytes + SLACK),
            ("grpc.so_reuseport", 0),
            ("grpc.max_connection_idle_ms", min(int(limits.idle_seconds * 1000), LONGEST_IDLE)),
        ]
        most = CALLS * limits.connections
        self._grpc = grpc.aio.server(handlers=[self], options=options, maximum_concurrent_rpcs=most)
        host = f"unix:{listen.path}" if listen.path else str(listen)
        try:
            if tls is None:
                port = self._grpc.add_insecure_port(host)
            else:
                pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
                port = self._grpc.add_secure_port(host, grpc.ssl_server_credentials([pair]))
        except RuntimeError as error:
            raise OSError(0, str(error)) from None
        await self._grpc.start()
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
            await self._grpc.stop(self._server.policy.engine.deadline_seconds)
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

    async def _handshake(self, requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        """User and token in the header ``authorization`` (Basic); the session's bearer comes back in the same."""
        header = _header(context, "authorization")
        bearer = await self._admitted(context, lambda: self.sessions.login(header, _address(context)))
        await context.send_initial_metadata((("authorization", f"Bearer {bearer}"),))
        yield field(2, bearer)

    async def _get_flight_info(self, request: bytes, context: Context) -> bytes:
        kept, wide = await self._kept(context), _intervals(context)
        return await self._work(context, kept, lambda: self._statements.info(kept, request, intervals=wide))

    async def _get_schema(self, request: bytes, context: Context) -> bytes:
        kept, wide = await self._kept(context), _intervals(context)
        return await self._work(context, kept, lambda: self._statements.schema(kept, request, intervals=wide))

    async def _do_get(self, request: bytes, context: Context) -> AsyncIterator[bytes]:
        kept = await self._kept(context)
        table = await self._work(context, kept, lambda: self._statements.get(kept, request))
        for message in stream(table):
            yield message

    async def _do_action(self, request: bytes, context: Context) -> AsyncIterator[bytes]:
        kept = await self._kept(context)
        ended = list[str]()

        def act() -> list[bytes]:
            kind, body = action_of(request)
            ended.append(kind)
            return self._statements.act(kept, kind, body)

        for own in await self._work(context, kept, act):
            yield result(own)
        if ended == ["CloseSession"]:
            self.sessions.end(kept)

    async def _do_put(self, requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        kept, descriptor, arrow = await self._kept(context), b"", bytearray()
        most = 2 * self._server.limits.statement_bytes + SLACK
        async for request in requests:
            try:
                own = read(request)
                descriptor = descriptor or own.blob(1)
                if header := own.blob(2):
                    refuse_folded(header)
                    arrow += stream_of(header, own.blob(1000))
                if len(arrow) > most:
                    raise TooMuch(f"The parameters have more than {most} bytes, which are the most.")
            except Error as refusal:
                await context.abort(*status_of(refusal))
        yield await self._work(context, kept, lambda: self._statements.put(kept, descriptor, bytes(arrow)))

    async def _list_actions(self, request: bytes, context: Context) -> AsyncIterator[bytes]:
        await self._kept(context)
        for name, words in ACTIONS.items():
            yield field(1, name) + field(2, words)

    async def _list_flights(self, request: bytes, context: Context) -> AsyncIterator[bytes]:
        """None: what can be asked is not listed, but for the tables."""
        await self._kept(context)
        for flight in list[bytes]():
            yield flight

    # ---------------------------------------------------------------------------------------------- around every call

    async def _kept(self, context: Context) -> Visit:
        """The session of a call; without one it ends here."""
        header = _header(context, "authorization")
        kept = self.sessions.find(header)
        if kept is not None:
            return kept
        return await self._admitted(context, lambda: self.sessions.open(header, _address(context)))

    async def _work(self, context: Context, kept: Visit, work: Callable[[], Result]) -> Result:
        return await self._done(context, self._server.work(kept.guest.analyst, work))

    async def _admitted(self, context: Context, work: Callable[[], Result]) -> Result:
        return await self._done(context, asyncio.get_running_loop().run_in_executor(self._admitting, work))

    async def _done(self, context: Context, work: Awaitable[Result]) -> Result:
        """What the work returns, off the loop; a refusal ends the call with its status."""
        try:
            return await work
        except Error as refusal:
            code, text = status_of(refusal)
            if isinstance(refusal, BrokenMessage):  # what else is refused, the guest has told
                tell("broken message", door=DOOR, address=_address(context))
        except Exception as bug:  # noqa: BLE001 - whatever it is, the client learns nothing of it
            if self._server.stopping:  # its pool takes nothing more
                code, text = status_of(Stopping())
            else:
                tell("bug", door=DOOR, address=_address(context), bug=type(bug).__name__)
                code, text = grpc.StatusCode.INTERNAL, FAILED
        await context.abort(code, text)
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
