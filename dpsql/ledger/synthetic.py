"""Synthetic tables in the ledger: who made them, who may read them, and who paid.

    synthetic   an analyst's charge for a table, which that analyst alone reads: to the total and to the analyst
    shared      the owner's charge for one: to the total once, and to each of its readers
    grant       the owner lets one more analyst read a table; nothing is charged
    read        the first reading of one that was granted: the whole price, to the reader; the total has paid
    drop        a table is forgotten, by whoever made it or by the owner; nothing is given back

`tables` writes these records, and `state` adds up what they cost. A table is told apart by its fingerprint: after a
drop the same name is another table, at another charge.

Tests: tests/unit/ledger/test_synthetic.py.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsql.errors import ProgrammingError
from dpsql.ledger.file import Record
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import decode

__all__ = ["SyntheticTable", "TablesState"]


@dataclass(frozen=True, slots=True)
class SyntheticTable:
    """What the ledger knows of one.

    Attributes:
        name: Its name, of one reader.
        fingerprint: Its id, under which it is stored.
        charge: The record that paid for it.
        loss: Its price.
        statement: What made it, with its values, for people to read.
        maker: Who made it; '' for the owner.
        paid: Whether this reader has paid for it.
        asked: What tells the statement and its values from all others; '' where an earlier version of dpsql wrote it.
    """

    name: str
    fingerprint: str
    charge: int
    loss: Loss
    statement: str
    maker: str
    paid: bool = True
    asked: str = ""


class TablesState:
    """Each analyst's tables by name, after the records applied so far."""

    def __init__(self) -> None:
        self.of: defaultdict[str, dict[str, SyntheticTable]] = defaultdict(dict)

    def made(self, record: Record, readers: Sequence[str]) -> None:
        """A table that these have paid for."""
        details = record.details
        told = details["table"], details["fingerprint"], record.sequence, decode(json.loads(record.loss))
        for reader in readers:
            made = SyntheticTable(*told, details.get("statement", ""), record.analyst, asked=details.get("asked", ""))
            self.of[reader][made.name] = made

    def granted(self, record: Record) -> None:
        """One more reader, who has not paid."""
        table = self.find(record.details["fingerprint"])
        if table is not None:
            self.of[record.analyst][table.name] = replace(table, paid=False)

    def read(self, record: Record) -> None:
        """A reader has paid."""
        name = record.details["table"]
        self.of[record.analyst][name] = replace(self.of[record.analyst][name], paid=True)

    def dropped(self, record: Record) -> None:
        """A table is gone: for all of its readers where the owner dropped it."""
        name, fingerprint = record.details["table"], record.details.get("fingerprint")
        for reader, tables in self.of.items():
            table = tables.get(name)
            if table is not None and (reader == record.analyst or table.fingerprint == fingerprint):
                del tables[name]

    def find(self, fingerprint: str) -> SyntheticTable | None:
        """The table of an id, as its maker has it."""
        found = [t for tables in self.of.values() for t in tables.values() if t.fingerprint == fingerprint]
        return next((table for table in found if table.paid), found[0] if found else None)

    def readers(self, fingerprint: str) -> dict[str, bool]:
        """Who may read a table, and whether each has paid."""
        held = ((name, table) for name, tables in self.of.items() for table in tables.values())
        return {name: table.paid for name, table in held if table.fingerprint == fingerprint}

    def refuse(self, analyst: str, name: str, *, there: bool, who: str = "") -> None:
        """Nothing, unless an analyst has a synthetic table of this name, or, for ``there`` false, has none.

        Args:
            analyst: Whose.
            name: Of the table.
            there: Whether there must be one.
            who: For the owner's eyes: begins the message with the analyst's name.

        Raises:
            ProgrammingError: Saying what to do.
        """
        if (name in self.of[analyst]) is there:
            return
        if not there:
            raise ProgrammingError(f"{who}There is a table {name!r}. Take another name, or DROP TABLE {name}.")
        raise ProgrammingError(f"{who}There is no synthetic table {name!r}. SHOW TABLES lists yours.")
