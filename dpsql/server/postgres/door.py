"""The door itself: it listens, lets clients in by SCRAM-SHA-256, takes requests to cancel, and stops.

Source: PostgreSQL 17 documentation, sections 53.2.1, 53.2.8, 53.2.10 and 53.3.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from dpsql.errors import Error, place_of
from dpsql.server.core import Guest, Server
from dpsql.server.events import tell
from dpsql.server.listening import Listen, Tls
from dpsql.server.postgres import messages
from dpsql.server.postgres.catalogue import Catalogue
from dpsql.server.postgres.conversation import Conversation
from dpsql.server.postgres.inquiry import Context
from dpsql.server.postgres.messages import MessageFields, ProtocolViolation
from dpsql.server.postgres.questions import question_of
from dpsql.server.postgres.scram import MECHANISM, begin
from dpsql.server.postgres.settings import Settings
from dpsql.server.postgres.states import PgRefusal, fields_of
from dpsql.server.postgres.wire import Gone, Silent, Wire
from dpsql.server.refusals import CROWDED, Stopping, TooMuch

__all__ = ["PostgresDoor"]

NAME = "postgres"
LET_IN = 15.0  # Seconds for a client to prove who it is. It is a choice: people type no tokens meanwhile.
TAKEN = 1.0
"""Seconds in which a client may end its messages, and read its answer, where the door stops. It is a choice."""
STRANGERS = 200
"""Connections at a time that have not yet proved who they are; more are hung up on. It is a choice: some 10 MB."""
YOUNG = 2.0
"""Seconds that a stranger's connection is let stand where others want its place: a program that knows a token has
proved it by then. It is a choice."""
OPTIONS = ("user", "database", "options", "replication")
"""Parameters of a startup message that are no settings."""


@dataclass(slots=True)
class _Open:
    """One connection that was let in."""

    secret: bytes
    conversation: Conversation
    task: asyncio.Task[None]


class PostgresDoor:
    """PostgreSQL's protocol. Made by `open_door`.

    Args:
        server: Whose door it is.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._catalogue = Catalogue(server.proxy)
        self._listener: asyncio.Server | None = None
        self._tls: ssl.SSLContext | None = None
        self._open: dict[int, _Open] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[None], float] = {}  # When each came; the first of them first.
        self._turned_away: set[asyncio.Task[None]] = set()
        self._last = 0
        self._in_the_clear = True

    async def start(self, listen: Listen, tls: Tls | None) -> str:
        """Listens; see `Door.start`. Where there is TLS, what comes over a network must speak it."""
        self._tls = None if tls is None else tls.context()
        self._in_the_clear = tls is None or not listen.network
        if listen.path is not None:
            self._listener = await asyncio.start_unix_server(self._connected, listen.path)
            listen.path.chmod(0o660)  # its owner and their group may connect, as over HTTP
            return f"unix:{listen.path}"
        self._listener = await asyncio.start_server(self._connected, listen.host, listen.port)
        host, port = self._listener.sockets[0].getsockname()[:2]
        database = self._server.policy.name
        return f"postgresql://NAME:TOKEN@{Listen(host, port)}/{database}" + ("" if tls is None else "?sslmode=require")

    async def stop(self) -> None:
        """Lets nobody in, hangs up on who is silent, and waits for statements at work; see `Door.stop`.

        The server takes no more statements already: a conversation whose answer is out ends by itself.
        """
        if self._listener is not None:
            self._listener.close()
        for task in list(self._tasks):
            if not any(own.task is task and not own.conversation.ready for own in self._open.values()):
                task.cancel()
        while self._tasks:
            quiet = [own for own in self._open.values() if not own.conversation.at_work]
            await asyncio.wait(self._tasks, timeout=TAKEN)
            for own in quiet:
                if not own.conversation.at_work:
                    own.task.cancel()
        self._catalogue.close()

    # -------------------------------------------------------------------------------------------------- one connection

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        wire = Wire(reader, writer, self._server.limits.statement_bytes)
        if task is None or not self._room():
            self._turn_away(wire)
            await wire.close()
            return
        self._tasks.add(task)
        try:
            await self._served(wire, task)
        except Gone:
            pass
        except asyncio.CancelledError:
            if task in self._turned_away:
                self._turn_away(wire)
            else:
                wire.write(messages.error(fields_of(Stopping(), severity="FATAL")))
        except ProtocolViolation as broken:
            self._server.strangers.tell("broken message", door=NAME, address=wire.address, why=str(broken))
            wire.write(messages.error(fields_of(PgRefusal("08P01", str(broken)), severity="FATAL")))
        except Silent as silent:
            self._server.strangers.tell("silent", door=NAME, address=wire.address)
            wire.write(messages.error(fields_of(PgRefusal("57P05", str(silent)), severity="FATAL")))
        except Error as refusal:
            told = PgRefusal("53300", str(refusal)) if _full(refusal) else refusal
            self._server.strangers.tell("refused", door=NAME, address=wire.address, why=str(refusal))
            wire.write(messages.error(fields_of(told, severity="FATAL")))
        except Exception as bug:  # noqa: BLE001 - its text may hold anything: the client gets a fixed one
            tell("bug", door=NAME, address=wire.address, kind=type(bug).__name__, where=place_of(bug))
            wire.write(messages.error(fields_of(bug, severity="FATAL")))
        finally:
            self._tasks.discard(task)
            self._turned_away.discard(task)
            with suppress(asyncio.CancelledError):
                await wire.close()

    def _room(self) -> bool:
        """Whether there is room for one more stranger: who was there first, and long enough, makes it."""
        if len(self._strangers) < STRANGERS:
            return True
        first, since = next(iter(self._strangers.items()))
        if asyncio.get_running_loop().time() - since < YOUNG:
            return False
        del self._strangers[first]
        self._turned_away.add(first)
        first.cancel()
        return True

    def _turn_away(self, wire: Wire) -> None:
        self._server.strangers.tell("turned away", door=NAME, address=wire.address)
        wire.write(messages.error(fields_of(PgRefusal("53300", CROWDED), severity="FATAL")))

    async def _served(self, wire: Wire, task: asyncio.Task[None]) -> None:
        self._strangers[task] = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(LET_IN):
                parameters = await self._started(wire)
                guest = None if parameters is None else await self._let_in(wire, parameters)
        except TimeoutError:
            raise Silent("Nobody proved who they are in time, and the connection is closed.") from None
        finally:
            self._strangers.pop(task, None)
        if guest is None or parameters is None:
            return
        try:
            await self._welcomed(wire, task, guest, parameters)
        finally:
            guest.close()

    async def _started(self, wire: Wire) -> dict[str, str] | None:
        """The parameters of the startup message; None where the connection was for something else."""
        while True:
            code, data = await wire.startup(LET_IN)
            if code in (messages.SSL, messages.GSS):
                if code == messages.SSL and self._tls is not None and not wire.encrypted:
                    await wire.secure(self._tls, LET_IN)
                else:
                    wire.write(b"N")
                    await wire.flush()
                continue
            if code == messages.CANCEL:
                self._cancel(data)
                return None
            if code >> 16 != messages.VERSION >> 16:
                raise ProtocolViolation(f"unsupported frontend protocol {code >> 16}.{code & 0xFFFF}: 3.0 is spoken")
            fields, found = MessageFields(data), dict[str, str]()
            while name := fields.string():
                found[name] = fields.string()
            fields.end()
            if (unknown := [name for name in found if name.startswith("_pq_.")]) or code != messages.VERSION:
                wire.write(messages.negotiate(unknown))
            return {name: value for name, value in found.items() if not name.startswith("_pq_.")}

    async def _let_in(self, wire: Wire, parameters: Mapping[str, str]) -> Guest:
        """Whoever proves that they know a user's token.

        Raises:
            NotAdmitted: They do not.
            PgRefusal: They ask for something that is not here.
        """
        if not self._in_the_clear and not wire.encrypted:
            raise PgRefusal("28000", "This door speaks TLS alone.", "Write sslmode=require.")
        name = parameters.get("user", "")
        attempt = self._server.attempt(name, NAME, wire.address)
        wire.write(messages.authentication(10, f"{MECHANISM}\0\0".encode()))
        await wire.flush()
        fields = MessageFields(await self._sasl(wire))
        if fields.string() != MECHANISM:
            raise ProtocolViolation(f"{MECHANISM} is the one way to come in")
        exchange = begin(fields.take(fields.int32()), attempt.verifier)
        wire.write(messages.authentication(11, exchange.first.encode()))
        await wire.flush()
        stored, last = exchange.key(await self._sasl(wire))
        user = attempt.by_key(stored)
        wire.write(messages.authentication(12, last) + messages.authentication(0))
        if parameters.get("replication", "false").lower() not in ("false", "off", "no", "0"):
            raise PgRefusal("0A000", "There is nothing to replicate.")
        database, own = parameters.get("database", name), self._server.policy.name
        if database != own:
            raise PgRefusal("3D000", f'database "{database}" does not exist', f"The one that is here is {own}.")
        return self._server.guest(user, NAME, wire.address)

    @staticmethod
    async def _sasl(wire: Wire) -> bytes:
        kind, data = await wire.read(LET_IN)
        if kind != b"p":
            raise ProtocolViolation("this is no message of SCRAM")
        return data

    async def _welcomed(
        self, wire: Wire, task: asyncio.Task[None], guest: Guest, parameters: Mapping[str, str]
    ) -> None:
        context = Context(guest, Settings(guest.analyst), self._catalogue, inside=False, changed=[])
        for text in _begun(parameters):
            await self._server.work(guest.analyst, partial(question_of(context, text).answered, ()))
        context.changed.clear()
        for name, value in context.settings.reported():
            wire.write(messages.parameter_status(name, value))
        conversation = Conversation(self._server, wire, context)
        number, secret = self._number(), secrets.token_bytes(4)
        self._open[number] = _Open(secret, conversation, task)
        wire.write(messages.backend_key(number, secret) + messages.ready("I"))
        await wire.flush()
        try:
            while await conversation.go_on():
                if self._server.stopping and conversation.ready:
                    raise Stopping
        finally:
            del self._open[number]

    def _number(self) -> int:
        """A number that no other connection has now."""
        while True:
            self._last = self._last % (2**31 - 1) + 1
            if self._last not in self._open:
                return self._last

    def _cancel(self, data: bytes) -> None:
        """Gives up another connection's statement, if the secret is its own. Nothing is answered, as in PostgreSQL."""
        if len(data) == 8:
            found = self._open.get(int.from_bytes(data[:4], "big"))
            if found is not None and hmac.compare_digest(found.secret, data[4:]):
                found.conversation.cancel()


def _full(refusal: Error) -> bool:
    return isinstance(refusal, TooMuch) and "connections" in str(refusal)


def _begun(parameters: Mapping[str, str]) -> list[str]:
    """The settings of a startup message as statements: its own, and those of ``options=-c name=value``."""
    found = [(name, value) for name, value in parameters.items() if name not in OPTIONS]
    pieces = parameters.get("options", "").replace("\\ ", "\0").split()
    while pieces:
        piece = pieces.pop(0)
        own = pieces.pop(0) if piece == "-c" and pieces else piece[2:] if piece[:2] in ("-c", "--") else ""
        name, sign, value = own.replace("\0", " ").partition("=")
        if not sign:
            raise PgRefusal("22023", f'"{piece}" is no option', "Write options=-c epsilon=0.1.")
        found.append((name.replace("-", "_"), value))
    return [f"SET {name} = {_constant(value)}" for name, value in found]


def _constant(value: str) -> str:
    if value.replace(".", "", 1).isdecimal() and value.isascii():
        return value
    quoted = value.replace("'", "''")
    return f"'{quoted}'"
