"""What a statement returns, before it is asked; with the ends of intervals as columns, too.

Tests: tests/unit/server/test_outlines.py.
"""

from __future__ import annotations

from dpsql.answers.quotes.quoted import EXPLAINED
from dpsql.answers.shown.ends import with_ends
from dpsql.answers.switch import intervals_set
from dpsql.plan.options import read_options
from dpsql.plan.outline import Outline
from dpsql.plan.parameters import named_alone
from dpsql.plan.types import Parameters, Type
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parameters import parameters_in
from dpsql.sql.parse import parse

__all__ = ["outline", "with_intervals"]

_TEXT = Type.TEXT
SET = Outline(("option", "value"), (_TEXT, _TEXT))
"""What SET returns."""
CREATE = Outline(("table", "method", "rows", "error", "cost"), (_TEXT, _TEXT, Type.INTEGER, Type.REAL, _TEXT))
"""What CREATE SYNTHETIC TABLE returns."""
EXPLAIN = Outline(*EXPLAINED)
"""What EXPLAIN CREATE SYNTHETIC TABLE returns."""
DROP = Outline(("table", "state"), (_TEXT, _TEXT))
"""What DROP TABLE returns."""


def outline(session: Session, sql: str, parameters: Parameters | None = None) -> Outline:
    """The columns of any statement, which costs nothing and changes nothing.

    Args:
        session: Whose.
        sql: The statement.
        parameters: Values for its ``?``, where they are known.

    Raises:
        UnsupportedQuery, ProgrammingError: It would be refused, or names its parameters: at the doors of a server
            their values come without names.
    """
    if intervals_set(sql) is not None:
        return SET
    with session.refusing():
        return _outline(session, sql, parameters)


def _outline(session: Session, sql: str, parameters: Parameters | None) -> Outline:
    statement = parse(sql)
    if parameters is None and (names := parameters_in(statement)[2]):
        raise named_alone(names)
    match statement:
        case syntax.QueryStatement() | syntax.Explain(query=syntax.QueryStatement()):
            return session.outline(sql, parameters)
        case syntax.Explain():
            return EXPLAIN
        case syntax.SetOption(name, value):
            read_options({name: value.value})
            return SET
        case syntax.CreateSynthetic():
            return CREATE
        case syntax.DropTable():
            return DROP
        case _:  # what SHOW and DESCRIBE say is free
            answer = session.query(sql, () if parameters is None else parameters)
            return Outline(answer.columns, answer.types)


def with_intervals(own: Outline) -> Outline:
    """The outline of the answer that `Answer.with_intervals` makes."""
    if not own.bars:
        return own
    wide = with_ends(own.columns, own.types, own.bars)
    return Outline(wide.columns, wide.types, own.parameters)
