"""VALUES as a query of its own: ``VALUES (1, 'a')`` becomes ``SELECT col0, col1 FROM (VALUES (1, 'a'))``.

Rows in FROM stay as they are. Tokens keep their places in the analyst's text.

Tests: tests/unit/sql/rewording/test_values_first.py.
"""

from __future__ import annotations

from dpsql.sql.pieces import Piece, flat, nested, unsaid, word
from dpsql.sql.tokens import Token

__all__ = ["values_behind_select"]

_OF_ROWS = ("from", "join", ",")
"""What stands before rows in parentheses that are a table of FROM."""


def values_behind_select(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with a SELECT before every VALUES that is one. Text that is no query is left as it is."""
    if not any(token.word == "values" for token in tokens):
        return tokens
    return tuple(flat(_read(nested(tokens), of_rows=False)))


def _read(pieces: list[Piece], *, of_rows: bool) -> list[Piece]:
    """One level of parentheses, all levels in it first.

    Args:
        pieces: What stands there.
        of_rows: Whether they are in FROM, where VALUES alone are a table.
    """
    inside: list[Piece] = []
    for at, piece in enumerate(pieces):
        if isinstance(piece, list):
            before = pieces[at - 1] if at else []
            named = "" if isinstance(before, list) else before.word or before.symbol
            inside.append([piece[0], *_read(piece[1:-1], of_rows=named in _OF_ROWS), piece[-1]])
        else:
            inside.append(piece)
    found: list[Piece] = []
    while inside:
        piece = inside.pop(0)
        begins = not found or word(found[-1]) in ("union", "all")
        if word(piece) != "values" or not begins or (of_rows and not found) or not _is_row(inside):
            found.append(piece)
            continue
        rows = [piece, inside.pop(0)]
        while inside and _is_comma(inside[0]) and _is_row(inside[1:]):
            rows += [inside.pop(0), inside.pop(0)]
        found += _selected(rows)
    return found


def _selected(rows: list[Piece]) -> list[Piece]:
    """A SELECT of all columns of rows, which are called as in DuckDB."""
    first, row = rows[0], rows[1]
    position = first.position if isinstance(first, Token) else (1, 1)
    count = 1 + sum(map(_is_comma, row)) if isinstance(row, list) else 1
    names = [piece for i in range(count) for piece in unsaid(f", col{i}", position)][1:]
    listed: Piece = [*unsaid("(", position), *rows, *unsaid(")", position)]
    return [*unsaid("SELECT", position), *names, *unsaid("FROM", position), listed]


def _is_row(pieces: list[Piece]) -> bool:
    return bool(pieces) and isinstance(pieces[0], list)


def _is_comma(piece: Piece) -> bool:
    return not isinstance(piece, list) and piece.symbol == ","
