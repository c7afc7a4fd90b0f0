"""The ledger's file: records in a hash chain, and the stored releases, in one SQLite database of mode 0600.

Records are only ever appended. Each hash covers the one before it, so that no record can be changed, dropped from the
middle or put in without a break; what is cut off at the end, the high-water mark tells (`ledger_mark`).

Tests: tests/unit/ledger/test_ledger.py, tests/attacks/test_ledger_processes.py.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from dpsql.errors import LedgerError
from dpsql.ledger.folders import sync
from dpsql.ledger.mark import UnusableLedgerError
from dpsql.ledger.refusals import NotBegun
from dpsql.ledger.sqlite_errors import SqliteErrors
from dpsql.ledger.sqlite_opening import connected

__all__ = ["LedgerFile", "Record"]

FORMAT = 1  # The file's PRAGMA user_version, a number of ours; a file of another format is refused.
APPLICATION = 0x6470736C  # The file's PRAGMA application_id, by which SQLite files are told apart: the letters dpsl.
GENESIS = sha256(b"dpsql ledger, format 1").digest()
PATIENCE = 60.0  # Seconds to wait for another process's transaction. It is a choice: a charge takes milliseconds.

SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE record (
    sequence INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    analyst  TEXT NOT NULL,   -- who asked, or ''
    account  TEXT NOT NULL,   -- whose limits were charged, or ''
    loss     TEXT NOT NULL,   -- the native loss as JSON, or ''
    detail   TEXT NOT NULL,   -- the rest, as JSON
    hash     BLOB NOT NULL
) STRICT;
CREATE TRIGGER record_is_never_changed BEFORE UPDATE ON record BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER record_is_never_dropped BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TABLE release (
    fingerprint TEXT PRIMARY KEY,
    charge      INTEGER NOT NULL REFERENCES record (sequence),
    answer      BLOB NOT NULL,
    hash        BLOB NOT NULL
) STRICT;
"""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the ledger; texts are '' where they do not apply.

    Attributes:
        sequence: From 1, without gaps.
        kind: opening, charge, synthetic, shared, kept, grant, read, drop, release, written, limits, refresh, overrun,
            reset, backup, restore or verify.
        analyst, account: Who asked, and which account was charged.
        loss: The native loss, as JSON.
        detail: The rest, as JSON: time, statement, reason.
        hash: SHA-256 over the record before and all of the above.
    """

    sequence: int
    kind: str
    analyst: str
    account: str
    loss: str
    detail: str
    hash: bytes

    @property
    def details(self) -> dict[str, Any]:
        """`detail`, read."""
        return dict(json.loads(self.detail))


class LedgerFile:
    """An open ledger file, or one in memory where ``path`` is None.

    Raises:
        LedgerError: If the file is no ledger, is readable by others, or is damaged.
    """

    def __init__(self, path: Path | None) -> None:
        if path is not None and path.exists():
            _refuse_unfit(path)
        self._path, self._seen = path, _identity(path)
        self._log = None if path is None else companions(path)[1]
        source = ":memory:" if path is None else f"{path.absolute().as_uri()}?mode=rw"
        with SqliteErrors("opened"):
            self._sql = connected(source, PATIENCE)
        try:
            with SqliteErrors("opened"):
                self._sql.execute("PRAGMA synchronous = FULL")
                self._sql.execute("PRAGMA cell_size_check = ON")
                if path is None:
                    self._sql.executescript(SCHEMA)
                marks = [
                    self._sql.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
                ]
            if marks[0] == APPLICATION and marks[1] > FORMAT:
                raise LedgerError(
                    f"{path} was written by a newer dpsql, in format {marks[1]}; this one reads format {FORMAT}. "
                    "Nothing was read. Install the newer one."
                )
            if marks != [APPLICATION, FORMAT]:
                raise UnusableLedgerError(f"{path} is not a dpsql ledger of format {FORMAT}.")
        except BaseException:
            self._sql.close()
            raise

    @staticmethod
    @contextmanager
    def draft(path: Path, source: Path | None = None) -> Iterator[LedgerFile]:
        """A ledger file in the making: empty, or a copy of ``source``. Put in place at ``path`` when the block ends.

        Whoever sees the file sees what the block wrote. A ledger that came into the world empty would look like the
        main file of one whose WAL was left behind by a copy.

        Raises:
            FileExistsError: If there is a file by then.
        """
        temporary = path.parent / f".{path.name}.{token_hex(8)}"
        try:
            with SqliteErrors("written"):
                os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                empty = sqlite3.connect(temporary, isolation_level=None)
                try:
                    if source is None:
                        empty.executescript(f"BEGIN; {SCHEMA} COMMIT;")
                    else:
                        _copy(source, empty)
                finally:
                    empty.close()
            file = LedgerFile(temporary)
            try:
                yield file
                with SqliteErrors("written"):
                    file._sql.execute("PRAGMA journal_mode = DELETE")  # one file that is whole by itself
            finally:
                file.close()
            os.link(temporary, path)  # unlike a rename, it never replaces a file that another process put there
            sync(path.parent)
        except FileExistsError:
            raise
        except OSError as error:
            raise LedgerError(f"The ledger cannot be written at {path}: {error.strerror}.") from None
        finally:
            for name in companions(temporary):
                with suppress(OSError):  # a disk that cannot be written refuses even this
                    name.unlink(missing_ok=True)

    def refuse_replaced(self) -> None:
        """Nothing, where the file that was opened still lies at its path: a charge elsewhere is on no disk that lasts.

        Deleted, exchanged or cut short, it is another one; only the next opening can tell what became of it.

        Raises:
            LedgerError: If it is gone, another one lies there, or it is shorter than it was.
        """
        now = _identity(self._path)
        log_is_there = self._log is None or self._log.exists()
        if now[:2] != self._seen[:2] or now[2] < self._seen[2] or not log_is_there:
            raise self._replaced()
        self._seen = now

    def _replaced(self) -> LedgerError:
        return LedgerError(
            f"The ledger {self._path} was deleted, replaced or cut short while it was in use. Nothing was read. "
            "Open it again: what it lacks is then found."
        )

    def again(self) -> LedgerFile:
        """The same file, opened anew, for what a connection holds in memory may be on no disk after a failed write.

        Raises:
            LedgerError: If it cannot be opened, is another one by now, or is shorter than it was.
        """
        self.close()
        fresh = LedgerFile(self._path)
        if fresh._seen[:2] != self._seen[:2] or fresh._seen[2] < self._seen[2]:
            fresh.close()
            raise self._replaced()
        return fresh

    def prove_writable(self) -> None:
        """Returns if a change reaches the disk: writes anew of which format the file is.

        Raises:
            LedgerError: If it does not.
        """
        with self.transaction(), SqliteErrors("written"):
            self._sql.execute(f"PRAGMA user_version = {FORMAT}")

    def close(self) -> None:
        """Ends the connection; the last one to go folds the WAL into the file."""
        self._sql.close()

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """An immediate transaction: committed at the end of the block, undone where the block raises.

        A commit waits for the disk; where it is not ``durable``, for the operating system alone: a power cut may lose
        it, and nothing that was committed before.

        Raises:
            NotBegun: It cannot begin, for reasons that may pass.
            LedgerError: It failed; nobody knows what is on the disk.
        """
        try:
            with SqliteErrors("locked for writing"):
                self._sql.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._sql.execute("BEGIN IMMEDIATE")
        except UnusableLedgerError:
            raise
        except LedgerError as circumstance:
            raise NotBegun(str(circumstance)) from None
        try:
            yield
            with SqliteErrors("written"):
                self._sql.execute("COMMIT")
        except BaseException:
            if self._sql.in_transaction:
                with suppress(sqlite3.Error):  # where even that fails, nothing was committed either
                    self._sql.execute("ROLLBACK")
            raise

    def records(self, after: int = 0, digest: bytes = GENESIS) -> Iterator[Record]:
        """The records past one, each checked against the chain.

        Raises:
            LedgerError: If the chain is broken.
        """
        with SqliteErrors("read"):
            rows = self._sql.execute(
                "SELECT sequence, kind, analyst, account, loss, detail, hash FROM record WHERE sequence > ? "
                "ORDER BY sequence",
                (after,),
            )
            for row in rows:
                record = Record(*row)
                if record.sequence != after + 1 or record.hash != _hash(digest, *row[:-1]):
                    raise UnusableLedgerError(f"The ledger is damaged: record {after + 1} breaks the chain.")
                after, digest = record.sequence, record.hash
                yield record

    def record(self, sequence: int) -> Record | None:
        """One record, unchecked."""
        with SqliteErrors("read"):
            row = self._sql.execute(
                "SELECT sequence, kind, analyst, account, loss, detail, hash FROM record WHERE sequence = ?",
                (sequence,),
            ).fetchone()
        return None if row is None else Record(*row)

    def head(self) -> tuple[int, bytes]:
        """Number and hash of the last record, of a transaction under way, too; 0 and the chain's beginning for none."""
        with SqliteErrors("read"):
            last = self._sql.execute("SELECT sequence, hash FROM record ORDER BY sequence DESC LIMIT 1").fetchone()
        return (last[0], last[1]) if last else (0, GENESIS)

    def newest_charges(self, analyst: str, most: int) -> list[Record]:
        """An analyst's last charges for statements, the newest first, unchecked."""
        with SqliteErrors("read"):
            rows = self._sql.execute(
                "SELECT sequence, kind, analyst, account, loss, detail, hash FROM record "
                "WHERE analyst = ? AND kind = 'charge' ORDER BY sequence DESC LIMIT ?",
                (_storable(analyst), most),
            ).fetchall()
        return [Record(*row) for row in rows]

    def append(
        self, kind: str, *, analyst: str = "", account: str = "", loss: str = "", detail: Mapping[str, object]
    ) -> Record:
        """The next record of the chain, written.

        The time in it is for people to read: nothing is decided by it. The nonce tells apart two copies of the ledger
        that go on with the same charge in the same second.
        """
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        stamped = json.dumps({"at": moment, "nonce": token_hex(8), **detail})
        with SqliteErrors("written"):
            last, digest = self.head()
            sequence = last + 1
            row = (sequence, kind, _storable(analyst), _storable(account), loss, stamped)
            record = Record(*row, _hash(digest, *row))
            self._sql.execute("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, record.hash))
        return record

    def store(self, fingerprint: str, charge: Record, answer: bytes) -> None:
        """Keeps an answer; the first one under a fingerprint stays."""
        with SqliteErrors("written"):
            self._sql.execute(
                "INSERT INTO release VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (fingerprint, charge.sequence, answer, _release_hash(charge, fingerprint, answer)),
            )

    def find(self, fingerprint: str) -> tuple[bytes, Record] | None:
        """The stored answer and the charge that paid for it.

        Raises:
            LedgerError: If the answer is not the one that was stored.
        """
        with SqliteErrors("read"):
            row = self._sql.execute(
                "SELECT charge, answer, hash FROM release WHERE fingerprint = ?", (fingerprint,)
            ).fetchone()
        if row is None:
            return None
        charge = self.record(row[0])
        if charge is None or row[2] != _release_hash(charge, fingerprint, row[1]):
            raise UnusableLedgerError("The ledger is damaged: a stored answer is not the one that was given.")
        return row[1], charge

    def fingerprints(self) -> list[str]:
        """Of all stored answers."""
        with SqliteErrors("read"):
            return [row[0] for row in self._sql.execute("SELECT fingerprint FROM release ORDER BY fingerprint")]

    def is_sound(self) -> bool:
        """Whether SQLite finds its own structures in order."""
        with SqliteErrors("read"):
            return bool(self._sql.execute("PRAGMA integrity_check").fetchone()[0] == "ok")


def _identity(path: Path | None) -> tuple[int, int, int]:
    """Device, number and size of the file; zeros where there is none. By name: closing it would drop locks."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        found = None
    return (0, 0, 0) if found is None else (found.st_dev, found.st_ino, found.st_size)


def _refuse_unfit(path: Path) -> None:
    """Nothing, where the path is a file that its owner alone may read and write.

    SQLite gives the files beside it the ledger's mode. Those of a ledger that was once opened read-only are mended.

    Raises:
        LedgerError: Saying what to write.
    """
    if not path.is_file():
        raise LedgerError(f"{path} is no file, so it is no ledger. Name a file as budget.ledger in the policy.")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise LedgerError(f"Others may read the ledger {path}. Write: chmod 600 {path}")
    if mode & 0o600 != 0o600:
        raise LedgerError(f"The ledger {path} may not be written, so nothing can be charged. Write: chmod 600 {path}")
    for beside in companions(path)[1:]:
        with suppress(OSError):  # not there, or somebody else's: SQLite will say so
            if stat.S_IMODE(beside.stat().st_mode) & 0o600 != 0o600:
                beside.chmod(0o600)


def companions(path: Path) -> list[Path]:
    """The files that SQLite keeps for a database in WAL mode, the database first."""
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]


def _copy(source: Path, into: sqlite3.Connection) -> None:
    original = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)
    try:
        original.backup(into)
    finally:
        original.close()


def _storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()  # lone surrogates, which SQLite cannot hold


def _hash(before: bytes, *row: object) -> bytes:
    return sha256(before + json.dumps(row).encode()).digest()


def _release_hash(charge: Record, fingerprint: str, answer: bytes) -> bytes:
    return sha256(charge.hash + json.dumps(fingerprint).encode() + b"\n" + answer).digest()
