"""How far a long statement is, told while it runs. Runs in the owner's process.

Tests: tests/unit/owner/test_under_way.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["under_way"]

TICK = 0.5  # Seconds between two looks. It is a choice: a bar that moves so often seems to move.


@contextmanager
def under_way(done: Callable[[], float], told: Callable[[float], None], tick: float = TICK) -> Iterator[None]:
    """Tells from another thread how much of a block is done, whenever it became more; nothing once the block ended.

    Args:
        done: The share that is done, from 0 to 1; of a block of several statements, of the present one.
        told: Takes the share.
        tick: Seconds between two looks.
    """
    over = threading.Event()

    def look() -> None:
        most = 0.0
        while not over.wait(tick):
            share = min(done(), 1.0)
            if share > most:
                most = share
                told(share)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
