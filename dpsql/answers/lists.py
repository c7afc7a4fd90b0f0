"""Columns whose values are lists: the elements of a list are released side by side, and leave as one value.

The interval of a list has a list at either end: that of each of its elements, at the answer's own confidence.

Tests: tests/unit/answers/test_lists.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.answers.shown.screen import Ends
from dpsql.plan.plans import Output, ShownColumn, shown

__all__ = ["gathered", "side_by_side"]


def gathered(answer: Answer, outputs: Sequence[Output]) -> Answer:
    """The answer whose lists are one column each.

    Args:
        answer: With a column for each element.
        outputs: What its columns are.
    """
    columns, intervals = shown(outputs), answer._intervals

    def of(column: int, level: float) -> list[Ends]:
        own = columns[column]
        return (
            _ends([intervals(place, level) for place in own.places]) if own.listed else intervals(own.places[0], level)
        )

    if not any(own.listed for own in columns):
        return answer
    return replace(
        answer,
        columns=tuple(own.name for own in columns),
        types=tuple(own.type for own in columns),
        rows=[tuple(_value(row, own) for own in columns) for row in answer.rows],
        _intervals=of,
        _roles=tuple(answer.roles[own.places[0]] for own in columns),
    )


def side_by_side(answer: Answer, outputs: Sequence[Output]) -> Answer:
    """The answer with a column for each element of its lists.

    Args:
        answer: As it leaves.
        outputs: What its columns are made of; no list is a report.
    """
    columns = shown(outputs)
    if not any(own.listed for own in columns):
        return answer
    held = [(column, place) for column, own in enumerate(columns) for place in range(len(own.places))]

    def of(output: int, level: float) -> list[Ends]:
        column, place = held[output]
        ends = answer._intervals(column, level)
        return [(low[place], high[place]) for low, high in ends] if columns[column].listed else ends

    return replace(
        answer,
        columns=tuple(output.name for output in outputs),
        types=tuple(output.type for output in outputs),
        rows=[tuple(row[c][place] if columns[c].listed else row[c] for c, place in held) for row in answer.rows],
        _intervals=of,
        _roles=tuple(answer.roles[column] for column, _ in held),
    )


def _value(row: tuple[Any, ...], column: ShownColumn) -> Any:
    values = [row[place] for place in column.places]
    return values if column.listed else values[0]


def _ends(elements: Sequence[Sequence[Ends]]) -> list[Ends]:
    """The intervals of a list's elements as one for each row; none where no element has one."""
    rows = max(map(len, elements))
    known = [own or [(None, None)] * rows for own in elements]
    return [([low for low, _ in row], [high for _, high in row]) for row in zip(*known, strict=True)]
