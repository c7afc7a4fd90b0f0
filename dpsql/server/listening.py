"""Where a door listens, and whether it may do so without TLS."""

from __future__ import annotations

import errno
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from dpsql.errors import OperationalError, ProgrammingError

__all__ = ["Listen", "SocketFile", "Tls", "refuse_in_the_clear", "refuse_taken"]

ANSWERS = 2.0  # Seconds for a program to answer at a Unix socket; a later one is there all the same. It is a choice.
LAST_PORT = 65535  # The largest port number; 0 takes any that is free.


@dataclass(frozen=True, slots=True)
class Listen:
    """An address: a host and port, or the path of a Unix socket.

    Attributes:
        host: Host name or number; empty for a Unix socket.
        port: Its port.
        path: The Unix socket, or None.
    """

    host: str = ""
    port: int = 0
    path: Path | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        """``HOST:PORT``, ``[V6]:PORT`` or ``unix:PATH``.

        Raises:
            ProgrammingError: It is none of these.

        >>> Listen.read("127.0.0.1:5433"), Listen.read("unix:/run/dpsql/pg").path
        (Listen(host='127.0.0.1', port=5433, path=None), PosixPath('/run/dpsql/pg'))
        """
        kind, _, path = text.partition(":")
        if kind == "unix" and path and not path.isdecimal():
            return cls(path=Path(path).absolute())
        host, _, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            host = ""
        if not host or not (port.isascii() and port.isdecimal()) or int(port) > LAST_PORT:
            raise ProgrammingError(f"{text!a} is no address. Write HOST:PORT, such as 127.0.0.1:5433, or unix:PATH.")
        return cls(host, int(port))

    @property
    def network(self) -> bool:
        """Whether others than this machine may reach it."""
        if self.path is not None or self.host == "localhost":
            return False
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:  # a name: it may lead anywhere
            return True

    def __str__(self) -> str:
        if self.path is not None:
            return f"unix:{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Tls:
    """The owner's certificate and its key, in PEM files."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """What a server speaks TLS with, 1.2 or later.

        Raises:
            OperationalError: A file cannot be read, or they do not belong together.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise OperationalError(
                f"{self.certificate} and {self.key} are no certificate and its key, in PEM: {error}."
            ) from None
        return context


def refuse_in_the_clear(listen: Listen, tls: Tls | None, *, insecure: bool) -> None:
    """Returns if the door may open there.

    Raises:
        OperationalError: It would speak over a network in the clear.
    """
    if listen.network and tls is None and not insecure:
        raise OperationalError(
            f"{listen} can be reached over the network, where answers would travel in the clear. Write --tls-cert FILE "
            "--tls-key FILE; or 127.0.0.1 or unix:PATH as the address; or --insecure, if another program encrypts."
        )


def refuse_taken(listen: Listen) -> None:
    """Returns if no program listens at the Unix socket; a file that one left behind is no reason, nor is a port.

    Raises:
        OSError: One does, or its file cannot be looked at.
    """
    if listen.path is None:
        return
    with socket.socket(socket.AF_UNIX) as asked, suppress(FileNotFoundError, ConnectionRefusedError):
        asked.settimeout(ANSWERS)
        with suppress(TimeoutError, BlockingIOError):
            asked.connect(str(listen.path))
        raise OSError(errno.EADDRINUSE, "another program answers there")


@dataclass(frozen=True, slots=True)
class SocketFile:
    """The file of a Unix socket that a door listens at, to be removed at its end.

    Attributes:
        path: Where it is.
        number: Its device and its number there, by which another program's file is told from it.
    """

    path: Path
    number: tuple[int, int]

    @classmethod
    def of(cls, path: Path) -> Self:
        """The one that is there now."""
        found = path.stat()
        return cls(path, (found.st_dev, found.st_ino))

    def remove(self) -> None:
        """Removes it, where it is there still and nobody put another in its place."""
        with suppress(OSError):
            if self.of(self.path) == self:
                self.path.unlink()
