"""An expression as a person would write it, for notes and refusals: DuckDB's name of it without needless brackets.

Tests: tests/unit/sql/test_spoken.py.
"""

from __future__ import annotations

import re

from dpsql.sql.naming import text_of
from dpsql.sql.syntax import Expr, Name
from dpsql.sql.walk import walk

__all__ = ["spoken"]

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\s+|.""")
_BEFORE = {"", "(", ",", "CASE", "WHEN", "THEN", "ELSE"}
_AFTER = {"", ")", ",", "WHEN", "THEN", "ELSE", "END"}
_KEPT = {"", ")", "SELECT", "WITH", "VALUES"}


def spoken(expression: Expr) -> str:
    """The text of an expression: names as they were written, brackets where something stands beside them.

    >>> from dpsql.sql.syntax import Call
    >>> spoken(Call("/", (Call("+", (Name(("value",), "value"), Name(("b",), "b"))), Name(("c",), "C"))))
    '(value + b) / C'
    """
    bare = {f'"{node.spelling}"' for node in walk(expression) if isinstance(node, Name) and not node.quoted}
    found = [token[1:-1] if token in bare else token for token in _TOKEN.findall(text_of(expression))]
    tokens = [" " if token.isspace() else token for token in found]
    needless = {place for pair in _needless(tokens) for place in pair}
    return "".join(token for place, token in enumerate(tokens) if place not in needless)


def _needless(tokens: list[str]) -> list[tuple[int, int]]:
    """The places of brackets around what stands alone: a whole argument, or a part of CASE."""
    open_, found = list[int](), list[tuple[int, int]]()
    several = set[int]()  # around a list
    for place, token in enumerate(tokens):
        if token == "(":
            open_.append(place)
        elif token == "," and open_:
            several.add(open_[-1])
        elif token == ")" and open_:
            start = open_.pop()
            first = _word(tokens, start, 1)
            alone = _word(tokens, start, -1) in _BEFORE and _word(tokens, place, 1) in _AFTER
            if alone and start not in several and first not in _KEPT:
                found.append((start, place))
    return found


def _word(tokens: list[str], place: int, way: int) -> str:
    """The next token on one side that is no space; '' at the end."""
    place += way
    while 0 <= place < len(tokens):
        if tokens[place] != " ":
            return tokens[place]
        place += way
    return ""
