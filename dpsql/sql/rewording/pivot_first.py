"""DuckDB's statement ``PIVOT t ON key IN (..) USING f(x) GROUP BY g`` as the PIVOT behind rows that it stands for.

    PIVOT t ON a IN (1, 2), b IN (3) USING SUM(x) GROUP BY g ORDER BY g
    SELECT * FROM t PIVOT (SUM(x) FOR a IN (1, 2) b IN (3) GROUP BY g) ORDER BY g

It stands as a statement or a side of UNION, behind WITH, and in parentheses. Without USING it counts rows. Tokens keep
their places in the analyst's text.

Tests: tests/unit/sql/test_pivot.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.sql.pieces import Piece, Place, flat, nested, unsaid, word
from dpsql.sql.refused import REFUSED_WORDS
from dpsql.sql.tokens import Token

__all__ = ["pivot_behind_rows"]

_CLAUSES = ("using", "group", "order", "limit", "offset")
"""What may follow the keys, in this order."""
_BESIDE = ("union", "intersect", "except")
"""Words between the sides of a statement."""
_BEHIND = ("all", "distinct")
"""What may follow these words."""


def pivot_behind_rows(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with every PIVOT behind its rows.

    Raises:
        UnsupportedQuery: One has no keys, or a key has no listed values.
    """
    if not any(token.word == "pivot" for token in tokens):
        return tokens
    return tuple(flat(_level(nested(tokens))))


def _level(pieces: Sequence[Piece]) -> list[Piece]:
    """One level of parentheses, all levels in it first."""
    inside: list[Piece] = [
        [piece[0], *_level(piece[1:-1]), piece[-1]] if isinstance(piece, list) else piece for piece in pieces
    ]
    found, side = list[Piece](), list[Piece]()
    for piece in inside:
        if word(piece) in _BESIDE or (not side and word(piece) in _BEHIND):
            found += [*_side(side), piece]
            side = []
        else:
            side.append(piece)
    return [*found, *_side(side)]


def _side(pieces: list[Piece]) -> list[Piece]:
    """One SELECT, or what stands for one; a side of UNION, too."""
    words = [word(piece) for piece in pieces]
    at = words.index("pivot") if "pivot" in words else 0
    behind_with = words[:1] == ["with"] and isinstance(pieces[at - 1], list)
    if "pivot" not in words or (at and not behind_with) or {"select", "from"} & set(words[:at]):
        return pieces
    start = pieces[at]
    return [*pieces[:at], *_moved(start, pieces[at + 1 :])] if isinstance(start, Token) else pieces


def _moved(start: Token, rest: Sequence[Piece]) -> list[Piece]:
    """What a PIVOT stands for, from its word on."""
    words, position = [word(piece) for piece in rest], start.position
    if "on" not in words:
        raise _refusal(position)
    on = words.index("on")
    places = [_next(words, clause, on) for clause in _CLAUSES]
    ends = [min(places[at:]) for at in range(len(places))] + [len(rest)]
    keys = rest[on + 1 : ends[0]]
    aggregates = list(rest[places[0] + 1 : ends[1]]) or unsaid("COUNT ( * )", position)
    groups, tail = rest[places[1] : ends[2]], rest[ends[2] :]
    inside = [*aggregates, *unsaid("FOR", position), *_listed(keys, position), *groups]
    last = [*unsaid("(", position), *inside, *unsaid(")", position)]
    return [*unsaid("SELECT * FROM", position), *rest[:on], start, *last, *tail]


def _next(words: Sequence[str], clause: str, after: int) -> int:
    """Where a clause begins; behind everything where it is not written."""
    found = (at for at in range(after, len(words)) if words[at] == clause and words[at - 1] != "within")
    return next(found, len(words))


def _listed(keys: Sequence[Piece], position: Place) -> list[Piece]:
    """The keys one behind the other, without the commas between them; each has its values, or an empty list of them."""
    found: list[Piece] = []
    for at, piece in enumerate(keys):
        ends = at + 1 == len(keys) or (isinstance(following := keys[at + 1], Token) and following.symbol == ",")
        if isinstance(piece, list) or piece.symbol != ",":
            found.append(piece)
        if ends and not (isinstance(piece, list) and at > 1 and word(keys[at - 1]) == "in"):
            found += unsaid("IN ( )", position)
    if not found:
        raise _refusal(position)
    return found


def _refusal(position: Place) -> UnsupportedQuery:
    construct, message, hint = REFUSED_WORDS["pivot"]
    return UnsupportedQuery(message, construct=construct, position=position, hint=hint)
