"""The owner's log: the one place for what an engine said, which may speak of rows.

Under an open proxy it is a file beside the ledger's mark. A program of the owner's may add handlers of its own to the
logger `dpsql.operator`.
"""

from __future__ import annotations

import io
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

__all__ = ["FILE", "OPERATOR", "TELLS", "keep_in", "overheard"]

OPERATOR = logging.getLogger("dpsql.operator")
OPERATOR.propagate = False  # only a handler that the owner puts here gets it: no screen, no notebook
OPERATOR.addHandler(logging.NullHandler())  # without one, Python would print errors to stderr

FILE = "operator.log"
TELLS = "The data owner's log (dpsql.operator) has the details."
"""For analysts, who read no more of it than this."""
LARGEST = 1 << 20
"""Bytes of the file, about ten thousand lines; then it becomes operator.log.1 and a new one begins. It is a choice."""
LAYOUT = "%(asctime)s %(levelname)s process %(process)d: %(message)s"
KEPT = 3  # Older files that are kept. It is a choice: with the newest they take about 4 MiB.


def keep_in(
    folder: Path, file: str = FILE, logger: logging.Logger = OPERATOR, layout: str = LAYOUT
) -> Callable[[], None]:
    """Writes this log, or another of the owner's, to a file in a private folder, until what is returned is called.

    Args:
        folder: Of mode 0700.
        file: The file's name.
        logger: What is written there.
        layout: How `logging` writes a record.
    """
    handler = _OwnersFile(folder / file, layout)
    logger.addHandler(handler)

    def end() -> None:
        logger.removeHandler(handler)
        handler.close()

    return end


@contextmanager
def overheard() -> Iterator[list[str]]:
    """What is logged meanwhile, as text: for a command that the owner gives, whose screen is the owner's."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]  # a list is all it is
    OPERATOR.addHandler(handler)
    try:
        yield said
    finally:
        OPERATOR.removeHandler(handler)


class _OwnersFile(RotatingFileHandler):
    """A file of mode 0600; other processes may write and rotate it too, and the owner may take it away.

    It stays open, for as long as what lies in its place is still the file that was opened.
    """

    def __init__(self, file: Path, layout: str) -> None:
        super().__init__(
            file, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8", errors="backslashreplace", delay=True
        )
        self._place = file
        self.setFormatter(logging.Formatter(layout))

    def _open(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(
            io.FileIO(self.baseFilename, "a", opener=_private), encoding=self.encoding, errors=self.errors
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record once, also where several proxies keep their log in this file."""
        files: set[str] = record.__dict__.setdefault("dpsql_files", set())
        if self.baseFilename in files:
            return
        files.add(self.baseFilename)
        super().emit(record)

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the library's name
        """Whether the file, as it lies there now, is too long for one record more."""
        try:
            there: os.stat_result | None = self._place.stat()
        except FileNotFoundError:
            there = None
        if self.stream is not None and (there is None or not os.path.samestat(there, os.fstat(self.stream.fileno()))):
            self.stream.close()
            self.stream = None  # it was rotated or taken away: `super().emit` opens a new one
        if there is None or not stat.S_ISREG(there.st_mode):
            return False
        return there.st_size + len(f"{self.format(record)}\n") >= self.maxBytes

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Nothing: the library would print the record, which may speak of rows, to stderr."""


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
