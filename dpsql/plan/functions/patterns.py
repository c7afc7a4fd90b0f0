"""Which patterns are sound: regular expressions of a subset that RE2 compiles, LIKE patterns, replacements.

A pattern that the engine cannot compile would fail while the statement runs. So a pattern is a constant, and it is
read here first, by a grammar narrower than RE2's: no look-around, no back-references, no Unicode classes, counted
repetitions up to 100 in all.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["check_escape", "check_like", "check_pattern", "check_replacement", "ends_plainly", "groups_of"]

LONGEST = 200  # Characters of a pattern. It is a choice between what can be asked and the engine's time.
MOST_REPEATS = 100  # Repetitions of one part, nested ones multiplied. It is a choice: RE2 gives up at 1,000.

# Texts, which `re` compiles when they are first used: the two classes take 4 ms, of every start.
_ESCAPE = r"\\(?:[dDsSwWbBAztnrfv]|[^A-Za-z0-9\x80-\U0010ffff])"
_CLASS_ESCAPE = r"\\(?:[dDsSwWtnrfv]|[^A-Za-z0-9\x80-\U0010ffff])"
_COUNT = r"\{(\d{1,3})(?:(,)(\d{0,3}))?\}"
_GROUP = r"\((?:\?:|\?[ims]+:|\?P<[A-Za-z][A-Za-z0-9]*>|(?!\?))"
_FLAGS = r"\(\?[ims]+\)"


class _Unsound(Exception):  # noqa: N818 - it ends a reading, and never leaves this module
    """What is wrong with a pattern."""


class _Reader:
    """Goes through a pattern once; counts its groups."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.groups = text, 0, 0

    def read(self) -> None:
        """The whole pattern."""
        self._alternatives(0)
        if self.at < len(self.text):
            raise _Unsound("closes a parenthesis that is not open")

    def _alternatives(self, depth: int) -> int:
        """Largest product of the counts inside."""
        if depth > 20:
            raise _Unsound("nests too deeply")
        most = 1
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] == "|":
                self.at += 1
                continue
            flags = re.compile(_FLAGS).match(self.text, self.at)
            if flags:
                self.at = flags.end()
                continue
            repeats = self._part(depth) * self._repeats()
            if repeats > MOST_REPEATS:
                raise _Unsound(f"repeats a part more than {MOST_REPEATS} times")
            most = max(most, repeats)
        return most

    def _part(self, depth: int) -> int:
        """One character, class or group."""
        sign = self.text[self.at]
        if sign == "(":
            return self._group(depth)
        if sign == "[":
            self._class()
        elif sign == "\\":
            self._escape(_ESCAPE)
        elif sign in "*+?{}]":
            raise _Unsound(f"has a {sign} without anything before it; write \\{sign} for the character itself")
        else:
            self.at += 1
        return 1

    def _group(self, depth: int) -> int:
        opening = re.compile(_GROUP).match(self.text, self.at)
        if opening is None:
            raise _Unsound("has a kind of group that is not supported; (...) and (?:...) are")
        self.groups += opening[0] == "(" or opening[0].startswith("(?P")
        self.at = opening.end()
        most = self._alternatives(depth + 1)
        if self.text[self.at : self.at + 1] != ")":
            raise _Unsound("leaves a parenthesis open")
        self.at += 1
        return most

    def _escape(self, grammar: str) -> str:
        escape = re.compile(grammar).match(self.text, self.at)
        if escape is None:
            raise _Unsound("has an escape that is not supported; \\d \\w \\s \\b and escaped signs are")
        self.at = escape.end()
        return escape[0]

    def _class(self) -> None:
        self.at += 1
        if self.text[self.at : self.at + 1] == "^":
            self.at += 1
        empty = True
        while self.text[self.at : self.at + 1] != "]" or empty:
            first = self._member()
            empty = False
            if self.text[self.at : self.at + 1] == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self._member()
                if first is None or last is None or last < first:
                    raise _Unsound("has a range of characters that is empty")
        self.at += 1

    def _member(self) -> str | None:
        """One character of a class; None for several, such as \\d."""
        sign = self.text[self.at : self.at + 1]
        if sign == "":
            raise _Unsound("leaves a [ open")
        if sign == "[" or (sign == "]"):
            raise _Unsound("has a bracket inside [...]; write it with a backslash")
        if sign == "\\":
            escape = self._escape(_CLASS_ESCAPE)[1]
            return None if escape.isalpha() else escape
        self.at += 1
        return sign

    def _repeats(self) -> int:
        """How often what was read may stand: 1 for * + and ?, which RE2 does not unroll."""
        sign = self.text[self.at : self.at + 1]
        counts, times = re.compile(_COUNT).match(self.text, self.at), 1
        if counts:
            low, high = int(counts[1]), int(counts[3] or counts[1])
            if high < low:
                raise _Unsound("has a repetition whose ends are swapped")
            times, self.at = max(low, high, 1), counts.end()
        elif sign in ("*", "+", "?") and sign:
            self.at += 1
        else:
            return 1
        if self.text[self.at : self.at + 1] == "?":
            self.at += 1
        if self.text[self.at : self.at + 1] in tuple("*+?{"):
            raise _Unsound("repeats a repetition; put it in (?:...)")
        return times


def check_pattern(pattern: Any) -> str | None:
    """What is wrong with a regular expression, or None.

    >>> check_pattern("^(a|b)+[0-9]{2,3}$"), check_pattern("a(")
    (None, 'leaves a parenthesis open')
    """
    if len(pattern) > LONGEST or "\x00" in pattern:
        return f"must be a pattern of at most {LONGEST} characters"
    try:
        _Reader(pattern).read()
    except _Unsound as unsound:
        return str(unsound)
    return None


def groups_of(pattern: str) -> int:
    """How many groups a sound pattern captures.

    >>> groups_of("(a)(?:b)(c)")
    2
    """
    reader = _Reader(pattern)
    reader.read()
    return reader.groups


def check_replacement(text: Any) -> str | None:
    r"""What is wrong with a replacement of regexp_replace, or None; ``\0`` to ``\9`` stand for groups.

    >>> check_replacement(r"[\1]"), check_replacement("\\q") is None
    (None, False)
    """
    if len(text) > LONGEST or not re.fullmatch(r"(?:[^\\]|\\[0-9\\])*", text, re.DOTALL):
        return "must be a text in which a backslash stands only before a digit or a backslash"
    return None


def check_like(pattern: Any) -> str | None:
    """What is wrong with a LIKE pattern, or None.

    >>> check_like("%ab_c%")
    """
    return None if len(pattern) <= LONGEST else f"must be a pattern of at most {LONGEST} characters"


def check_escape(text: Any) -> str | None:
    r"""What is wrong with the escape character of LIKE, or None.

    >>> check_escape("!"), check_escape("ab")
    (None, 'must be one character')
    """
    return None if len(text) == 1 and text.isascii() else "must be one character"


def ends_plainly(pattern: str, escape: str) -> bool:
    """Whether a LIKE pattern ends with something that its escape character does not wait for.

    >>> ends_plainly("50!%", "!"), ends_plainly("50!", "!"), ends_plainly("50!!", "!")
    (True, False, True)
    """
    return not pattern.replace(escape * 2, "").endswith(escape)
