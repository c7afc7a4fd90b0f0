"""Ledgers for tests: limits, how one is opened, asked and read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from dpsql.ledger.ledger import Ledger, Pinned, PolicyLimits
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Loss, Pure

__all__ = ["BASIC", "TENTH", "ask", "limits", "opened", "spent"]

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
