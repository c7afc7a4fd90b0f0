"""What a ledger shows: where an account stands, and its records for the owner to read.

Tests: tests/unit/ledger/test_ledger.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpsql.ledger.file import Record
from dpsql.privacy.account import Composition, PrivacyLoss
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import decode

__all__ = ["AccountState", "Entry", "Release", "entry_of", "reason_of"]


@dataclass(frozen=True, slots=True)
class AccountState:
    """What an account has spent, and what is left.

    Attributes:
        spent: Added up. Under ``zcdp`` its epsilon is the least that is proved of all charges together.
        remaining: The largest price in pure epsilon that one more query could have: the lesser of own and total.
        limit: The account's limits.
        composition: How losses add up.
        delta_left: The largest delta that one more query could have; None where the account never had any.
        delta_of_queries: What the deltas of all queries may add up to: what adding up itself leaves of the limit's.
    """

    spent: PrivacyLoss
    remaining: Fraction
    limit: Limits
    composition: Composition
    delta_left: Fraction | None = None
    delta_of_queries: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One record, for the owner to read.

    Attributes:
        sequence: From 1; of a charge or a release, its id.
        at: When, by the clock of the machine that wrote it.
        kind: opening, charge, synthetic, shared, kept, grant, read, drop, release, written, limits, refresh, overrun,
            reset, backup, restore or verify.
        analyst: Who asked, or ''.
        loss: What a charge or a release cost, natively; None for all else.
        statement: What was asked, or ''.
        reason: Why the owner did it, and which limits or version are in force from then on; or ''.
        mechanisms: Names of those that answered a charge; none where an older version of dpsql wrote it.
        fingerprints: Under which its answers are stored.
    """

    sequence: int
    at: str
    kind: str
    analyst: str
    loss: Loss | None
    statement: str
    reason: str
    mechanisms: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """What was published to all, and charged to every account.

    Attributes:
        sequence: Of the charge; its id.
        kind: What it is: ``facts``.
        version: The table version that it tells of; 0 where another ledger has it.
        loss: What everybody paid.
        parts: The fingerprints that it paid for.
    """

    sequence: int
    kind: str
    version: int
    loss: Loss
    parts: tuple[str, ...]


def reason_of(record: Record) -> str:
    """What a record says for a reader, besides its statement: the owner's reason, new limits, a new version."""
    details = record.details
    if record.kind == "limits":
        accounts = {"total": details["limits"]["total"], **details["limits"]["analysts"]}
        return "; ".join(f"{name}: {_amounts(own)}" for name, own in accounts.items())
    first = f"version {details['version']}" if record.kind == "refresh" else ""
    if record.kind == "reset":
        first = record.account and f"the account {record.account}"
    return ": ".join(filter(None, (first, details.get("reason", ""))))


def _amounts(limits: Mapping[str, str]) -> str:
    """The plain limits of an account that are not 0."""
    amounts = {kind: Fraction(limits[kind]) for kind in ("epsilon", "delta", "gamma")}
    return ", ".join(f"{kind} {float(amount):g}" for kind, amount in amounts.items() if amount)


def entry_of(record: Record) -> Entry:
    """A record, for people to read."""
    return Entry(
        sequence=record.sequence,
        at=record.details["at"],
        kind=record.kind,
        analyst=record.analyst,
        loss=decode(json.loads(record.loss)) if record.loss else None,
        statement=record.details.get("statement", ""),
        reason=reason_of(record),
        mechanisms=tuple(record.details.get("mechanisms", ())),
        fingerprints=tuple(filter(None, (record.details.get("fingerprint"), *record.details.get("beside", ())))),
    )
