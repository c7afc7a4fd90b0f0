"""What the doors share that speak HTTP."""

from __future__ import annotations

import gc
import socket

import pytest

from dpsql.server.listening import Tls
from dpsql.server.page.door import open_door
from tests.unit.server.clinic import Clinic
from tests.unit.server.opening import handshakes, opened, wait_until

pytestmark = pytest.mark.chance(0, "tokens are drawn; nothing of noise is asserted")


@pytest.mark.slow
def test_strangers_who_leave_before_tls_leave_nothing_behind(clinic: Clinic, certificate: Tls) -> None:
    gc.collect()
    gc.disable()  # nobody looks for garbage meanwhile
    try:
        before = handshakes()
        with opened(open_door(clinic.server), tls=certificate) as where:
            address = "127.0.0.1", int(where.rpartition(":")[2].partition("/")[0])
            strangers = [socket.create_connection(address, timeout=60) for _ in range(3)]
            wait_until(lambda: handshakes() == before + 3)
            for stranger in strangers:
                stranger.close()
            wait_until(lambda: handshakes() == before)
    finally:
        gc.enable()
