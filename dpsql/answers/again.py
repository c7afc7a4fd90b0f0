"""Answers that are asked again: kept whole, where nobody can change what is kept, so that the next one is handed out.

Tests: tests/unit/answers/test_again.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dpsql.answers.answer import Answer, IntervalsOf
from dpsql.answers.shown.screen import Ends
from dpsql.shelf import MOST_WEIGHT, PLAIN

__all__ = ["handed_out", "kept", "weight"]


@dataclass(frozen=True, slots=True)
class _Known:
    """Intervals at one confidence, worked out once."""

    of: IntervalsOf
    confidence: float
    found: dict[int, list[Ends]] = field(default_factory=dict)

    def __call__(self, column: int, level: float) -> list[Ends]:
        if level != self.confidence:
            return self.of(column, level)
        if column not in self.found:
            self.found[column] = self.of(column, level)
        return list(self.found[column])


def kept(answer: Answer) -> Answer:
    """The answer as it is kept: its intervals at its own confidence are worked out once."""
    return replace(answer, _intervals=_Known(answer._intervals, answer.confidence))


def weight(answer: Answer) -> int:
    """How much a shelf holds with it, in values; more than a shelf takes, where whoever gets it could change it."""
    if not all(type(value) in PLAIN for row in answer.rows for value in row):
        return MOST_WEIGHT + 1
    return 2 * len(answer.rows) * len(answer.columns)  # with the ends of its intervals


def handed_out(answer: Answer) -> Answer:
    """A copy of a kept answer, with rows of its own."""
    return replace(answer, rows=list(answer.rows))
