"""Attacks through the doors of a server: one way to ask through each of them, so that an attack is written once.

A way asks as one analyst and gives rows of values, or raises `Turned` with the door's own text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import compress
from typing import Any

import grpc

from dpsql.server.doors import DOORS, DoorKind
from tests.unit.server.clinic import Clinic
from tests.unit.server.flight.client import Client
from tests.unit.server.opening import opened
from tests.unit.server.postgres.raw import Raw, Reply

__all__ = ["KINDS", "Turned", "Way", "Ways", "ways"]

Way = Callable[[str], list[tuple[Any, ...]]]
"""A statement to its rows."""
Ways = Mapping[str, Way]
"""Analysts to their ways."""


class Turned(Exception):  # noqa: N818 - a refusal, as the package's own
    """The door refused, with this text."""


@contextmanager
def by_flight(where: str, analyst: str, token: str) -> Iterator[Way]:
    """Flight SQL, by a login."""
    with Client(where) as client:
        client.login(analyst, token)

        def ask(sql: str) -> list[tuple[Any, ...]]:
            try:
                return [tuple(row.values()) for row in client.query(sql).to_pylist()]
            except grpc.RpcError as refusal:
                raise Turned(refusal.details()) from None

        yield ask


@contextmanager
def by_mcp(where: str, analyst: str, token: str) -> Iterator[Way]:
    """An agent over HTTP, whose human agrees to everything."""
    from tests.unit.server.test_mcp_http import call, talk

    def ask(sql: str) -> list[tuple[Any, ...]]:
        found = asyncio.run(talk(where, token, call("query", sql=sql), human=True))
        if found.is_error:
            raise Turned(found.content[0].text)
        told = found.structured_content
        values = [not name.endswith(("_low", "_high")) for name in told["columns"]]
        return [tuple(compress(row, values)) for row in told["rows"]]

    yield ask


@contextmanager
def by_postgres(where: str, analyst: str, token: str) -> Iterator[Way]:
    """PostgreSQL's protocol, by simple queries; a connection that the server hung up on is opened again."""
    port = int(where.rpartition(":")[2].partition("/")[0])

    def connected() -> Raw:
        raw = Raw(port)
        assert not raw.enter(analyst, token).errors
        return raw

    held = [connected()]

    def ask(sql: str) -> list[tuple[Any, ...]]:
        reply = Reply()
        with suppress(OSError):  # it hung up while we were speaking
            reply = held[0].ask(sql)
        if not reply.kinds.endswith("Z"):
            held[0].close()
            held[0] = connected()
        if not reply.kinds:
            raise Turned("The server hung up.")
        if reply.errors:
            raise Turned(reply.errors[0]["M"])
        return [tuple(row) for row in reply.rows]

    yield ask
    held[0].close()


BY_DOOR: Mapping[str, Callable[[str, str, str], Any]] = {
    "flight": by_flight,
    "mcp": by_mcp,
    "postgres": by_postgres,
}
"""How to ask through a door, by its name; the owner's page lets no analyst ask."""
KINDS = tuple(kind for kind in DOORS if kind.name in BY_DOOR)
"""The doors through which analysts ask."""


@contextmanager
def ways(kind: DoorKind, clinic: Clinic) -> Iterator[Ways]:
    """Opens a door, and a way through it for each of two analysts."""
    by = BY_DOOR[kind.name]
    with (
        opened(kind.open(clinic.server)) as where,
        by(where, "ana", clinic.tokens["ana"]) as ana,
        by(where, "bob", clinic.tokens["bob"]) as bob,
    ):
        yield {"ana": ana, "bob": bob}
