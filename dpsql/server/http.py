"""What the doors that speak HTTP share: where they listen, with which limits, and how much of a body they read.

Needs `uvicorn` and `starlette`, of the extras ``page`` and ``mcp``.

Tests: tests/unit/server/page, tests/unit/server/test_mcp_http.py.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpsql.errors import OperationalError
from dpsql.server.core import Server
from dpsql.server.events import told_by
from dpsql.server.listening import Listen, Tls
from dpsql.server.refusals import CROWDED

__all__ = ["HttpDoor", "address_of", "body_of", "let_in"]

PATIENCE = 10
"""Seconds that a stopping door waits for answers on their way. It is a choice."""
BACKLOG = 128  # Connections that may wait to be taken, and that are taken at a time. It is a choice.
KEPT = 20
"""Seconds that a connection stays open without a request. It is a choice: a client that is in need not come again,
where strangers crowd the door, and strangers hold a place no longer than by a request that is slow to come."""
SLOW = 20.0
"""Seconds that a whole request may take to come, its head and body: a client that is slower holds a place that others
want. It is a choice."""
STRANGERS = 200
"""Connections beside the policy's number, of clients that have not yet said who they are; more are hung up on. It is a
choice: as at PostgreSQL's door."""
LET_IN = "dpsql.let_in"  # Where a request has what `let_in` calls.
YOUNG = 2.0
"""Seconds that a stranger's connection is let stand where others want its place: who knows a token has shown it by
then. It is a choice, as at PostgreSQL's door."""
BUSY = b"".join((
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n",
    b'Content-Length: %d\r\n\r\n{"error": "%s"}' % (len(CROWDED) + 13, CROWDED.encode()),
))  # fmt: skip
"""For who is hung up on."""
HEADS = 32768
"""Bytes of a request's line and headers: more is refused. It is a choice; browsers send a tenth of it."""


class _Uvicorn(uvicorn.Server):
    """One that leaves signals to `dpsql serve`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Protocol(H11Protocol):
    """One connection, which ends where its client takes too long over a request."""

    slow = SLOW
    _late: asyncio.TimerHandle | None = None

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        _let_go_afterwards(asyncio.current_task())

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._late = self.loop.call_later(self.slow, transport.abort)

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # uvicorn's own word on a broken request may not follow HEAD
            self.transport.abort()
            return
        whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        if whole and self._late is not None:
            self._late.cancel()
            self._late = None
        elif not whole and self._late is None:
            self._late = self.loop.call_later(self.slow, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)


def _let_go_afterwards(task: asyncio.Task[Any] | None) -> None:
    """Lets go of what asyncio's task that takes a connection holds, once it is done.

    Where TLS does not come about, its frame holds the failure, whose traceback holds the frame, and 300 KB of buffers:
    strangers can bring that about faster than garbage is looked for.
    """
    frame = getattr(task and task.get_coro(), "cr_frame", None)
    if task is not None and frame is not None:
        task.add_done_callback(lambda _: frame.clear())


class _Endings:
    """An application, of which answers without an end, as MCP streams to whoever asks by GET, end when the door stops.

    Args:
        app: What answers.
        stops: Set when the door stops.
    """

    def __init__(self, app: ASGIApp, stops: asyncio.Event) -> None:
        self._app, self._stops = app, stops

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers; to what streams, a door that stops is a client that leaves."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        open_ended = False

        async def received() -> Message:
            came, stops = asyncio.ensure_future(receive()), asyncio.ensure_future(self._stops.wait())
            try:
                await asyncio.wait({came, stops}, return_when=asyncio.FIRST_COMPLETED)
                return came.result() if came.done() else {"type": "http.disconnect"}
            finally:
                came.cancel()
                stops.cancel()

        async def sent(message: Message) -> None:
            nonlocal open_ended
            open_ended = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        await self._app(scope, received, sent)
        if open_ended and self._stops.is_set():
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@dataclass(slots=True)
class _Held:
    """One connection.

    Attributes:
        connection: It.
        since: When it was taken, in seconds that only grow.
        known: Whether it is of somebody who was let in.
    """

    connection: socket.socket
    since: float
    known: bool


class _Listener(socket.socket):
    """Takes so many connections at a time, and hangs up on more before anything is done for them: no TLS is begun.

    Where there are as many, the next one has the place of the stranger who was there first, once that was there for a
    while: silent ones keep nobody out. At a socket of this machine all are known.

    Args:
        family: Of its addresses.
        protocol: As `socket.getaddrinfo` gives it: asyncio sends small packets at once (TCP_NODELAY) where it is TCP's.
        most: How many it takes.
        clear: Whether who is hung up on is told why, in HTTP.
        told: Told from where they come.
    """

    def __init__(self, family: int, protocol: int, most: int, clear: bool, told: Callable[[str], None]) -> None:
        super().__init__(family, socket.SOCK_STREAM, protocol)
        self._most, self._clear, self._told = most, clear, told
        self._held: list[_Held] = []

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection.

        Raises:
            ConnectionAbortedError: It was hung up on; a loop of asyncio comes back for the next.
            BlockingIOError: There is none.
        """
        taken, address = super().accept()
        if len(self._held) >= self._most:
            self._held = [one for one in self._held if one.connection.fileno() >= 0]  # a closed one has no number
        if len(self._held) < self._most or self._made_room():
            self._held.append(_Held(taken, time.monotonic(), not isinstance(address, tuple)))
            return taken, address
        with taken, suppress(OSError):
            taken.setblocking(False)
            if self._clear:
                taken.send(BUSY)
        self._told(str(address[0]) if isinstance(address, tuple) else "unix")
        raise ConnectionAbortedError

    def let_in(self, client: tuple[str, int] | None) -> None:
        """Whoever has this address proved who they are."""
        for one in self._held:
            with suppress(OSError):  # of one that is closed by now
                if not one.known and client is not None and one.connection.getpeername()[:2] == tuple(client):
                    one.known = True

    def _made_room(self) -> bool:
        """Whether a stranger who was there long enough was hung up on."""
        first = next((one for one in self._held if not one.known), None)
        if first is None or time.monotonic() - first.since < YOUNG:
            return False
        self._held.remove(first)
        with suppress(OSError):  # its client may have left
            first.connection.shutdown(socket.SHUT_RDWR)  # its own task closes it
        return True


