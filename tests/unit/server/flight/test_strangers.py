"""Connections of strangers at the Flight SQL door, who never log in or never say anything."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from threading import Event

import grpc
import pytest

from dpsql.server.flight.door import STRANGERS, FlightDoor
from dpsql.server.flight.messages import SERVICE
from tests.unit.server.clinic import Clinic
from tests.unit.server.flight.client import Client
from tests.unit.server.opening import opened, wait_until

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "no noise is drawn")]


def test_of_a_crowd_of_strangers_some_are_hung_up_on_and_others_are_answered(clinic: Clinic) -> None:
    most, more = clinic.server.limits.connections + STRANGERS, 30
    with opened(FlightDoor(clinic.server)) as where, ExitStack() as crowd:
        port = int(where.rpartition(":")[2])
        strangers = [crowd.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(most + more)]
        for stranger in strangers:
            stranger.setblocking(False)
        until = time.monotonic() + 60
        while (gone := sum(map(is_gone, strangers))) < more and time.monotonic() < until:
            time.sleep(0.01)
        assert gone == more
        for stranger in strangers[:2]:
            stranger.close()
        rows = 0
        while not rows and time.monotonic() < until:  # until the server has seen that two are gone
            with Client(where, f"Bearer {clinic.tokens['ana']}") as client, suppress(grpc.RpcError):
                rows = client.query("SHOW TABLES").num_rows
        assert rows == 1


def is_gone(stranger: socket.socket) -> bool:
    """Whether the server hung up on a connection."""
    try:
        while stranger.recv(4096):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def test_who_says_nothing_is_hung_up_on(clinic: Clinic) -> None:
    door = FlightDoor(clinic.server, speaks=300, silent=300)
    with opened(door) as where, Client(where, f"Bearer {clinic.tokens['ana']}") as client:
        with socket.create_connection(("127.0.0.1", int(where.rpartition(":")[2])), timeout=60) as stranger:
            while stranger.recv(4096):
                pass
        for _ in range(2):
            assert client.query("SHOW TABLES").num_rows == 1
            time.sleep(1)  # a client opens another connection by itself, in the same session


def test_one_analysts_calls_that_never_end_leave_half_of_all_to_others(clinic: Clinic) -> None:
    over = Event()

    def nothing() -> Iterator[bytes]:
        over.wait(60)
        yield b""

    door = FlightDoor(clinic.server)
    with opened(door) as where, Client(where) as ana, Client(where) as bob:
        ana.login("ana", clinic.tokens["ana"])
        bob.login("bob", clinic.tokens["bob"])
        most = 4 * clinic.server.limits.connections
        put = ana._channel.stream_stream(SERVICE + "DoPut")
        calls = [put(nothing(), metadata=ana.metadata) for _ in range(most + 10)]

        def refused() -> list[str]:
            return [call.details() for call in calls if call.done()]

        wait_until(lambda: len(refused()) == most // 2 + 10)
        assert {text[:11] for text in refused()} == {"You have 40"}
        assert bob.query("SELECT COUNT(*) AS n FROM people").num_rows == 1
        for call in calls:
            call.cancel()
        over.set()
        wait_until(lambda: door._calling.total() == 0)
        assert ana.query("SELECT COUNT(*) AS n FROM people").num_rows == 1
