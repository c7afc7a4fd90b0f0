"""A quote: what a query would cost, and how precise it would be.

Tests: tests/unit/answers/test_answer.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.answers.answer import Answer, ReleaseSummary, public
from dpsql.answers.costs import cost_text
from dpsql.answers.screen import number, safe, text_table
from dpsql.plan.types import Type
from dpsql.privacy.loss import PrivacyLoss

__all__ = ["Quote", "QuoteColumn"]


@dataclass(frozen=True, slots=True)
class QuoteColumn(ReleaseSummary):
    """How one output column would be made.

    Attributes:
        others: The mechanisms not taken, each ``(name, reason)``.
    """

    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """What a query would cost and how precise it would be. Making one spends nothing and reads no data.

    Attributes:
        cost: What the whole statement would be charged.
        columns: The output columns that hold noise.
        sql: What the engine would run.
        repeats_left: How often the budget would still grant it; None without a limit.
        notes: What else the analyst should know, one sentence each.
    """

    cost: PrivacyLoss
    columns: tuple[QuoteColumn, ...]
    sql: str
    repeats_left: int | None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = ("column", "mechanism", "cost", "sensitivity", "noise scale", "expected error (95%)")
        table = text_table(
            names,
            [
                (c.name, c.mechanism, cost_text(c.loss), number(c.sensitivity), number(c.scale), _half(c.half_width))
                for c in self.columns
            ],
            right=(False, False, False, True, True, True),
        )
        reasons = [f"  {c.name}: not {name}: {reason}" for c in self.columns for name, reason in c.others]
        often = "without limit" if self.repeats_left is None else f"{self.repeats_left} times"
        return "\n".join(
            [
                table,
                *(map(safe, reasons)),
                f"Cost: {cost_text(self.cost)}. The budget would grant it {often}. Nothing is spent, no data is read.",
                *(f"Note: {safe(note)}" for note in self.notes),
                "The engine would run:",
                *(f"  {safe(line)}" for line in self.sql.splitlines()),
            ]
        )

    def to_answer(self) -> Answer:
        """The quote as rows, one a column: what ``EXPLAIN SELECT ...`` returns."""
        text, real = Type.TEXT, Type.REAL
        return public(
            ("column", "mechanism", "cost", "sensitivity", "scale", "half_width", "others"),
            (text, text, text, real, real, real, text),
            [
                (
                    *(c.name, c.mechanism, cost_text(c.loss), c.sensitivity, c.scale, c.half_width),
                    "; ".join(f"{name}: {reason}" for name, reason in c.others),
                )
                for c in self.columns
            ],
        )


def _half(half_width: float) -> str:
    return f"± {number(half_width)}"
