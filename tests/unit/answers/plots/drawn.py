"""Answers to draw, made by hand: columns with their roles, rows, and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.answers.shown.screen import Ends
from dpsql.plan.over_answers.roles import ColumnRole
from dpsql.plan.types import Type
from dpsql.privacy.loss import PrivacyLoss

__all__ = ["COORDINATE", "COVARIANCE", "DAYS", "DEPARTMENTS", "KEY", "VALUE", "answer_of"]

KEY, VALUE, COORDINATE, COVARIANCE = ColumnRole.KEY, ColumnRole.VALUE, ColumnRole.COORDINATE, ColumnRole.COVARIANCE
DAYS = [date(2024, 1, day) for day in range(1, 32)]


def answer_of(
    columns: Sequence[tuple[str, Type, ColumnRole]],
    rows: list[tuple[Any, ...]],
    half: float = 2.0,
    *,
    ends: dict[int, list[Ends]] | None = None,
    private: bool = True,
) -> Answer:
    """An answer whose noised columns have intervals of the same half width; other levels than 95% scale it.

    Args:
        columns: Name, type and role of each.
        rows: Of values.
        half: Half the width of a 95% interval, in the column's unit.
        ends: The intervals of columns that have others.
        private: Whether its noise was real.
    """
    names, types, roles = (tuple(part) for part in zip(*columns, strict=True))

    def intervals(column: int, level: float) -> list[Ends]:
        if ends and column in ends:
            return ends[column]
        if not roles[column].barred:
            return []
        reach = half * level / 0.95
        values = [row[column] for row in rows]
        return [(None, None) if value is None else (value - reach, value + reach) for value in values]

    loss = PrivacyLoss(epsilon=0.5)
    return Answer(names, types, rows, loss, (), False, private, 0.95, intervals, (), (), roles)


DEPARTMENTS = answer_of(
    [("department", Type.TEXT, KEY), ("n", Type.INTEGER, VALUE)],
    [
        ("surgery", 40),
        ("a department with a very long name indeed", -3),
        (None, 7),
        ("$x$ <script>", None),
        ("beyond", 9),
    ],
    ends={1: [(35, 45), (-8, 2), (-math.inf, 9), (None, None), (-1e9, 1e9)]},
    private=False,
)
