"""``COLUMNS([..])`` as the entries of a select list that it stands for, one for each column that it names.

    SELECT AVG(COLUMNS(['age', 'weight'])) FROM t
    SELECT AVG("age") AS "age", AVG("weight") AS "weight" FROM t

Which columns a pattern or a star finds is not known here: these are refused. Tokens keep their places.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.sql.literals import read_string
from dpsql.sql.normal import quoted
from dpsql.sql.pieces import closing
from dpsql.sql.tokens import MOST_TOKENS, Token, TokenKind

__all__ = ["columns_written_out"]

_ENDS = ("from", "where", "group", "having", "qualify", "window", "order", "limit", "offset", "union")
"""What follows a select list."""
_OPTIONS = ["with", "differential_privacy", "options"]


def columns_written_out(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with every COLUMNS that lists names written out.

    Raises:
        UnsupportedQuery: It lists no names, stands outside a select list, or makes the statement too long.
    """
    at = 0
    while (at := _next(tokens, at)) < len(tokens):
        names, end = _names(tokens, at)
        start, stop = _entry(tokens, at, end)
        entry, own = tokens[start:stop], slice(at - start, end + 1 - start)
        named = any(token.word == "as" for token in entry[own.stop :])
        if any(token.word == "columns" for place, token in enumerate(entry) if place != own.start):
            raise _refusal(tokens[at], "one stands in each entry of a select list.")
        found = list[Token]()
        for name in names:
            column = replace(tokens[at], kind=TokenKind.QUOTED, text=quoted(name))
            alias = [] if named else [replace(column, kind=TokenKind.WORD, text="AS"), column]
            comma = [Token(TokenKind.SYMBOL, ",", column.position)] if found else []
            found += [*comma, *entry[: own.start], column, *entry[own.stop :], *alias]
        tokens = (*tokens[:start], *found, *tokens[stop:])
        if len(tokens) > MOST_TOKENS:
            raise _refusal(tokens[start], f"written out the statement has more than {MOST_TOKENS} words and symbols.")
        at = start + len(found)
    return tokens


def _next(tokens: Sequence[Token], at: int) -> int:
    """Where the next call stands; behind everything where there is none."""
    pairs = zip(tokens[at:], tokens[at + 1 :], strict=False)
    found = (place for place, (own, after) in enumerate(pairs, at) if own.word == "columns" and after.symbol == "(")
    return next(found, len(tokens))


def _names(tokens: Sequence[Token], at: int) -> tuple[list[str], int]:
    """The names that it lists, and where its parenthesis closes."""
    end = closing(tokens, at + 1)
    inside = [] if end is None else list(tokens[at + 2 : end])
    shape = [token.symbol for token in (*inside[:1], *inside[2::2])]
    strings = inside[1::2]
    listed = shape[:1] == ["["] and shape[-1:] == ["]"] and all(sign == "," for sign in shape[1:-1])
    if end is None or not listed or not strings or any(token.kind is not TokenKind.STRING for token in strings):
        raise _refusal(tokens[at], "which columns a pattern or a star finds is not read.")
    return [str(read_string(token.text, token.position).value) for token in strings], end


def _entry(tokens: Sequence[Token], at: int, end: int) -> tuple[int, int]:
    """Where the entry of the select list begins and ends that holds it."""
    begins: list[int | None] = [None]  # of each open parenthesis: where the entry of its select list begins
    for place, token in enumerate(tokens[:at]):
        if token.symbol == "(":
            begins.append(None)
        elif token.symbol == ")" and len(begins) > 1:
            begins.pop()
            if begins[-1] is not None and [own.word for own in tokens[begins[-1] : begins[-1] + 3]] == _OPTIONS:
                begins[-1] = place + 1
        elif token.word == "select" or (begins[-1] is not None and token.symbol == ","):
            begins[-1] = place + 1
        elif token.word in _ENDS:
            begins[-1] = None
        elif token.word in ("all", "distinct") and begins[-1] == place:
            begins[-1] = place + 1
    calls = 0
    while begins and begins[-1] is None:
        begins.pop()
        calls += 1
    if not begins or begins[-1] is None:
        raise _refusal(tokens[at], "it stands in a select list.")
    stop = end + 1
    while stop < len(tokens):
        token = tokens[stop]
        if calls == 0 and (token.symbol in (",", ")") or token.word in _ENDS):
            break
        calls += {"(": 1, ")": -1}.get(token.symbol, 0)
        stop += 1
    return begins[-1], stop


def _refusal(token: Token, message: str) -> UnsupportedQuery:
    return UnsupportedQuery(
        message, construct="COLUMNS", position=token.position,
        hint="Write AVG(COLUMNS(['a', 'b'])) with the names of columns, or AVG(a), AVG(b).",
    )  # fmt: skip
