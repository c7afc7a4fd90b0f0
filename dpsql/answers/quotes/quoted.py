"""A quote: what a query would cost, and how precise it would be.

Tests: tests/unit/answers/test_answer.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpsql.answers.answer import Answer, ReleaseSummary, public
from dpsql.answers.shown.costs import cost_text
from dpsql.answers.shown.grouped import grouped
from dpsql.answers.shown.notebook import card, folded, heading, small, values
from dpsql.answers.shown.screen import number, safe, text_table
from dpsql.answers.shown.shortened import shortened
from dpsql.plan.nodes import Expression, Total, Windowed
from dpsql.plan.over_answers.stages import is_aggregate
from dpsql.plan.types import Type
from dpsql.plan.values.expressions import arguments_of
from dpsql.privacy.loss import PrivacyLoss

__all__ = [
    "COMPUTED",
    "EXPLAINED",
    "Quote",
    "QuoteColumn",
    "computed_column",
    "endless_note",
    "for_nothing",
    "released_before",
]

COMPUTED = "computed"
"""In the place of a mechanism, of what is worked out from released numbers, and costs nothing more."""

EXPLAINED = (
    ("column", "mechanism", "cost", "sensitivity", "scale", "half_width", "others"),
    (Type.TEXT, Type.TEXT, Type.TEXT, Type.REAL, Type.REAL, Type.REAL, Type.TEXT),
)
"""The columns of what EXPLAIN returns, and their types."""

RELEASED = "This was released before: asked again it costs nothing."
"""What the quote of a stored answer says."""
RIGHT = (False, False, False, True, True, True)
"""Which columns of a shown quote are numbers."""


@dataclass(frozen=True, slots=True)
class QuoteColumn(ReleaseSummary):
    """How one output column would be made.

    Attributes:
        others: The mechanisms not taken, each ``(name, reason)``.
        said: What is said of its error where `half_width` is not that of a 95% interval; empty where it is.
        evenly: Whether `half_width` is that of values which lie evenly over all of their bounds, so that it mostly
            comes out shorter.
    """

    others: tuple[tuple[str, str], ...] = ()
    said: str = ""
    evenly: bool = False

    @property
    def error(self) -> str:
        """The half width of its interval as text, or what is said instead."""
        return self.said or f"{'up to ' * self.evenly}± {number(self.half_width)}"

    @property
    def foretold(self) -> float | None:
        """The half width of a 95% interval; None where none is expected."""
        return None if self.said else self.half_width


def released_before(quote: Quote) -> Quote:
    """The quote of a statement whose answer is stored."""
    free = for_nothing(quote)
    return replace(free, notes=(RELEASED, *free.notes))


def for_nothing(quote: Quote) -> Quote:
    """The quote with no price anywhere."""
    nothing = PrivacyLoss()
    columns = tuple(replace(column, loss=nothing) for column in quote.columns)
    return replace(quote, cost=nothing, columns=columns, repeats_left=None)


def computed_column(
    label: str, nothing: PrivacyLoss, half_width: float | None, expression: Expression, *, evenly: bool = False
) -> QuoteColumn:
    """The line of a column that is worked out from released numbers.

    Args:
        label: What it is called.
        nothing: What it costs.
        half_width: As it is foretold; None where it is not.
        expression: What it is.
        evenly: As in `QuoteColumn`, of what it is worked out from.
    """
    if half_width is not None:
        return QuoteColumn(label, COMPUTED, nothing, None, None, half_width, evenly=evenly and half_width < math.inf)
    said = "not foretold: over several rows" if _over_rows(expression) else "not foretold"
    return QuoteColumn(label, COMPUTED, nothing, None, None, math.inf, said=said)


def endless_note(column: QuoteColumn) -> str:
    """That the interval of a computed column may have no end; empty where it has one, or none is foretold."""
    if column.said or column.half_width < math.inf:
        return ""
    return (
        f"{column.name}: Expected to say next to nothing: by the rows and values that are guessed its interval may "
        "have no end at this price, as where a divisor may be 0."
    )


def _over_rows(expression: Expression) -> bool:
    own = isinstance(expression, Windowed | Total) or is_aggregate(expression)
    return own or any(map(_over_rows, arguments_of(expression)))


@dataclass(frozen=True, slots=True, repr=False)
class Quote:
    """What a query would cost and how precise it would be. Making one spends nothing and reads no data.

    Attributes:
        cost: What the whole statement would be charged.
        columns: The output columns that hold noise; those that are computed from several released numbers first, with
            ``"computed"`` for a mechanism, then each of these.
        sql: What the engine would run, whole; shown to people with long lists cut.
        repeats_left: How often the budget would still grant it; None without a limit.
        notes: What else the analyst should know, one sentence each.
    """

    cost: PrivacyLoss
    columns: tuple[QuoteColumn, ...]
    sql: str
    repeats_left: int | None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(
            [
                text_table(*self._table(), right=RIGHT),
                self._price(),
                *(f"Note: {safe(note)}" for note in grouped(self.notes)),
                *(safe(f"  {reason}") for reason in self._reasons()),
                "The engine would run:",
                *(f"  {safe(line)}" for line in shortened(self.sql).splitlines()),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(
            heading("What it would cost"),
            values(*self._table(), RIGHT),
            small(self._price()),
            *map(small, grouped(self.notes)),
            folded("Why not another mechanism", self._reasons()),
            folded("What the engine would run", shortened(self.sql).splitlines(), code=True),
        )

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        names = ("column", "mechanism", "cost", "sensitivity", "noise scale", "half width (95%)")
        return names, [
            (c.name, c.mechanism, cost_text(c.loss), number(c.sensitivity), number(c.scale), c.error)
            for c in self.columns
        ]

    def _reasons(self) -> list[str]:
        """Why each mechanism was not taken, once for all columns of which it is the same."""
        columns = dict[tuple[str, str], list[str]]()
        for column in self.columns:
            for other in column.others:
                columns.setdefault(other, []).append(column.name)
        return [f"{', '.join(names)}: not {name}: {reason}" for (name, reason), names in columns.items()]

    def _price(self) -> str:
        often = "without limit" if self.repeats_left is None else f"{self.repeats_left} times"
        return f"Cost: {cost_text(self.cost)}. The budget would grant it {often}. Nothing is spent, no data is read."

    def to_answer(self) -> Answer:
        """The quote as rows, one a column: what ``EXPLAIN SELECT ...`` returns."""
        return public(
            *EXPLAINED,
            [
                (
                    *(c.name, c.mechanism, cost_text(c.loss), c.sensitivity, c.scale, c.foretold),
                    "; ".join(
                        [
                            *([c.error] if c.said or c.evenly else []),
                            *(f"{name}: {reason}" for name, reason in c.others),
                        ]
                    ),
                )
                for c in self.columns
            ],
        )
