"""The high-water mark: how far each ledger had come, kept outside the ledger's folder.

A copy of an old ledger is in itself a perfect ledger. The mark is what gives it away. A folder of marks holds

    <ledger id>.mark     the furthest record known of that ledger, wherever its file lies
    <hash of path>.path  which ledger lies at that absolute path
    lock                 held by whoever writes a ledger that has its mark here

A mark is on the disk before its record is committed, in its place (`ahead`) behind that, and never goes back: only the
owner's `replace` overrules. So it is never ahead of its ledger, and behind it by what nobody has seen the answer of.

Tests: tests/unit/ledger/test_opening.py, tests/attacks/test_ledger_rollback.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpsql.errors import LedgerError
from dpsql.ledger.folders import held, make_private, write_whole, written_beside

PATIENCE = 60.0
"""Seconds to wait for a process that holds the folder's lock. It is a choice: a charge holds it for milliseconds."""
MOST = 2**63  # In records, and in epochs: SQLite's whole numbers have 64 bits, so that it counts none beyond.

__all__ = ["HighWater", "Marks", "UnusableLedgerError", "default_folder"]


class UnusableLedgerError(LedgerError):
    """The ledger is missing, damaged or set back: only the owner can go on, in one of two ways, both on record."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem} Nothing was read. The owner can start its accounts afresh with "
            "`dpsql budget POLICY --reset --reason TEXT`, or bring back a backup with "
            "`dpsql ledger restore POLICY BACKUP --reason TEXT`."
        )


@dataclass(frozen=True, slots=True)
class HighWater:
    """The last record of a ledger.

    Attributes:
        epoch: How often the owner overruled the mark, by a restore or a reset of an unusable ledger.
        sequence: The record's number, from 1.
        digest: Its hash in the chain, in hexadecimal.
    """

    epoch: int
    sequence: int
    digest: str


def default_folder() -> Path:
    """The user's state directory for dpsql: ``$XDG_STATE_HOME/dpsql``, else ``~/.local/state/dpsql``.

    Raises:
        LedgerError: If the user has no home.
    """
    stated = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        return (stated if stated.is_absolute() else Path.home() / ".local" / "state") / "dpsql"
    except RuntimeError:
        raise LedgerError(
            "This user has no home directory, so there is no place for the ledger's high-water mark and the bounded "
            "tables. Set XDG_STATE_HOME to a private directory, or name budget.mark and engine.cache in the policy."
        ) from None


class Marks:
    """The marks in one folder.

    Args:
        folder: Made, with mode 0700, where it does not exist.
        failpoint: Called with "mark-written" between writing a mark's new text and putting it in place.
    """

    def __init__(self, folder: Path, failpoint: Callable[[str], None]) -> None:
        self.folder = folder
        self._failpoint = failpoint

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder's lock; it falls with the process, however that ends.

        Raises:
            LedgerError: If another process holds it for too long, or the folder cannot be written.
        """
        with ExitStack() as stack:
            with _as_ledger_error(self.folder):
                make_private(self.folder)
                try:
                    stack.enter_context(held(self.folder / "lock", patience=PATIENCE))
                except TimeoutError:
                    raise LedgerError(
                        f"Another process has held {self.folder / 'lock'} for {PATIENCE:.0f} seconds. Nothing was read."
                        " End that process, or ask again."
                    ) from None
            yield

    def of_ledger(self, ledger: str) -> HighWater | None:
        """The furthest record known of this ledger."""
        stored = self._read(self._mark(ledger))
        if stored is None:
            return None
        epoch, sequence, digest = (stored.get(name) for name in ("epoch", "sequence", "digest"))
        if not (type(epoch) is int and type(sequence) is int and isinstance(digest, str)):
            raise self._unreadable(self._mark(ledger))
        if not (0 <= epoch < MOST and 0 < sequence < MOST):
            raise self._unreadable(self._mark(ledger))
        return HighWater(epoch, sequence, digest)

    def at_path(self, path: Path) -> str | None:
        """The id of the ledger that is known to lie at this absolute path."""
        stored = self._read(self._pointer(path))
        return None if stored is None else str(stored.get("ledger"))

    def remember(self, path: Path, ledger: str) -> None:
        """From now on this ledger lies at this absolute path."""
        if self.at_path(path) != ledger:
            self._write(self._pointer(path), {"path": str(path), "ledger": ledger})

    def check(self, path: Path, ledger: str, epoch: int, digest_of: Callable[[int], str | None]) -> None:
        """Nothing, where this ledger at this path is at its mark or past it.

        Args:
            epoch: The ledger's own epoch.
            digest_of: The hash of its record of that number, or None where it has none.

        Raises:
            UnusableLedgerError: If it is behind its mark, beside it, unknown here, or not the one that was there.
        """
        if self.at_path(path) not in (None, ledger):
            raise UnusableLedgerError(f"{path} is not the ledger that was there before.")
        known = self.of_ledger(ledger)
        if known is None:
            raise UnusableLedgerError(
                f"The ledger {path} has no high-water mark in {self.folder}, to tell whether it is an old copy. "
                "If its mark lies elsewhere, name that folder as budget.mark in the policy."
            )
        found = digest_of(known.sequence) if known.epoch == epoch else None
        if known.epoch > epoch or (known.epoch == epoch and found is None):
            raise UnusableLedgerError(f"The ledger {path} is behind its high-water mark: an old copy, or cut short.")
        if known.epoch == epoch and found != known.digest:
            raise UnusableLedgerError(
                f"The ledger {path} has parted from its high-water mark: another copy of it was used."
            )

    @contextmanager
    def ahead(self, ledger: str, reached: HighWater) -> Iterator[Callable[[], None]]:
        """Writes a mark beside the one in force, under `locked`: what comes back puts it in place.

        Raises:
            LedgerError: If it cannot be written, or the mark is already past this record or beside it: the ledger was
                forked or set back.
        """
        known = self.of_ledger(ledger)
        if known == reached:
            yield lambda: None
            return
        if known and (known.epoch, known.sequence) >= (reached.epoch, reached.sequence):
            raise UnusableLedgerError("Another copy of this ledger has gone on from here.")
        with self._written(ledger, reached) as place:
            yield place

    def advance(self, ledger: str, reached: HighWater) -> None:
        """Moves the mark forward, under `locked`; as `ahead`, where the record is committed already."""
        with self.ahead(ledger, reached) as place:
            place()

    def replace(self, ledger: str, reached: HighWater) -> None:
        """Sets the mark, also backwards: the owner's doing."""
        with self._written(ledger, reached) as place:
            place()

    @contextmanager
    def _written(self, ledger: str, reached: HighWater) -> Iterator[Callable[[], None]]:
        file = self._mark(ledger)
        content = {"epoch": reached.epoch, "sequence": reached.sequence, "digest": reached.digest}
        with ExitStack() as written:
            with _as_ledger_error(file):
                place = written.enter_context(written_beside(file, json.dumps(content).encode()))

            def put() -> None:
                with _as_ledger_error(file):
                    place()

            self._failpoint("mark-written")
            yield put

    def _mark(self, ledger: str) -> Path:
        return self.folder / f"{ledger}.mark"

    def _pointer(self, path: Path) -> Path:
        return self.folder / f"{sha256(os.fsencode(path)).hexdigest()[:32]}.path"

    def _read(self, file: Path) -> dict[str, Any] | None:
        try:
            stored = json.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            raise self._unreadable(file) from None
        if not isinstance(stored, dict):
            raise self._unreadable(file)
        return stored

    def _write(self, file: Path, stored: dict[str, Any]) -> None:
        with _as_ledger_error(file):
            write_whole(file, json.dumps(stored).encode())

    def _unreadable(self, file: Path) -> LedgerError:
        return UnusableLedgerError(f"The ledger's high-water mark {file} cannot be read.")


@contextmanager
def _as_ledger_error(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerError(
            f"The ledger's high-water mark cannot be written at {place}: {error.strerror}. "
            "Make that folder writable, or name another as budget.mark in the policy."
        ) from None
