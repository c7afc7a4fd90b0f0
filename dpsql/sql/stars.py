"""What a star leaves out, and what it shows in the place of a column: ``* EXCLUDE (a) REPLACE (b + 1 AS b) RENAME (c AS
d)``, DuckDB's words; BigQuery's EXCEPT is EXCLUDE.

The expressions of REPLACE are read as entries of the select list, which stand behind the star: it takes back as many.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql, tests/unit/sql/test_stars.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsql.errors import UnsupportedQuery
from dpsql.sql.pieces import closing
from dpsql.sql.tokens import Token, TokenKind, fold, name_of

__all__ = ["StarClauses", "chosen", "replacements_behind"]

_WITHOUT = ("exclude", "except")
Pair = tuple[str, Token]  # a column's folded name, and the token of its new one


@dataclass(frozen=True, slots=True)
class StarClauses:
    """What follows a star.

    Attributes:
        without: Folded names of the columns that it leaves out.
        renamed: Columns with their new names.
        replaced: How many entries behind it are its own.
        size: How many tokens say so.
    """

    without: tuple[str, ...] = ()
    renamed: tuple[Pair, ...] = ()
    replaced: int = 0
    size: int = 0


def replacements_behind(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same query with the expressions of every REPLACE behind its star: ``* REPLACE 1 , b + 1 AS b``."""
    if not any(token.word == "replace" for token in tokens):
        return tokens
    found, at = list[Token](), 0
    while at < len(tokens):
        found.append(tokens[at])
        at += 1
        if found[-1].symbol != "*" or not _is_star(found):
            continue
        said, inside = list[Token](), list[Token]()
        while (end := _clause_end(tokens, at)) is not None:
            if tokens[at].word == "replace":
                inside, count = list(tokens[at + 2 : end]), _entries(tokens[at + 2 : end])
                said += [tokens[at], Token(TokenKind.NUMBER, str(count), tokens[at].position)]
            else:
                said += tokens[at : end + 1]
            at = end + 1
        found += [*said, *([Token(TokenKind.SYMBOL, ",", inside[0].position), *inside] if inside else [])]
    return tuple(found)


def _is_star(before: Sequence[Token]) -> bool:
    """Whether the last token means all columns, by what stands before it; between two values it multiplies."""
    if len(before) < 2:
        return False
    return before[-2].symbol in (",", ".") or before[-2].word in ("select", "all", "distinct")


def _clause_end(tokens: Sequence[Token], at: int) -> int | None:
    """Where one of the clauses of a star ends that begins there; None where none does."""
    word, after = (tokens[at].word, tokens[at + 1]) if at + 1 < len(tokens) else ("", None)
    if after is None or word not in (*_WITHOUT, "replace", "rename"):
        return None
    if after.symbol == "(":
        end = closing(tokens, at + 1)
        return end if end is None or end > at + 2 else None
    return at + 1 if word in _WITHOUT and after.kind is not TokenKind.SYMBOL else None


def _entries(inside: Sequence[Token]) -> int:
    depth = commas = 0
    for token in inside:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.symbol, 0)
        commas += depth == 0 and token.symbol == ","
    return commas + 1


def chosen(tokens: Sequence[Token], at: int) -> StarClauses:
    """What follows the star before this place.

    Raises:
        UnsupportedQuery: Its columns have no names.
    """
    without, renamed, replaced, start = tuple[str, ...](), tuple[Pair, ...](), 0, at
    end = Token(TokenKind.SYMBOL, "", tokens[-1].position)  # What stands behind the last token.
    while at < len(tokens):
        word, after = tokens[at].word, tokens[at + 1] if at + 1 < len(tokens) else end
        if word == "exclude" or (word == "except" and after.symbol == "("):
            more, size = _left_out(tokens, at, end)
            without += more
        elif word == "replace" and after.kind is TokenKind.NUMBER:
            replaced, size = int(after.text), 2
        elif word == "rename" and after.symbol == "(":
            more_names, size = _renamed(tokens, at, end)
            renamed += more_names
        else:
            break
        at += size
    return StarClauses(without, renamed, replaced, at - start)


def _left_out(tokens: Sequence[Token], at: int, end: Token) -> tuple[tuple[str, ...], int]:
    """The folded names behind the EXCLUDE there, and how many tokens say so, that word included."""
    listed, *rest = *tokens[at + 1 :], *[end] * 2
    if listed.symbol != "(":
        return (_name(listed),), 2
    names = [_name(rest[0])]
    while rest[2 * len(names) - 1].symbol == ",":
        names.append(_name(rest[2 * len(names)]))
    if rest[2 * len(names) - 1].symbol != ")":
        raise _refusal(rest[2 * len(names) - 1], "* EXCLUDE", "SELECT * EXCLUDE (a, b)")
    return tuple(names), 2 * len(names) + 2


def _renamed(tokens: Sequence[Token], at: int, end: Token) -> tuple[tuple[Pair, ...], int]:
    """The names behind the RENAME there, old and new, and how many tokens say so."""
    rest = [*tokens[at + 2 :], *[end] * 4]
    found = list[Pair]()
    while True:
        old, word, new, sign = rest[4 * len(found) : 4 * len(found) + 4]
        if word.word != "as" or sign.symbol not in (",", ")"):
            raise _refusal(old, "* RENAME", "SELECT * RENAME (a AS b)")
        _name(new)
        found.append((_name(old), new))
        if sign.symbol == ")":
            return tuple(found), 4 * len(found) + 2


def _name(token: Token) -> str:
    if token.kind not in (TokenKind.WORD, TokenKind.QUOTED):
        raise _refusal(token, "* EXCLUDE", "SELECT * EXCLUDE (a, b)")
    return fold(name_of(token))


def _refusal(token: Token, construct: str, form: str) -> UnsupportedQuery:
    return UnsupportedQuery(
        "it chooses columns by their names.", construct=construct, position=token.position, hint=f"Write {form}."
    )
