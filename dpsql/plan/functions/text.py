"""Functions of text. Patterns are constants; no text becomes much longer than the texts it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dpsql.plan.functions.patterns import (
    check_escape,
    check_like,
    check_pattern,
    check_replacement,
    ends_plainly,
    groups_of,
    ns_of_like,
    ns_of_pattern,
)
from dpsql.plan.functions.rules import constantly
from dpsql.plan.functions.table import BOOLEAN, INTEGER, TEXT, Function, Length, Nulls, Work, within
from dpsql.plan.types import Value

__all__ = ["LETTER_BY_LETTER", "TEXTS"]

LONGEST = 2**32  # In bytes, and so in characters: what DuckDB can hold in one text.
SLOW = 60  # Nanoseconds of a letter that is taken by itself (measured: up to 50).
SLOWEST = {"reverse": 100, "length_grapheme": 100, "strip_accents": 200}  # The same, of what looks it up (measured).
NS_A_SIGN = 20  # Of a letter and a sign that it may be; PostgreSQL goes through them (measured: up to 18).
COMPARED = 32  # Letters that are compared in a nanosecond (measured: 25 ns a place with 500 letters to be found there).
NS_COMPARED = 5  # Of two letters of four bytes that PostgreSQL compares, byte by byte (measured: up to 4.3).
FAR = 10**6  # Characters of a position: one further out says nothing. It is a choice.

Lengths = Sequence[Length]
Values = Sequence[Value]


def _joined(lengths: Lengths, _: Values) -> Length:
    return sum(times for times, _ in lengths), sum(plus for _, plus in lengths)


def _separated(lengths: Lengths, _: Values) -> Length:
    times, plus = _joined(lengths[1:], ())
    return times + len(lengths) * lengths[0][0], plus + len(lengths) * lengths[0][1]


def _replaced(lengths: Lengths, values: Values) -> Length:
    growth = max(1, -(-len(str(values[2])) // max(1, len(str(values[1])))))
    return lengths[0][0] * growth, lengths[0][1] * growth


def _rewritten(lengths: Lengths, values: Values) -> Length:
    """A replacement may stand between any two characters, and each group in it may be the whole text; it stands once
    where not all matches are replaced.
    """
    (times, plus), written, groups = lengths[0], len(str(values[2])), str(values[2]).count("\\")
    if not _everywhere(values):
        return times * (1 + groups), plus * (1 + groups) + written
    growth = 1 + written + groups
    return times * growth, (plus + 1) * growth


def _everywhere(values: Values) -> bool:
    """Whether all matches of a pattern are replaced."""
    return "g" in str(values[3:])


def _each(nanoseconds: int) -> Work:
    return lambda letters, _: nanoseconds * letters[0]


def _looked_up(letters: Sequence[int], values: Values) -> int:
    """Each letter is looked for among the signs of a constant."""
    return letters[0] * (SLOW + NS_A_SIGN * len(str(values[1])))


def _found(letters: Sequence[int], _: Values) -> int:
    """A text may nearly be found at each letter."""
    return letters[0] * (SLOW + letters[1] // COMPARED)


def _tried(letters: Sequence[int], _: Values) -> int:
    """The same where a text is compared letter by letter, from each place that it fits behind."""
    text, part = letters[0], min(letters[1], (letters[0] + 1) // 2)  # of longer ones fewer places are tried
    return text * SLOW + NS_COMPARED * (text - part) * part


def _liked(nanoseconds: int, *, anew: bool = True) -> Work:
    return lambda letters, values: nanoseconds * letters[0] + ns_of_like(str(values[1]), letters[0], anew=anew)


def _matched(letters: Sequence[int], values: Values) -> int:
    return ns_of_pattern(str(values[1]), letters[0])


def _replaced_matches(letters: Sequence[int], values: Values) -> int:
    return ns_of_pattern(str(values[1]), letters[0], everywhere=_everywhere(values))


def _padded(lengths: Lengths, values: Values) -> Length:
    return lengths[0][0], lengths[0][1] + int(str(values[1]))


def _positions(*which: int) -> Callable[..., bool]:
    return lambda *ranges: all(ranges[index].within(FAR) for index in which)


def _forms() -> Iterator[Function]:
    for name in ("upper", "ucase", "lower", "lcase", "reverse", "strip_accents"):
        yield Function(name, (TEXT,), TEXT, f"{name}({{0}})", work=_each(SLOWEST.get(name, SLOW)))
    for name in ("trim", "ltrim", "rtrim"):
        yield Function(name, (TEXT,), TEXT, f"{name}({{0}})", work=_each(SLOW))
        yield Function(name, (TEXT, TEXT), TEXT, f"{name}({{0}}, {{1}})", constants={1: _short}, work=_looked_up)
    for name in ("left", "right"):
        yield Function(name, (TEXT, INTEGER), TEXT, f"{name}({{0}}, {{1}})", needs=_positions(1))
    for name in ("substr", "substring"):
        yield Function(name, (TEXT, INTEGER), TEXT, f"{name}({{0}}, {{1}})", needs=_positions(1))
        yield Function(name, (TEXT, INTEGER, INTEGER), TEXT, f"{name}({{0}}, {{1}}, {{2}})", needs=_positions(1, 2))
    for name in ("lpad", "rpad"):
        yield Function(
            name, (TEXT, INTEGER, TEXT), TEXT, f"{name}({{0}}, {{1}}, {{2}})",
            constants={1: within(0, 1000), 2: _filling}, length=_padded,
        )  # fmt: skip
    yield Function(
        "replace", (TEXT, TEXT, TEXT), TEXT, "replace({0}, {1}, {2})", constants={1: _short, 2: _short},
        length=_replaced, work=_found,
    )  # fmt: skip
    yield Function(
        "translate", (TEXT, TEXT, TEXT), TEXT, "translate({0}, {1}, {2})", constants={1: _short, 2: _short},
        work=_looked_up,
    )  # fmt: skip
    yield Function(
        "split_part", (TEXT, TEXT, INTEGER), TEXT, "split_part({0}, {1}, {2})",
        constants={1: _short, 2: within(-1000, 1000)}, work=_found,
    )  # fmt: skip
    yield Function("||", (TEXT, TEXT), TEXT, "({0} || {1})", written="({0} || {1})", length=_joined, texts=True)
    yield Function(
        "concat", (TEXT,), TEXT, "concat({*})", variadic=True, length=_joined, nulls=Nulls.NEVER, texts=True
    )  # fmt: skip
    yield Function(
        "concat_ws", (TEXT, TEXT), TEXT, "concat_ws({*})", variadic=True, constants={0: _short}, length=_separated,
        nulls=Nulls.NEVER, texts=True,
    )  # fmt: skip
    yield Function(
        "chr", (INTEGER,), TEXT, "chr({0})", length=lambda *_: (0, 1),
        needs=lambda code: code.within(55_295) and code.low >= 1,
    )  # fmt: skip


def _short(value: Any) -> str | None:
    return None if len(value) <= 100 else "must be a text of at most 100 characters"


def _filling(value: Any) -> str | None:
    return None if 1 <= len(value) <= 100 else "must be a text of 1 to 100 characters"


def _measures() -> Iterator[Function]:
    for name in ("length", "len", "char_length", "character_length", "strlen", "bit_length", "length_grapheme"):
        most = 8 * LONGEST if name == "bit_length" else LONGEST
        yield Function(
            name, (TEXT,), INTEGER, f"{name}({{0}})", interval=constantly(0, most),
            work=_each(SLOWEST[name]) if name in SLOWEST else None,
        )  # fmt: skip
    for name in ("ascii", "unicode", "ord"):
        yield Function(
            name, (TEXT,), INTEGER, f"{name}({{0}})", interval=constantly(-1, 0x10FFFF)
        )  # fmt: skip
    for name in ("strpos", "instr", "position"):
        called, written = (name, "") if name != "position" else ("strpos", "position({1} IN {0})")
        yield Function(
            name, (TEXT, TEXT), INTEGER, f"{called}({{0}}, {{1}})", written=written,
            interval=constantly(0, LONGEST), work=_found,
        )  # fmt: skip


def _matches() -> Iterator[Function]:
    for name in ("like", "ilike"):
        word = name.upper()
        yield Function(
            name,
            (TEXT, TEXT),
            BOOLEAN,
            f"{name}({{0}}, {{1}})",
            written=f"({{0}} {word} {{1}})",
            constants={1: check_like},
            work=_liked(SLOW) if name == "ilike" else _liked(0, anew=False),
        )
    for name in ("like_escape", "ilike_escape", "not_like_escape", "not_ilike_escape"):
        yield Function(
            name, (TEXT, TEXT, TEXT), BOOLEAN, f"{name}({{0}}, {{1}}, {{2}})",
            constants={1: check_like, 2: check_escape}, needs=lambda _, pattern, escape: ends_plainly(pattern, escape),
            work=_liked(SLOW),
        )  # fmt: skip
    yield Function("contains", (TEXT, TEXT), BOOLEAN, "contains({0}, {1})", work=_found)
    for name in ("starts_with", "prefix", "ends_with", "suffix"):
        yield Function(name, (TEXT, TEXT), BOOLEAN, f"{name}({{0}}, {{1}})")
    for name in ("regexp_matches", "regexp_full_match"):
        yield Function(
            name, (TEXT, TEXT), BOOLEAN, f"{name}({{0}}, {{1}})", constants={1: check_pattern}, work=_matched
        )
        yield Function(
            name, (TEXT, TEXT, TEXT), BOOLEAN, f"{name}({{0}}, {{1}}, {{2}})", constants={1: check_pattern, 2: FLAGS},
            work=_matched,
        )  # fmt: skip
    yield Function(
        "regexp_extract", (TEXT, TEXT), TEXT, "regexp_extract({0}, {1})", constants={1: check_pattern}, work=_matched
    )  # fmt: skip
    yield Function(
        "regexp_extract", (TEXT, TEXT, INTEGER), TEXT, "regexp_extract({0}, {1}, {2})",
        constants={1: check_pattern, 2: within(0, 9)}, work=_matched,
    )  # fmt: skip
    for flags in ("", ", {3}"):
        yield Function(
            "regexp_replace", (TEXT,) * (4 if flags else 3), TEXT, f"regexp_replace({{0}}, {{1}}, {{2}}{flags})",
            constants={1: check_pattern, 2: check_replacement, **({3: (*FLAGS, "g", "gi")} if flags else {})},
            needs=lambda _, pattern, replacement, *__: _knows_groups(pattern, replacement), length=_rewritten,
            work=_replaced_matches,
        )  # fmt: skip


FLAGS = ("i", "c", "s", "is")


def _knows_groups(pattern: Any, replacement: Any) -> bool:
    """Whether every group that the replacement names is in the pattern."""
    named = [int(digit) for digit in replacement.replace("\\\\", "").split("\\")[1:] for digit in digit[:1]]
    return max(named, default=0) <= groups_of(pattern)


LETTER_BY_LETTER: Mapping[str, Work] = {
    **dict.fromkeys(("strpos", "instr", "position", "contains", "replace", "split_part"), _tried),
    "like": _liked(0),
}
"""What functions take that look for a text letter by letter, where DuckDB searches for it at once: half of 100,000
letters in these take PostgreSQL ten seconds, and DuckDB three milliseconds (measured)."""

TEXTS: tuple[Function, ...] = (*_forms(), *_measures(), *_matches())
