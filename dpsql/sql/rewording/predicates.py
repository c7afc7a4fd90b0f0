"""Conditions in PostgreSQL's, DuckDB's and SQLite's own words, read as those that are here.

    x ISNULL, x NOTNULL, x NOT NULL   x IS NULL, x IS NOT NULL
    x ~ 'p', x !~ 'p', x ~* 'p'       regexp_matches(x, 'p'), NOT regexp_matches(x, 'p'), regexp_matches(x, '(?i)p')
    x ~~ 'p', x !~~ 'p', x ~~* 'p'    x LIKE 'p', x NOT LIKE 'p', x ILIKE 'p'
    x GLOB 'a*'                       x LIKE 'a%'
    x SIMILAR TO '(a|b)c+'            regexp_full_match(x, '(a|b)c+')

A sign binds its pattern more tightly than LIKE does, so that a pattern is one constant. What databases read in
different ways is refused: ``%``, ``_`` and ``.`` behind SIMILAR TO, all but ``*`` behind GLOB. Tokens keep their
places.

Source: PostgreSQL 17 documentation, sections 9.2 and 9.7.

Tests: tests/unit/sql/rewording/test_predicates.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.sql.keywords import FUNCTION_ONLY, RESERVED
from dpsql.sql.refused import REFUSED_WORDS
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["SIGNS", "plain_conditions"]

SIGNS = {
    "~": "RLIKE",
    "!~": "NOT RLIKE",
    "~~": "LIKE",
    "!~~": "NOT LIKE",
    "~~*": "ILIKE",
    "!~~*": "NOT ILIKE",
    "similar to": "SIMILAR TO",
    "not similar to": "NOT SIMILAR TO",
}
"""Signs that match patterns, and what the reader calls them."""
_FOLDED = {"~*": "~", "!~*": "!~"}
"""Signs that match without regard to the case of letters, and those that match with it."""
_ENDS = frozenset("end true false null".split())
"""Keywords that end a value."""
_WILD = re.compile(r"[%_.^$\\]")
"""What SIMILAR TO and regular expressions read in different ways."""
_NO_WILDCARD = re.compile(r"[%_?\[\\]")
"""What GLOB and LIKE read in different ways, and ``?``, which is one byte to DuckDB and one character to SQLite."""


def plain_conditions(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with these conditions in the words that are read.

    Raises:
        UnsupportedQuery: A pattern is no constant, or means different things to different databases.
    """
    found, at = list[Token](), 0
    while at < len(tokens):
        own, size = _read(tokens, at)
        found += own
        at += size
    return tuple(found)


def _read(tokens: Sequence[Token], at: int) -> tuple[list[Token], int]:
    """What stands for the tokens there, and for how many of them."""
    end = Token(TokenKind.SYMBOL, "", tokens[-1].position)
    token, after, behind = (*tokens[at : at + 3], end, end)[:3]
    valued = at > 0 and _ends_value(tokens[at - 1])
    match token.word:
        case "isnull" | "notnull" if valued and after.symbol != "(":
            return _words("IS NULL" if token.word == "isnull" else "IS NOT NULL", token), 1
        case "not" if valued and after.word == "null":
            return _words("IS NOT NULL", token), 2
        case "not" if valued and (after.word, behind.word) == ("similar", "to"):
            return _similar(tokens, at + 3, replace(token, kind=TokenKind.SYMBOL, text="not similar to")), 4
        case "similar" if valued and after.word == "to":
            return _similar(tokens, at + 2, replace(token, kind=TokenKind.SYMBOL, text="similar to")), 3
        case "glob" if valued or (at > 1 and tokens[at - 1].word == "not" and _ends_value(tokens[at - 2])):
            return _glob(token, _pattern(tokens, at + 1, token)), 2
        case "symmetric" if tokens[at - 1].word != "between":
            construct, message, hint = REFUSED_WORDS["symmetric"]
            raise UnsupportedQuery(message, construct=construct, position=token.position, hint=hint)
        case "asymmetric" if tokens[at - 1].word == "between":
            return [], 1  # the usual order, said aloud
        case "xor" if valued and _begins_value(after):
            raise UnsupportedQuery(
                "dpsql does not read it.", construct="XOR", position=token.position,
                hint="Write (a) <> (b): of two conditions it is true where one of them is.",
            )  # fmt: skip
    if token.symbol in _FOLDED and valued:
        pattern = _pattern(tokens, at + 1, token)
        if pattern.kind is not TokenKind.STRING:
            raise UnsupportedQuery(
                "its pattern is written out.", construct=token.text, position=token.position,
                hint=f"Write x {_FOLDED[token.symbol]} {pattern.text}, and (?i) at the front of the pattern.",
            )  # fmt: skip
        return [replace(token, text=_FOLDED[token.symbol]), replace(pattern, text=f"'(?i){pattern.text[1:]}")], 2
    if token.symbol in SIGNS and valued:
        return [token, _pattern(tokens, at + 1, token)], 2
    return [token], 1


def _ends_value(token: Token) -> bool:
    if token.word:
        return token.word in _ENDS or token.word not in RESERVED | FUNCTION_ONLY
    return token.kind is not TokenKind.SYMBOL or token.symbol in (")", "]")


def _begins_value(token: Token) -> bool:
    if token.word:
        return token.word in ("not", "case", *_ENDS) or token.word not in RESERVED | FUNCTION_ONLY
    return token.kind is not TokenKind.SYMBOL or token.symbol == "("


def _pattern(tokens: Sequence[Token], at: int, sign: Token) -> Token:
    """The constant there, with nothing behind it that would belong to it."""
    pattern = tokens[at] if at < len(tokens) else sign
    joined = at + 1 < len(tokens) and tokens[at + 1].symbol in ("||", "::")
    if pattern.kind not in (TokenKind.STRING, TokenKind.PARAMETER) or joined:
        raise UnsupportedQuery(
            "its pattern is one constant.", construct=sign.text.upper(), position=sign.position,
            hint="Write a text in single quotes behind it, or a parameter.",
        )  # fmt: skip
    return pattern


def _similar(tokens: Sequence[Token], at: int, sign: Token) -> list[Token]:
    """SIMILAR TO: the same where the pattern has none of the signs that SQL's standard and DuckDB read differently."""
    pattern = _pattern(tokens, at, sign)
    if pattern.kind is not TokenKind.STRING or _WILD.search(pattern.text):
        negated, written = "NOT " * sign.text.startswith("not"), pattern.text[:60]
        if pattern.kind is TokenKind.STRING and not re.search(r"[.^$\\]", written):
            written = written.replace("%", ".*").replace("_", ".")
        raise UnsupportedQuery(
            "% and _ are wildcards there in SQL's standard and letters in DuckDB; . ^ $ and \\ are the reverse.",
            construct="SIMILAR TO", position=sign.position,
            hint=f"Write {negated}regexp_full_match(x, {written}), a regular expression; LIKE has % and _.",
        )  # fmt: skip
    return [sign, pattern]


def _glob(sign: Token, pattern: Token) -> list[Token]:
    if pattern.kind is not TokenKind.STRING or _NO_WILDCARD.search(pattern.text):
        raise UnsupportedQuery(
            "dpsql reads * in its pattern alone.", construct="GLOB", position=sign.position,
            hint="Write LIKE with % and _, or regexp_full_match(x, 'pattern') for classes of characters.",
        )  # fmt: skip
    return [replace(sign, text="LIKE"), replace(pattern, text=pattern.text.replace("*", "%"))]


def _words(text: str, token: Token) -> list[Token]:
    return [replace(token, text=own) for own in text.split()]
