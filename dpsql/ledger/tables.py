"""What is done with synthetic tables in an open ledger: made, shared, granted, read for the first time, dropped.

`synthetic` says what each record means.

Tests: tests/unit/ledger/test_synthetic.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dpsql.errors import ProgrammingError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.synthetic import SyntheticTable
from dpsql.ledger.views import Entry, entry_of
from dpsql.privacy.account import Account
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import encode

__all__ = ["LedgerTables"]

MOST_ASKED = 1000  # Charges of an analyst that are looked back at. It is a choice: their statements are read again.


class LedgerTables:
    """The synthetic tables of an open ledger.

    Args:
        ledger: The ledger.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def of(self, analyst: str) -> dict[str, SyntheticTable]:
        """What an analyst may read, by name; not all of it is paid for."""
        with self._ledger._reading():
            return dict(self._ledger._state.synthetic.of.get(analyst, {}))

    def charges(self, analyst: str) -> list[Entry]:
        """The newest of an analyst's charges for statements."""
        with self._ledger._reading():
            records = self._ledger._file.newest_charges(analyst, MOST_ASKED)
        return [entry_of(record) for record in records]

    def every(self) -> list[tuple[SyntheticTable, dict[str, bool]]]:
        """The owner: all tables, with their readers and whether each has paid; oldest first."""
        with self._ledger._reading():
            state = self._ledger._state.synthetic
            ids = {table.fingerprint for tables in state.of.values() for table in tables.values()}
            found = [(table, state.readers(one)) for one in ids if (table := state.find(one)) is not None]
        return sorted(found, key=lambda pair: pair[0].charge)

    def make(
        self,
        analyst: str,
        loss: Loss,
        *,
        statement: str,
        fingerprint: str,
        table: str,
        asked: str = "",
        mechanism: str = "",
    ) -> int:
        """The id of an analyst's charge for a table of a name that is free, once it is durable.

        Args:
            analyst: Who pays.
            loss: What is paid.
            statement: What is asked, with its values, for people to read.
            fingerprint: Under which the table is kept.
            table: Its name.
            asked: What tells the statement and its values from all others.
            mechanism: The method that makes it, for people to read.

        Raises:
            ProgrammingError, BudgetExceeded, LedgerError: As `Ledger.charge`. Nothing was spent.
        """
        ledger, price = self._ledger, loss.account(self._ledger.composition)
        with ledger._writing():
            account = ledger._granting.account_for(analyst, price)
            ledger._failpoint("after-check")
            ledger._state.synthetic.refuse(analyst, table, there=False)
            named = {"mechanisms": [mechanism]} if mechanism else {}
            detail = {
                "statement": statement,
                "fingerprint": fingerprint,
                "asked": asked,
                "table": table,
                "once": True,
                **named,
            }
            record = ledger._file.append(
                "synthetic", analyst=analyst, account=account, loss=json.dumps(encode(loss)), detail=detail
            )
        return record.sequence

    def share(
        self, readers: Sequence[str], loss: Loss, *, statement: str, fingerprint: str, table: str, asked: str = ""
    ) -> int:
        """The id of the owner's charge for a table, as `make`: to the total once, and to each reader.

        Raises:
            ProgrammingError: A reader has a table of that name.
            BudgetExceeded: Naming who has no account, or cannot pay. Nothing was spent.
            LedgerError: As `Ledger.charge`.
        """
        ledger, price = self._ledger, loss.account(self._ledger.composition)
        with ledger._writing():
            accounts = ledger._granting.accounts_of_readers(readers, price)
            ledger._failpoint("after-check")
            for reader in readers:
                ledger._state.synthetic.refuse(reader, table, there=False, who=f"{reader}: ")
            detail = {"statement": statement, "fingerprint": fingerprint, "asked": asked, "table": table, "once": True}
            record = ledger._file.append(
                "shared", loss=json.dumps(encode(loss)), detail={**detail, "readers": accounts}
            )
        return record.sequence

    def grant(self, fingerprint: str, reader: str) -> str:
        """Lets one more analyst read a table, who pays for it at the first reading; '' or, for the owner, why that
        analyst could not pay now.

        Raises:
            ProgrammingError: The analyst reads it already, or has another table of its name.
            BudgetExceeded: The analyst has no account.
        """
        ledger = self._ledger
        with ledger._writing():
            state = ledger._state.synthetic
            account, table = ledger._granting.account_of(reader), state.find(fingerprint)
            if table is None:
                raise ProgrammingError(f"There is no release {fingerprint!r}.")
            if reader in state.readers(fingerprint):
                raise ProgrammingError(f"{reader} may read {table.name} already.")
            state.refuse(reader, table.name, there=False, who=f"{reader}: ")
            detail = {"table": table.name, "fingerprint": fingerprint}
            ledger._file.append("grant", analyst=reader, account=account, detail=detail)
            return ledger._granting.lacks(account, table.loss.account(ledger.composition))

    def payable(self, analyst: str, names: Sequence[str]) -> None:
        """Nothing, if an analyst could pay for the first reading of these now, all together.

        Raises:
            BudgetExceeded: The analyst has too little left.
        """
        with self._ledger._reading():
            self._payer(analyst, names)

    def read(self, analyst: str, tables: Mapping[str, str]) -> None:
        """Charges an analyst for the first reading of tables, all of them or none; the total has paid for them.

        Args:
            analyst: Who reads.
            tables: Their names, each with the fingerprint of what will be read: a name may be another table's by now.

        Raises:
            ProgrammingError: A name is nothing, or another table's. Nothing was spent.
            BudgetExceeded: The analyst has too little left. Nothing was spent.
            LedgerError: As `Ledger.charge`.
        """
        ledger = self._ledger
        with ledger._writing():
            for name, fingerprint in tables.items():
                ledger._state.synthetic.refuse(analyst, name, there=True)
                if ledger._state.synthetic.of[analyst][name].fingerprint != fingerprint:
                    raise ProgrammingError(f"{name} is another table by now. Nothing was charged. Ask again.")
            account, owed = self._payer(analyst, list(tables))
            ledger._failpoint("after-check")
            for table in owed:
                detail = {"statement": f"reads {table.name}", "table": table.name, "fingerprint": table.fingerprint}
                ledger._file.append(
                    "read", analyst=analyst, account=account, loss=json.dumps(encode(table.loss)), detail=detail
                )

    def _payer(self, analyst: str, names: Sequence[str]) -> tuple[str, list[SyntheticTable]]:
        """Who pays for the first reading of tables, and those that are not paid for, by another process say."""
        ledger = self._ledger
        held = ledger._state.synthetic.of.get(analyst, {})
        owed = [held[name] for name in dict.fromkeys(names) if not held[name].paid]
        price = sum((table.loss.account(ledger.composition) for table in owed), Account())
        return ledger._granting.account_of_reader(analyst, price), owed

    def drop(self, analyst: str, name: str) -> None:
        """Forgets a table of an analyst's own making; it stays charged.

        Raises:
            ProgrammingError: There is none, or the owner made it.
        """
        ledger = self._ledger
        with ledger._writing():
            ledger._state.synthetic.refuse(analyst, name, there=True)
            table = ledger._state.synthetic.of[analyst][name]
            if table.maker != analyst:
                raise ProgrammingError(f"{name} is not of your making: whoever made it, or the owner, drops it.")
            detail = {"table": name, "fingerprint": table.fingerprint}
            ledger._file.append("drop", analyst=analyst, detail=detail)

    def drop_for_all(self, fingerprint: str) -> None:
        """The owner: forgets a table, for all who read it; it stays charged."""
        ledger = self._ledger
        with ledger._writing():
            table = ledger._state.synthetic.find(fingerprint)
            if table is None:
                raise ProgrammingError(f"There is no release {fingerprint!r}.")
            ledger._file.append("drop", detail={"table": table.name, "fingerprint": fingerprint})
