"""``x = ANY (..)`` of a list, as drivers write it, is read as ``x IN (..)``; ``x <> ALL (..)`` as ``x NOT IN (..)``.

So are ``x IN [..]`` of constants, DuckDB's, ``x IN UNNEST(..)``, BigQuery's, and ``x = ANY (SELECT ..)``.

``x > ANY (..)`` of numbers or days that are written is ``x >`` the least of them, and ``x > ALL (..)`` the largest: a
list that holds some and no NULL says the same by one of its ends. Texts are refused there: each would be a day, or a
text, by what it is compared with.

The list is a parameter, which then takes a list of values; ``ARRAY[1, 2]`` or ``[1, 2]``; or PostgreSQL's text for one,
``'{1,2}'``. A type behind it (``$1::text[]``) says nothing new: the elements are compared as IN compares them. Tokens
keep their places in the analyst's text.

Source: PostgreSQL 17 documentation, sections 8.15.2, "Array Value Input", and 9.25.3, "ANY/SOME (array)".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise

from dpsql.errors import UnsupportedQuery
from dpsql.sql.literals import read_date
from dpsql.sql.pieces import QUERIES, closing
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["elements", "in_lists"]

_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}\\\s](?:[^",{}\\]*[^",{}\\\s])?))\s*(,|\Z)', re.DOTALL)
_ORDERED = ("<", "<=", ">", ">=")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def in_lists(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with IN in the place of ANY and SOME, and NOT IN in the place of ALL, wherever a list follows.

    Raises:
        UnsupportedQuery: A list is empty, or is no list.
    """
    if not any(token.word in ("any", "some", "all", "in") for token in tokens):
        return tokens
    found, at = list[Token](), 0
    while at < len(tokens):
        if tokens[at].word == "in" and (listed := _behind_in(tokens, at)) is not None:
            found += [tokens[at], *_in_parentheses(listed[0], tokens[at].position)]
            at = listed[1] + 1
            continue
        if (ends := _by_an_end(tokens, at)) is not None:
            found += ends[0]
            at = ends[1] + 1
            continue
        end = closing(tokens, at + 2) if _begins(tokens, at) else None
        inside = None if end is None else _list(tokens[at + 3 : end])
        if end is None or inside is None:
            found.append(tokens[at])
            at += 1
            continue
        if not inside:
            raise _empty(tokens[at + 1])
        place = tokens[at + 1].position
        words = ["NOT", "IN"] if tokens[at].symbol != "=" else ["IN"]
        found += [*(Token(TokenKind.WORD, word, place) for word in words), tokens[at + 2], *inside, tokens[end]]
        at = end + 1
    return tuple(found)


def elements(text: str) -> list[str | None] | None:
    """The elements of PostgreSQL's text for an array of one dimension; None where it is none.

    >>> elements('{a, "b c", NULL, "NULL", "say \\\\"x\\\\""}'), elements("{}"), elements("{{1},{2}}")
    (['a', 'b c', None, 'NULL', 'say "x"'], [], None)
    """
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    inside, found, at = text[1:-1], list[str | None](), 0
    while inside.strip():
        match = _ELEMENT.match(inside, at)
        if match is None:
            return None
        quoted, plain, sign = match.groups()
        if quoted is not None:
            found.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            found.append(None if plain.upper() == "NULL" else plain)
        at = match.end()
        if sign != ",":
            break
    return found


def _empty(word: Token) -> UnsupportedQuery:
    return UnsupportedQuery(
        "the list is empty, so that it holds no row's value.", construct=word.text.upper(), position=word.position,
        hint="Write at least one value.",
    )  # fmt: skip


def _begins(tokens: Sequence[Token], at: int) -> bool:
    """Whether ``= ANY (``, ``= SOME (`` or ``<> ALL (`` stands there."""
    if at + 3 >= len(tokens) or tokens[at + 2].symbol != "(":
        return False
    word = tokens[at + 1].word
    return (tokens[at].symbol in ("=", "==") and word in ("any", "some")) or (
        tokens[at].symbol in ("<>", "!=") and word == "all"
    )


def _by_an_end(tokens: Sequence[Token], at: int) -> tuple[list[Token], int] | None:
    """``> 1`` for ``> ANY ([1, 2])``, and where that ends; None for anything else."""
    words, sign = [token.word for token in tokens[at + 1 : at + 2]], tokens[at].symbol
    begins = sign in _ORDERED and words in (["any"], ["some"], ["all"]) and tokens[at + 2 : at + 3]
    end = closing(tokens, at + 2) if begins and tokens[at + 2].symbol == "(" else None
    inside = None if end is None else _list(tokens[at + 3 : end])
    if end is None or not inside:
        return None
    commas = [-1, *(place for place, own in enumerate(inside) if own.symbol == ","), len(inside)]
    parts = [inside[start + 1 : stop] for start, stop in pairwise(commas)]
    values = [_number(own) for own in parts] if inside[-1].kind is TokenKind.NUMBER else [_day(own) for own in parts]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    least = (words == ["all"]) == (sign in ("<", "<="))
    return [tokens[at], *parts[known.index((min if least else max)(known))]], end


