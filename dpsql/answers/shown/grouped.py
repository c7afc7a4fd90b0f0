"""Notes as people read them: those that are alike are one line, which names all that it is of.

The notes of an answer, and of a quote, stay as they are for programs.

Tests: tests/unit/answers/shown/test_noted.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["grouped"]

NAMED = 6
"""Of so many subjects a line gives the names, and counts the others. It is a choice: about a line of a screen."""
_OWN = re.compile(r"\([^()]*\)|-?\d[\d,.]*(?:e[+-]?\d+)?")
"""What alike notes may differ in: numbers, and what stands in brackets."""
_BETWEEN = re.compile(r", (?![^()]*\))")
"""Between two subjects; a comma within brackets is none."""


def grouped(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes, of which those that say the same of several subjects, but for numbers, are one.

    >>> grouped(["MIN(x): at most 3 rows lie out.", "Groups are discovered.", "MAX(x): at most 5 rows lie out."])
    ('MIN(x): at most 3 rows lie out. Likewise, each with its own numbers: MAX(x).', 'Groups are discovered.')
    """
    alike = dict[str, dict[str, list[str]]]()
    for note in dict.fromkeys(notes):
        subjects, colon, said = note.partition(": ")
        own = alike.setdefault(_OWN.sub("#", said) if colon else note, {})
        own.setdefault(said if colon else note, []).extend([subjects] if colon else [])
    return tuple(_line(own) for own in alike.values())


def _line(own: dict[str, list[str]]) -> str:
    """What is said first, and of what else it is said, of each text and its subjects."""
    (said, first), *others = own.items()
    told = f"{_names(first)}: {said}" if first else said
    if not others:
        return told
    return f"{told} Likewise, each with its own numbers: {_names([name for _, names in others for name in names])}."


def _names(notes: Sequence[str]) -> str:
    """The subjects of several notes, those of each together; the first few of many, and how many more there are.

    >>> _names(["a", "b, c"]), _names(["a, b, c", "d, e, f, g, h", "i"])
    ('a; b, c', 'a, b, c; d, e, f and 3 others')
    """
    each = [_BETWEEN.split(subjects) for subjects in notes]
    count, left = sum(map(len, each)), NAMED
    if count <= NAMED + 1:
        return "; ".join(notes)
    shown = list[str]()
    for own in each:
        shown += [", ".join(own[:left])] if left > 0 else []
        left -= len(own)
    return f"{'; '.join(shown)} and {count - NAMED} others"
