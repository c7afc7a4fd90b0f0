"""The doors of a server, each a module of its own.

A module of a door has ``open_door(server) -> Door``; it is loaded only where its door is opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the command line reads the table below for its help, which is there at once
    from dpsql.server.core import Server
    from dpsql.server.listening import Listen, Tls

__all__ = ["DOORS", "Door", "DoorKind"]


class Door(Protocol):
    """Something that listens. Both calls are made in the server's loop of asyncio, and must not hold it up."""

    async def start(self, listen: Listen, tls: Tls | None) -> str:
        """Opens it; where it can be reached, as clients write it."""
        ...

    async def stop(self) -> None:
        """Lets nobody in any more, and tells those who are in; returns when their statements are done or given up.

        The server takes no more statements already.
        """
        ...


@dataclass(frozen=True, slots=True)
class DoorKind:
    """One kind of door.

    Attributes:
        name: Its option of ``dpsql serve``.
        module: Where it is.
        words: What the command line says of it.
        needs: A library that it needs, and the extra that brings it; or None.
    """

    name: str
    module: str
    words: str
    needs: tuple[str, str] | None = None

    def open(self, server: Server) -> Door:
        """The door, not yet open.

        Raises:
            MissingExtra: A library is not installed.
        """
        if self.needs is not None:
            from dpsql.answers.shown.extras import of_extra

            of_extra(*self.needs)
        door: Door = import_module(self.module).open_door(server)
        return door


DOORS: tuple[DoorKind, ...] = (
    DoorKind("postgres", "dpsql.server.postgres", "PostgreSQL's protocol: psql, DBeaver, Metabase, any driver."),
    DoorKind("flight", "dpsql.server.flight", "Flight SQL: ADBC, JDBC, Arrow's own clients.", ("grpc", "flight")),
    DoorKind("mcp", "dpsql.server.mcp_http", "Agents, by the Model Context Protocol over HTTP.", ("mcp", "mcp")),
    DoorKind("page", "dpsql.server.page.door", "The owner's page, for the owner's token.", ("uvicorn", "page")),
)
"""All of them. A new one is its module and its line here."""
