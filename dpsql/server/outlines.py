"""What a statement returns, before it is asked; and answers with the ends of intervals as columns.

Tests: tests/unit/server/test_outlines.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsql.answers import ends
from dpsql.answers.answer import Answer
from dpsql.answers.switch import intervals_set, set_answer
from dpsql.plan.outline import Outline
from dpsql.plan.types import Type, Value
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["intervals_set", "outline", "rows_with_ends", "set_answer", "with_ends"]

_TEXT = Type.TEXT
SET = Outline(("option", "value"), (_TEXT, _TEXT))
"""What SET returns."""
CREATE = Outline(("table", "method", "rows", "error", "cost"), (_TEXT, _TEXT, Type.INTEGER, Type.REAL, _TEXT))
"""What CREATE SYNTHETIC TABLE returns."""
DROP = Outline(("table", "state"), (_TEXT, _TEXT))
"""What DROP TABLE returns."""


def outline(session: Session, sql: str, parameters: Sequence[Value] | None = None) -> Outline:
    """The columns of any statement, which costs nothing and changes nothing.

    Args:
        session: Whose.
        sql: The statement.
        parameters: Values for its ``?``, where they are known.

    Raises:
        UnsupportedQuery, ProgrammingError: It would be refused.
    """
    if intervals_set(sql) is not None:
        return SET
    match parse(sql):
        case syntax.QueryStatement():
            return session.outline(sql, parameters)
        case syntax.SetOption():
            return SET
        case syntax.CreateSynthetic():
            return CREATE
        case syntax.DropTable():
            return DROP
        case _:  # what EXPLAIN, SHOW and DESCRIBE say is free
            answer = session.query(sql, () if parameters is None else parameters)
            return Outline(answer.columns, answer.types)


def with_ends(own: Outline) -> Outline:
    """The outline with two more columns behind each number that has an interval: ``n``, ``n_low``, ``n_high``."""
    wide = ends.with_ends(own.columns, own.types, own.bars or [False] * len(own.columns))
    return Outline(wide.columns, wide.types, own.parameters)


def rows_with_ends(answer: Answer, bars: Sequence[bool]) -> list[tuple[Any, ...]]:
    """The rows of an answer, to an outline with ends; NULL where a row has no interval.

    Args:
        answer: It.
        bars: For each of its columns, whether two more follow: `Outline.bars`.
    """
    wide = ends.with_ends(answer.columns, answer.types, bars or [False] * len(answer.columns))
    return wide.rows(answer.rows, [answer.ends(i) for i in range(len(answer.columns))])
