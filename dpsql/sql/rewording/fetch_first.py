"""``OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY``, the standard's words, are read as ``OFFSET 5 LIMIT 10``.

Tokens keep their places in the analyst's text.

Tests: tests/unit/sql/rewording/test_fetch_first.py.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["with_limits"]

_ROWS = ("row", "rows")
_COUNTS = (TokenKind.NUMBER, TokenKind.PARAMETER)


def with_limits(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with LIMIT in the place of FETCH FIRST, and OFFSET without ROWS.

    Raises:
        UnsupportedQuery: It takes rows that tie with the last one, or a share of all.
    """
    if not any(token.word in ("fetch", *_ROWS) for token in tokens):
        return tokens
    found, at = list[Token](), 0
    while at < len(tokens):
        token, after = tokens[at], tokens[at + 1 : at + 5]
        words = [own.word for own in after]
        if token.word == "fetch" and words[:1] in (["first"], ["next"]):
            counted = len(after) > 1 and after[1].kind in _COUNTS
            rest = words[1 + counted :]
            number = after[1] if counted else Token(TokenKind.NUMBER, "1", token.position)
            if rest[:1] not in (["row"], ["rows"]) or rest[1:2] != ["only"]:
                raise UnsupportedQuery(
                    "dpsql reads a number of rows there, and ONLY.", construct="FETCH", position=token.position,
                    hint=f"Write LIMIT {number.text[:20]}.",
                )  # fmt: skip
            found += [replace(token, text="LIMIT"), number]
            at += 4 + counted
        elif token.word == "offset" and after and after[0].kind in _COUNTS and words[1:2] in (["row"], ["rows"]):
            found += [token, after[0]]
            at += 3
        else:
            found.append(token)
            at += 1
    return tuple(found)
