"""``APPROX_QUANTILES(x, 4)[OFFSET(1)]``, one element of a list, is read as ``APPROX_QUANTILES(x, 4, element => 1)``.

So no list need ever be made: what the others would be is neither measured nor paid for. ORDINAL counts from 1, OFFSET
from 0, as in BigQuery, and a plain number is refused, since DuckDB counts from 1 there. Tokens keep their places in the
analyst's text.

Source: BigQuery documentation, "Operators", array subscript operator.
Tests: tests/unit/sql/test_elements.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["ELEMENT", "one_of_lists"]

FIRST = {"offset": 0, "safe_offset": 0, "ordinal": 1, "safe_ordinal": 1}
"""The number that each of BigQuery's words has for the first element."""
MADE = "approx_quantiles"  # The function that makes a list.
ELEMENT = "element"  # The named argument for one of its elements.


def one_of_lists(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with the wanted element inside the call that would make the list.

    Raises:
        UnsupportedQuery: What stands in the brackets does not say which element.
    """
    if not any(token.word == MADE for token in tokens):
        return tokens
    found: list[Token] = []
    calls: list[bool] = []  # for each open parenthesis whether it is that of such a call
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.symbol == "(":
            calls.append(at > 0 and tokens[at - 1].word == MADE)
        if token.symbol == ")" and calls and calls.pop() and at + 1 < len(tokens) and tokens[at + 1].symbol == "[":
            found += [*_element(tokens[at + 1 : at + 7]), token]
            at += 7
            continue
        found.append(token)
        at += 1
    return tuple(found)


def _element(tokens: Sequence[Token]) -> list[Token]:
    """``, element => 1`` for ``[OFFSET(1)]``."""
    match [token.symbol or token.word for token in tokens]:
        case ["[", str(word), "(", _, ")", "]"] if word in FIRST and tokens[3].kind is TokenKind.NUMBER:
            number = tokens[3].text
            if number.isascii() and number.isdecimal() and int(number) >= FIRST[word]:
                place = tokens[3].position
                return [
                    Token(TokenKind.SYMBOL, ",", place),
                    Token(TokenKind.WORD, ELEMENT, place),
                    Token(TokenKind.SYMBOL, "=>", place),
                    Token(TokenKind.NUMBER, str(int(number) - FIRST[word]), place),
                ]
    raise UnsupportedQuery(
        "it does not say which element.", construct="subscript", position=tokens[0].position,
        hint="Write APPROX_QUANTILES(x, 4)[OFFSET(1)] for the first quarter, counted from 0, or [ORDINAL(2)], from 1.",
    )  # fmt: skip
