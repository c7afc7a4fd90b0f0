"""Which element a subscript asks for: ``q[OFFSET(1)]`` counts from 0, ``q[ORDINAL(2)]`` from 1, and so does ``q[2]``.

OFFSET and ORDINAL are BigQuery's words, a plain number is DuckDB's. Behind APPROX_QUANTILES, which BigQuery alone has,
a plain number is refused: there it counts from 0.

Source: BigQuery documentation, "Operators", array subscript operator.
Tests: tests/unit/sql/test_elements.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["ELEMENT", "SUBSCRIPT", "place_asked"]

FIRST = {"offset": 0, "safe_offset": 0, "ordinal": 1, "safe_ordinal": 1}
"""The number that each of BigQuery's words has for the first element."""
ELEMENT = "element"  # The named argument of APPROX_QUANTILES for one of the elements, from 0.
SUBSCRIPT = "[]"  # What a subscript is called among the operators: of a list, and a place from 1.


def place_asked(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """The place that the bracket there asks for, counted from 1, and how many tokens say so.

    Raises:
        UnsupportedQuery: It does not say which element.
    """
    match [token.symbol or token.word or token.text for token in tokens[at : at + 6]]:
        case ["[", _, "]", *_] if not _of_bigquery(tokens, at):
            place, first, size = tokens[at + 1], 1, 3
        case ["[", word, "(", _, ")", "]"] if word in FIRST:
            place, first, size = tokens[at + 3], FIRST[word], 6
        case _:
            place, first, size = tokens[at], 0, 0
    if place.kind is TokenKind.NUMBER and place.text.isascii() and place.text.isdecimal() and int(place.text) >= first:
        return int(place.text) + 1 - first, size
    raise UnsupportedQuery(
        "it does not say which element.", construct="subscript", position=tokens[at].position,
        hint="Write q[OFFSET(1)] for the second, counted from 0, or [ORDINAL(2)], from 1.",
    )  # fmt: skip


def _of_bigquery(tokens: Sequence[Token], at: int) -> bool:
    """Whether the bracket follows a call of APPROX_QUANTILES."""
    depth = 0
    for place in range(at - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(tokens[place].symbol, 0)
        if depth == 0:
            while tokens[place].symbol == tokens[place + 1].symbol == "(":  # (APPROX_QUANTILES(x, 4))[1]
                place += 1
            called = tokens[place - 1] if tokens[place - 1].word == "approx_quantiles" else tokens[place + 1]
            return called.word == "approx_quantiles" and tokens[place].symbol == "("
    return False
