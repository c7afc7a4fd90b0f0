"""The SQL reader's tree as our syntax: a known node with only expected arguments, or a refusal.

The only package that imports sqlglot. It reads a skeleton, whose names and constants are handles.

Tests: tests/sql, tests/unit/sql/test_parse.py.
"""

from __future__ import annotations

import sqlglot
from sqlglot.errors import ParseError, SqlglotError

from dpsql.errors import UnsupportedQuery
from dpsql.sql.atoms import Skeleton
from dpsql.sql.clauses import CLAUSE_ORDER
from dpsql.sql.syntax import Queryable
from dpsql.sql.tree.base import measure, too_deep
from dpsql.sql.tree.queries import Queries

__all__ = ["convert"]


def convert(skeleton: Skeleton, database: str) -> Queryable:
    """The query of one skeleton, whose tables may stand behind the name of the database.

    Raises:
        UnsupportedQuery: If the reader cannot read it, or finds something that has no node of ours.
    """
    try:
        # Whatever the reader stumbles over, the statement is refused, in our own words: fail closed.
        tree = sqlglot.parse_one(skeleton.text, read="duckdb")
    except ParseError as error:
        raise _unread(skeleton, error.errors[0].get("col") if error.errors else None) from None
    except RecursionError:
        raise too_deep(None) from None
    except (SqlglotError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise _unread(skeleton, None) from None
    try:
        converter = Queries(skeleton.atoms, database)
        query = converter.query(tree)
    except RecursionError:
        raise too_deep(None) from None
    converter.refuse_what_was_lost()
    if converter.operators != skeleton.operators:  # FROM u * is an old form of FROM u to the reader
        raise _unread(skeleton, None)
    measure(query)
    return query


def _unread(skeleton: Skeleton, column: int | None) -> UnsupportedQuery:
    return UnsupportedQuery(
        "dpsql could not read the statement from here on.",
        construct="syntax",
        position=skeleton.place(column - 1) if column else None,
        hint=f"Check commas and parentheses. {CLAUSE_ORDER}",
    )
