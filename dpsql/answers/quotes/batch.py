"""Several statements bought together: which they are, what they would cost, and what they share.

Tests: tests/unit/answers/quotes/test_batch.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeGuard, TypeVar

from dpsql.answers.quotes.quoted import Quote
from dpsql.answers.shown.costs import cost_text
from dpsql.answers.shown.grouped import grouped
from dpsql.answers.shown.notebook import card, folded, heading, small, values
from dpsql.answers.shown.screen import safe, text_table
from dpsql.errors import Error, InvariantBroken, ProgrammingError
from dpsql.plan.plans import PublicPlan, Several
from dpsql.plan.types import Parameters
from dpsql.prepare import Prepared
from dpsql.prepare.batch import Batch
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import PrivacyLoss

__all__ = [
    "BatchQuote",
    "BoughtOnce",
    "Own",
    "Statements",
    "ToBuy",
    "asked_in",
    "at_width",
    "batch_quote",
    "is_priced",
    "numbered",
]

Statements = Sequence[str | tuple[str, Parameters]]
"""SELECTs, each as text, or as text with a list of values for its ``?``."""

RIGHT = (True, False, False, False, True)
"""Which columns of a shown quote are numbers."""
MOST_STATEMENTS = 200
"""In one batch: more than any dashboard has, and few enough that each can be compared with each. A guess."""

Spoken = TypeVar("Spoken")
"""How a statement was asked."""

Own = Prepared | PublicPlan
"""A SELECT at its own price, or one over public tables alone."""


def is_priced(own: Own) -> TypeGuard[Prepared]:
    """Whether a statement measures something: not what is public, or shows no row."""
    return isinstance(own, Prepared) and not own.plan.empty


@dataclass(frozen=True, slots=True)
class ToBuy(Generic[Spoken]):
    """A statement that is to be bought.

    Attributes:
        parts: The SELECTs that are answered for it, each at its own price: one, but for a statement over several.
        spoken: How it was asked.
        several: What is made of several answers; None where there is one.
        first: What is released before them, for them to read: it shows nothing of its own.
        key: All that its answers follow from, but what is stored; None where that cannot be said.
        fingerprints: Of all that is priced, where there is a key.
    """

    parts: tuple[Own, ...]
    spoken: Spoken
    several: Several | None = None
    first: tuple[Prepared, ...] = ()
    key: tuple[Hashable, ...] | None = None
    fingerprints: tuple[str, ...] = ()

    @property
    def priced(self) -> tuple[Prepared, ...]:
        """All that is measured for it, in the order in which it is released."""
        return (*self.first, *filter(is_priced, self.parts))

    @property
    def groups(self) -> int:
        """How many groups are listed for it."""
        listed = [grouping.groups for own in self.priced for grouping in own.groupings]
        return sum(len(groups or ()) for groups in (*listed, *(own.candidates for own in self.priced)))


def asked_in(
    statements: Statements,
    half_width: Mapping[str, float],
    ask: Callable[[str, Parameters], ToBuy[Spoken]],
    narrowed: Callable[[Prepared, Mapping[str, float]], Prepared],
) -> list[ToBuy[Spoken]]:
    """The statements of a batch, each at its own price; where half widths are wanted, at the least that gives them.

    Args:
        statements: What is asked.
        half_width: Output column to half width, in every statement that has it.
        ask: One statement with its parameters, at its own price.
        narrowed: The same statement at the least price for half widths of its columns.

    Raises:
        ProgrammingError: They are no list of 1 to 200 statements, or none has a wanted column.
        Error: What a statement is refused for, with its number.
    """
    if isinstance(statements, str) or not isinstance(statements, Sequence):
        raise ProgrammingError("A batch is a list of statements. Write query or explain for a single one.")
    if not 1 <= len(statements) <= MOST_STATEMENTS:
        raise ProgrammingError(f"A batch has 1 to {MOST_STATEMENTS} statements; here are {len(statements)}.")
    found, missing = [], set(half_width)
    for place, given in enumerate(statements, 1):
        sql, parameters = given if isinstance(given, tuple) and len(given) == 2 else (given, ())
        with numbered(place):
            asked, absent = at_width(ask(sql, parameters), half_width, narrowed)
        found.append(asked)
        missing &= absent
    if missing:
        raise ProgrammingError(f"No statement has a column {min(missing)!r}. half_width names output columns.")
    return found


def at_width(
    asked: ToBuy[Spoken],
    half_width: Mapping[str, float],
    narrowed: Callable[[Prepared, Mapping[str, float]], Prepared],
) -> tuple[ToBuy[Spoken], set[str]]:
    """A statement at the least price for half widths of its columns, and the names of those that it does not have."""
    parts, missing = list[Own](), set(half_width)
    for own in asked.parts:
        names = {output.label for output in own.plan.answer} if isinstance(own, Prepared) else set()
        wanted = {name: width for name, width in half_width.items() if name in names}
        missing -= names
        parts.append(narrowed(own, wanted) if wanted and isinstance(own, Prepared) else own)
    return replace(asked, parts=tuple(parts)), missing


@contextmanager
def numbered(place: int) -> Iterator[None]:
    """Says of a refusal which statement it is about."""
    try:
        yield
    except InvariantBroken:
        raise
    except Error as error:
        error.args = (f"Statement {place}: {error}", *error.args[1:])
        raise


@dataclass(frozen=True, slots=True)
class BoughtOnce:
    """What several statements of a batch ask alike, and which is bought once.

    Attributes:
        name: What is measured, as the first of them has it.
        statements: Their numbers, from 1.
        loss: What it costs, once.
    """

    name: str
    statements: tuple[int, ...]
    loss: PrivacyLoss

    @property
    def said(self) -> str:
        """The same as a sentence."""
        if self.loss == PrivacyLoss():
            return f"Released before, and free for {_these(self.statements)}: {self.name}."
        return f"Bought once for {_these(self.statements)}: {self.name}, at {cost_text(self.loss)}."


@dataclass(frozen=True, slots=True, repr=False)
class BatchQuote:
    """What several statements would cost together. Making one spends nothing and reads no data.

    Attributes:
        cost: What all of them would be charged together.
        alone: What they would be charged one by one.
        statements: Each one's quote, at the prices at which they are bought together; its cost is what it adds to that
            of those before it.
        shared: What is bought once for several of them.
        repeats_left: How often the budget would grant as much; None without a limit.
        stored: Numbers, from 1, of those that were released before and cost nothing.
    """

    cost: PrivacyLoss
    alone: PrivacyLoss
    statements: tuple[Quote, ...]
    shared: tuple[BoughtOnce, ...]
    repeats_left: int | None
    stored: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "\n".join([text_table(*self._table(), right=RIGHT), *map(safe, self._about()), *map(safe, self._told())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(
            heading("What they would cost together"),
            values(*self._table(), RIGHT),
            *map(small, self._about()),
            folded("What else there is to know", self._told()),
        )

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        names = ("statement", "column", "mechanism", "cost", "half width (95%)")
        return names, [
            (str(place), column.name, column.mechanism, cost_text(column.loss), column.error)
            for place, quote in enumerate(self.statements, 1)
            for column in quote.columns
        ]

    def _about(self) -> list[str]:
        often = "without limit" if self.repeats_left is None else f"{self.repeats_left} times"
        return [
            *(own.said for own in self.shared),
            *(f"Statement {place} was released before, and costs nothing." for place in self.stored),
            f"Cost together: {cost_text(self.cost)}. One by one: {cost_text(self.alone)}.",
            f"The budget would grant all of it together {often}. Nothing is spent, no data is read.",
        ]

    def _told(self) -> list[str]:
        return [f"Note on {_these(places)}: {note}" for note, places in self._notes().items()]

    def _notes(self) -> dict[str, list[int]]:
        """Each note, with the numbers of the statements that it is about."""
        notes: dict[str, list[int]] = {}
        for place, quote in enumerate(self.statements, 1):
            for note in grouped(quote.notes):
                notes.setdefault(note, []).append(place)
        return notes


def _these(places: Sequence[int]) -> str:
    """Statements by their numbers.

    >>> _these([2]), _these([1, 2, 5])
    ('statement 2', 'statements 1, 2 and 5')
    """
    *most, last = map(str, places)
    return f"statements {', '.join(most)} and {last}" if most else f"statement {last}"


def batch_quote(
    batch: Batch,
    quotes: Sequence[Quote],
    numbers: Sequence[int],
    repeats_left: int | None,
    summary: Callable[[Loss], PrivacyLoss],
) -> BatchQuote:
    """What statements would cost as they are bought together.

    Args:
        batch: Those that read private tables.
        quotes: Of all statements, at these prices.
        numbers: Of the batch's statements among all, from 1.
        repeats_left: How often the budget would grant the batch.
        summary: A loss as people read it.
    """
    shared = tuple(
        BoughtOnce(
            purchase.name,
            tuple(numbers[index] for index in indices),
            PrivacyLoss() if batch.known.keys() >= set(purchase.draws.values()) else summary(purchase.loss),
        )
        for purchase, indices in batch.shared()
        if not batch.settled.issuperset(indices)
    )
    bought = {numbers[index] for index in range(len(batch.own)) if index not in batch.settled}
    stored = tuple(number for number in dict.fromkeys(numbers) if number not in bought)
    return BatchQuote(summary(batch.loss), summary(batch.alone), tuple(quotes), shared, repeats_left, stored)
