"""Which columns a star leaves out: ``* EXCLUDE (a, b)``, DuckDB's words.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.sql.tokens import Token, TokenKind, fold, name_of

__all__ = ["left_out"]


def left_out(tokens: Sequence[Token], at: int) -> tuple[tuple[str, ...], int]:
    """The folded names behind the EXCLUDE there, and how many tokens say so, that word included.

    Raises:
        UnsupportedQuery: They are no names.
    """
    end = Token(TokenKind.SYMBOL, "", tokens[-1].position)  # What stands behind the last token.
    listed, *rest = *tokens[at + 1 :], *[end] * 2
    if listed.symbol != "(":
        return (_name(listed),), 2
    names = [_name(rest[0])]
    while rest[2 * len(names) - 1].symbol == ",":
        names.append(_name(rest[2 * len(names)]))
    if rest[2 * len(names) - 1].symbol != ")":
        raise _refusal(rest[2 * len(names) - 1])
    return tuple(names), 2 * len(names) + 2


def _name(token: Token) -> str:
    if token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        raise _refusal(token)
    return fold(name_of(token))


def _refusal(token: Token) -> UnsupportedQuery:
    return UnsupportedQuery(
        "it leaves out columns by their names.", construct="* EXCLUDE", position=token.position,
        hint="Write SELECT * EXCLUDE (a, b).",
    )  # fmt: skip
