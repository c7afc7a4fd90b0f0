"""PostgreSQL's ``DISTINCT ON`` as the condition on a window that it stands for.

    SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, c
    SELECT a, b FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY c) = 1 ORDER BY a, c

A number, or the name of a column of the select list, is that column's expression there, as it is in ORDER BY: over a
window a number would be a constant, and a name that of a column of the table.

In a sub-query the order chooses the rows and says nothing more: it is left out behind them, unless LIMIT reads it.
Tokens keep their places.

Tests: tests/unit/sql/rewording/test_distinct_on.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.sql.pieces import Piece, flat, nested, unsaid, word
from dpsql.sql.tokens import Token, TokenKind, fold, name_of

__all__ = ["first_of_each"]

_BESIDE = ("union", "intersect", "except")
_TAIL = ("order", "limit", "offset")
_WAYS = ("asc", "desc", "nulls", "first", "last")
_ENDS = ("end", "null", "true", "false", "day", "hour", "minute", "month", "second", "year", "isnull", "notnull")
"""Words that end an expression, and name no column behind it."""
_OPERATORS = ("not", "and", "or", "is", "in", "like", "ilike", "glob", "to", "between", "symmetric", "distinct", "from",
              "then", "else", "when", "case", "div", "mod", "escape", "all", "any", "collate")  # fmt: skip
"""Words that take what stands behind them."""


def first_of_each(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with QUALIFY in the place of every DISTINCT ON. Text that is no query is left as it is."""
    pairs = itertools.pairwise(tokens)
    if not any((own.word, after.word) == ("distinct", "on") for own, after in pairs):
        return tokens
    return tuple(flat(_level(nested(tokens), outermost=True)))


def _level(pieces: Sequence[Piece], *, outermost: bool) -> list[Piece]:
    """One level of parentheses, all levels in it first."""
    found, side = list[Piece](), list[Piece]()
    for piece in pieces:
        own: Piece = piece
        if isinstance(piece, list):
            own = [piece[0], *_level(piece[1:-1], outermost=False), piece[-1]]
        if word(own) in _BESIDE:
            found += [*_one(side, outermost=outermost), own]
            side = []
        else:
            side.append(own)
    return [*found, *_one(side, outermost=outermost)]


def _one(pieces: list[Piece], *, outermost: bool) -> list[Piece]:
    """One SELECT of a level."""
    words = [word(piece) for piece in pieces]
    at = next((at for at, own in enumerate(words) if own == "distinct" and words[at + 1 : at + 2] == ["on"]), None)
    if at is None or at + 2 >= len(pieces) or "qualify" in words or "window" in words:
        return pieces
    start, keys = pieces[at], pieces[at + 2]
    if not isinstance(keys, list) or not isinstance(start, Token):
        return pieces
    end = next((place for place in range(at, len(words)) if words[place] in _TAIL), len(pieces))
    tail = pieces[end:]
    own, rest = _order(tail)
    items = _items(pieces[at + 3 : end])
    each = [_meant(term, items) for term in _terms(keys[1:-1])]
    one = [piece for key in each for piece in (*unsaid(",", start.position), *key)][1:]
    grouped = [[token.text.lower() for token in flat(key)] for key in each]
    terms = [term for term in (_meant(term, items) for term in _terms(own)) if _named(term) not in grouped]
    listed = [piece for term in terms for piece in (*unsaid(",", start.position), *term)][1:]
    order = [*unsaid("ORDER BY", start.position), *listed] if listed else []
    over: Piece = [
        *unsaid("( PARTITION BY", start.position), *one, *order, *unsaid(")", start.position)
    ]  # fmt: skip
    condition = [*unsaid("QUALIFY ROW_NUMBER ( ) OVER", start.position), over, *unsaid("= 1", start.position)]
    kept = tail if outermost or rest else []
    return [*pieces[:at], *pieces[at + 3 : end], *condition, *kept]


def _order(tail: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """The terms of ORDER BY, and what follows it."""
    words = [word(piece) for piece in tail]
    if words[:2] != ["order", "by"]:
        return [], list(tail)
    end = next((at for at in range(2, len(words)) if words[at] in _TAIL), len(tail))
    return list(tail[2:end]), list(tail[end:])


def _terms(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """What stands between commas."""
    found: list[list[Piece]] = [[]]
    for piece in pieces:
        if isinstance(piece, Token) and piece.symbol == ",":
            found.append([])
        else:
            found[-1].append(piece)
    return [term for term in found if term]


def _items(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The columns of the select list."""
    words = [word(piece) for piece in pieces]
    froms = (at for at, own in enumerate(words) if own == "from" and words[at - 1 : at] != ["distinct"])
    return _terms(pieces[: next(froms, len(pieces))])


def _meant(term: list[Piece], items: Sequence[list[Piece]]) -> list[Piece]:
    """A key, or a term of ORDER BY, with what it stands for: an expression and a direction."""
    first, direction = term[0], term[1:]
    if not isinstance(first, Token) or not all(isinstance(own, Token) and own.word in _WAYS for own in direction):
        return term
    if first.kind is TokenKind.NUMBER:
        place = int(first.text) if first.text.isdigit() else 0
        if not 1 <= place <= len(items) or any(map(_is_several, items[:place])):
            raise UnsupportedQuery(
                "it is the number of no column here.", construct="DISTINCT ON", position=first.position,
                hint="Write the column instead.",
            )  # fmt: skip
        return [*_aliased(items[place - 1])[0], *direction]
    meant = next((own for own, alias in map(_aliased, items) if alias and alias == _name(first)), [first])
    return [*meant, *direction]


def _aliased(item: list[Piece]) -> tuple[list[Piece], str]:
    """A column of the select list: its expression, and the name that it is given; empty where it is given none."""
    before, name = item[-2] if len(item) > 1 else item[-1], _name(item[-1])
    if word(before) == "as":
        return item[:-2], name
    if len(item) == 1 or word(before) in _OPERATORS or word(item[-1]) in _ENDS:
        return item, ""
    follows = isinstance(before, list) or before.symbol in ("", "]")  # no symbol that takes what is behind it
    return (item[:-1], name) if name and follows else (item, "")


def _name(piece: Piece) -> str:
    is_name = isinstance(piece, Token) and piece.kind in (TokenKind.WORD, TokenKind.QUOTED)
    return fold(name_of(piece)) if isinstance(piece, Token) and is_name else ""


def _is_several(item: list[Piece]) -> bool:
    """Whether it may be several columns."""
    return word(item[0]) == "columns" or any(
        isinstance(own, Token) and own.symbol == "*" for own in (item[0], item[-1])
    )


def _named(term: Sequence[Piece]) -> list[str]:
    """A term of ORDER BY without its direction, to be compared with a key."""
    words = [token.text.lower() for token in flat(term)]
    if words[-2:-1] == ["nulls"]:
        words = words[:-2]
    return words[:-1] if words[-1:] in (["asc"], ["desc"]) else words
