"""What is made once under one charge: synthetic tables, and each stage of facts.

    kept     one of them is stored, in the same synced transaction as this record, before anybody sees anything of it

It is owed from its charge until it is kept: a process that was lost in between showed nobody anything, so that it may
be made under that charge, for nothing more. A ledger that was restored, or set back and reset, does not know what was
shown out of the one that it lacks, so it owes nothing of what was charged before. Nor does one owe what an earlier
version of dpsql charged, which kept tables without a record.

Tests: tests/unit/ledger/test_once.py.
"""

from __future__ import annotations

from dpsql.ledger.file import Record

__all__ = ["MadeOnce"]

PAYS = ("synthetic", "shared", "release")  # The kinds of records that pay for what is made once.


class MadeOnce:
    """What is owed and what is kept, after the records applied so far.

    Attributes:
        owed: Fingerprints of what was paid for and never kept, to their charges.
        kept: Fingerprints of what is kept on record: each is stored, or the ledger is damaged.
    """

    def __init__(self) -> None:
        self.owed: dict[str, int] = {}
        self.kept: set[str] = set()
        self._epoch = 0

    def apply(self, record: Record) -> None:
        """Goes on by one record of any kind."""
        if record.kind in PAYS:
            details = record.details
            if details.get("once"):
                parts = filter(None, (details["fingerprint"], *details.get("beside", ())))
                self.owed |= dict.fromkeys(parts, record.sequence)
        elif record.kind == "kept":
            fingerprint = record.details["fingerprint"]
            self.owed.pop(fingerprint, None)
            self.kept.add(fingerprint)
        elif record.kind in ("restore", "reset"):
            epoch = record.details["epoch"]
            if epoch != self._epoch:  # the owner overruled the mark: something may be lost of what came before
                self.owed.clear()
            self._epoch = epoch
