"""Seats at work: so many for all who ask, and half of them for one analyst, at whichever doors."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import Future
from threading import Lock

__all__ = ["Seats"]

_TAKEN = Future[None]()
"""Of all whose seat was free."""
_TAKEN.set_result(None)


class Seats:
    """Who is at work, and who waits to be. Threads and loops may share it.

    Args:
        most: Of all at a time; one analyst has half of them at most.
    """

    def __init__(self, most: int) -> None:
        self._most, self._own = most, max(1, most // 2)
        self._lock = Lock()
        self._inside = Counter[str]()
        self._waiting: list[tuple[str, Future[None]]] = []

    def asked(self, analyst: str) -> Future[None]:
        """Done as soon as there is a seat, which `leave` gives back; who cancels it before then has none."""
        with self._lock:
            if not self._waiting and self._free(analyst):  # as nearly always
                self._inside[analyst] += 1
                return _TAKEN
            seat = Future[None]()
            self._waiting.append((analyst, seat))
        self._grant()
        return seat

    async def taken(self, analyst: str) -> None:
        """Returns in a loop of asyncio as soon as there is a seat; whoever is cancelled before then has none."""
        seat = self.asked(analyst)
        if not seat.done():
            try:
                await asyncio.wrap_future(seat)
            except asyncio.CancelledError:
                self.given_up(analyst, seat)
                raise

    def given_up(self, analyst: str, seat: Future[None]) -> None:
        """Whoever asked for a seat is gone: it is given back if it was granted meanwhile."""
        if not seat.cancel():
            self.leave(analyst)

    def leave(self, analyst: str) -> None:
        """Gives a seat back."""
        with self._lock:
            self._inside[analyst] -= 1
            if not self._inside[analyst]:
                del self._inside[analyst]
            if not self._waiting:
                return
        self._grant()

    def _free(self, analyst: str) -> bool:
        return self._inside.total() < self._most and self._inside[analyst] < self._own

    def _grant(self) -> None:
        """Lets in who may come, the first who asked first."""
        granted = list[Future[None]]()
        with self._lock:
            left = list[tuple[str, Future[None]]]()
            for analyst, seat in self._waiting:
                if not self._free(analyst):
                    left.append((analyst, seat))
                elif seat.set_running_or_notify_cancel():
                    self._inside[analyst] += 1
                    granted.append(seat)
            self._waiting = left
        for seat in granted:
            seat.set_result(None)
