"""The Model Context Protocol over HTTP, at ``/mcp``: the bearer token is the user's, and the user is the analyst.

Each analyst has a server of the SDK's own, over one guest of ours, so that no session id leads to another's. It is made
when they first come, and ends when they have been silent for the policy's ``idle``, are removed, or the door stops.
Where a client's human cannot be asked, what costs more than ``approve_above`` is refused, uncharged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsql.answers.answer import Answer
from dpsql.answers.budget import Budget
from dpsql.answers.quotes.batch import BatchQuote
from dpsql.answers.quotes.quoted import Quote
from dpsql.errors import Error, OperationalError, place_of
from dpsql.privacy.loss import PrivacyLoss
from dpsql.releasing import Agree
from dpsql.server.core import Guest, Server
from dpsql.server.doors import Door
from dpsql.server.events import tell
from dpsql.server.http import STRANGERS, HttpDoor, address_of, let_in
from dpsql.server.listening import Listen
from dpsql.server.mcp import mcp_server
from dpsql.server.refusals import NotAdmitted, Stopping, UsersUnusable
from dpsql.server.tools import Tools
from dpsql.server.users import User

__all__ = ["McpDoor", "open_door"]

NAME = "mcp"
PATH = "/mcp"
AROUND = 16384
"""Bytes of a message around its statement: names, arguments, the client's own notes. It is a choice."""
SESSION = MCP_SESSION_ID_HEADER.encode()
LOOK = 15.0  # Seconds between two looks for analysts who have left. It is a choice.


def open_door(server: Server) -> Door:
    """The door, not yet open."""
    return HttpDoor(lambda listen, _: McpDoor(server, listen).app(), server, NAME, PATH)


class NotOpened(OperationalError):  # noqa: N818 - named as its sisters in `refusals`
    """An analyst's server did not begin, or ended while a request waited for it."""

    def __init__(self) -> None:
        super().__init__("The server could not open a session. Nothing was charged. Try again.")


@dataclass(frozen=True, slots=True)
class AskingGuest:
    """A guest, as the tools of an agent ask: within the server's limits, and in the owner's log."""

    guest: Guest

    def tables(self) -> Answer:
        return self.guest.ask("SHOW TABLES", lambda session: session.tables())

    def describe(self, table: str) -> Answer:
        return self.guest.ask(f"DESCRIBE {table}", lambda session: session.describe(table))

    def budget(self) -> Budget:
        return self.guest.ask("SHOW BUDGET", lambda session: session.budget())

    def explain(
        self, sql: str, *, half_width: Mapping[str, float] | None = None, epsilon: float | None = None
    ) -> Quote:
        return self.guest.explain(sql, half_width=half_width, epsilon=epsilon)

    def price(self, sql: str, *, epsilon: float | None = None) -> PrivacyLoss:
        return self.guest.ask(f"EXPLAIN {sql}", lambda session: session.price(sql, epsilon=epsilon))

    def query(self, sql: str, *, epsilon: float | None = None, agree: Agree = None) -> Answer:
        return self.guest.query(sql, epsilon=epsilon, agree=agree)

    def quote(
        self, statements: list[str], *, half_width: Mapping[str, float] | None = None, epsilon: float | None = None
    ) -> BatchQuote:
        return self.guest.ask(
            _all_of(statements),
            lambda session: session.quote(statements, half_width=half_width, epsilon=epsilon),
            together=len(statements),
        )

    def price_all(self, statements: list[str], *, epsilon: float | None = None) -> PrivacyLoss:
        return self.guest.ask(
            _all_of(statements),
            lambda session: session.price_all(statements, epsilon=epsilon),
            together=len(statements),
        )

    def query_all(self, statements: list[str], *, epsilon: float | None = None, agree: Agree = None) -> list[Answer]:
        return self.guest.query_all(statements, epsilon=epsilon, agree=agree)

    def asking(self) -> AbstractContextManager[None]:
        return self.guest.asking()


def _all_of(statements: list[str]) -> str:
    """Several statements that are priced, in the owner's log."""
    return ";\n".join(f"EXPLAIN {sql}" for sql in statements)


