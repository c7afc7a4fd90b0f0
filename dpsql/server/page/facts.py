"""What the owner's page shows, from the policy, the ledger and the file beside it: no engine, no data, no answers.

Tests: tests/unit/server/page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from dpsql.answers.budget import Budget
from dpsql.answers.shown.costs import cost_text
from dpsql.charging import ALERTS
from dpsql.ledger.beside import Beside
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.served import Served
from dpsql.ledger.standing import Moment, Standing
from dpsql.ledger.tables import LedgerTables
from dpsql.ledger.views import Entry
from dpsql.ledger.waiting import Waiting, Waits
from dpsql.policy import Policy
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import summary

__all__ = ["TOTAL", "AccountLine", "Alert", "ChargeLine", "PageFacts", "Synthetic", "ends", "gather", "time_of"]

TOTAL = "all together"
"""How the page calls the total."""
SHOWN = 200
"""Statements on the page, the newest: `dpsql log` has all. It is a choice."""
MONTH = timedelta(days=30)
"""How far back the pace of spending is looked at. It is a choice."""
FARTHEST = timedelta(days=3650)
"""An end that is farther away is not foretold: ten years, a choice."""
KINDS = ("charge", "synthetic", "shared", "read", "release")
"""The kinds of records that cost something."""


@dataclass(frozen=True, slots=True)
class AccountLine:
    """One account, or all together.

    Attributes:
        name: Its name.
        spent, limit, left: In words.
        share: How much of it is used, from 0 to 1.
        ends: When it is used up at this pace, in words.
    """

    name: str
    spent: str
    limit: str
    left: str
    share: Fraction
    ends: str


@dataclass(frozen=True, slots=True)
class ChargeLine:
    """One charge."""

    at: str
    analyst: str
    statement: str
    mechanisms: str
    cost: str
    served: int


@dataclass(frozen=True, slots=True)
class Synthetic:
    """One synthetic table: who made it, at which price, who reads it."""

    name: str
    maker: str
    cost: str
    readers: str
    statement: str


@dataclass(frozen=True, slots=True)
class Alert:
    """An account has come past a share of its limit."""

    at: str
    name: str
    share: Fraction


@dataclass(frozen=True, slots=True)
class PageFacts:
    """All that the page shows.

    Attributes:
        name: The policy's.
        made: When the page was made, UTC.
        promise: The policy's promise in a line.
        accounts: All together first, then each account.
        history: How they came to that.
        alerts: Newest first.
        asked: Charges, newest first.
        more: How many older ones there are.
        releases: Synthetic tables.
        published: Facts that all may read: when, which version, at which cost.
        versions: Of the tables: when and which, newest first.
        suspended: Names of analysts.
        waiting: What waits for the owner, each with its state.
        served: How often each analyst was served from the store, for nothing.
        version: Of the tables, now.
    """

    name: str
    made: datetime
    promise: str
    accounts: Sequence[AccountLine]
    history: Sequence[Moment]
    alerts: Sequence[Alert]
    asked: Sequence[ChargeLine]
    more: int
    releases: Sequence[Synthetic]
    published: Sequence[tuple[str, str, str]]
    versions: Sequence[tuple[str, str]]
    suspended: Sequence[str]
    waiting: Sequence[tuple[Waits, str]]
    served: Mapping[str, int]
    version: int


def gather(policy: Policy, ledger: Ledger, owners: Beside, now: datetime | None = None) -> PageFacts:
    """What the page shows now.

    Args:
        policy: In force.
        ledger: Its open ledger.
        owners: The file beside it.
        now: The time; the clock's where absent.

    Raises:
        LedgerError: The ledger, or the file beside it, cannot be read.
    """
    now = now or datetime.now(UTC)
    log, history, waiting = ledger.log(), Standing(ledger).history(), Waiting(owners)
    served = Served(owners).all()
    version = ledger.version()

    def cost(loss: Loss) -> str:
        return cost_text(summary(loss, ledger.composition, policy.classes))

    charges = [entry for entry in log if entry.kind in KINDS and entry.loss is not None and entry.kind != "release"]
    prints = Counter[str]()
    for (_, _, fingerprint), times in served.items():
        prints[fingerprint] += times
    names = sorted({entry.analyst for entry in log if entry.analyst})
    by_analyst = Counter[str]()
    for (_, analyst, _), times in served.items():
        by_analyst[analyst] += times
    return PageFacts(
        name=policy.name,
        made=now,
        promise=_promise(policy),
        accounts=_accounts(policy, ledger, history, now),
        history=history,
        alerts=_alerts(history),
        asked=[_charge_line(entry, cost, prints) for entry in reversed(charges[-SHOWN:])],
        more=max(0, len(charges) - SHOWN),
        releases=[
            Synthetic(table.name, table.maker or "the owner", cost(table.loss), _readers(readers), table.statement)
            for table, readers in LedgerTables(ledger).every()
        ],
        published=[
            (entry.at, entry.statement, cost(entry.loss)) for entry in log if entry.kind == "release" and entry.loss
        ],
        versions=[(entry.at, entry.reason) for entry in reversed(log) if entry.kind == "refresh"],
        suspended=[name for name in names if ledger.suspended(name)],
        waiting=[(waits, waits.state(version, now.timestamp())) for waits in reversed(waiting.all())],
        served=by_analyst,
        version=version,
    )


def _promise(policy: Policy) -> str:
    total = policy.budget.total
    delta = f", delta {float(total.delta):g}" if total.delta else ""
    return (
        f"All that analysts are told together is within epsilon {float(total.epsilon):g}{delta} "
        f"({policy.neighbours.replace('_', ' ')}, {policy.budget.composition} composition)."
    )


def _accounts(policy: Policy, ledger: Ledger, history: Sequence[Moment], now: datetime) -> list[AccountLine]:
    used, lines = Standing(ledger).now(), []
    for account in (None, *policy.budget.analysts):
        spent, limit, left = Budget.of(ledger.budget(account)).cells()
        share = used.total if account is None else used.accounts[account]
        past = [
            (time_of(moment.at), moment.total if account is None else moment.accounts[account]) for moment in history
        ]
        name = TOTAL if account is None else "everybody else" if account == "*" else account
        lines.append(AccountLine(name, spent, limit, left, share, ends(past, share, now)))
    return lines


def ends(past: Sequence[tuple[datetime, Fraction]], share: Fraction, now: datetime) -> str:
    """When an account is used up if it goes on being used as in the last 30 days, in words.

    Args:
        past: When, and how much of it was used then; oldest first.
        share: How much of it is used now.
        now: The time.
    """
    if share >= 1:
        return "used up"
    since = now - MONTH
    before = [used for at, used in past if at < since]
    began, first = (since, before[-1]) if before else (past[0][0], Fraction(0)) if past else (now, share)
    days = (now - began) / timedelta(days=1)
    if share <= first:
        return "nothing spent in 30 days"
    if days < 1:
        return "too early to say"
    left = float((1 - share) / (share - first)) * days
    if left > FARTHEST / timedelta(days=1):
        return "not within ten years"
    return f"about {now + timedelta(days=left):%Y-%m-%d}"


def _alerts(history: Sequence[Moment]) -> list[Alert]:
    """When each account came past each share."""
    found, before = list[Alert](), dict[str, Fraction]()
    for moment in history:
        for name, share in {TOTAL: moment.total, **moment.accounts}.items():
            was = before.get(name, Fraction(0))
            found += [Alert(moment.at, name, at) for at in ALERTS if was < at <= share]
            before[name] = share
    return found[::-1]


def _charge_line(entry: Entry, cost: Callable[[Loss], str], prints: Mapping[str, int]) -> ChargeLine:
    price = "" if entry.loss is None else cost(entry.loss)
    return ChargeLine(
        entry.at,
        entry.analyst or "the owner",
        entry.statement,
        ", ".join(entry.mechanisms),
        price,
        sum(prints.get(fingerprint, 0) for fingerprint in entry.fingerprints),
    )


def _readers(readers: Mapping[str, bool]) -> str:
    return ", ".join(name if paid else f"{name} (not read yet)" for name, paid in readers.items())


def time_of(text: str) -> datetime:
    """When a record was written."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
