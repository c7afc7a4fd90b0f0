"""TLS at PostgreSQL's door, which begins within a connection."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import struct
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest

from dpsql.server.listening import Tls
from dpsql.server.postgres import door as door_module
from dpsql.server.postgres.door import PostgresDoor
from dpsql.server.postgres.wire import Gone, Wire
from tests.unit.server.clinic import Clinic
from tests.unit.server.opening import handshakes, opened, wait_until
from tests.unit.server.postgres.raw import Raw

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "tokens are drawn; nothing of noise is asserted")]

ASK_FOR_TLS = struct.pack(">ii", 8, 80877103)
LATER = 0.2  # Seconds that the door is late in the test: a client on this machine answers within a thousandth of it.


def test_a_client_that_begins_with_tls_at_once_is_not_hung_up_on(
    clinic: Clinic, certificate: Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    drain = asyncio.StreamWriter.drain

    async def late(self: asyncio.StreamWriter) -> None:
        """Gives the client time to answer before the door goes on."""
        await drain(self)
        await asyncio.sleep(LATER)

    monkeypatch.setattr(asyncio.StreamWriter, "drain", late)
    trust = ssl.create_default_context(cafile=str(certificate.certificate))
    trust.check_hostname = False
    with opened(PostgresDoor(clinic.server), tls=certificate) as where:
        raw = Raw(int(where.rpartition(":")[2].partition("/")[0]))
        raw.send(ASK_FOR_TLS)
        assert raw.socket.recv(1) == b"S"
        raw.socket = trust.wrap_socket(raw.socket)
        assert not raw.enter("ana", clinic.tokens["ana"]).errors
        raw.close()


def test_bytes_in_the_clear_that_came_before_the_yes_end_the_connection(clinic: Clinic, certificate: Tls) -> None:
    with opened(PostgresDoor(clinic.server), tls=certificate) as where:
        address = "127.0.0.1", int(where.rpartition(":")[2].partition("/")[0])
        with socket.create_connection(address, timeout=60) as stranger:
            stranger.sendall(ASK_FOR_TLS + b"Q\0\0\0\x0dSELECT 1\0")
            assert stranger.recv(1) == b""


def test_the_owner_s_group_may_connect_to_a_unix_socket(clinic: Clinic, tmp_path: Path) -> None:
    with opened(PostgresDoor(clinic.server), f"unix:{tmp_path}/door"), socket.socket(socket.AF_UNIX) as client:
        assert (tmp_path / "door").stat().st_mode & 0o777 == 0o660
        client.connect(f"{tmp_path}/door")
        client.sendall(ASK_FOR_TLS)
        assert client.recv(1) == b"N"


@pytest.mark.parametrize("early", [b"", b"Q\0\0\0\x0dSELECT 1\0"])
def test_bytes_in_the_clear_are_never_taken_for_encrypted_ones(early: bytes) -> None:
    # CVE-2021-23214: who sits between client and server writes a statement before TLS begins.
    writer = Mock(start_tls=AsyncMock())

    async def secured() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(early)
        await Wire(reader, writer, 100).secure(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), 1)

    if early:
        with pytest.raises(Gone):
            asyncio.run(secured())
    else:
        asyncio.run(secured())
    assert writer.start_tls.await_count == (0 if early else 1)


@pytest.mark.every(2)
@pytest.mark.parametrize("said", [b"", b"no TLS at all", None])
def test_a_handshake_that_does_not_come_about_leaves_nothing_behind(
    clinic: Clinic, certificate: Tls, monkeypatch: pytest.MonkeyPatch, said: bytes | None
) -> None:
    if said is None:  # the client says nothing until it is no longer waited for
        monkeypatch.setattr(door_module, "LET_IN", 0.2)
    gc.collect()
    gc.disable()  # nobody looks for garbage meanwhile
    try:
        before = handshakes()
        door = PostgresDoor(clinic.server)
        with opened(door, tls=certificate) as where:
            for _ in range(3):
                stranger = Raw(int(where.rpartition(":")[2].partition("/")[0]))
                stranger.send(ASK_FOR_TLS)
                assert stranger.socket.recv(1) == b"S"
                if said is None:
                    stranger.receive()
                else:
                    stranger.send(said)
                stranger.close()
            wait_until(lambda: not door._tasks)
        assert handshakes() == before
    finally:
        gc.enable()
