"""Connections of strangers at PostgreSQL's door, who never say who they are."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest

from dpsql.server.postgres import door
from dpsql.server.postgres.door import STRANGERS, PostgresDoor
from dpsql.server.refusals import CROWDED
from tests.unit.server.clinic import Clinic
from tests.unit.server.opening import opened
from tests.unit.server.postgres.raw import Raw

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "tokens are drawn; nothing of noise is asserted")]


def test_of_a_crowd_of_strangers_some_are_told_that_there_are_too_many(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "YOUNG", 600)  # however slow this machine is
    with opened(PostgresDoor(clinic.server)) as where, ExitStack() as crowd:
        port = int(where.rpartition(":")[2].partition("/")[0])
        before = Raw(port)
        assert not before.enter("ana", clinic.tokens["ana"]).errors
        held, told = list[socket.socket](), b""
        while not told:
            assert len(held) <= STRANGERS + 1
            held.append(crowd.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60)))
            if len(held) > STRANGERS:
                while more := held[-1].recv(4096):
                    told += more
        assert told[:1] == b"E"
        assert {b"SFATAL", b"C53300", b"M" + CROWDED.encode()} <= set(told[5:].split(b"\0"))
        assert before.ask("SHOW TABLES").rows
        before.close()


def test_silent_strangers_make_room_for_others_and_who_was_let_in_stays(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "YOUNG", 0)
    with opened(PostgresDoor(clinic.server)) as where, ExitStack() as crowd:
        port = int(where.rpartition(":")[2].partition("/")[0])
        before = Raw(port)
        assert not before.enter("ana", clinic.tokens["ana"]).errors
        held = [
            crowd.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60)) for _ in range(STRANGERS)
        ]
        after = Raw(port)
        assert not after.enter("ana", clinic.tokens["ana"]).errors
        told = b""
        while more := held[0].recv(4096):
            told += more
        assert {b"SFATAL", b"C53300", b"M" + CROWDED.encode()} <= set(told[5:].split(b"\0"))
        assert before.ask("SHOW TABLES").rows == after.ask("SHOW TABLES").rows
        before.close()
        after.close()
