"""``SUM(x) OVER w .. WINDOW w AS (ORDER BY y)`` is read as ``SUM(x) OVER (ORDER BY y)``.

A window may begin with the name of one that stands before it: ``OVER (w ROWS 1 PRECEDING)``. Names hold in their own
SELECT, not in queries inside it. Tokens keep their places in the analyst's text.

Tests: tests/unit/sql/rewording/test_named_windows.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.errors import UnsupportedQuery
from dpsql.sql.pieces import QUERIES, Piece, flat, nested, word
from dpsql.sql.tokens import MOST_TOKENS, Token, TokenKind, fold, name_of

__all__ = ["windows_in_place"]

Windows = Mapping[str, list[Piece]]
"""What stands in the parentheses of each window, by its name."""


def windows_in_place(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with every named window where it is used.

    Raises:
        UnsupportedQuery: A name is given twice, or no function goes over it, or it holds another window; or it grows
            too large.
    """
    if not any(token.word == "window" for token in tokens):
        return tokens
    found = tuple(flat(_level(nested(tokens))))
    if len(found) > MOST_TOKENS:
        raise _refusal(tokens[0], "they are too large where each function has its own.", "Ask in smaller queries.")
    return found


def _level(pieces: list[Piece]) -> list[Piece]:
    """One level of parentheses: SELECTs with UNION between them, all queries inside them first."""
    inside = [[piece[0], *_level(piece[1:-1]), piece[-1]] if isinstance(piece, list) else piece for piece in pieces]
    found, start = list[Piece](), 0
    ends = [at for at, piece in enumerate(inside) if word(piece) == "union"]
    for end in (*ends, len(inside)):
        found += _select(inside[start:end])
        start = end
    return found


def _select(pieces: list[Piece]) -> list[Piece]:
    """One SELECT without its WINDOW."""
    words = [word(piece) for piece in pieces]
    if "window" not in words:
        return pieces
    at = begin = words.index("window")
    windows, used = dict[str, list[Piece]](), set[str]()
    while (own := _defined(pieces[at + 1 : at + 4])) is not None:
        name, inside = own
        if fold(name_of(name)) in windows:
            raise _refusal(name, "its name is given twice.", "Give each window a name of its own.")
        if any(token.word == "over" for token in flat(inside)):  # else they might hold each other, or double in size
            raise _refusal(name, "a window is not ordered by another.", "Compute that in a sub-query, and order by it.")
        windows[fold(name_of(name))] = _continued(inside, windows, used)
        at += 4
        if at >= len(pieces) or getattr(pieces[at], "symbol", "") != ",":
            break
    if not windows:
        return pieces
    found = _replaced([*pieces[:begin], *pieces[at:]], windows, used)
    if unused := sorted(windows.keys() - used):
        hint = f"Write f(x) OVER {unused[0]}, or leave it out."
        raise _refusal(pieces[begin], f"no function goes over {unused[0]!r}.", hint)
    return found


def _defined(pieces: list[Piece]) -> tuple[Token, list[Piece]] | None:
    """The name and the inside of ``name AS (..)``; None where that is not what stands there."""
    match pieces:
        case [Token() as name, Token(word="as"), [_, *inside, _]] if name.word or name.kind is TokenKind.QUOTED:
            return name, inside
    return None


def _replaced(pieces: list[Piece], windows: Windows, used: set[str]) -> list[Piece]:
    """One level of parentheses with windows in the place of their names, and those inside it that are no queries."""
    found = list[Piece]()
    for at, piece in enumerate(pieces):
        over = at > 0 and word(pieces[at - 1]) == "over"
        if not isinstance(piece, list):
            name = _named(piece, windows) if over else None
            found.append(piece if name is None else _parentheses(piece, _continued([piece], windows, used)))
        elif word(piece[1]) in QUERIES:
            found.append(piece)
        else:
            inside = _continued(piece[1:-1], windows, used) if over else piece[1:-1]
            found.append([piece[0], *_replaced(inside, windows, used), piece[-1]])
    return found


def _continued(inside: list[Piece], windows: Windows, used: set[str]) -> list[Piece]:
    """The inside of a window with that of the one in the place of its name, where it begins with one."""
    name = _named(inside[0], windows) if inside else None
    if name is None:
        return inside
    used.add(name)
    return [*windows[name], *inside[1:]]


def _named(piece: Piece, windows: Windows) -> str | None:
    if isinstance(piece, list) or not (piece.word or piece.kind is TokenKind.QUOTED):
        return None
    name = fold(name_of(piece))
    return name if name in windows else None


def _parentheses(name: Token, inside: list[Piece]) -> list[Piece]:
    opening, closing = (Token(TokenKind.SYMBOL, sign, name.position) for sign in "()")
    return [opening, *inside, closing]


def _refusal(at: Piece, message: str, hint: str) -> UnsupportedQuery:
    position = at.position if isinstance(at, Token) else None
    return UnsupportedQuery(message, construct="WINDOW", position=position, hint=hint)
