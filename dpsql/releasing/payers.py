"""Who pays for a synthetic table: the analyst who makes it, or the readers whom the owner names.

Tests: tests/unit/releasing/test_sharing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from dpsql.charging import Charging, Spoken, Wish
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.refusals import suspended
from dpsql.ledger.synthetic import SyntheticTable
from dpsql.ledger.tables import LedgerTables
from dpsql.privacy.kinds import Loss

__all__ = ["Analyst", "Payer", "Readers"]


class Payer(Protocol):
    """Whoever is charged for a table."""

    @property
    def maker(self) -> str:
        """The analyst whose table it is; '' for the owner."""
        ...

    def held(self, name: str) -> SyntheticTable | None:
        """The table that this payer has under a name."""
        ...

    def refuse_suspended(self) -> None:
        """Nothing, unless the engine may not be asked."""
        ...

    def repeats_left(self, loss: Loss) -> int | None:
        """How often this price would still be granted."""
        ...

    def asking(self, wish: Wish) -> AbstractContextManager[list[str]]:
        """What stands around the charge, and yields the notices that follow from it."""
        ...

    def charge(self, loss: Loss, spoken: Spoken, fingerprint: str, table: str, mechanism: str) -> int:
        """The id of the charge, once it is durable."""
        ...


@dataclass(frozen=True, slots=True)
class Analyst:
    """An analyst, who alone reads what is made.

    Attributes:
        ledger: Who is asked.
        name: Whose account is charged, beside the total.
        charging: What stands around the charge.
    """

    ledger: Ledger
    name: str
    charging: Charging

    @property
    def maker(self) -> str:
        return self.name

    def held(self, name: str) -> SyntheticTable | None:
        return LedgerTables(self.ledger).of(self.name).get(name)

    def refuse_suspended(self) -> None:
        if self.ledger.suspended(self.name):
            raise suspended(self.name)

    def repeats_left(self, loss: Loss) -> int | None:
        return self.ledger.repeats_left(self.name, loss)

    def asking(self, wish: Wish) -> AbstractContextManager[list[str]]:
        return self.charging.of(self.name, wish)

    def charge(self, loss: Loss, spoken: Spoken, fingerprint: str, table: str, mechanism: str) -> int:
        return LedgerTables(self.ledger).make(
            self.name,
            loss,
            statement=spoken.text,
            asked=spoken.identity,
            fingerprint=fingerprint,
            table=table,
            mechanism=mechanism,
        )


@dataclass(frozen=True, slots=True)
class Readers:
    """The readers of a table of the owner's, each of whom pays the whole price.

    Attributes:
        ledger: Who is asked.
        names: Whose accounts are charged, beside the total.
    """

    ledger: Ledger
    names: Sequence[str]
    maker: str = ""

    def held(self, name: str) -> SyntheticTable | None:
        mine = (table for table, _ in LedgerTables(self.ledger).every() if table.name == name and not table.maker)
        return next(mine, None)

    def refuse_suspended(self) -> None:
        """The owner is never suspended."""

    def repeats_left(self, loss: Loss) -> int | None:
        left = [self.ledger.repeats_left(name, loss) for name in self.names]
        return min((often for often in left if often is not None), default=None)

    def asking(self, wish: Wish) -> AbstractContextManager[list[str]]:
        """The owner need not ask."""
        return nullcontext([])

    def charge(self, loss: Loss, spoken: Spoken, fingerprint: str, table: str, mechanism: str) -> int:
        return LedgerTables(self.ledger).share(
            self.names,
            loss,
            statement=spoken.text,
            asked=spoken.identity,
            fingerprint=fingerprint,
            table=table,
        )
