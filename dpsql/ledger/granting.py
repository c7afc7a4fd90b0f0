"""Whether a charge is granted: the account of whoever asks, or of everybody, beside all analysts together.

Tests: tests/unit/ledger/test_ledger.py, tests/unit/ledger/test_releases.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from dpsql.ledger.refusals import cannot_all_pay, exceeded, no_account, overspent, stopped, tightest
from dpsql.ledger.state import LedgerState
from dpsql.ledger.views import AccountState
from dpsql.privacy.account import DELTA_UNIT, Account, readable
from dpsql.privacy.accounting import PolicyLimits, PrivacyFilter
from dpsql.privacy.used import delta_left

__all__ = ["Granting"]

RESTORED = "The ledger was restored from a backup and counts as fully spent."


class Granting:
    """The limits of a policy over what a ledger's state says was spent.

    Args:
        limits: Of the policy.
        state: Of the ledger; it moves on with it.

    Attributes:
        limits: Of the policy.
        total: What all analysts together are granted.
        filters: What each account is granted, by its name.
    """

    def __init__(self, limits: PolicyLimits, state: LedgerState) -> None:
        self.limits, self._state = limits, state
        self._composition = state.pinned.composition
        self.total = PrivacyFilter.of(limits.total, self._composition)
        self.filters = {name: PrivacyFilter.of(limits.of(name), self._composition) for name in limits.analysts}
        self._standing: tuple[bytes, dict[str | None, AccountState]] = (b"", {})  # as of this record

    def account_of(self, analyst: str) -> str:
        """The account that an analyst's queries are charged to.

        Raises:
            BudgetExceeded: There is none.
        """
        account = self.limits.account(analyst)
        if account is None:
            raise no_account(analyst)
        return account

    def account_for(self, analyst: str, asked: Account) -> str:
        """The account that pays for what an analyst asks.

        Raises:
            BudgetExceeded: If it, or all together, have too little left, or nothing is granted until a reset.
        """
        account = self.account_of(analyst)
        if self._state.suspended(analyst):
            raise stopped(f"Analyst {analyst!r} is suspended: three queries ran past the deadline or failed.", asked)
        if self._state.restored and asked != Account():
            raise stopped(RESTORED, asked)
        own = self.filters[account].shortfall(self._state.spent(account, self.limits), asked)
        total = self.total.shortfall(self._state.total, asked)
        who = self._holder(account, analyst)
        for holder, short in tightest((who, own), ("all analysts together have", total)):
            raise exceeded(holder, short, self._state.pinned.unit)
        return account

    def account_of_reader(self, analyst: str, asked: Account) -> str:
        """The account that pays for an analyst's first reading of what the total has paid for.

        Raises:
            BudgetExceeded: If it has too little left, or nothing is granted until a reset.
        """
        account = self.account_of(analyst)
        if self._state.restored:
            raise stopped(RESTORED, asked)
        if short := self.filters[account].shortfall(self._state.spent(account, self.limits), asked):
            raise exceeded(self._holder(account, analyst), short, self._state.pinned.unit)
        return account

    def accounts_of_readers(self, readers: Sequence[str], asked: Account) -> dict[str, str]:
        """Each reader's account, where the total can pay this once and every reader.

        Raises:
            BudgetExceeded: Naming each that has no account, or cannot pay; told to the owner alone.
        """
        if self._state.restored:
            raise stopped(RESTORED, asked)
        accounts = {reader: self.account_of(reader) for reader in readers}
        found = [("all analysts together have", self.total.shortfall(self._state.total, asked))]
        for account, times in Counter(accounts.values()).items():
            spent = self._state.spent(account, self.limits)
            who = self._holder(account, account)
            found.append((who, self.filters[account].shortfall(spent, asked.times(times))))
        if short := [(who, one) for who, one in found if one is not None]:
            raise cannot_all_pay(short, self._state.pinned.unit, "A release is charged to every reader")
        return accounts

    def lacks(self, account: str, asked: Account) -> str:
        """Why an account could not pay this now, for the owner; '' where it could."""
        short = self.filters[account].shortfall(self._state.spent(account, self.limits), asked)
        return "" if short is None else str(exceeded(self._holder(account, account), short, self._state.pinned.unit))

    @staticmethod
    def _holder(account: str, analyst: str) -> str:
        return "analysts without a budget of their own have" if account == "*" else f"analyst {analyst!r} has"

    def refuse_everybody(self, asked: Account) -> None:
        """Nothing, where the total and every account can pay this.

        Raises:
            BudgetExceeded: Naming each that cannot; told to the owner alone.
        """
        if self._state.restored:
            raise stopped(RESTORED, asked)
        found = [("all analysts together have", self.total.shortfall(self._state.total, asked))]
        for name, granted in self.filters.items():
            found.append((self._holder(name, name), granted.shortfall(self._state.spent(name, self.limits), asked)))
        if short := [(who, one) for who, one in found if one is not None]:
            raise cannot_all_pay(short, self._state.pinned.unit, "Facts are charged to every account")

    def refuse_overspent(self) -> None:
        """Nothing, where what was spent is within the limits.

        Raises:
            PolicyError: If the total or an account allows less.
        """
        spent = {name: self._state.spent(name, self.limits) for name in self.filters}
        for name, granted, account in [
            ("", self.total, self._state.total),
            *((name, self.filters[name], amount) for name, amount in spent.items()),
        ]:
            if short := granted.shortfall(Account(), account):
                place = f"analysts: {name}" if name else "total"
                raise overspent(place, short, shared=bool(name) and self._state.leaves_shared(name))

    def standing(self, analyst: str | None) -> AccountState:
        """Where an analyst's account stands, or, for None, all analysts together.

        Raises:
            BudgetExceeded: If the analyst has no account.
        """
        if self._standing[0] != self._state.digest:
            self._standing = self._state.digest, {}
        known = self._standing[1]
        if analyst not in known:
            known[analyst] = self._stands(analyst)
        return known[analyst]

    def _stands(self, analyst: str | None) -> AccountState:
        everyone = self._state.total
        if analyst is None:
            limit, spent, granted = self.limits.total, everyone, self.total
        else:
            account = self.account_of(analyst)
            limit, granted = self.limits.of(account), self.filters[account]
            spent = self._state.spent(account, self.limits)
        remaining = min(granted.remaining(spent), self.total.remaining(everyone))
        delta = min(delta_left(granted, spent), delta_left(self.total, everyone))
        stopped = self._state.restored or (analyst is not None and self._state.suspended(analyst))
        shown = granted.plain.proved(spent)
        lost = {name: bound.proved(spent.of_class(name)).epsilon for name, bound in granted.classes.items()}
        return AccountState(
            spent=readable(shown, rho=self._composition == "zcdp", classes=lost),
            remaining=Fraction(0) if stopped else remaining,
            limit=limit,
            composition=self._composition,
            delta_left=None if stopped or not limit.delta else delta,
            delta_of_queries=granted.plain.delta * DELTA_UNIT,
        )

    def repeats_left(self, analyst: str, asked: Account) -> int | None:
        """How often this would still be granted; None where it costs nothing.

        Raises:
            BudgetExceeded: If the analyst has no account.
        """
        account = self.account_of(analyst)
        if self._state.restored or self._state.suspended(analyst):
            return 0
        own = self.filters[account].repeats_left(self._state.spent(account, self.limits), asked)
        total = self.total.repeats_left(self._state.total, asked)
        return None if own is None or total is None else min(own, total)
