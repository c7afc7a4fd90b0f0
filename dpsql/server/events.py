"""The owner's log of a server: a line of JSON for each event, without any value of an answer.

It is `server.log`, beside the owner's log of the engine. Statements stand in it as analysts wrote them.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.errors import Error, InvariantBroken, place_of

__all__ = ["EVENTS", "FILE", "LAYOUT", "Seldom", "tell", "telling", "told_by"]

EVENTS = logging.getLogger("dpsql.server")
EVENTS.propagate = False  # as the engine's: only a handler that the owner puts here gets it
EVENTS.addHandler(logging.NullHandler())
EVENTS.setLevel(logging.INFO)

FILE = "server.log"
LAYOUT = "%(message)s"  # How a record is written: it is a whole line of JSON already.
LONGEST = 2000
"""Characters of a text in the log; the rest is left out. It is a choice: the ledger has a charged statement whole."""
MINUTE = 60.0  # In seconds.
MOST = 60
"""Lines a minute of one kind that strangers bring about at one door. It is a choice: some 10 kB."""


def tell(event: str, **facts: Any) -> None:
    """Writes one event.

    Args:
        event: What happened, in a word.
        facts: Names and values: text, numbers, booleans. No value of an answer.
    """
    line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
    if not EVENTS.isEnabledFor(logging.INFO):
        return
    text = json.dumps(line | {name: _short(value) for name, value in facts.items() if value is not None})
    # As `EVENTS.info` does, but for a look through the stack for who calls.
    EVENTS.handle(EVENTS.makeRecord(EVENTS.name, logging.INFO, __file__, 0, text, (), None))


@contextmanager
def telling(event: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Writes one line when what is done within is done, or refused; what it yields is for what came of it."""
    began, came = time.monotonic(), dict[str, Any]()
    try:
        yield came
    except InvariantBroken as bug:
        came |= {"bug": str(bug)}
        raise
    except Error as refusal:
        came |= {"refused": type(refusal).__name__, "why": str(refusal)}
        raise
    finally:
        tell(event, **facts, seconds=round(time.monotonic() - began, 3), **came)


def paid(result: object) -> dict[str, str]:
    """What an answer cost, or each of several, as a value of the log; nothing of what is no answer."""
    answers = [own for own in (result if isinstance(result, list) else [result]) if isinstance(own, Answer)]
    return {"cost": "; ".join(own.paid_briefly for own in answers)} if answers else {}


class Seldom:
    """Writes what strangers bring about: of each kind so many lines a minute, for the log keeps its newest alone.

    How many were left out stands in the next line of that kind, or in one at the end. Threads share it.

    Args:
        most: Lines a minute of one kind, at one door.
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._lock = Lock()
        self._minutes = dict[tuple[str, str, str], tuple[float, int, int]]()
        """Of each kind when its minute began, its lines in it, and how many were left out."""

    def tell(self, event: str, **facts: Any) -> None:
        """As `tell`, where the minute has not had enough of them; the first fact is where: the door, or a library."""
        (name, where), *_ = facts.items()
        key = event, name, str(where)
        with self._lock:
            now = self._clock()
            began, lines, left_out = self._minutes.get(key, (now, 0, 0))
            if now - began >= MINUTE:
                began, lines = now, 0
            full = lines >= self._most
            self._minutes[key] = (began, lines, left_out + 1) if full else (began, lines + 1, 0)
        if not full:
            tell(event, **facts, left_out=left_out or None)

    def end(self) -> None:
        """Writes how many were left out of each kind, and forgets them."""
        with self._lock:
            minutes, self._minutes = self._minutes, {}
        for (event, name, where), (_, _, left_out) in minutes.items():
            if left_out:
                tell(event, **{name: where}, left_out=left_out)


class _Libraries(logging.Handler):
    """Writes what a library warns of as one event. Of a failure only its kind and place: its text may hold anything."""

    seldom = Seldom()

    def emit(self, record: logging.LogRecord) -> None:
        """Writes it."""
        failure = record.exc_info[1] if record.exc_info else None
        if failure is None:
            self.seldom.tell("warning", of=record.name, why=record.getMessage())
        else:
            self.seldom.tell("failure", of=record.name, kind=type(failure).__name__, where=place_of(failure))


_LIBRARIES = _Libraries(logging.WARNING)


def told_by(*libraries: str) -> None:
    """Takes what libraries log into the owner's log, a line each: by themselves they print tracebacks."""
    _LIBRARIES.seldom = Seldom()
    for name in libraries:
        logger = logging.getLogger(name)
        logger.addHandler(_LIBRARIES)
        logger.setLevel(logging.WARNING)  # MCP's SDK sets the level of all that have none of their own
        logger.propagate = False


def _short(value: Any) -> Any:
    return value[:LONGEST] if isinstance(value, str) else value
