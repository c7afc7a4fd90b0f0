"""A door that is open, in a thread of its own with a loop of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from dpsql.server.doors import Door
from dpsql.server.listening import Listen, Tls

__all__ = ["opened"]

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
