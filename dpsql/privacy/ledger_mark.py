"""The high-water mark: how far each ledger had come, kept outside the ledger's folder.

A copy of an old ledger is in itself a perfect ledger. The mark is what gives it away. A folder of marks holds

    <ledger id>.mark     the furthest record known of that ledger, wherever its file lies
    <hash of path>.path  which ledger lies at that absolute path
    lock                 held by whoever writes a ledger that has its mark here

A mark is written after each commit and never goes back: `advance` refuses, and only the owner's `replace` overrules.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpsql.errors import LedgerError

__all__ = ["HighWater", "Marks", "UnusableLedgerError", "default_folder"]


class UnusableLedgerError(LedgerError):
    """The ledger is missing, damaged or set back: only the owner can go on, in one of two ways, both on record."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem} Nothing was read. The owner can start its accounts afresh with "
            "`dpsql budget POLICY --reset --reason TEXT`, or bring back a backup with `dpsql ledger restore POLICY`."
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
    """The user's state directory for dpsql: ``$XDG_STATE_HOME/dpsql``, else ``~/.local/state/dpsql``."""
    stated = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (stated if stated.is_absolute() else Path.home() / ".local" / "state") / "dpsql"


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
        """Holds the folder's lock; it falls with the process, however that ends."""
        with _as_ledger_error(self.folder):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def of_ledger(self, ledger: str) -> HighWater | None:
        """The furthest record known of this ledger."""
        stored = self._read(self._mark(ledger))
        if stored is None:
            return None
        try:
            return HighWater(int(stored["epoch"]), int(stored["sequence"]), stored["digest"])
        except (KeyError, ValueError, TypeError):
            raise self._unreadable(self._mark(ledger)) from None

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
        if known.epoch > epoch or (known.epoch == epoch and digest_of(known.sequence) is None):
            raise UnusableLedgerError(f"The ledger {path} is behind its high-water mark: an old copy, or cut short.")
        if known.epoch == epoch and digest_of(known.sequence) != known.digest:
            raise UnusableLedgerError(
                f"The ledger {path} has parted from its high-water mark: another copy of it was used."
            )

    def advance(self, ledger: str, reached: HighWater) -> None:
        """Moves the mark forward, under `locked`.

        Raises:
            LedgerError: If the mark is already past this record or beside it: the ledger was forked or set back.
        """
        known = self.of_ledger(ledger)
        if known == reached:
            return
        if known and (known.epoch, known.sequence) >= (reached.epoch, reached.sequence):
            raise UnusableLedgerError("Another copy of this ledger has gone on from here.")
        self.replace(ledger, reached)

    def replace(self, ledger: str, reached: HighWater) -> None:
        """Sets the mark, also backwards: the owner's doing."""
        self._write(
            self._mark(ledger), {"epoch": reached.epoch, "sequence": reached.sequence, "digest": reached.digest}
        )

    def _mark(self, ledger: str) -> Path:
        return self.folder / f"{ledger}.mark"

    def _pointer(self, path: Path) -> Path:
        return self.folder / f"{sha256(os.fsencode(path)).hexdigest()[:32]}.path"

    def _read(self, file: Path) -> dict[str, Any] | None:
        try:
            stored = json.loads(file.read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise self._unreadable(file) from None
        if not isinstance(stored, dict):
            raise self._unreadable(file)
        return stored

    def _write(self, file: Path, stored: dict[str, Any]) -> None:
        with _as_ledger_error(file):
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".new-")
            try:
                with os.fdopen(handle, "w") as out:
                    json.dump(stored, out)
                    out.flush()
                    os.fsync(out.fileno())  # a mark that is torn by a power cut would lock the owner out
                self._failpoint("mark-written")
                Path(temporary).replace(file)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise

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
