"""Copies of an answer, in this process or by pickle in another. `answer.Answer` has these as methods.

Tests: tests/unit/answers/test_copied.py.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any

from dpsql.answers.shown.screen import Ends, percent
from dpsql.errors import ProgrammingError

__all__ = ["deep", "pickled", "shallow"]


@dataclass(frozen=True, slots=True)
class KeptIntervals:
    """The intervals of an answer at one confidence: what goes with it to another process.

    Attributes:
        level: That confidence.
        ends: For each column one interval a row; empty where it is exact.
    """

    level: float
    ends: tuple[list[Ends], ...]

    def __call__(self, column: int, level: float) -> list[Ends]:
        if level != self.level and self.ends[column]:
            raise ProgrammingError(
                f"A pickled answer knows its intervals at {percent(self.level)}% confidence alone. Ask the statement "
                "again, which is free."
            )
        return self.ends[column]


def shallow(answer: Any) -> Any:
    """A copy that knows what the answer knows."""
    return replace(answer)


def deep(answer: Any, memo: dict[int, Any]) -> Any:
    """The same with rows of its own."""
    return replace(answer, rows=deepcopy(answer.rows, memo))


def pickled(answer: Any) -> tuple[Any, ...]:
    """What pickle writes: nothing of the session, and the intervals at the answer's own confidence alone."""
    ends = tuple(answer.ends(column) for column in range(len(answer.columns)))
    own = replace(answer, _intervals=KeptIntervals(answer.confidence, ends), _left=None)
    return _again, (type(answer), {field.name: getattr(own, field.name) for field in fields(own)})


def _again(kind: type[Any], own: dict[str, Any]) -> Any:
    return kind(**own)
