"""Queries in the order in which they are read: ``FROM t SELECT a WHERE c`` becomes ``SELECT a FROM t WHERE c``.

DuckDB takes FROM first, or FROM alone, which selects all columns, and a comma behind the last column. Tokens keep their
places in the analyst's text.

Tests: tests/unit/sql/rewording/test_from_first.py.
"""

from __future__ import annotations

from dpsql.sql.pieces import Piece, flat, nested, word
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["select_first"]

_ENDS = frozenset("where group having qualify order limit offset union".split())
"""What ends a select list that stands behind FROM."""


def select_first(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with every SELECT in front of its FROM. Text that is no query is left as it is."""
    if not any(token.word == "from" for token in tokens):
        return tokens
    return tuple(flat(_ordered(nested(tokens))))


def _ordered(pieces: list[Piece]) -> list[Piece]:
    """One level of parentheses, all levels in it first."""
    inside: list[Piece] = []
    for at, piece in enumerate(pieces):
        trims = at > 0 and word(pieces[at - 1]) == "trim"  # TRIM(FROM x) is no query
        inside.append([piece[0], *_ordered(piece[1:-1]), piece[-1]] if isinstance(piece, list) and not trims else piece)
    queries: list[list[Piece]] = [[]]
    for piece in inside:
        queries[-1].append(piece)
        if word(piece) == "union" or (word(piece) == "all" and len(queries[-1]) == 1 and len(queries) > 1):
            queries.append([])
    return [piece for query in queries for piece in _one(query)]


def _one(query: list[Piece]) -> list[Piece]:
    """One SELECT of a level."""
    words = [word(piece) for piece in query]
    if "from" not in words:
        return query
    start = words.index("from")
    select = words.index("select") if "select" in words else len(words)
    if select < start:
        last = query[start - 1]
        dangling = not isinstance(last, list) and last.symbol == "," and start - 1 > select + 1
        return [*query[: start - 1], *query[start:]] if dangling else query
    if (start and words[0] != "with") or any(own in _ENDS for own in words[start:select] if select < len(words)):
        return query
    if select == len(words):
        at = query[start]
        position = at.position if isinstance(at, Token) else (1, 1)
        everything = [Token(TokenKind.WORD, "SELECT", position), Token(TokenKind.SYMBOL, "*", position)]
        return [*query[:start], *everything, *query[start:]]
    end = next((at for at in range(select, len(words)) if words[at] in _ENDS and words[at - 1] != "within"), len(words))
    if query[end - 1 : end] and not isinstance(query[end - 1], list) and query[end - 1].symbol == ",":  # type: ignore[union-attr]
        return [*query[:start], *query[select : end - 1], *query[start:select], *query[end:]]
    return [*query[:start], *query[select:end], *query[start:select], *query[end:]]
