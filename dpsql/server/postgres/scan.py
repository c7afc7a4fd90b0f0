"""PostgreSQL's lexical rules, as far as needed to tell statements apart: where one ends, and which words it has.

Nothing is refused here: who answers a statement reads it by rules of their own.

Source: PostgreSQL 17 documentation, section 4.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Word", "statements", "words"]

_PIECES = re.compile(
    r"""
      (?P<space> \s+ | --[^\r\n]* )
    | (?P<comment> /\* )
    | (?P<escaped> [eE]'(?:[^'\\]|''|\\.)*'? )
    | (?P<string> (?:[uU]&|[bBxXnN])?'(?:[^']|'')*'? )
    | (?P<dollars> \$\$ .*? (?: \$\$ | \Z ) | \$(?P<tag>[A-Za-z_]\w*)\$ .*? (?: \$(?P=tag)\$ | \Z ) )
    | (?P<quoted> "(?:[^"]|"")*"? )
    | (?P<parameter> \$[0-9]{1,5} )
    | (?P<word> [^\W\d]\w* )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a quoted name, a string or a sign of a statement.

    Attributes:
        kind: ``word``, ``quoted``, ``string`` (of any form), ``parameter``, or ``other``.
        text: As it was written; a word in small letters, a quoted name without its quotes.
        start: Where it starts, from 0.
        end: Where it ends.
    """

    kind: str
    text: str
    start: int
    end: int


def words(text: str) -> Iterator[Word]:
    """The pieces of a text, without space and comments.

    >>> [word.text for word in words('''SELECT "A" /* ; /* ; */ */, 'it''s' -- ;''')]
    ['select', 'A', ',', "'it''s'"]
    """
    at = 0
    while at < len(text):
        match = _PIECES.match(text, at)
        if match is None:  # cannot be: the last piece is any character
            return
        kind, start, at = match.lastgroup, match.start(), match.end()
        if match["comment"]:
            at = _end_of_comment(text, at)
        elif match["word"]:
            yield Word("word", match[0].lower(), start, at)
        elif match["quoted"]:
            yield Word("quoted", match[0][1:].removesuffix('"').replace('""', '"'), start, at)
        elif match["other"] or match["parameter"]:
            yield Word(str(kind), match[0], start, at)
        elif kind != "space":
            yield Word("string", match[0], start, at)


def statements(text: str) -> list[tuple[str, int]]:
    """The statements of a text, and how many characters stand before each.

    >>> statements("SELECT ';'; ; COMMIT -- the end")
    [("SELECT ';'", 0), ('COMMIT', 14)]
    """
    found, first, last = list[tuple[str, int]](), -1, -1
    for word in words(text):
        if word.kind == "other" and word.text == ";":
            if first >= 0:
                found.append((text[first:last], first))
            first = -1
        else:
            first = word.start if first < 0 else first
            last = word.end
    return [*found, (text[first:last], first)] if first >= 0 else found


def _end_of_comment(text: str, at: int) -> int:
    """Where a comment ends that began before: comments nest."""
    depth = 1
    while depth:
        match = _COMMENT.search(text, at)
        if match is None:
            return len(text)
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return at
