"""A door that is open, in a thread of its own with a loop of asyncio, and what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import time
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

from dpsql.server.doors import Door
from dpsql.server.listening import Listen, Tls

__all__ = ["handshakes", "opened", "wait_until"]

PATIENCE = 60  # Seconds for a door to open, and to close.


@contextmanager
def opened(door: Door, listen: str = "127.0.0.1:0", tls: Tls | None = None) -> Iterator[str]:
    """Where it can be reached; it is closed afterwards."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(door.start(Listen.read(listen), tls), loop).result(PATIENCE)
    finally:
        asyncio.run_coroutine_threadsafe(door.stop(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def wait_until(so: Callable[[], bool]) -> None:
    """Returns when it is so."""
    ends = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < ends
        time.sleep(0.01)


def handshakes() -> int:
    """How many connections of TLS asyncio has in memory, with their buffers."""
    return sum(isinstance(found, SSLProtocol) for found in gc.get_objects())
