"""``WITH t AS MATERIALIZED (..)`` is read as ``WITH t AS (..)``: how an engine goes about it changes no answer.

Tests: tests/unit/sql/rewording/test_materialized.py.
"""

from __future__ import annotations

from dpsql.sql.pieces import QUERIES
from dpsql.sql.tokens import Token

__all__ = ["without_materialized"]


def without_materialized(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query without MATERIALIZED and NOT MATERIALIZED."""
    said = [at for at, token in enumerate(tokens) if token.word == "materialized" and _is_said(tokens, at)]
    left_out = {place for at in said for place in (at, at - 1) if tokens[place].word in ("materialized", "not")}
    return tuple(token for at, token in enumerate(tokens) if at not in left_out) if left_out else tokens


def _is_said(tokens: tuple[Token, ...], at: int) -> bool:
    before = at - 2 if at and tokens[at - 1].word == "not" else at - 1
    if before < 1 or tokens[before].word != "as" or len(tokens) < at + 3 or tokens[at + 1].symbol != "(":
        return False
    # else it may be the name of a table, with those of its columns
    return tokens[at + 2].word in QUERIES or tokens[at + 2].symbol == "("
