"""Tokens with their parentheses as lists, for what moves clauses before anything reads them.

Tests: tests/unit/sql/rewording/test_from_first.py, tests/unit/sql/test_pivot.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dpsql.sql.tokens import Token, TokenKind

__all__ = ["QUERIES", "Piece", "Place", "closing", "flat", "nested", "unsaid", "word"]

Piece: TypeAlias = "Token | list[Piece]"  # a token, or a pair of parentheses with all that is between them
Place: TypeAlias = "tuple[int, int]"  # line and column, from 1
QUERIES = ("select", "with", "from", "pivot", "unpivot", "values")
"""How a query begins, where not by a parenthesis."""


def nested(tokens: Sequence[Token]) -> list[Piece]:
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


def flat(pieces: Sequence[Piece]) -> list[Token]:
    """The tokens in their order."""
    found: list[Token] = []
    stack: list[Piece] = list(pieces[::-1])
    while stack:
        piece = stack.pop()
        if isinstance(piece, list):
            stack += piece[::-1]
        else:
            found.append(piece)
    return found


def word(piece: Piece) -> str:
    """The word that a piece is, in lower case; else nothing."""
    return "" if isinstance(piece, list) else piece.word


def unsaid(text: str, position: Place) -> list[Piece]:
    """Words, whole numbers and symbols that the analyst did not write, with a blank between any two."""
    return [Token(_kind(own), own, position) for own in text.split()]


def _kind(text: str) -> TokenKind:
    if text.isdigit():
        return TokenKind.NUMBER
    return TokenKind.WORD if text[0].isalpha() else TokenKind.SYMBOL


def closing(tokens: Sequence[Token], opening: int) -> int | None:
    """Where the parenthesis closes that opens there; None where it does not."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[at].symbol, 0)
        if depth == 0:
            return at
    return None
