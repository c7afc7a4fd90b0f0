"""What the owner does with a ledger: start its accounts afresh, bring back a backup, look it over; all on record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dpsql.errors import LedgerError
from dpsql.ledger.file import LedgerFile, companions
from dpsql.ledger.mark import Marks, UnusableLedgerError
from dpsql.ledger.opening import check_mark, create_anew, marks_for
from dpsql.ledger.state import LedgerState, Pinned
from dpsql.privacy.accounting import PolicyLimits

__all__ = ["Report", "reset", "restore", "verify"]

BEGINNING = b"SQLite format 3\0"  # Of every file of SQLite's.


@dataclass(frozen=True, slots=True)
class Report:
    """What looking a ledger over found.

    Attributes:
        records, answers: How many there are, of those that could be read.
        head: Hash of the last record read, in hexadecimal.
        problems: What is wrong, in sentences; empty where all is well.
    """

    records: int
    answers: int
    head: str
    problems: tuple[str, ...]


def reset(
    path: Path,
    *,
    pinned: Pinned,
    limits: PolicyLimits,
    reason: str,
    mark: Path | None = None,
    account: str | None = None,
) -> str:
    """Starts the accounts afresh: nothing spent, nobody suspended, a restored ledger usable again.

    A ledger behind its mark goes on from where it is; a missing or damaged one is replaced by a new one with an id and
    a contribution key of its own, the damaged file being kept beside it.

    Args:
        reason: For the record.
        account: Only this account (an analyst's name, or ``"*"``); what all spent together then stays as it is.

    Returns:
        What was wrong with the ledger, or '' where nothing was.

    Raises:
        PolicyError: If the policy changed what is pinned.
        LedgerError: If one account is to be reset in a ledger that is unusable, or the disk cannot be written.
    """
    path = path.resolve()
    marks = marks_for(path, mark)
    with marks.locked():
        found = _missing_or_damaged(path)
        if found:
            if account is not None:
                raise UnusableLedgerError(f"{found} One account alone cannot be reset.")
            set_aside(path)
            create_anew(path, marks, pinned, limits)
        file, state = _opened(path)
        try:
            state.refuse_changed(pinned)
            epoch = state.epoch
            if found:
                marks.remember(path, state.ledger)
            try:
                check_mark(marks, path, file, state)
            except UnusableLedgerError as unusable:
                if account is not None:
                    raise
                found = str(unusable)
                epoch = _next_epoch(marks, state)
            with file.transaction():
                state.catch_up(file)
                file.append("reset", account=account or "", detail={"reason": reason, "found": found, "epoch": epoch})
                if account is None and state.limits != limits.encoded:
                    file.append("limits", detail={"limits": limits.encoded})
            _adopt(marks, path, file, state)
        finally:
            file.close()
    return found


def restore(source: Path, to: Path, *, reason: str, mark: Path | None = None) -> None:
    """Puts a backup in the ledger's place, where it counts as fully spent until the owner's reset.

    What was charged since the backup was made, nobody knows. A file already there is kept beside it.

    Raises:
        LedgerError: If the backup is missing or damaged; the ledger is then left as it was.
    """
    to = to.resolve()
    if not source.exists():
        raise LedgerError(f"There is no backup at {source}.")
    if not _is_database(source):
        raise LedgerError(f"{source} is no ledger. Nothing was changed. Name what `dpsql ledger backup` wrote.")
    marks = marks_for(to, mark)
    with marks.locked():
        with LedgerFile.draft(to, source=source) as file:
            state = LedgerState.of(file)
            with file.transaction():
                file.append("restore", detail={"reason": reason, "epoch": _next_epoch(marks, state)})
            set_aside(to)
        file, state = _opened(to)
        try:
            _adopt(marks, to, file, state)
        finally:
            file.close()


def _is_database(file: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    try:
        with file.open("rb") as stream:
            return stream.read(len(BEGINNING)) == BEGINNING
    except OSError:
        return False


def verify(path: Path, *, mark: Path | None = None) -> Report:
    """What looking over chain, stored answers, SQLite's structures and mark found; on record, where all is well."""
    path = path.resolve()
    marks = marks_for(path, mark)
    problems: list[str] = []
    with marks.locked():
        state, answers = LedgerState(), 0
        try:
            if not path.exists():
                raise LedgerError(f"There is no ledger at {path}.")
            file = LedgerFile(path)
        except LedgerError as error:
            return Report(records=0, answers=0, head="", problems=(str(error),))
        try:
            if not file.is_sound():
                problems.append("SQLite's structures are damaged.")
            state.catch_up(file)
            check_mark(marks, path, file, state)
            stored = file.fingerprints()
            for fingerprint in stored:
                file.find(fingerprint)
                answers += 1
            if lacking := len(state.once.kept.difference(stored)):
                problems.append(f"{lacking} of the tables and facts that are on record as kept are not stored.")
            if not problems:
                with file.transaction():
                    file.append("verify", detail={})
                state.catch_up(file)
                marks.advance(state.ledger, state.high_water)
        except LedgerError as error:
            problems.append(str(error))
        finally:
            file.close()
    return Report(records=state.sequence, answers=answers, head=state.digest.hex(), problems=tuple(problems))


def set_aside(path: Path) -> None:
    """Renames what is at ``path``, if anything, with all that belongs to it."""
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    aside = path.with_name(f"{path.name}.set-aside-{moment}")
    for old, new in zip(companions(path), companions(aside), strict=True):
        if old.exists():
            old.rename(new)


def _missing_or_damaged(path: Path) -> str:
    if not path.exists():
        return f"The ledger {path} was missing."
    try:
        file, _ = _opened(path)
    except UnusableLedgerError as unusable:
        return str(unusable)
    file.close()
    return ""


def _opened(path: Path) -> tuple[LedgerFile, LedgerState]:
    file = LedgerFile(path)
    try:
        return file, LedgerState.of(file)
    except BaseException:
        file.close()
        raise


def _next_epoch(marks: Marks, state: LedgerState) -> int:
    try:
        known = marks.of_ledger(state.ledger)
    except UnusableLedgerError:
        known = None
    return max(state.epoch, known.epoch if known else 0) + 1


def _adopt(marks: Marks, path: Path, file: LedgerFile, state: LedgerState) -> None:
    """Makes the ledger as it is now the one that its mark and its path know."""
    state.catch_up(file)
    marks.replace(state.ledger, state.high_water)
    marks.remember(path, state.ledger)
