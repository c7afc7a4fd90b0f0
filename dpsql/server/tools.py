"""The tools of an agent: one session's tables, quotes, answers and budget, as plain structures.

They know nothing of the protocol that carries them. What is refused raises `dpsql.errors.Error`, whose text says what
to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import BaseModel

from dpsql.answers.answer import NOT_PRIVATE, Answer
from dpsql.answers.budget import Budget
from dpsql.answers.costs import cost_text
from dpsql.answers.quoted import Quote
from dpsql.answers.screen import half_width, safe
from dpsql.answers.writers import json_value
from dpsql.errors import ProgrammingError
from dpsql.privacy.loss import PrivacyLoss
from dpsql.releasing import Agree
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["BudgetTold", "Cell", "Considered", "PublicTold", "Quoted", "Told", "Tools"]

AGAIN = "Asking the same again is free, and gives the same numbers."


Width = float | list[float | None] | None
"""A number for a value, and one for each element of a list."""
End = float | str | list[float | str | None] | None
"""The same; of a date its text."""


class Cell(BaseModel):
    """One value. The truth, without noise, lies between low and high as often as `confidence` says."""

    value: Any
    half_width: Width = None
    low: End = None
    high: End = None


class PublicTold(BaseModel):
    """Public facts, for nothing."""

    columns: list[str]
    rows: list[list[Any]]


class Told(BaseModel):
    """An answer and what it cost."""

    columns: list[str]
    rows: list[list[Cell]]
    confidence: float
    cost: str
    left: str
    notes: list[str]
    again: str


class QuotedColumn(BaseModel):
    """How one column would be made."""

    name: str
    mechanism: str
    expected_half_width: float | None
    expected_error: str


class Quoted(BaseModel):
    """What a statement would cost and how precise it would be; nothing was spent and nothing read."""

    cost: str
    epsilon: float
    left: str
    columns: list[QuotedColumn]
    notes: list[str]


class BudgetTold(BaseModel):
    """What was spent and what one query may still spend."""

    spent: str
    limit: str
    left: str


@dataclass(frozen=True, slots=True)
class Considered:
    """What became of a statement: the answer, or what to ask the human, uncharged.

    Attributes:
        question: What to ask; None where the agent may spend that much by itself.
        cost: What it costs, or None where it is no statement that costs.
        told: The answer.
    """

    question: str | None
    cost: PrivacyLoss | None
    told: Told | None = None


class Asking(Protocol):
    """What the tools need of a session: `dpsql.session.Session` has it."""

    def tables(self) -> Answer: ...
    def describe(self, table: str, /) -> Answer: ...
    def budget(self) -> Budget: ...
    def explain(
        self, sql: str, /, *, half_width: Mapping[str, float] | None = None, epsilon: float | None = None
    ) -> Quote: ...
    def price(self, sql: str, /, *, epsilon: float | None = None) -> PrivacyLoss: ...
    def query(self, sql: str, /, *, epsilon: float | None = None, agree: Agree = None) -> Answer: ...
    def asking(self) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What one analyst's agent may do.

    Attributes:
        session: Whose account is charged.
        approve_above: Epsilon up to which it spends without its human, as the policy says now.
        left: What is left for one query, in words: told beside answers and quotes, it is no question of its own.
    """

    session: Asking
    approve_above: Callable[[], float]
    left: Callable[[], str]

    def list_tables(self) -> PublicTold:
        """SHOW TABLES."""
        return _exact(self.session.tables())

    def describe_table(self, table: str) -> PublicTold:
        """DESCRIBE."""
        return _exact(self.session.describe(table))

    def budget(self) -> BudgetTold:
        """SHOW BUDGET."""
        spent, limit, left = self.session.budget().cells()
        return BudgetTold(spent=spent, limit=limit, left=left)

    def quote(self, sql: str, half_width: dict[str, float] | None) -> Quoted:
        """EXPLAIN."""
        quote = self.session.explain(sql, half_width=half_width)
        columns = [
            QuotedColumn(
                name=c.name,
                mechanism=c.mechanism,
                expected_half_width=json_value(c.foretold),
                expected_error=c.error,
            )
            for c in quote.columns
        ]
        return Quoted(
            cost=cost_text(quote.cost),
            epsilon=quote.cost.epsilon,
            left=self.left(),
            columns=columns,
            notes=list(quote.notes),
        )

    def question(self, sql: str, epsilon: float | None) -> Considered:
        """What to ask the human before a statement is charged; nothing where the agent may spend that much by itself.

        A loss that is not one of epsilon alone is always asked about; what was released before is free.

        Raises:
            BudgetExceeded: The budget would not grant it, whatever the human says.
        """
        if not isinstance(parse(sql), syntax.QueryStatement | syntax.CreateSynthetic):
            return Considered(None, None)
        cost = self.session.price(sql, epsilon=epsilon)
        if cost.epsilon <= self.approve_above() and not (cost.rho or cost.gamma or cost.metric):
            return Considered(None, cost)
        asks = f"This statement costs {cost_text(cost)}; {self.left()} is left. Shall it be asked?\n{safe(sql)}"
        return Considered(asks, cost)

    def asked(self, sql: str, epsilon: float | None) -> Considered:
        """The answer, where the agent may spend that much by itself; else what to ask its human, uncharged."""
        with self.session.asking():
            found = self.question(sql, epsilon)
            return replace(found, told=self.query(sql, epsilon, found.cost)) if found.question is None else found

    def query(self, sql: str, epsilon: float | None, cost: PrivacyLoss | None) -> Told:
        """The answer, charged before anything is read.

        Args:
            sql: The statement.
            epsilon: Its price.
            cost: What was agreed on. SET of another call may have changed the price since: then nothing is charged.
        """

        def agree(now: PrivacyLoss) -> None:
            if now not in (cost, PrivacyLoss()):  # it may have been released meanwhile
                raise ProgrammingError(
                    f"The price changed meanwhile: {cost_text(now)}. Nothing was charged. Ask again."
                )

        answer = self.session.query(sql, epsilon=epsilon, agree=agree)
        ends = [answer.ends(column) for column in range(len(answer.columns))]
        rows = [
            [_cell(value, ends[column][row] if ends[column] else None) for column, value in enumerate(values)]
            for row, values in enumerate(answer.rows)
        ]
        return Told(
            columns=list(answer.columns),
            rows=rows,
            confidence=answer.confidence,
            cost=answer.paid,
            left=self.left(),
            notes=[*answer.notes, *([] if answer.private else [NOT_PRIVATE])],
            again=AGAIN,
        )


def _exact(answer: Answer) -> PublicTold:
    return PublicTold(columns=list(answer.columns), rows=[[json_value(value) for value in row] for row in answer.rows])


def _cell(value: Any, ends: tuple[Any, Any] | None) -> Cell:
    if ends is None or None in ends:
        return Cell(value=json_value(value))
    low, high = (json_value(end) for end in ends)
    if isinstance(low, list):
        pairs = zip(zip(low, high, strict=True), zip(*ends, strict=True), strict=True)
        widths = [None if None in shown else half_width(own) for shown, own in pairs]
        return Cell(value=json_value(value), half_width=widths, low=low, high=high)
    if low is None or high is None:
        return Cell(value=json_value(value))
    return Cell(value=json_value(value), half_width=half_width(ends), low=low, high=high)
