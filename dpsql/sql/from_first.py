"""Queries in the order in which they are read: ``FROM t SELECT a WHERE c`` becomes ``SELECT a FROM t WHERE c``.

DuckDB takes FROM first, or FROM alone, which selects all columns, and a comma behind the last column. Tokens keep their
places in the analyst's text.

Tests: tests/unit/sql/test_from_first.py.
"""

from __future__ import annotations

from typing import TypeAlias

from dpsql.sql.tokens import Token, TokenKind

__all__ = ["select_first"]

Piece: TypeAlias = "Token | list[Piece]"  # a token, or a pair of parentheses with all that is between them

_ENDS = frozenset("where group having qualify order limit offset union".split())
"""What ends a select list that stands behind FROM."""


def select_first(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with every SELECT in front of its FROM. Text that is no query is left as it is."""
    if not any(token.word == "from" for token in tokens):
        return tokens
    return tuple(_flat(_ordered(_nested(tokens))))


def _nested(tokens: tuple[Token, ...]) -> list[Piece]:
    """Tokens with parentheses as lists; what is not balanced stays flat, for the parser to refuse."""
    open_lists: list[list[Piece]] = [[]]
    for token in tokens:
        if token.symbol == "(":
            open_lists.append([token])
        elif token.symbol == ")" and len(open_lists) > 1:
            closed = [*open_lists.pop(), token]
            open_lists[-1].append(closed)
        else:
            open_lists[-1].append(token)
    for unclosed in open_lists[1:]:
        open_lists[0] += unclosed
    return open_lists[0]


def _flat(pieces: list[Piece]) -> list[Token]:
    flat: list[Token] = []
    stack: list[Piece] = pieces[::-1]
    while stack:
        piece = stack.pop()
        if isinstance(piece, list):
            stack += piece[::-1]
        else:
            flat.append(piece)
    return flat


def _word(piece: Piece) -> str:
    return "" if isinstance(piece, list) else piece.word


def _ordered(pieces: list[Piece]) -> list[Piece]:
    """One level of parentheses, all levels in it first."""
    inside: list[Piece] = []
    for at, piece in enumerate(pieces):
        trims = at > 0 and _word(pieces[at - 1]) == "trim"  # TRIM(FROM x) is no query
        inside.append([piece[0], *_ordered(piece[1:-1]), piece[-1]] if isinstance(piece, list) and not trims else piece)
    queries: list[list[Piece]] = [[]]
    for piece in inside:
        queries[-1].append(piece)
        if _word(piece) == "union" or (_word(piece) == "all" and len(queries[-1]) == 1 and len(queries) > 1):
            queries.append([])
    return [piece for query in queries for piece in _one(query)]


def _one(query: list[Piece]) -> list[Piece]:
    """One SELECT of a level."""
    words = [_word(piece) for piece in query]
    if "from" not in words:
        return query
    start = words.index("from")
    select = words.index("select") if "select" in words else len(words)
    if select < start:
        last = query[start - 1]
        dangling = not isinstance(last, list) and last.symbol == "," and start - 1 > select + 1
        return [*query[: start - 1], *query[start:]] if dangling else query
    if (start and words[0] != "with") or any(word in _ENDS for word in words[start:select] if select < len(words)):
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
