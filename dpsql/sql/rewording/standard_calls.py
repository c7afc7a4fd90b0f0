"""Calls in the standard's words are read as calls with commas, as DuckDB reads them.

    substring(x FROM 2 FOR 3)   substring(x, 2, 3)
    trim(LEADING 'a' FROM x)    ltrim(x, 'a')
    position('a' IN x)          position(x, 'a')

Tokens keep their places in the analyst's text.

Tests: tests/unit/sql/rewording/test_standard_calls.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.sql.pieces import closing
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["with_commas"]

_TRIMS = {"both": "trim", "leading": "ltrim", "trailing": "rtrim"}
_BETWEEN = {"substring": ("from", "for"), "trim": ("from",), "position": ("in",)}
"""The words that part the arguments of each call."""
Arguments = list[Token]


def with_commas(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with these calls in the form with commas; what is none of them is left as it is.

    Raises:
        UnsupportedQuery: POSITION without IN, which DuckDB does not read either.
    """
    found = list(tokens)
    for at in range(len(found) - 2, -1, -1):  # the inner calls first
        name = found[at]
        if name.word in _BETWEEN and found[at + 1].symbol == "(" and not (at and found[at - 1].symbol == "."):
            end = closing(found, at + 1)
            called = None if end is None else _read(name, found[at + 2 : end])
            if called is not None:
                word, arguments = called
                inside = [own for place, part in enumerate(arguments) for own in (*_comma(place, name), *part)]
                found[at:end] = [replace(name, text=word), found[at + 1], *inside]
    return tuple(found)


def _read(name: Token, inside: Sequence[Token]) -> tuple[str, list[Arguments]] | None:
    """What is called and with what; None where commas stand already."""
    words, parts = _parted(inside, _BETWEEN[name.word])
    side = parts[0][0].word if name.word == "trim" and parts[0] else ""
    match name.word, words:
        case "trim", [] | ["from"] if (words or side in _TRIMS) and parts[-1]:
            parts[0] = parts[0][1:] if side in _TRIMS else parts[0]
            return _TRIMS.get(side, "trim") if side in _TRIMS else name.text, [part for part in parts[::-1] if part]
        case "substring", ["from"] | ["from", "for"]:
            return name.text, parts
        case "substring", ["for"]:
            return name.text, [parts[0], [Token(TokenKind.NUMBER, "1", name.position)], parts[1]]
        case "position", ["in"]:
            return name.text, parts[::-1]
        case "position", _:
            raise UnsupportedQuery(
                "its arguments are parted by IN.", construct="POSITION", position=name.position,
                hint="Write position(part IN text), or strpos(text, part).",
            )  # fmt: skip
    return None


def _parted(inside: Sequence[Token], between: Sequence[str]) -> tuple[list[str], list[Arguments]]:
    """The words that part the arguments, and what stands between them."""
    depth, words, parts = 0, list[str](), [Arguments()]
    for place, token in enumerate(inside):
        depth += {"(": 1, "[": 1, "case": 1, ")": -1, "]": -1, "end": -1}.get(token.symbol or token.word, 0)
        distinct = place > 0 and inside[place - 1].word == "distinct"  # IS DISTINCT FROM
        if depth == 0 and token.word in between and not distinct:
            words.append(token.word)
            parts.append(Arguments())
        else:
            parts[-1].append(token)
    return words, parts


def _comma(place: int, name: Token) -> list[Token]:
    return [Token(TokenKind.SYMBOL, ",", name.position)] if place else []
