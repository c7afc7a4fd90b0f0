"""One connection's bytes: messages in, messages out, and no waiting for ever on either side."""

from __future__ import annotations

import asyncio
import ssl
from traceback import clear_frames
from typing import cast

from dpsql.errors import OperationalError
from dpsql.server.postgres.messages import ProtocolViolation
from dpsql.server.refusals import TooMuch

__all__ = ["Gone", "Silent", "Wire"]

BODY = 30.0  # Seconds for the rest of a message that has begun. It is a choice: a slow network sends 100 kB in that.
DRAINED = 60.0  # Seconds for a client to read what was sent. It is a choice.
PENDING = 1 << 20
"""Bytes that may wait for a client to ask for them; where there are more they are sent, and the next message of the
client is not read before it takes them. It is a choice."""
READ_BY = 1.0  # Seconds in which a client that is hung up on may read why. It is a choice.
STARTUP = 10_000  # The most bytes of a startup message, as in PostgreSQL.


class Gone(Exception):  # noqa: N818
    """The client went away."""


class Silent(OperationalError):  # noqa: N818
    """The client was silent for longer than it may be."""


class Wire:
    """One connection.

    Args:
        reader: From the client.
        writer: To it.
        most: Bytes of the longest message that is read.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int) -> None:
        self._reader = reader
        self._writer = writer
        self._most = most
        self._pending = bytearray()
        self._securing = False

    @property
    def address(self) -> str:
        """Where the client is; ``unix`` for a Unix socket."""
        peer = self._writer.get_extra_info("peername")
        return str(peer[0]) if isinstance(peer, tuple) else "unix"

    @property
    def encrypted(self) -> bool:
        """Whether it speaks TLS."""
        return self._writer.get_extra_info("ssl_object") is not None

    async def startup(self, seconds: float) -> tuple[int, bytes]:
        """The code and the body of a startup message."""
        size = int.from_bytes(await self._taken(4, seconds), "big")
        if not 8 <= size <= STARTUP:
            raise ProtocolViolation("the startup message has no valid length")
        data = await self._taken(size - 4, seconds)
        return int.from_bytes(data[:4], "big"), data[4:]

    async def read(self, seconds: float) -> tuple[bytes, bytes]:
        """The kind and the body of one message.

        Args:
            seconds: How long the client may be silent before it.

        Raises:
            Gone: There is no client any more.
            Silent: It said nothing for so long.
            TooMuch: The message is too long.
        """
        head = await self._taken(5, seconds)
        size = int.from_bytes(head[1:], "big") - 4
        if size < 0:
            raise ProtocolViolation("a message has no valid length")
        if size > self._most:
            raise TooMuch(f"A message of {size} bytes came, and {self._most} are the most. Ask for less at a time.")
        return head[:1], await self._taken(size, BODY)

    def write(self, data: bytes) -> None:
        """Puts a message where `flush` finds it."""
        self._pending += data

    async def flush(self) -> None:
        """Sends what was written."""
        if self._pending:
            self._writer.write(bytes(self._pending))
            self._pending.clear()
        try:
            await asyncio.wait_for(self._writer.drain(), DRAINED)
        except (TimeoutError, ConnectionError, ssl.SSLError):
            raise Gone from None

    async def relieve(self) -> None:
        """Sends what was written, if it is more than may wait."""
        if len(self._pending) > PENDING:
            await self.flush()

    async def secure(self, context: ssl.SSLContext, seconds: float) -> None:
        """Says yes to a client that asked for TLS, and goes on in it.

        Raises:
            Gone: It did not come about, or the client sent something in the clear meanwhile.
        """
        # A client begins with TLS as soon as it has read the yes: nobody may read from it before TLS does.
        cast(asyncio.Transport, self._writer.transport).pause_reading()
        if self._reader._buffer:  # type: ignore[attr-defined]  # bytes in the clear must not be taken for encrypted ones
            raise Gone
        self._writer.write(b"S")
        self._securing = True
        try:
            await asyncio.wait_for(self._writer.start_tls(context), seconds)
        except (TimeoutError, ConnectionError, ssl.SSLError, OSError) as failure:
            _let_go(failure)
            raise Gone from None
        self._securing = False

    async def close(self) -> None:
        """Sends what is left, if it can be sent at once, and hangs up."""
        if self._securing:  # nothing can be said in the middle of it, and asyncio would never tell that it is closed
            self._writer.transport.abort()
            return
        try:
            if self._pending:
                self._writer.write(bytes(self._pending))
                self._pending.clear()
            self._writer.close()
            await asyncio.wait_for(self._writer.wait_closed(), READ_BY)
        except (TimeoutError, OSError, ssl.SSLError):
            self._writer.transport.abort()

    async def _taken(self, count: int, seconds: float) -> bytes:
        try:
            return await asyncio.wait_for(self._reader.readexactly(count), seconds)
        except TimeoutError:
            raise Silent("The connection was silent for too long, and is closed.") from None
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            raise Gone from None


def _let_go(failure: BaseException | None) -> None:
    """Lets go of what a handshake of TLS held that did not come about: some 300 KB of asyncio's.

    The failure's traceback holds it, and, by the frames in it, the failure; asyncio keeps both for the connection. It
    would all stay until garbage is looked for, and strangers can bring it about as often as they like.
    """
    while failure is not None:
        clear_frames(failure.__traceback__)
        failure.__traceback__ = None
        failure = failure.__context__
