"""Which patterns are sound: regular expressions of a subset that RE2 compiles, LIKE patterns, replacements.

A pattern that the engine cannot compile would fail while the statement runs. So a pattern is a constant, and it is
read here first, by a grammar narrower than RE2's: no look-around, no back-references, no Unicode classes, counted
repetitions up to 100 in all.

And one that is slow would fail for the rows that meet it. RE2 follows all places of a pattern at once, repetitions
written out. It remembers which places follow which, and takes a few ns a letter then; where there are too many sets of
places to remember, it takes 120 ns for each place and letter (measured, with random texts of two letters). So a pattern
has at most 200 places, and a price by them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = [
    "NS_A_LETTER",
    "check_escape",
    "check_like",
    "check_pattern",
    "check_replacement",
    "ends_plainly",
    "groups_of",
    "ns_of_like",
    "ns_of_pattern",
]

LONGEST = 200  # Characters of a pattern. It is a choice between what can be asked and the engine's time.
MOST_REPEATS = 100  # Repetitions of one part, nested ones multiplied. It is a choice: RE2 gives up at 1,000.
MOST_PLACES = 200  # Of a whole pattern, repetitions written out. It is a choice: as many as the longest has without.
REMEMBERED = 11  # Places of which each set is remembered: 2^11 sets (measured: from 2^12 on it takes longer).
NS_REMEMBERED, NS_FOLLOWED, NS_MATCHED = 20, 120, 600
"""Nanoseconds of a letter where sets are remembered, of a letter and place where not, and of a match that is replaced
(measured)."""
NS_A_LETTER = 10  # Of a letter that is read and written in its place (measured: 5 to 15).
NS_SKIPPED = 10  # Of a letter and sign of a LIKE pattern that tries each place anew (measured: up to 10).

# Texts, which `re` compiles when they are first used: the two classes take 4 ms, of every start.
_ESCAPE = r"\\(?:[dDsSwWbBAztnrfv]|[^A-Za-z0-9\x80-\U0010ffff])"
_CLASS_ESCAPE = r"\\(?:[dDsSwWtnrfv]|[^A-Za-z0-9\x80-\U0010ffff])"
_COUNT = r"\{(\d{1,3})(?:(,)(\d{0,3}))?\}"
_GROUP = r"\((?:\?:|\?[ims]+:|\?P<[A-Za-z][A-Za-z0-9]*>|(?!\?))"
_FLAGS = r"\(\?[ims]+\)"


class _Unsound(Exception):  # noqa: N818 - it ends a reading, and never leaves this module
    """What is wrong with a pattern."""


@dataclass(frozen=True, slots=True)
class _Size:
    """How large a part of a pattern is.

    Attributes:
        repeats: The largest product of the counts inside.
        plain: Places that one character leads to.
        wide: Places that several characters lead to, or that are there again and again: any set of these may be met.
        endless: Whether a match of it may be of any length.
    """

    repeats: int = 1
    plain: int = 0
    wide: int = 0
    endless: bool = False

    @property
    def places(self) -> int:
        return self.plain + self.wide

    def beside(self, other: _Size) -> _Size:
        """Both of them, one after the other or one instead of the other."""
        repeats, endless = max(self.repeats, other.repeats), self.endless or other.endless
        return _Size(repeats, self.plain + other.plain, self.wide + other.wide, endless)

    def repeated(self, times: int, *, endless: bool) -> _Size:
        """It, so often at most."""
        return _Size(self.repeats * times, 0, self.places * times, self.endless or endless)


class _Reader:
    """Goes through a pattern once; counts its groups, and says whether it has alternatives or repeats a group."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.groups, self.branches = text, 0, 0, False

    def read(self) -> _Size:
        """The whole pattern."""
        size = self._alternatives(0)
        if self.at < len(self.text):
            raise _Unsound("closes a parenthesis that is not open")
        if size.places > MOST_PLACES:
            raise _Unsound(f"comes to {size.places} characters once its repetitions are written out; at most "
                           f"{MOST_PLACES} are possible. Repeat shorter parts, less often")  # fmt: skip
        return size

    def _alternatives(self, depth: int) -> _Size:
        if depth > 20:
            raise _Unsound("nests too deeply")
        size = _Size()
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] == "|":
                self.at += 1
                self.branches = True
                continue
            flags = re.compile(_FLAGS).match(self.text, self.at)
            if flags:
                self.at = flags.end()
                continue
            group, part, before = self.text[self.at] == "(", self._part(depth), self.at
            times, endless = self._repeats()
            if self.at > before:
                part = part.repeated(times, endless=endless)
                self.branches |= group
            if part.repeats > MOST_REPEATS:
                raise _Unsound(f"repeats a part more than {MOST_REPEATS} times")
            size = size.beside(part)
        return size

    def _part(self, depth: int) -> _Size:
        """One character, class or group."""
        sign = self.text[self.at]
        if sign == "(":
            return self._group(depth)
        if sign == "[":
            self._class()
            return _Size(wide=1)
        if sign == "\\":
            escape = self._escape(_ESCAPE)[1]
            return _Size(wide=1) if escape in "dDsSwW" else _Size(plain=1)
        if sign in "*+?{}]":
            raise _Unsound(f"has a {sign} without anything before it; write \\{sign} for the character itself")
        self.at += 1
        return _Size(wide=1) if sign == "." else _Size(plain=1)

    def _group(self, depth: int) -> _Size:
        opening = re.compile(_GROUP).match(self.text, self.at)
        if opening is None:
            raise _Unsound("has a kind of group that is not supported; (...) and (?:...) are")
        self.groups += opening[0] == "(" or opening[0].startswith("(?P")
        self.at = opening.end()
        size = self._alternatives(depth + 1)
        if self.text[self.at : self.at + 1] != ")":
            raise _Unsound("leaves a parenthesis open")
        self.at += 1
        return size

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

    def _repeats(self) -> tuple[int, bool]:
        """How often what was read is written out, 1 for * + and ?; and whether it may stand any number of times."""
        sign = self.text[self.at : self.at + 1]
        counts, times, endless = re.compile(_COUNT).match(self.text, self.at), 1, sign in tuple("*+")
        if counts:
            low, high = int(counts[1]), int(counts[3] or counts[1])
            if high < low:
                raise _Unsound("has a repetition whose ends are swapped")
            times, self.at, endless = max(low, high, 1), counts.end(), counts[2] is not None and not counts[3]
        elif sign in ("*", "+", "?") and sign:
            self.at += 1
        else:
            return 1, False
        if self.text[self.at : self.at + 1] == "?":
            self.at += 1
        if self.text[self.at : self.at + 1] in tuple("*+?{"):
            raise _Unsound("repeats a repetition; put it in (?:...)")
        return times, endless


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