def _number(own: Sequence[Token]) -> Fraction | None:
    text = "".join(token.text for token in own)
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def _day(own: Sequence[Token]) -> date | None:
    """That of ``DATE '2024-01-31'``."""
    if len(own) != 2 or own[0].word != "date" or own[1].text[:1] != "'":
        return None
    try:
        day = read_date(own[1].text[1:-1]).value
    except UnsupportedQuery:
        return None
    return day if isinstance(day, date) else None


def _behind_in(tokens: Sequence[Token], at: int) -> tuple[list[Token], int] | None:
    """The list of ``IN [1, 2]`` or ``IN UNNEST(..)`` and where it ends; None for anything else.

    DuckDB's list finds NULL nowhere and IN may: one with NULL, or with what may be NULL, is none.

    Raises:
        UnsupportedQuery: The list is empty.
    """
    if tokens[at + 1 : at + 2] and tokens[at + 1].symbol == "[":
        end = next((place for place in range(at + 2, len(tokens)) if tokens[place].symbol == "]"), None)
        inside = [] if end is None else list(tokens[at + 2 : end])
        if end == at + 2:
            raise _empty(tokens[at])
        constants = (TokenKind.NUMBER, TokenKind.STRING)
        plain = all(token.kind in constants or token.symbol in (",", "-") for token in inside)
        return (inside, end) if end is not None and inside and plain else None
    if [token.word or token.symbol for token in tokens[at + 1 : at + 3]] == ["unnest", "("]:
        last = closing(tokens, at + 2)
        listed = None if last is None else _list(tokens[at + 3 : last])
        if listed == []:
            raise _empty(tokens[at])
        return (listed, last) if listed and last is not None else None
    return None


def _in_parentheses(inside: Sequence[Token], place: tuple[int, int]) -> list[Token]:
    return [Token(TokenKind.SYMBOL, "(", place), *inside, Token(TokenKind.SYMBOL, ")", place)]


def _list(inside: Sequence[Token]) -> list[Token] | None:
    """The tokens of IN's list; None where it is no list, such as a sub-query."""
    own = list(_without_type(inside))
    if own and own[0].word in QUERIES:
        return own
    while len(own) > 1 and own[0].symbol == "(" and closing(own, 0) == len(own) - 1:
        own = list(_without_type(own[1:-1]))
    match own:
        case [Token(kind=TokenKind.PARAMETER) as parameter]:
            return [replace(parameter, kind=TokenKind.LIST)]
        case [Token(kind=TokenKind.STRING) as text]:
            read = elements(text.text[1:-1].replace("''", "'"))
            return None if read is None else _constants(read, text.position)
        case [Token(text="["), *listed, Token(text="]")]:
            return listed
        case [array, Token(text="["), *listed, Token(text="]")] if array.word == "array":
            return listed
    return None


def _without_type(own: Sequence[Token]) -> Sequence[Token]:
    """Without ``::type[]`` at the end, and without CAST (.. AS type[]) around it."""
    texts = [token.symbol or token.word for token in own]
    if texts[-2:] != ["[", "]"] and texts[:2] != ["cast", "("]:
        return own
    if texts[:2] == ["cast", "("] and texts[-3:] == ["[", "]", ")"] and "as" in texts:
        return own[2 : len(texts) - 1 - texts[::-1].index("as")]
    if "::" in texts:
        return own[: len(texts) - 1 - texts[::-1].index("::")]
    return own


def _constants(read: Sequence[str | None], place: tuple[int, int]) -> list[Token]:
    """The elements as constants with commas between them: numbers where all are."""
    numbers = all(own is not None and _NUMBER.fullmatch(own) for own in read)
    found = list[Token]()
    for own in read:
        found += [Token(TokenKind.SYMBOL, ",", place)] if found else []
        if own is None:
            found.append(Token(TokenKind.WORD, "NULL", place))
        elif numbers:
            found += [Token(TokenKind.SYMBOL, "-", place)] if own.startswith("-") else []
            found.append(Token(TokenKind.NUMBER, own.removeprefix("-"), place))
        else:
            doubled = own.replace("'", "''")
            found.append(Token(TokenKind.STRING, f"'{doubled}'", place))
    return found
