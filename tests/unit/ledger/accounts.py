"""Ledgers for tests: limits, how one is opened, asked and read, and a disk without room."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from dpsql.ledger.ledger import Ledger, Pinned, PolicyLimits
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Loss, Pure

__all__ = ["BASIC", "TENTH", "ask", "full_disk", "limits", "opened", "spent"]

BASIC = Pinned(unit="patient_id", neighbours="add_remove", composition="basic")
TENTH = Pure(Fraction(1, 10))


def limits(total: int | Fraction = 20, ana: int | Fraction = 2, others: int | Fraction | None = 1) -> PolicyLimits:
    analysts = {"ana": Limits(Fraction(ana), Fraction(1, 10**6))}
    if others is not None:
        analysts["*"] = Limits(Fraction(others), Fraction(1, 10**6))
    return PolicyLimits(Limits(Fraction(total), Fraction(1, 10**5), Fraction(1, 50)), analysts)


def opened(place: Path, allowed: PolicyLimits | None = None, pinned: Pinned = BASIC) -> Ledger:
    return Ledger.open(place, pinned=pinned, limits=allowed or limits(), mark=place.parent.parent / "marks")


def ask(ledger: Ledger, loss: Loss = TENTH, analyst: str = "ana", fingerprint: str = "f") -> int:
    return ledger.charge(analyst, loss, statement="SELECT COUNT(*) FROM visits", fingerprint=fingerprint)


def spent(ledger: Ledger, analyst: str | None = "ana") -> float:
    return ledger.budget(analyst).spent.epsilon


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process grows: as on a disk without room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