def ns_of_pattern(pattern: str, letters: int, *, everywhere: bool = False) -> int:
    """Nanoseconds to look for a sound pattern in a text, at most.

    Args:
        pattern: The pattern.
        letters: Of the text.
        everywhere: Whether each match is replaced. Then letters that do not belong to it may have been read, and are
            read again: none where a match goes on as long as the pattern does, as many as the pattern has places where
            it does not, and all where its match may be of any length, too.

    >>> [ns_of_pattern(pattern, 1) for pattern in ("[a-z]+@[a-z]+", "(x?y?){90}z")]
    [20, 21720]
    >>> [ns_of_pattern(pattern, 1000, everywhere=True) // 1000 for pattern in ("[^a-z]+", "ab|a", "a+b|a")]
    [620, 660, 20600]
    """
    reader = _Reader(pattern)
    size = reader.read()
    sets = max(0, size.wide + size.plain.bit_length() - REMEMBERED)
    each = min(NS_REMEMBERED << min(sets, 30), max(NS_REMEMBERED, NS_FOLLOWED * size.places))
    if not everywhere:
        return letters * each
    again = 1 if not reader.branches else letters if size.endless else size.places
    return letters * (NS_MATCHED + each * again)


def ns_of_like(pattern: str, letters: int, *, anew: bool = True) -> int:
    """Nanoseconds to compare a text with a LIKE pattern, at most: what stands behind a % is tried from each letter.

    Args:
        pattern: The pattern.
        letters: Of the text.
        anew: Whether that is so of any pattern; else of one with a _ alone, and others are searched for at once.

    >>> ns_of_like("%abc%", 100), ns_of_like("abc%", 100), ns_of_like("%abc%", 100, anew=False)
    (4000, 1000, 1000)
    >>> ns_of_like("%a_c%", 100, anew=False)
    4000
    """
    behind = pattern.partition("%")[2]
    return letters * max(NS_A_LETTER, NS_SKIPPED * len(behind) if anew or "_" in pattern else 0)


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
