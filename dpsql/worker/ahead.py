"""Work that two threads do at once, such as to fetch a stream's next table while somebody works on the one before.

The database computes what comes next with all its threads, of which the one that asks is one, and numpy adds up on one:
both let other threads run. The threads are our own, without the standard library's pools, which would take a tenth of a
start.

Tests: tests/unit/worker/test_ahead.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from threading import Lock, Semaphore, Thread
from typing import Any, TypeVar

__all__ = ["begun", "both", "fetched", "fetched_ahead", "shared"]

T = TypeVar("T")
BUSY = 2
"""Processors that the database and who works on its tables keep busy without another thread: a third one takes turns
with them. It is a choice: there 4 million rows of three columns take 25 ms instead of 30 (measured)."""


def fetched(source: Iterable[Any]) -> Iterator[Any]:
    """Each table of a stream in order, `fetched_ahead` where a processor is left for that."""
    return fetched_ahead(source) if (os.cpu_count() or 1) > BUSY else iter(source)


def fetched_ahead(source: Iterable[Any]) -> Iterator[Any]:
    """Each table of a stream in order. Who stops early leaves nothing behind: what is on its way is waited for."""
    tables, asked, came = iter(source), Semaphore(1), Semaphore(0)
    found: list[tuple[Any, BaseException | None]] = []
    stopped = False

    def fetch() -> None:
        while asked.acquire() and not stopped:
            try:
                found.append((next(tables, None), None))
            except BaseException as error:  # noqa: BLE001 - it is raised where the table would have come
                found.append((None, error))
            came.release()

    other = Thread(target=fetch, daemon=True)
    other.start()
    try:
        while came.acquire():
            table, error = found.pop()
            if error is not None:
                raise error
            if table is None:
                return
            asked.release()
            yield table
    finally:
        stopped = True
        asked.release()
        other.join()


def begun(call: Callable[[], T]) -> Callable[[], T]:
    """Begins a call by another thread. What comes back waits for its end: it returns, or raises, what the call did."""
    found, failed = list[T](), list[BaseException]()

    def run() -> None:
        try:
            found.append(call())
        except BaseException as error:  # noqa: BLE001 - it is raised for who waits
            failed.append(error)

    other = Thread(target=run, daemon=True)
    other.start()

    def ended() -> T:
        other.join()
        if failed:
            raise failed[0]
        return found[0]

    return ended


def both(one: Callable[[], object], two: Callable[[], object]) -> None:
    """Does both; what either raises is raised when both are done."""
    ended = begun(one)
    try:
        two()
    finally:
        ended()


def shared(source: Iterable[T], one: Callable[[T], bool], two: Callable[[T], bool]) -> bool:
    """Gives each of what comes, never None, to whichever of two takers is free; whether all of it was taken.

    They work at once, and the source is asked by one of them at a time. Nobody is given more as soon as one says no;
    what either or the source raises is raised when both are done.
    """
    items, turn, refused = iter(source), Lock(), list[bool]()

    def taking(take: Callable[[T], bool]) -> None:
        try:
            while not refused:
                with turn:
                    item = next(items, None)
                if item is None:
                    return
                if not take(item):
                    refused.append(True)
        except BaseException:
            refused.append(True)
            raise

    both(lambda: taking(one), lambda: taking(two))
    return not refused
