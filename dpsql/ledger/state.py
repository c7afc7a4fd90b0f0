"""Where a ledger stands: what its records say when they are read from the first to the last.

There is one way to learn it, for a ledger being opened and for one in use: apply the records that were not yet applied,
in order. So the accounts of a running ledger and of the same ledger opened anew cannot differ.

Tests: tests/unit/ledger/test_ledger.py.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpsql.errors import PolicyError
from dpsql.ledger.file import GENESIS, LedgerFile, Record
from dpsql.ledger.mark import HighWater, UnusableLedgerError
from dpsql.ledger.meanings import Meanings
from dpsql.ledger.once import MadeOnce
from dpsql.ledger.synthetic import TablesState
from dpsql.ledger.views import Release
from dpsql.privacy.account import Account, Composition
from dpsql.privacy.accounting import PolicyLimits
from dpsql.privacy.loss import decode

__all__ = ["LedgerState", "Pinned"]

Promise = tuple[Fraction, Fraction]  # epsilon and delta

TOTAL = ""  # Among accounts: all analysts together, whose names are never empty.

OVERRUNS_ALLOWED = 2
"""Statements that outran their deadline, or failed in the engine. One more suspends the account until the owner's
reset. It is a choice."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a ledger's numbers mean, fixed for its life.

    Attributes:
        unit: The privacy unit's column.
        neighbours: ``add_remove`` or ``replace_one``.
        composition: How losses add up.
        classes: The classes of units with their shares, in an encoding of theirs; '' where there are none.
    """

    unit: str
    neighbours: str
    composition: Composition
    classes: str = ""


class LedgerState:
    """The state after the records applied so far.

    Attributes:
        sequence, digest: The last record applied.
        ledger: The ledger's id.
        pinned, limits: As recorded; `limits` in the encoded form of `PolicyLimits`.
        metrics: What the multiples of each metric are multiples of.
        contribution_key: 32 random bytes, made with the ledger.
        epoch: How often the owner overruled the high-water mark.
        version: The table version; 0 before the first.
        restored: Whether the ledger counts as fully spent, until a reset.
        total: Spent by all analysts together.
        releases: What was published to all, oldest first.
        synthetic: Each analyst's synthetic tables.
        once: What is still to be made under its charge, and what was kept.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.digest = GENESIS
        self.ledger = ""
        self.pinned = Pinned(unit="", neighbours="", composition="basic")
        self.limits: dict[str, Any] = {}
        self.metrics = Meanings()
        self.contribution_key = b""
        self.epoch = 0
        self.version = 0
        self.restored = False
        self.releases: list[Release] = []
        self.synthetic, self.once = TablesState(), MadeOnce()
        self._total = Account()
        self._published: dict[str, Account] = {}  # by account: its share of what was published to all
        self._written = Account()  # what publications cost whose consequences stand in the policy
        self._newest = Account()  # what the newest one cost, where it came after those
        self._by_analyst: defaultdict[str, Account] = defaultdict(Account)
        self._by_account: defaultdict[str, Account] = defaultdict(Account)
        self._overruns: Counter[tuple[str, str]] = Counter()  # by account and analyst
        self._promises: defaultdict[str, set[Promise]] = defaultdict(set)
        self._unsettled: Counter[tuple[str, str, str]] = Counter()

    @classmethod
    def of(cls, file: LedgerFile) -> LedgerState:
        """The state after all of a file's records."""
        state = cls()
        state.catch_up(file)
        return state

    def catch_up(self, file: LedgerFile) -> None:
        """Applies the file's records past the last one applied.

        Raises:
            LedgerError: If the chain is broken, or a record or a loss is of no known kind.
        """
        for record in file.records(self.sequence, self.digest):
            self.apply(record)
        self.settle()
        if not self.sequence:
            raise UnusableLedgerError("The ledger has no opening record.")

    def apply(self, record: Record) -> None:
        """Goes on by one record; what it charged is added up by `settle`."""
        if record.kind not in _APPLY or (record.kind == "opening") != (record.sequence == 1):
            raise UnusableLedgerError(f"Record {record.sequence} of the ledger, {record.kind!r}, is of no known kind.")
        _APPLY[record.kind](self, record)
        self.once.apply(record)
        self.sequence, self.digest = record.sequence, record.hash

    @property
    def high_water(self) -> HighWater:
        """The last record, as a mark."""
        return HighWater(self.epoch, self.sequence, self.digest.hex())

    @property
    def total(self) -> Account:
        """Spent by all analysts together."""
        return self._total

    def spent(self, account: str, limits: PolicyLimits) -> Account:
        """Spent in one account, under these limits: all that a named analyst asked, ever, under whichever limits.

        The shared account ``"*"`` holds what was charged to it, and what analysts spent who are no longer named; a
        name that leaves it begins with all of that. What was published to all is charged to each account; one that
        begins later pays for what all others read with it.
        """
        published = self._published.get(account, self._of_newcomers)
        if account in self._named and account != "*":
            return self._by_analyst.get(account, Account()) + published
        return self._sum_of(self._names(account, limits)) + published

    def suspended(self, analyst: str) -> bool:
        """Whether an analyst had more overruns than are allowed since the last reset of the account that paid for them.

        Analysts are suspended by name, also those who share the account ``"*"``: it was charged for each statement that
        overran, and so there are no more of them than it can pay for, whatever names they come under.
        """
        return sum(count for (_, name), count in self._overruns.items() if name == analyst) > OVERRUNS_ALLOWED

    def refuse_changed(self, pinned: Pinned) -> None:
        """Nothing, where the policy means what the ledger's numbers mean.

        Raises:
            PolicyError: If the policy changed what is pinned.
        """
        for name in ("unit", "neighbours", "composition", "classes"):
            was, now = getattr(self.pinned, name) or "none", getattr(pinned, name) or "none"
            if was != now:
                raise PolicyError(
                    f"The ledger was made for {name}: {was}, the policy now says {name}: {now}. What was spent under "
                    f"the one means nothing under the other: write {was} again, or name a new file as budget.ledger."
                )

    def refuse_redefined(self, limits: PolicyLimits) -> None:
        """Nothing, where every metric that was spent means what it meant then.

        Raises:
            PolicyError: Naming one that does not.
        """
        self.metrics.refuse_redefined({metric for metric, _ in self._total.metric}, limits.metrics)

    def refuse_incomparable(self, limits: PolicyLimits) -> None:
        """Nothing, where each limit holds, or is held by, every one under which charges were granted since a reset.

        Raises:
            PolicyError: Naming one that does not; `accounting` has the reason.
        """
        for place, names, now in [
            ("total", [TOTAL], limits.total),
            *((f"analysts: {name}", self._names(name, limits), own) for name, own in limits.analysts.items()),
        ]:
            for epsilon, delta in sorted(promise for name in names for promise in self._promises.get(name, ())):
                if not now.comparable(epsilon, delta):
                    raise PolicyError(
                        f"budget: {place} was epsilon {float(epsilon):g} with delta {float(delta):g} when answers were "
                        f"given. Epsilon {float(now.epsilon):g} with delta {float(now.delta):g} is more of the one and "
                        "less of the other: together they promise neither. Write at least as much of both, or at most "
                        "as much, or start the ledger's accounts afresh with "
                        "`dpsql budget POLICY --reset --reason TEXT`."
                    )

    @property
    def _of_newcomers(self) -> Account:
        """What an account pays at its beginning for what was published: as ``"*"``, without one what still serves."""
        return self._published.get("*", self._serving)

    @property
    def _serving(self) -> Account:
        """What publications cost that still tell something: those that the policy was written from, and the newest."""
        return self._written + self._newest

    @property
    def _named(self) -> Mapping[str, Any]:
        """The accounts of the limits on record."""
        named: Mapping[str, Any] = self.limits.get("analysts", {})
        return named

    def _names(self, account: str, limits: PolicyLimits) -> list[str]:
        """Under which names an account's charges stand: see `spent`."""
        if account == "*":
            return [name for name in self._by_account if name == "*" or name not in limits.analysts]
        return [account] if account in self._named else self._begins_as(account)

    def leaves_shared(self, name: str) -> bool:
        """Whether a name is new to the limits on record, and begins with what ``"*"`` holds."""
        return name != "*" and name not in self._named and self._begins_as(name) != [name]

    def _begins_as(self, name: str) -> list[str]:
        """What a new account begins with: all that ``"*"`` holds, under which anybody may have read by any name."""
        shared = {"*"} & (self._named.keys() | self._by_account.keys())
        return [other for other in self._by_account if other == "*" or other not in self._named] if shared else [name]

    def _sum_of(self, names: Sequence[str]) -> Account:
        return sum((self._by_account.get(name, Account()) for name in names), Account())

    def settle(self) -> None:
        """Adds up the charges applied since; the same loss many times over is one multiplication."""
        for (analyst, account, loss), count in self._unsettled.items():
            amount = _account(loss, self.pinned.composition).times(count)
            self._total += amount
            self._by_analyst[analyst] += amount
            self._by_account[account] += amount
            self._promises[TOTAL].add(self._promise_of_total)
            for name in {analyst, account}:
                self._promises[name].add(self._promise_of[account])
        self._unsettled.clear()

    def _opening(self, record: Record) -> None:
        detail = record.details
        self.ledger = detail["ledger"]
        self.pinned = Pinned(**detail["pinned"])
        self._limits(record)
        self.contribution_key = bytes.fromhex(detail["contribution_key"])

    def _charge(self, record: Record) -> None:
        self._unsettled[record.analyst, record.account, record.loss] += 1
        self.metrics.charged(record.detail)

    def _synthetic(self, record: Record) -> None:
        """A charge that pays for a table."""
        self._charge(record)
        self.synthetic.made(record, [record.analyst])

    def _shared(self, record: Record) -> None:
        """A charge for a table of the owner's: to the total once, and to each reader."""
        self.settle()
        self._total += _account(record.loss, self.pinned.composition)
        self._promises[TOTAL].add(self._promise_of_total)
        readers = record.details["readers"]
        for reader, account in readers.items():
            self._pays_alone(reader, account, record.loss)
        self.synthetic.made(record, list(readers))

    def _first_read(self, record: Record) -> None:
        """A reader's charge for what the total has paid for."""
        self.settle()
        self._pays_alone(record.analyst, record.account, record.loss)
        self.synthetic.read(record)

    def _pays_alone(self, analyst: str, account: str, loss: str) -> None:
        """An analyst's charge that is not the total's."""
        amount = _account(loss, self.pinned.composition)
        self._by_analyst[analyst] += amount
        self._by_account[account] += amount
        for name in {analyst, account}:
            self._promises[name].add(self._promise_of[account])

    def _grant(self, record: Record) -> None:
        self.synthetic.granted(record)

    def _drop(self, record: Record) -> None:
        self.synthetic.dropped(record)

    def _release(self, record: Record) -> None:
        """A charge to all: to the total once, and to every account."""
        self.settle()
        loss, details = decode(json.loads(record.loss)), record.details
        parts = (details["fingerprint"], *details["beside"])
        self.releases.append(Release(record.sequence, details["release"], details["version"], loss, parts))
        amount = loss.account(self.pinned.composition)
        self._total += amount
        self._promises[TOTAL].add(self._promise_of_total)
        self._newest = amount
        if not details["version"]:
            self._apply_written(record)
        for name, promise in self._promise_of.items():
            self._published[name] = self._published.get(name, Account()) + amount
            self._promises[name].add(promise)

    def _apply_written(self, _: Record) -> None:
        """The policy holds what all publications until now told."""
        amounts = (release.loss.account(self.pinned.composition) for release in self.releases)
        self._written, self._newest = sum(amounts, Account()), Account()

    def _limits(self, record: Record) -> None:
        self.settle()  # what was charged under the limits until now
        for name in record.details["limits"]["analysts"].keys() - self._named.keys() - {"*"}:
            names = self._begins_as(name)
            self._by_analyst[name] = self._sum_of(names)
            self._promises[name] = {promise for other in names for promise in self._promises.get(other, ())}
        self.limits = record.details["limits"]
        self.metrics.defined |= self.limits.get("metrics", {})
        self._promise_of_total = _promise(self.limits["total"])
        self._promise_of = {name: _promise(own) for name, own in self.limits["analysts"].items()}
        begun = self._of_newcomers
        for name in self._promise_of.keys() - self._published.keys():
            self._published[name] = begun
            if begun != Account():
                self._promises[name].add(self._promise_of[name])

    def _refresh(self, record: Record) -> None:
        self.version = record.details["version"]

    def _overrun(self, record: Record) -> None:
        self._overruns[record.account, record.analyst] += 1

    def _reset(self, record: Record) -> None:
        self.settle()
        self.epoch = record.details["epoch"]
        if record.account:
            self._by_analyst.pop(record.account, None)
            self._by_account.pop(record.account, None)
            self._overruns = Counter({key: n for key, n in self._overruns.items() if record.account not in key})
            self._promises.pop(record.account, None)
            self._begin({record.account} & self._published.keys())
            return
        self.restored = False
        self._total = self._serving
        self._by_analyst.clear()
        self._by_account.clear()
        self._overruns.clear()
        self._promises.clear()
        self.metrics.listed.clear()
        if self._serving != Account():
            self._promises[TOTAL].add(self._promise_of_total)
        self._begin(self._published.keys() & self._promise_of.keys())
        self._published = {name: self._published[name] for name in self._promise_of}

    def _begin(self, names: Collection[str]) -> None:
        """Accounts that a reset starts afresh begin with what is still read by all, for it tells what it told."""
        for name in names:
            self._published[name] = self._serving
            if self._serving != Account() and name in self._promise_of:
                self._promises[name].add(self._promise_of[name])

    def _restore(self, record: Record) -> None:
        self.epoch = record.details["epoch"]
        self.restored = True

    def _note(self, record: Record) -> None:
        """A record that changes nothing."""


_APPLY: Mapping[str, Callable[[LedgerState, Record], None]] = {
    "opening": LedgerState._opening,
    "charge": LedgerState._charge,
    "synthetic": LedgerState._synthetic,
    "shared": LedgerState._shared,
    "grant": LedgerState._grant,
    "read": LedgerState._first_read,
    "drop": LedgerState._drop,
    "kept": LedgerState._note,
    "release": LedgerState._release,
    "written": LedgerState._apply_written,
    "limits": LedgerState._limits,
    "refresh": LedgerState._refresh,
    "overrun": LedgerState._overrun,
    "reset": LedgerState._reset,
    "restore": LedgerState._restore,
    "backup": LedgerState._note,
    "verify": LedgerState._note,
}


def _promise(limits: Mapping[str, str]) -> Promise:
    return Fraction(limits["epsilon"]), Fraction(limits["delta"])


@lru_cache(maxsize=4096)
def _account(loss: str, composition: Composition) -> Account:
    return decode(json.loads(loss)).account(composition)
