"""The owner's log of a server: a line of JSON for each event, without any value of an answer.

It is `server.log`, beside the owner's log of the engine. Statements stand in it as analysts wrote them.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from dpsql.errors import place_of

__all__ = ["EVENTS", "FILE", "LAYOUT", "tell", "told_by"]

EVENTS = logging.getLogger("dpsql.server")
EVENTS.propagate = False  # as the engine's: only a handler that the owner puts here gets it
EVENTS.addHandler(logging.NullHandler())
EVENTS.setLevel(logging.INFO)

FILE = "server.log"
LAYOUT = "%(message)s"  # How a record is written: it is a whole line of JSON already.
LONGEST = 2000
"""Characters of a text in the log; the rest is left out. It is a choice: the ledger has a charged statement whole."""


def tell(event: str, **facts: Any) -> None:
    """Writes one event.

    Args:
        event: What happened, in a word.
        facts: Names and values: text, numbers, booleans. No value of an answer.
    """
    line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
    EVENTS.info("%s", json.dumps(line | {name: _short(value) for name, value in facts.items() if value is not None}))


class _Libraries(logging.Handler):
    """Writes what a library warns of as one event. Of a failure only its kind and place: its text may hold anything."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes it."""
        failure = record.exc_info[1] if record.exc_info else None
        if failure is None:
            tell("warning", of=record.name, why=record.getMessage())
        else:
            tell("failure", of=record.name, kind=type(failure).__name__, where=place_of(failure))


_LIBRARIES = _Libraries(logging.WARNING)


def told_by(*libraries: str) -> None:
    """Takes what libraries log into the owner's log, a line each: by themselves they print tracebacks."""
    for name in libraries:
        logger = logging.getLogger(name)
        logger.addHandler(_LIBRARIES)
        logger.propagate = False


def _short(value: Any) -> Any:
    return value[:LONGEST] if isinstance(value, str) else value