@dataclass(slots=True)
class _Room:
    """One analyst's server.

    Attributes:
        user: Whose.
        app: What answers.
        seen: When they asked last, in seconds that only grow.
        inside: Requests at work.
        sessions: Those of clients that keep one, the last used last; how many of its requests are at work.
        open: Whether it answers: it has begun, and does not end yet.
        ready: Set when it has begun, or failed to.
        ends: Set when it is to end.
        task: What keeps it.
    """

    user: User
    app: ASGIApp
    seen: float
    inside: int = 0
    sessions: dict[str, int] = field(default_factory=dict)
    open: bool = False
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    ends: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def uses(self, session: str, more: int) -> None:
        """Counts requests at work in a session, which is the last used then; one that is not known is not counted."""
        if session in self.sessions:
            self.sessions[session] = self.sessions.pop(session) + more


class McpDoor:
    """All analysts' servers.

    Args:
        server: Who may come in, and what they ask.
        listen: Where the door is.
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(self, server: Server, listen: Listen, clock: Callable[[], float] = time.monotonic) -> None:
        self._server, self._listen, self._clock = server, listen, clock
        self._rooms: dict[str, _Room] = {}
        self._known: dict[bytes, User] = {}

    def app(self) -> Starlette:
        """What answers."""
        return Starlette(routes=[Route(PATH, _Endpoint(self))], lifespan=self._lifespan)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request: whose it is, and then their own server."""
        request = Request(scope)
        try:
            room = await self._room(request)
        except NotAdmitted as refusal:
            told = JSONResponse({"error": str(refusal)}, 401, {"WWW-Authenticate": 'Bearer realm="dpsql"'})
            return await told(scope, receive, send)
        except (NotOpened, Stopping, UsersUnusable) as refusal:
            return await JSONResponse({"error": str(refusal)}, 503)(scope, receive, send)
        except Error as refusal:
            return await JSONResponse({"error": str(refusal)}, 429)(scope, receive, send)
        let_in(scope)
        most = (self._server.limits.connections + STRANGERS) // 2  # of all that the door takes
        if room.inside >= most:  # streams, and requests whose human is asked, last as long as their client likes
            full = f"You have {most} requests at work, which is your most. Nothing was charged. Let one end."
            return await JSONResponse({"error": full}, 429)(scope, receive, send)
        room.inside += 1
        try:
            await self._answered(room, scope, receive, send)
        finally:
            room.inside -= 1
            room.seen = self._clock()

    async def _answered(self, room: _Room, scope: Scope, receive: Receive, send: Send) -> None:
        """The answer of an analyst's own server to one request, in the session that it names or begins."""
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER, "")

        async def seen(message: Message) -> None:
            nonlocal session
            if not session and message["type"] == "http.response.start" and message["status"] < 400:
                session = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER, "")
                if session:
                    await self._begun(room, session, scope)
            await send(message)

        room.uses(session, 1)
        try:
            await room.app(scope, receive, seen)
        finally:
            room.uses(session, -1)
            if scope["method"] == "DELETE":
                room.sessions.pop(session, None)

    async def _begun(self, room: _Room, session: str, scope: Scope) -> None:
        """Counts a session that has begun. Clients that vanish do not say so: beyond the policy's number, the most
        silent one ends, as the SDK ends those whose client says that it leaves.
        """
        room.sessions[session] = 1
        while len(room.sessions) > self._server.limits.connections:
            oldest = min(room.sessions, key=lambda own: room.sessions[own] > 0)  # the first without a request at work
            del room.sessions[oldest]
            tell("session ended", door=NAME, analyst=room.user.name, why="It was silent the longest of too many.")
            kept = [(name, value) for name, value in scope["headers"] if name == b"host"]
            leaves = {**scope, "method": "DELETE", "headers": [*kept, (SESSION, oldest.encode())]}
            await room.app(leaves, _no_body, _unheard)

    async def _room(self, request: Request) -> _Room:
        """The server of whoever's token a request carries.

        Raises:
            NotAdmitted: It is nobody's.
            TooMuch, Stopping: As the server's limits say.
            NotOpened: It did not begin, or ended while it was waited for.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token.strip():
            raise NotAdmitted("Send the user's token: Authorization: Bearer TOKEN.")
        user = await self._user(token.strip(), address_of(request))
        room = self._rooms.get(user.id) or self._opened(user, address_of(request))
        await room.ready.wait()  # the first request of many at once opens it for all of them
        if not room.open:
            raise NotOpened
        room.seen = self._clock()
        return room

    async def _user(self, token: str, address: str) -> User:
        """Whose token it is. What was checked once is known by its hash, until the user is removed."""
        key = sha256(token.encode(errors="replace")).digest()
        known = self._known.get(key)
        if known is not None and self._server.stands(known):
            return known
        self._known.pop(key, None)
        loop = asyncio.get_running_loop()
        user = await loop.run_in_executor(None, self._server.bearer, token, NAME, address)
        self._known[key] = user
        return user

    def _opened(self, user: User, address: str) -> _Room:
        """A new server for an analyst, which begins."""
        guest = self._server.guest(user, NAME, address)
        tools = Tools(AskingGuest(guest), lambda: float(self._server.limits.approve_above), guest.left)
        limits, run = self._server.limits, partial(self._server.work, user.name)
        app = mcp_server(tools, self._server.policy.name, run=run).streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=2 * limits.statement_bytes + AROUND,  # a statement's marks may be escaped
            session_idle_timeout=limits.idle_seconds,
            max_sessions=2 * limits.connections,  # those that begin at once are counted once they have begun
            transport_security=self._security(),
        )
        room = _Room(user, app, self._clock())
        self._rooms[user.id] = room
        room.task = asyncio.create_task(self._kept(room, app, guest))
        return room

    async def _kept(self, room: _Room, app: Starlette, guest: Guest) -> None:
        """Holds an analyst's server open until it ends."""
        try:
            async with app.router.lifespan_context(app):
                room.open = not room.ends.is_set()
                room.ready.set()
                await room.ends.wait()
        except Exception as bug:  # noqa: BLE001 - its text may hold anything: the client gets a fixed one
            tell("bug", door=NAME, kind=type(bug).__name__, where=place_of(bug))
        finally:
            self._forget(room)
            room.ready.set()
            guest.close()

    def _forget(self, room: _Room) -> None:
        """No request comes to it any more: the next one opens another."""
        room.open = False
        if self._rooms.get(room.user.id) is room:
            del self._rooms[room.user.id]

    def _security(self) -> TransportSecuritySettings | None:
        """On this machine alone, requests that a foreign site's name led here are refused; elsewhere tokens guard."""
        if self._listen.path is None and not self._listen.network:
            return None  # the SDK's own, for loopback
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()
            await self._end(list(self._rooms.values()))

    async def _watch(self) -> None:
        """Ends the servers of those who have left."""
        while True:
            await asyncio.sleep(LOOK)
            with suppress(UsersUnusable):  # whoever was removed is refused all the same; the next look is to be made
                await self.sweep()

    async def sweep(self) -> None:
        """Ends the servers of those who are silent for too long, or were removed."""
        idle, now = self._server.limits.idle_seconds, self._clock()
        gone = [
            room
            for room in self._rooms.values()
            if (not room.inside and now - room.seen > idle) or not self._server.stands(room.user)
        ]
        await self._end(gone)
        self._known = {key: user for key, user in self._known.items() if self._server.stands(user)}

    async def _end(self, rooms: list[_Room]) -> None:
        for room in rooms:
            self._forget(room)
            room.ends.set()
        await asyncio.gather(*(room.task for room in rooms if room.task is not None))


class _Endpoint:
    """`McpDoor.answer`, as the routes take it: an application, not a function of a request."""

    def __init__(self, door: McpDoor) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._door.answer(scope, receive, send)


async def _no_body() -> Message:
    """The body of a request that has none."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_: Message) -> None:
    """Nobody waits for the answer."""
