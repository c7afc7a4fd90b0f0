"""The analyst's text cut into tokens by our own lexer: what is not one of these shapes is refused here.

The lexer is stricter than any engine's, so that both cut a text the same way: no prefixed or dollar-quoted
strings, no nested comments, no numbers glued to letters, no operators glued to each other where PostgreSQL's rule
would make one operator of them, no control characters and no invisible ones.
"""

from __future__ import annotations

import enum
import re
import string
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from dpsql.errors import UnsupportedQuery

__all__ = [
    "JSON_VALUE", "LONGEST_TEXT", "MOST_TOKENS", "SCHEMAS", "Token", "TokenKind", "fold", "name_of",
    "schemaless", "statements_in", "tokenize",
]  # fmt: skip

LONGEST_TEXT = 16 * 1024  # Bytes of a statement in UTF-8. It is a choice: far more than people write, and soon read.
MOST_TOKENS = 2_000  # Words and symbols of a statement. It is a choice: far more than people write, and soon read.

JSON_VALUE = """Write regexp_extract(x, '"key": *"([^"]*)"', 1), or '"key": *([0-9]+)' for a number."""
"""How a value of a JSON text is reached."""

_OPERATORS = frozenset("= == <> != < <= > >= + - * / // % || => ~ !~ ~* !~* ~~ !~~ ~~* !~~*".split())

_LEXER = re.compile(
    r"""
      (?P<space> [ \t\r\n]+ | --[^\r\n]* )
    | (?P<comment> /\* (?: (?!\*/|/\*) . )* \*/ )
    | (?P<word> [^\W\d]\w* )
    | (?P<number> (?: [0-9]+(?:_[0-9]+)*(?:\.[0-9]*)? | \.[0-9]+ ) (?:[eE][+-]?[0-9]+)? ) (?![\w.])
    | (?P<string> '(?:[^']|'')*' )
    | (?P<quoted> "(?:[^"]|"")*" )
    | (?P<parameter> \? | \$(?: [0-9]{1,4} | [^\W\d]\w* )(?![\w$]) )
    | (?P<symbol> :: | [(),.;\[\]] | (?: (?!--|/\*) [-+*/<>=!~@\#%^&|] )+ )
    """,
    re.VERBOSE | re.DOTALL,
)

# What stands where the lexer stops: the construct, why not, and what to write instead.
_STRANGE = (
    (re.compile(r"/\*"), "comment", "a comment that is not closed, or holds another, is not read.", "Close it."),
    (re.compile(r"'"), "string", "the string is not closed.", "End it with a single quote, and double those inside."),
    (
        re.compile(r'"'),
        "quoted name",
        "the name is not closed.",
        "End it with a double quote, and double those inside.",
    ),
    (re.compile(r"[.0-9]+\w*"), "number", "this is not a plain decimal number.", "Write it like 1000, 0.5 or 1e-3."),
    (re.compile(r"\$\w*\$"), "dollar-quoted string", "dpsql does not read it.", "Write '...'."),
    (re.compile(r"\$"), "parameter", "dpsql does not read it.", "Write ? for each value, or $1, $2, or $name."),
    (
        re.compile(r":=?"),
        ":",
        "dpsql does not read it here.",
        "Write name => value for a named argument, $name for a parameter, and substr(x, 2, 3) for x[2:4].",
    ),
    (re.compile(r"[{}]"), "struct", "structs and maps are not supported.", "Write plain columns and values."),
    (re.compile(r"`"), "backtick", "dpsql does not read it.", 'Write "name" to quote a name.'),
)


class TokenKind(enum.Enum):
    """The shapes of tokens."""

    WORD = "word"
    NUMBER = "number"
    STRING = "string"
    QUOTED = "quoted"
    PARAMETER = "parameter"
    LIST = "list"  # a parameter that takes a list of values; see `any_of`
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its shape, its text as written, and where it starts (line, column; from 1)."""

    kind: TokenKind
    text: str
    position: tuple[int, int]

    @property
    def word(self) -> str:
        """The word in ASCII lower case; empty for anything but an unquoted word."""
        return fold(self.text) if self.kind is TokenKind.WORD else ""

    @property
    def symbol(self) -> str:
        """The symbol; empty for anything else."""
        return self.text if self.kind is TokenKind.SYMBOL else ""


_TO_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(name: str) -> str:
    """The name as it is compared: ASCII letters in lower case, all others as they are.

    >>> fold("Größe_CM"), fold("İ")
    ('größe_cm', 'İ')
    """
    return name.lower() if name.isascii() else name.translate(_TO_LOWER)


SCHEMAS = frozenset({"public", "main"})
"""The schema of all tables, as PostgreSQL and as DuckDB call it: tools write it before each table."""


def schemaless(parts: tuple[str, ...], database: str = "") -> tuple[str, ...]:
    """A folded name that may stand behind the database, the schema, or both, without them.

    >>> schemaless(("public", "visits")), schemaless(("visits",)), schemaless(("other", "visits"))
    (('visits',), ('visits',), ('other', 'visits'))
    >>> schemaless(("shop", "visits"), "Shop"), schemaless(("shop",), "shop"), schemaless(("visits", "shop"), "shop")
    (('visits',), ('shop',), ('visits', 'shop'))
    """
    if len(parts) > 1 and parts[0] == fold(database):
        parts = parts[1:]
    return parts[1:] if len(parts) > 1 and parts[0] in SCHEMAS else parts


def name_of(token: Token) -> str:
    """The name that a word or a quoted name spells."""
    return token.text[1:-1].replace('""', '"') if token.kind is TokenKind.QUOTED else token.text


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of one text, without space and comments.

    Raises:
        UnsupportedQuery: If the text is longer than 16 KiB or 2,000 tokens, or holds what is no token of ours.

    >>> [token.text for token in tokenize("SELECT a>=-1 -- why not")]
    ['SELECT', 'a', '>=', '-', '1']
    """
    if len(text) > LONGEST_TEXT or len(text.encode(errors="replace")) > LONGEST_TEXT:
        raise UnsupportedQuery(
            f"the text is longer than {LONGEST_TEXT} bytes.", construct="statement", hint="Ask in smaller queries."
        )
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    _refuse_invisible(text, starts)
    tokens: list[Token] = []
    for token in _scan(text, starts):
        tokens.append(token)
        if len(tokens) > MOST_TOKENS:
            raise UnsupportedQuery(
                f"the statement has more than {MOST_TOKENS} words and symbols.",
                construct="statement",
                position=token.position,
                hint="Ask in smaller queries.",
            )
    return tuple(tokens)


