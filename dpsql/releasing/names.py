"""Names of synthetic tables: which are taken, and what is lost behind one.

Tests: tests/unit/releasing/test_creating.py.
"""

from __future__ import annotations

from dpsql.backend import Backend
from dpsql.charging import Spoken
from dpsql.errors import ProgrammingError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.synthetic import SyntheticTable
from dpsql.releasing.payers import Payer

__all__ = ["lost", "refuse_taken"]


def refuse_taken(backend: Backend, payer: Payer, name: str, spoken: Spoken) -> None:
    """Nothing, where the name is free, or that of a table which the same statement, with the same values, paid for and
    a lost process did not keep.

    Raises:
        ProgrammingError: Saying what to do.
    """
    if any(other.lower() == name for other in backend.catalog.tables):
        raise ProgrammingError(f"The policy has a table {name!r}. Take another name.")
    held = payer.held(name)
    if held is None:
        return
    if backend.ledger.find(held.fingerprint) is not None:
        raise ProgrammingError(f"There is a table {name!r}. Take another name, or DROP TABLE {name}.")
    if not held.paid or held.asked != spoken.identity or not backend.ledger.owes(held.fingerprint):
        raise lost(held, backend.ledger)


def lost(table: SyntheticTable, ledger: Ledger) -> ProgrammingError:
    """A table was paid for and is not in the ledger: its process was lost before it was kept, or the ledger lost it."""
    if not table.paid:
        return ProgrammingError(
            f"{table.name} was granted, and is not there: its process was lost before it was kept. Its maker can make "
            "it again. Or take another name."
        )
    if not ledger.owes(table.fingerprint):
        return ProgrammingError(
            f"{table.name} was paid for, and the ledger that is here now does not have it: it was restored, set back "
            "or damaged, or is of an earlier version of dpsql. Somebody may have read it, so it is not made again "
            f"under its charge. DROP TABLE {table.name}, or have its maker drop it: making it anew costs its price."
        )
    return ProgrammingError(
        f"{table.name} was paid for, but its process was lost before it was kept. Write the same statement again, "
        f"which costs nothing more: {table.statement}. Or DROP TABLE {table.name}."
    )