class _LettingIn:
    """An application that can say that who asks proved who they are (`let_in`).

    Args:
        app: What answers.
        listener: What holds the connections.
    """

    def __init__(self, app: ASGIApp, listener: _Listener) -> None:
        self._app, self._listener = app, listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers."""
        if scope["type"] == "http":
            scope[LET_IN] = partial(self._listener.let_in, scope["client"])
        await self._app(scope, receive, send)


def let_in(scope: Scope) -> None:
    """Who asks proved who they are: their connection makes room for no stranger's."""
    if (known := scope.get(LET_IN)) is not None:
        known()


class HttpDoor:
    """A door that speaks HTTP/1.1.

    Args:
        app: What answers, made when it is known where the door is.
        server: Whose.
        name: The door's.
        path: What follows the address, for people to read.
        slow: Seconds that a request may take to come; tests give their own.
    """

    def __init__(
        self, app: Callable[[Listen, Tls | None], ASGIApp], server: Server, name: str, path: str, *, slow: float = SLOW
    ) -> None:
        self._app, self._path = app, path
        self._strangers, self._name = server.strangers, name
        self._most = server.limits.connections + STRANGERS
        self._protocol = type("_OwnProtocol", (_Protocol,), {"slow": slow})
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._stops = asyncio.Event()

    async def start(self, listen: Listen, tls: Tls | None) -> str:
        """Opens it; where it can be reached.

        Raises:
            OSError: It cannot listen there.
        """
        told_by("uvicorn", "mcp")
        context = None if tls is None else tls.context()
        listener = _listener(listen, self._most, tls is None, self._turned_away)
        config = uvicorn.Config(
            _LettingIn(_Endings(self._app(listen, tls), self._stops), listener),
            log_config=None, access_log=False, server_header=False, proxy_headers=False, ws="none", http=self._protocol,
            limit_concurrency=self._most + BACKLOG + 1, h11_max_incomplete_event_size=HEADS,
            timeout_graceful_shutdown=PATIENCE, timeout_keep_alive=KEPT, backlog=BACKLOG, lifespan="on",
        )  # fmt: skip
        config.load()
        config.ssl = context
        self._server = _Uvicorn(config)
        self._task = asyncio.create_task(self._server.serve([listener]))
        while not self._server.started:
            if self._task.done():
                await self._task
                raise OperationalError("The HTTP server did not start. Its log says why.")
            await asyncio.sleep(0.01)
        scheme = "http" if tls is None else "https"
        if listen.path is not None:
            return f"unix:{listen.path}{self._path}"
        return f"{scheme}://{Listen(listen.host, listener.getsockname()[1])}{self._path}"

    async def stop(self) -> None:
        """Lets nobody in any more; returns when answers on their way are out, or given up."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            self._stops.set()
            await self._task

    def _turned_away(self, address: str) -> None:
        self._strangers.tell("turned away", door=self._name, address=address)


def _listener(listen: Listen, most: int, clear: bool, told: Callable[[str], None]) -> _Listener:
    """A socket that listens there; as `_Listener`.

    Raises:
        OSError: It cannot.
    """
    if listen.path is not None:
        with suppress(FileNotFoundError):
            if listen.path.is_socket():
                listen.path.unlink()
        found = _Listener(socket.AF_UNIX, 0, most, clear, told)
        found.bind(str(listen.path))
        listen.path.chmod(0o660)
    else:
        family, _, protocol, _, address = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM)[0]
        found = _Listener(family, protocol, most, clear, told)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    found.listen(BACKLOG)
    found.setblocking(False)
    return found


def address_of(request: Request) -> str:
    """From where a request comes: a number, or ``unix``."""
    return request.client.host if request.client is not None and request.client.host else "unix"


async def body_of(request: Request, most: int) -> bytes | None:
    """A request's body; None where it is longer than it may be, in bytes, or where its client left before its end."""
    read = b""
    try:
        async for part in request.stream():
            read += part
            if len(read) > most:
                return None
    except ClientDisconnect:
        return None
    return read
