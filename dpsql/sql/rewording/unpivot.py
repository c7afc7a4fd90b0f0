"""UNPIVOT, columns as rows, as the UNION ALL of one SELECT for each column that it stands for.

    UNPIVOT t ON a, b INTO NAME what VALUE v
    FROM t UNPIVOT (v FOR what IN (a, b))
    FROM (SELECT * EXCLUDE ("a", "b"), 'a' AS what, "a" AS v FROM t WHERE "a" IS NOT NULL UNION ALL SELECT ..)

Rows of people are then as many more. INCLUDE NULLS leaves the condition out. Tokens keep their places.

Tests: tests/unit/sql/rewording/test_unpivot.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.sql.normal import quoted
from dpsql.sql.pieces import Piece, Place, flat, nested, unsaid, word
from dpsql.sql.refused import REFUSED_WORDS
from dpsql.sql.tokens import MOST_TOKENS, Token, TokenKind, name_of

__all__ = ["rows_of_columns"]

_BEFORE_ROWS = ("from", "join")
"""What stands before rows in FROM, beside a comma."""


def rows_of_columns(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with a sub-query in the place of every UNPIVOT and its rows.

    Raises:
        UnsupportedQuery: Its columns are not named, or the statement becomes too long.
    """
    start = next((token for token in tokens if token.word in ("unpivot", "pivot_longer")), None)
    if start is None:
        return tokens
    found = tuple(flat(_level(nested(tokens))))
    if len(found) > MOST_TOKENS:
        raise UnsupportedQuery(
            f"written out the statement has more than {MOST_TOKENS} words and symbols.", construct="UNPIVOT",
            position=start.position, hint="Name fewer columns.",
        )  # fmt: skip
    return found


def _level(pieces: Sequence[Piece]) -> list[Piece]:
    """One level of parentheses, all levels in it first."""
    inside: list[Piece] = [
        [piece[0], *_level(piece[1:-1]), piece[-1]] if isinstance(piece, list) else piece for piece in pieces
    ]
    words = [word(piece) for piece in inside]
    at = next((at for at, own in enumerate(words) if own in ("unpivot", "pivot_longer")), None)
    start = None if at is None else inside[at]
    if at is None or not isinstance(start, Token):
        return inside
    before = words[at - 1] if at else ""
    if at and (before in ("as", ".") or (isinstance(inside[at - 1], Token) and before in ("select", "by"))):
        return inside  # a name, which is refused as one
    if at == 0 or (words[0] == "with" and isinstance(inside[at - 1], list) and "select" not in words[:at]):
        return [*inside[:at], *_statement(start, inside[at + 1 :])]
    return _level(_behind_rows(inside, at, start))


def _statement(start: Token, rest: Sequence[Piece]) -> list[Piece]:
    """``t ON a, b INTO NAME what VALUE v ORDER BY ..``."""
    words, position = [word(piece) for piece in rest], start.position
    on = words.index("on") if "on" in words else 0
    into = next((at for at in range(on, len(words)) if words[at] == "into"), len(words))
    tail = next((at for at in range(on, len(words)) if words[at] in ("order", "limit", "offset")), len(words))
    into = min(into, tail)
    names = [piece for piece in rest[into:tail] if isinstance(piece, Token)]
    said = [token.word for token in names]
    what, value = unsaid("name value", position)
    if names:
        if said[:2] != ["into", "name"] or len(names) != 5 or said[3] != "value":
            raise _refusal(position)
        what, value = names[2], names[4]
    if not on:
        raise _refusal(position)
    rows = _rows(start, list(rest[:on]), _columns(rest[on + 1 : into], position), what, value, nulls=False)
    return [*unsaid("SELECT * FROM", position), rows, *rest[tail:]]


def _behind_rows(pieces: Sequence[Piece], at: int, start: Token) -> list[Piece]:
    """``FROM t UNPIVOT INCLUDE NULLS (v FOR what IN (a, b))``."""
    position, end = start.position, at + 1
    nulls = word(pieces[end]) == "include" if end < len(pieces) else False
    if end + 1 < len(pieces) and word(pieces[end]) in ("include", "exclude") and word(pieces[end + 1]) == "nulls":
        end += 2
    first = at - 1
    while first > 0 and not _begins_rows(pieces[first - 1]):
        first -= 1
    inside = pieces[end][1:-1] if end < len(pieces) and isinstance(pieces[end], list) else []  # type: ignore[index]
    match inside:
        case [Token() as value, Token() as middle, Token() as what, Token() as within, [_, *listed, _]] if (
            middle.word == "for" and within.word == "in"
        ):
            columns = _columns(listed, position)
            rows = _rows(start, list(pieces[first:at]), columns, what, value, nulls=nulls)
            return [*pieces[:first], rows, *pieces[end + 1 :]]
    raise _refusal(position)


def _begins_rows(piece: Piece) -> bool:
    return word(piece) in _BEFORE_ROWS or (isinstance(piece, Token) and piece.symbol == ",")


def _columns(listed: Sequence[Piece], position: Place) -> list[Token]:
    """The columns that are named between commas."""
    columns, commas = list(listed[::2]), list(listed[1::2])
    named = [own for own in columns if isinstance(own, Token) and own.kind in (TokenKind.WORD, TokenKind.QUOTED)]
    parted = all(isinstance(piece, Token) and piece.symbol == "," for piece in commas)
    if not named or not parted or not len(named) == len(columns) == len(commas) + 1:
        raise _refusal(position)
    return named


def _rows(
    start: Token, rows: list[Piece], columns: Sequence[Token], what: Piece, value: Piece, *, nulls: bool
) -> Piece:
    """The sub-query: the rows once for each column."""
    place = start.position
    excluded = [piece for own in columns for piece in (*unsaid(",", place), own)][1:]
    found: list[Piece] = []
    for own in columns:
        name = name_of(own).replace("'", "''")
        found += unsaid("UNION ALL", place) if found else []
        found += [
            *unsaid("SELECT * EXCLUDE", place),
            [*unsaid("(", place), *excluded, *unsaid(")", place)],
            *unsaid(",", place),
        ]
        found += [Token(TokenKind.STRING, f"'{name}'", place), *unsaid("AS", place), what, *unsaid(",", place)]
        found += [Token(TokenKind.QUOTED, quoted(name_of(own)), own.position), *unsaid("AS", place), value]
        found += [*unsaid("FROM", place), *rows]
        found += [] if nulls else [*unsaid("WHERE", place), own, *unsaid("IS NOT NULL", place)]
    return [*unsaid("(", place), *found, *unsaid(")", place)]


def _refusal(position: Place) -> UnsupportedQuery:
    construct, message, hint = REFUSED_WORDS["unpivot"]
    return UnsupportedQuery(message, construct=construct, position=position, hint=hint)
