"""Where accounts stand: whether a charge would be granted, how much of each is used, and how that came over time.

Tests: tests/unit/ledger/test_standing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.ledger.granting import Granting
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.state import LedgerState
from dpsql.privacy.kinds import Loss
from dpsql.privacy.used import used

__all__ = ["Left", "Moment", "Standing", "Use"]

POINTS = 200
"""Moments at which the accounts are looked at. It is a choice: as many as a chart a screen wide can show apart."""


@dataclass(frozen=True, slots=True)
class Use:
    """How much of an account is used, and of all accounts together.

    Attributes:
        account: Its name; ``*`` is the one that analysts share who have none of their own.
        own: The share of it that is used, from 0 to 1.
        total: The share of the total that is used.
    """

    account: str
    own: Fraction
    total: Fraction


@dataclass(frozen=True, slots=True)
class Moment:
    """How much of each account was used after a record.

    Attributes:
        at: When, as the record says it.
        total: The share of the total.
        accounts: Each account's share.
    """

    at: str
    total: Fraction
    accounts: dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Left:
    """What an account would have left after a charge.

    Attributes:
        account: Its name; '' is the total.
        epsilon: The largest price that one more query could have; None where the charge would be refused.
        limit: The account's epsilon.
    """

    account: str
    epsilon: Fraction | None
    limit: Fraction


class Standing:
    """Where the accounts of an open ledger stand, under the limits that are in force whenever it is asked.

    Args:
        ledger: The ledger.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @property
    def _granting(self) -> Granting:
        return self._ledger._granting

    def refuse_unpayable(self, analyst: str, loss: Loss) -> None:
        """Nothing, where a charge would be granted now.

        Raises:
            BudgetExceeded: As `Ledger.charge` would.
        """
        asked = loss.account(self._ledger.composition)
        with self._ledger._reading():
            self._granting.account_for(analyst, asked)

    def use(self, analyst: str) -> Callable[[], Use]:
        """How much of an analyst's account is used now, worked out where somebody asks for it.

        Raises:
            BudgetExceeded: There is none.
        """
        with self._ledger._reading():
            account, granting, state = self._granting.account_of(analyst), self._granting, self._ledger._state
            own, total = state.spent(account, granting.limits), state.total
        return lambda: Use(account, used(granting.filters[account], own), used(granting.total, total))

    def after(self, loss: Loss) -> list[Left]:
        """What a charge to everybody would leave to each: the total first."""
        asked = loss.account(self._ledger.composition)
        with self._ledger._reading():
            granting, state, limits = self._granting, self._ledger._state, self._granting.limits
            accounts = [("", granting.total, state.total, limits.total)]
            accounts += [
                (name, own, state.spent(name, limits), limits.of(name)) for name, own in granting.filters.items()
            ]
            return [
                Left(name, None if own.shortfall(spent, asked) else own.remaining(spent + asked), limit.epsilon)
                for name, own, spent, limit in accounts
            ]

    def now(self) -> Moment:
        """How much of each account is used now."""
        with self._ledger._reading():
            return _moment("", self._ledger._state, self._granting)

    def history(self) -> list[Moment]:
        """How the accounts came to where they are, under today's limits, oldest first: at most `POINTS` moments."""
        with self._ledger._reading():
            records, granting = list(self._ledger._file.records()), self._granting
        chosen = _spread([index for index, record in enumerate(records) if record.loss or record.kind == "reset"])
        state, found = LedgerState(), list[Moment]()
        for index, record in enumerate(records):
            state.apply(record)
            if index in chosen:
                state.settle()
                found.append(_moment(record.details["at"], state, granting))
        return found


def _moment(at: str, state: LedgerState, granting: Granting) -> Moment:
    own = {name: used(granted, state.spent(name, granting.limits)) for name, granted in granting.filters.items()}
    return Moment(at, used(granting.total, state.total), own)


def _spread(indices: Sequence[int]) -> set[int]:
    """Some of them, as far apart as they go, the first and the last included."""
    if len(indices) <= POINTS:
        return set(indices)
    return {indices[place * (len(indices) - 1) // (POINTS - 1)] for place in range(POINTS)}
