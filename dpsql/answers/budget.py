"""The state of a budget, as an analyst or the owner sees it.

Tests: tests/unit/answers/test_answer.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from dpsql.answers.shown.notebook import card, small, values
from dpsql.answers.shown.screen import number, text_table
from dpsql.plan.types import Type
from dpsql.privacy.loss import PrivacyLoss

if TYPE_CHECKING:
    from dpsql.ledger.ledger import AccountState
from dpsql.answers.answer import Answer, public
from dpsql.answers.shown.costs import cost_text
from dpsql.errors import BudgetExceeded, LedgerError

__all__ = ["Budget", "as_rows", "left_now"]


@dataclass(frozen=True, slots=True, repr=False)
class Budget:
    """What one analyst has spent and may still spend.

    Attributes:
        spent: What the ledger has charged.
        remaining: The largest pure epsilon that one query could still spend: the lesser of own and total.
        limit: The analyst's limit.
        composition: How losses add up, ``basic`` or ``zcdp``.
        promise: What all of it means together for one row, where answers of several kinds were given; else ''.
        delta_left: The largest delta that one query could still have; None where the account never had any.
        delta_of_queries: What the deltas of all queries may add up to, where that is less than the limit's: under
            ``zcdp`` it is a quarter.
    """

    spent: PrivacyLoss
    remaining: float
    limit: PrivacyLoss
    composition: str
    promise: str = ""
    delta_left: float | None = None
    delta_of_queries: float | None = None

    TITLES: ClassVar[tuple[str, str, str]] = ("spent", "limit", "left for one query")
    """What `cells` are."""

    def cells(self) -> tuple[str, str, str]:
        """The budget in words: what was spent rounded up, what is left rounded down."""
        return cost_text(self.spent), self._limit, self.epsilon_left

    @property
    def _limit(self) -> str:
        """The limit in words, and how much of its delta queries may have, where that is not all of it."""
        part = self.delta_of_queries
        told = "" if part is None else f" (queries: delta {number(part, 4, ROUND_FLOOR)})"
        return f"{cost_text(self.limit)}{told}"

    @property
    def epsilon_left(self) -> str:
        """What is left for one query, in words."""
        epsilon = f"epsilon {number(self.remaining, 6, ROUND_FLOOR)}"
        if self.delta_left is None:
            return epsilon
        return f"{epsilon}, {f'delta {number(self.delta_left, 4, ROUND_FLOOR)}' if self.delta_left else 'no delta'}"

    @property
    def left(self) -> str:
        """What is left for one query, as a sentence."""
        return f"Left: {self.epsilon_left}."

    def __str__(self) -> str:
        return "\n".join([text_table(self.TITLES, [self.cells()], widest=None), *self._about()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(values(self.TITLES, [self.cells()]), *map(small, self._about()))

    def _about(self) -> list[str]:
        return [self.adding_up, *([self.promise] if self.promise else [])]

    @property
    def adding_up(self) -> str:
        """How losses add up, as a sentence."""
        part = ", which keeps three quarters of a limit's delta. The delta left is of the quarter for queries"
        return f"Losses add up by {self.composition} composition{part * (self.composition == 'zcdp')}."

    @classmethod
    def of(cls, state: AccountState) -> Self:
        """The budget that an account of the ledger shows."""
        limit = PrivacyLoss(
            epsilon=float(state.limit.epsilon),
            delta=float(state.limit.delta),
            gamma=float(state.limit.gamma),
            metric={
                name: {attribute: float(multiple) for attribute, multiple in multiples.items()}
                for name, multiples in state.limit.metric.items()
            },
            classes={name: float(share * state.limit.epsilon) for name, share in state.limit.classes.items()},
        )
        delta = None if state.delta_left is None else float(state.delta_left)
        own = cls(state.spent, _down(state.remaining), limit, state.composition, delta_left=delta)
        of_queries = state.delta_of_queries
        return replace(own, delta_of_queries=float(of_queries)) if of_queries < state.limit.delta else own

    def to_answer(self) -> Answer:
        """The budget as one row: what ``SHOW BUDGET`` returns."""
        return public(
            ("spent", "limit", "remaining_epsilon", "remaining_delta", "composition", "promise"),
            (Type.TEXT, Type.TEXT, Type.REAL, Type.REAL, Type.TEXT, Type.TEXT),
            [
                (
                    cost_text(self.spent),
                    self._limit,
                    self.remaining,
                    self.delta_left,
                    self.composition,
                    self.promise or None,
                )
            ],
        )


def left_now(budget: Callable[[], Budget]) -> str:
    """What is left for one query, in words: what was charged is answered, also where that is not known any more.

    Args:
        budget: Asks the ledger. The owner may have taken the account away, and another process changed the limits.
    """
    try:
        return budget().epsilon_left
    except BudgetExceeded:
        return "nothing"
    except LedgerError:
        return "not known now"


def as_rows(budgets: Sequence[tuple[str, Budget]]) -> Answer:
    """The budgets of several accounts, one row each: its name first."""
    rows = [own.to_answer() for _, own in budgets]
    first = rows[0]
    named = [(name, *own.rows[0]) for (name, _), own in zip(budgets, rows, strict=True)]
    return public(("analyst", *first.columns), (Type.TEXT, *first.types), named)


def _down(amount: Fraction) -> float:
    """The amount with at most twelve decimals, and as printed never more than it is.

    >>> _down(Fraction(2, 3))
    0.666666666666
    """
    return float(Fraction(math.floor(amount * 10**12), 10**12))
