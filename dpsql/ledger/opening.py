"""How a ledger comes into the world, and how an old one is recognised."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from dpsql.errors import LedgerError
from dpsql.ledger.file import LedgerFile, Record
from dpsql.ledger.folders import network_of
from dpsql.ledger.mark import HighWater, Marks, UnusableLedgerError, default_folder
from dpsql.ledger.state import LedgerState, Pinned
from dpsql.privacy.accounting import PolicyLimits

__all__ = ["KEY_IN_MEMORY", "check_mark", "create", "create_anew", "marks_for", "write_opening"]

KEY_IN_MEMORY = "00" * 32
"""The contribution key of every ledger without a file: 32 bytes in hex. It is no secret: such ledgers serve tests."""


def marks_for(path: Path, mark: Path | None, failpoint: Callable[[str], None] = lambda _: None) -> Marks:
    """The folder of marks for the ledger at ``path``; the user's state directory where ``mark`` is None.

    Raises:
        LedgerError: If it is the ledger's own folder, where one copy takes both along, or one of them is on a disk of
            the network, where locks of two machines need not know of each other.
    """
    folder = (default_folder() if mark is None else mark).resolve()
    for place, key in ((path.parent, "budget.ledger"), (folder, "budget.mark")):
        if (kind := network_of(place)) is not None:
            raise LedgerError(
                f"{place} is on a file system of the network ({kind}), where two machines could spend one budget at "
                f"once. Name a folder on a disk of this machine as {key} in the policy."
            )
    if folder == path.parent:
        raise LedgerError(
            f"The mark of the ledger {path} must not lie in its own folder, or one old copy brings back both. "
            "Name another folder as budget.mark in the policy."
        )
    return Marks(folder, failpoint)


def create(path: Path, marks: Marks, pinned: Pinned, limits: PolicyLimits) -> None:
    """A new ledger at ``path``, under the marks' lock.

    Raises:
        UnusableLedgerError: If a ledger is known to have been there.
    """
    if marks.at_path(path) is not None:
        raise UnusableLedgerError(f"The ledger {path} is missing, and it was there before.")
    create_anew(path, marks, pinned, limits)


def create_anew(path: Path, marks: Marks, pinned: Pinned, limits: PolicyLimits) -> None:
    """A new ledger at ``path``, whatever was there before; under the marks' lock."""
    # Without a file yet, a crash in between leaves a mark that nothing will ever ask for; the other way round it would
    # leave a ledger that nobody may open.
    with suppress(FileExistsError), LedgerFile.draft(path) as file:
        opening = write_opening(file, pinned, limits, secrets.token_hex(32))
        marks.replace(opening.details["ledger"], HighWater(0, opening.sequence, opening.hash.hex()))


def write_opening(file: LedgerFile, pinned: Pinned, limits: PolicyLimits, contribution_key: str) -> Record:
    """The first record of an empty ledger, with 32 bytes in hex that key the choice of the rows each unit keeps."""
    return file.append(
        "opening",
        detail={
            "ledger": secrets.token_hex(16),
            "pinned": asdict(pinned),
            "limits": limits.encoded,
            "contribution_key": contribution_key,
        },
    )


def check_mark(marks: Marks, path: Path, file: LedgerFile, state: LedgerState) -> None:
    """Nothing, where the ledger is at its mark or past it.

    Raises:
        UnusableLedgerError: If it is an old copy, one that went its own way, or not the ledger that was there.
    """

    def digest_of(sequence: int) -> str | None:
        record = file.record(sequence)
        return None if record is None else record.hash.hex()

    marks.check(path, state.ledger, state.epoch, digest_of)