def statements_in(text: str) -> list[str]:
    """The statements of a text of any length, each as it is written, without the semicolons between them.

    Raises:
        UnsupportedQuery: It holds what is no token of ours, such as a string that is not closed.

    >>> statements_in("SELECT ';'; /* one; not two */ SELECT 2; -- the end")
    ["SELECT ';'", '/* one; not two */ SELECT 2']
    """
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found, begin, offset, says_something = [], 0, 0, False
    while offset < len(text):
        match = _LEXER.match(text, offset)
        if match is None:
            raise _strange(text, offset, line_starts)
        if match["symbol"] != ";":
            says_something |= match.lastgroup not in ("space", "comment")
        else:
            found += [text[begin:offset].strip()] * says_something
            begin, says_something = match.end(), False
        offset = match.end()
    return [*found, *[text[begin:].strip()] * says_something]


def _scan(text: str, starts: list[int]) -> Iterator[Token]:
    offset = 0
    while offset < len(text):
        match = _LEXER.match(text, offset)
        if match is None:
            raise _strange(text, offset, starts)
        group = match.lastgroup or ""
        if group not in ("space", "comment"):
            token = Token(TokenKind(group), match[group], _place(offset, starts))
            yield from _apart(token) if token.symbol else (token,)
        offset = match.end()


def _apart(token: Token) -> tuple[Token, ...]:
    """A run of operator characters as one operator, or as one and a minus sign; else it is refused.

    PostgreSQL's rule, and DuckDB's: a run may end in a sign of its own only without ``! % | ~`` and their like.
    """
    run = token.text
    if run in _OPERATORS or run in ("::", "(", ")", "[", "]", ",", ".", ";"):
        return (token,)
    head, line, column = run[:-1], *token.position
    if run.endswith("-") and head in _OPERATORS and not set(head) & set("!%|~"):
        return Token(TokenKind.SYMBOL, head, token.position), Token(TokenKind.SYMBOL, "-", (line, column + len(head)))
    if run in ("^", "**"):
        hint = "Write pow(x, y)."
    elif run in ("->", "->>"):
        hint = f"Lambdas are not supported, and dpsql reads no JSON. {JSON_VALUE}"
    elif head in _OPERATORS and run[-1] in "+-":
        hint = "Put a space between the operator and the sign."
    else:
        hint = f"dpsql reads {' '.join(sorted(_OPERATORS))}."
    raise UnsupportedQuery("this is not an operator of dpsql.", construct=run, position=token.position, hint=hint)


def _strange(text: str, offset: int, starts: list[int]) -> UnsupportedQuery:
    position = _place(offset, starts)
    for pattern, construct, message, hint in _STRANGE:
        if pattern.match(text, offset):
            return UnsupportedQuery(message, construct=construct, position=position, hint=hint)
    return UnsupportedQuery(
        "dpsql does not read this character outside quotes.",
        construct=_shown(text[offset]),
        position=position,
        hint="Take it out, or quote the name or the string it belongs to.",
    )


def _refuse_invisible(text: str, starts: list[int]) -> None:
    """Refuse what a reader cannot see: controls, formats, surrogates, every separator but the plain space."""
    for offset, character in enumerate(text):
        if character in " \t\r\n" or (" " < character < "\x7f"):
            continue
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"):
            raise UnsupportedQuery(
                "the text holds a character that cannot be seen.",
                construct=_shown(character),
                position=_place(offset, starts),
                hint="Take it out; if it belongs to a value, pass the value as a parameter.",
            )


def _shown(character: str) -> str:
    """The character for a message: its code point unless it is harmless on every screen."""
    return f"'{character}'" if "!" <= character <= "~" else f"character U+{ord(character):04X}"


def _place(offset: int, starts: list[int]) -> tuple[int, int]:
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1
