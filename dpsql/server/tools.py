"""The tools of an agent: one session's tables, quotes, answers and budget, as plain structures.

They know nothing of the protocol that carries them. What is refused raises `dpsql.errors.Error`, whose text says what
to write instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from dpsql.answers.answer import NOT_PRIVATE, Answer
from dpsql.answers.budget import Budget
from dpsql.answers.quotes.batch import BatchQuote
from dpsql.answers.quotes.quoted import Quote
from dpsql.answers.shown.costs import cost_text
from dpsql.answers.shown.screen import safe
from dpsql.answers.writers import json_value
from dpsql.errors import ProgrammingError
from dpsql.plan.over_answers.roles import ColumnRole
from dpsql.privacy.loss import PrivacyLoss
from dpsql.releasing import Agree
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["BudgetTold", "Considered", "PublicTold", "Quoted", "QuotedTogether", "Told", "ToldTogether", "Tools"]

ROWS = 200  # Of one result: an agent pays for what it reads. It is a choice: about 4,000 tokens.
Answered = TypeVar("Answered")
_EXACT = Context(prec=700)
"""In decimal digits: 700 hold any double beside any other."""


class PublicTold(BaseModel):
    """Public facts, for nothing."""

    columns: list[str]
    rows: list[list[Any]]
    notes: list[str]


class Told(BaseModel):
    """An answer and what it cost. Behind each column n that holds noise are n_low and n_high: the truth, without noise,
    lies between them as often as `confidence` says."""

    columns: list[str]
    rows: list[list[Any]]
    confidence: float
    cost: str
    left: str
    notes: list[str]


class QuotedColumn(BaseModel):
    """How one column would be made."""

    name: str
    mechanism: str
    expected_half_width: float | None
    expected_error: str


class Quoted(BaseModel):
    """What a statement would cost and how precise it would be; nothing was spent and nothing read.

    `times` is how often the budget would still grant it, `asks_human` whether a human is asked before it is charged.
    """

    cost: str
    epsilon: float | None
    left: str
    times: int | None
    asks_human: bool
    columns: list[QuotedColumn]
    notes: list[str]


class QuotedStatement(BaseModel):
    """One of several statements: how its columns would be made, and whether it is stored, and so costs nothing."""

    columns: list[QuotedColumn]
    stored: bool
    notes: list[str]


class QuotedTogether(BaseModel):
    """What several statements would cost bought together, and one by one; nothing was spent and nothing read.

    `shared` says what is paid once for several of them; `times` and `asks_human` are of all of them together.
    """

    cost: str
    one_by_one: str
    epsilon: float | None
    left: str
    times: int | None
    asks_human: bool
    shared: list[str]
    statements: list[QuotedStatement]


class ToldTogether(BaseModel):
    """The answers to several statements, in their order; the cost of each is what it added."""

    answers: list[Told]


class BudgetTold(BaseModel):
    """What was spent and what one query may still spend."""

    spent: str
    limit: str
    left: str


@dataclass(frozen=True, slots=True)
class Considered(Generic[Answered]):
    """What became of a statement: the answer, or what to ask the human, uncharged.

    Attributes:
        question: What to ask; None where the agent may spend that much by itself.
        cost: What it costs, or None where it is no statement that costs.
        told: The answer.
    """

    question: str | None
    cost: PrivacyLoss | None
    told: Answered | None = None


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
    def quote(
        self, statements: list[str], /, *, half_width: Mapping[str, float] | None = None, epsilon: float | None = None
    ) -> BatchQuote: ...
    def price_all(self, statements: list[str], /, *, epsilon: float | None = None) -> PrivacyLoss: ...
    def query_all(
        self, statements: list[str], /, *, epsilon: float | None = None, agree: Agree = None
    ) -> list[Answer]: ...
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
        return _exact(self.session.tables(), 0)

    def describe_table(self, table: str, offset: int) -> PublicTold:
        """DESCRIBE."""
        return _exact(self.session.describe(table), offset)

    def budget(self) -> BudgetTold:
        """SHOW BUDGET."""
        spent, limit, left = self.session.budget().cells()
        return BudgetTold(spent=spent, limit=limit, left=left)

    def quote(self, sql: str, epsilon: float | None, half_width: dict[str, float] | None) -> Quoted:
        """EXPLAIN."""
        quote = self.session.explain(sql, half_width=half_width, epsilon=epsilon)
        return Quoted(
            cost=cost_text(quote.cost),
            epsilon=json_value(quote.cost.epsilon),
            left=self.left(),
            times=quote.repeats_left,
            asks_human=self._asks(quote.cost),
            columns=_columns(quote),
            notes=list(quote.notes),
        )

    def quote_all(
        self, statements: list[str], epsilon: float | None, half_width: dict[str, float] | None
    ) -> QuotedTogether:
        """What several statements would cost."""
        quote = self.session.quote(statements, half_width=half_width, epsilon=epsilon)
        own = [
            QuotedStatement(columns=_columns(one), stored=place in quote.stored, notes=list(one.notes))
            for place, one in enumerate(quote.statements, 1)
        ]
        return QuotedTogether(
            cost=cost_text(quote.cost),
            one_by_one=cost_text(quote.alone),
            epsilon=json_value(quote.cost.epsilon),
            left=self.left(),
            times=quote.repeats_left,
            asks_human=self._asks(quote.cost),
            shared=[once.said for once in quote.shared],
            statements=own,
        )

    def _asks(self, cost: PrivacyLoss) -> bool:
        """Whether the human is asked: about more than the limit, and about a loss that no epsilon bounds."""
        return cost.epsilon > self.approve_above() or bool(cost.gamma or cost.metric)

    def question(self, sql: str, epsilon: float | None) -> Considered[Told]:
        """What to ask the human before a statement is charged; nothing where the agent may spend that much by itself.

        A loss that no epsilon bounds is always asked about; what was released before is free.

        Raises:
            BudgetExceeded: The budget would not grant it, whatever the human says.
        """
        if not isinstance(parse(sql), syntax.QueryStatement | syntax.CreateSynthetic):
            return Considered(None, None)
        cost = self.session.price(sql, epsilon=epsilon)
        if not self._asks(cost):
            return Considered(None, cost)
        asks = f"This statement costs {cost_text(cost)}; {self.left()} is left. Shall it be asked?\n{safe(sql)}"
        return Considered(asks, cost)

    def asked(self, sql: str, epsilon: float | None, offset: int = 0) -> Considered[Told]:
        """The answer, where the agent may spend that much by itself; else what to ask its human, uncharged."""
        with self.session.asking():
            found = self.question(sql, epsilon)
            if found.question is not None:
                return found
            return replace(found, told=self.query(sql, epsilon, found.cost, offset))

    def asked_all(self, statements: list[str], epsilon: float | None) -> Considered[ToldTogether]:
        """The same of several statements, which are bought together."""
        with self.session.asking():
            cost = self.session.price_all(statements, epsilon=epsilon)
            if not self._asks(cost):
                return Considered(None, cost, self.query_all(statements, epsilon, cost))
            asks = f"These statements cost {cost_text(cost)} together; {self.left()} is left. Shall they be asked?"
            return Considered("\n".join([asks, *map(safe, statements)]), cost)

    def query_all(self, statements: list[str], epsilon: float | None, cost: PrivacyLoss | None) -> ToldTogether:
        """The answers to several statements, charged together before anything is read; see `query`."""
        answers = self.session.query_all(statements, epsilon=epsilon, agree=_as_agreed(cost))
        return ToldTogether(answers=[self._told(answer, 0) for answer in answers])

    def query(self, sql: str, epsilon: float | None, cost: PrivacyLoss | None, offset: int = 0) -> Told:
        """The answer, charged before anything is read.

        Args:
            sql: The statement.
            epsilon: Its price.
            cost: What was agreed on. SET of another call may have changed the price since: then nothing is charged.
            offset: From which row on it is told.
        """
        return self._told(self.session.query(sql, epsilon=epsilon, agree=_as_agreed(cost)), offset)

    def _told(self, answer: Answer, offset: int) -> Told:
        shown = answer.with_intervals()
        rows, told = _page(shown, offset)
        noised = [
            column for column, role in enumerate(shown.roles[1:]) if role is ColumnRole.END is not shown.roles[column]
        ]
        for row in rows:
            for column in noised:
                row[column : column + 3] = rounded(*row[column : column + 3])
        return Told(
            columns=list(shown.columns),
            rows=[[json_value(value) for value in row] for row in rows],
            confidence=answer.confidence,
            cost=answer.paid,
            left=self.left(),
            notes=[*told, *answer.notes, *([] if answer.private else [NOT_PRIVATE])],
        )


def _as_agreed(cost: PrivacyLoss | None) -> Agree:
    """Refuses a price that is not the one that was agreed on."""

    def agree(now: PrivacyLoss) -> None:
        if now not in (cost, PrivacyLoss()):  # it may have been released meanwhile
            raise ProgrammingError(f"The price changed meanwhile: {cost_text(now)}. Nothing was charged. Ask again.")

    return agree


def _columns(quote: Quote) -> list[QuotedColumn]:
    return [
        QuotedColumn(
            name=own.name,
            mechanism=own.mechanism,
            expected_half_width=json_value(own.foretold),
            expected_error=own.error,
        )
        for own in quote.columns
    ]


def _exact(answer: Answer, offset: int) -> PublicTold:
    rows, told = _page(answer, offset)
    return PublicTold(
        columns=list(answer.columns), rows=[[json_value(value) for value in row] for row in rows], notes=told
    )


def _page(answer: Answer, offset: int) -> tuple[list[list[Any]], list[str]]:
    """Some of the rows, and how to get the others."""
    rows, all_ = [list(row) for row in answer.rows[offset : offset + ROWS]], len(answer.rows)
    if len(rows) == all_:
        return rows, []
    told = f"These are rows {offset + 1} to {offset + len(rows)} of {all_}." if rows else f"There are {all_} rows."
    more = f" The same with offset = {offset + ROWS} tells the next, for nothing." if offset + ROWS < all_ else ""
    return rows, [told + more]


def rounded(value: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """A real number and the ends of its interval to a hundredth of its width, the ends outwards; others as they are.

    >>> rounded(15.75625, 0.0, 57.96810456135708), rounded(7, 6, 8), rounded(2.0, None, 3.25)
    ((15.8, 0.0, 58.0), (7, 6, 8), (2.0, None, 3.25))
    """
    parts = (value, low, high)
    if not all(isinstance(part, float) and math.isfinite(part) for part in parts) or not 0 < high - low < math.inf:
        return parts
    step = Decimal(1).scaleb(math.floor(math.log10(high - low)) - 2)
    ways = (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING)
    first, second, third = (
        float(Decimal(part).quantize(step, way, _EXACT)) for part, way in zip(parts, ways, strict=True)
    )
    return first, second, third
