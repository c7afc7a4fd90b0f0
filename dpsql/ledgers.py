"""A policy's ledger: what the policy says in the ledger's own terms."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from dpsql.policy.model import Limit, Policy
from dpsql.privacy.accounting import Limits, PolicyLimits
from dpsql.privacy.ledger import Ledger, Pinned

__all__ = ["ledger_path", "limits_of", "mark_path", "open_ledger", "pinned_by"]


def open_ledger(policy: Policy) -> Ledger:
    """The policy's ledger, made where there is none and never was.

    Raises:
        LedgerError: If it is missing, behind its mark, or damaged.
        PolicyError: If the policy changed what the ledger's numbers mean, or allows less than was spent.
    """
    return Ledger.open(ledger_path(policy), pinned=pinned_by(policy), limits=limits_of(policy), mark=mark_path(policy))


def ledger_path(policy: Policy) -> Path:
    """Where its ledger lies."""
    return policy.resolve(policy.budget.ledger)


def mark_path(policy: Policy) -> Path | None:
    """The folder of its ledger's high-water mark; None for the user's state directory."""
    return None if policy.budget.mark is None else policy.resolve(policy.budget.mark)


def pinned_by(policy: Policy) -> Pinned:
    """What the ledger's numbers mean: privacy unit, neighbours, composition."""
    unit = next(table.unit for table in policy.tables.values() if isinstance(table.unit, str))
    return Pinned(unit=unit, neighbours=policy.neighbours, composition=policy.budget.composition)


def limits_of(policy: Policy) -> PolicyLimits:
    """Everybody's limits."""
    analysts = {name: _limits(limit) for name, limit in policy.budget.analysts.items()}
    return PolicyLimits(total=_limits(policy.budget.total), analysts=analysts)


def _limits(limit: Limit) -> Limits:
    return Limits(epsilon=Fraction(limit.epsilon), delta=Fraction(limit.delta), gamma=Fraction(limit.gamma))
