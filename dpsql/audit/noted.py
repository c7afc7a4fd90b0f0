"""What an answer's measurements say before there is any noise: the same, whatever was drawn and whoever is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.answers.answer import Measurement

__all__ = ["before_noise"]


OF_RELEASED = (
    "Expected to say next to nothing: ±",
    "at most ",
    "each unit counts with at most ",
    "rows of groups that have few ",
    "what the rows of one unit add ",
    "of each unit at most ",
    "all of a unit's ",
    "within this cap ",
)
"""How notes begin that follow from released numbers alone."""


def before_noise(measurements: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """The measurements without the one thing that follows from released numbers.

    Of what each note is goes with the notes. A guess of the policy's stands in them unless released numbers show
    otherwise. That these alone decide is shown by answers from the store, which have the same notes
    (tests/unit/mechanisms/test_foretold.py).
    """
    return tuple(
        replace(one, notes=tuple(filter(None, map(_without_guess, one.notes))), subjects=()) for one in measurements
    )


def _without_guess(note: str) -> str:
    if note.startswith(OF_RELEASED):
        return ""
    if note.startswith(("A group appears from about ", "A group is shown above ")):
        return note.partition(":")[0].rstrip(".")
    return note
