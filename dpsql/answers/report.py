"""``COUNT(*, report_format => 'JSON')``: a value with its interval as one JSON text, as GoogleSQL writes it.

    {"result": {"value": 1500, "noise_confidence_interval":
        {"lower_bound": -6, "upper_bound": 6, "confidence_level": 0.95}}}

As there, the interval of a count or a sum is that of the noise in it, and any other that of the answer without noise.

Tests: tests/unit/answers/test_report.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from dpsql.answers.screen import Ends
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.nodes import Column
from dpsql.plan.plans import Output, Plan

__all__ = ["with_reports"]


def with_reports(
    plan: Plan, rows: list[tuple[Any, ...]], intervals: Callable[[int], list[Ends]], confidence: float
) -> list[tuple[Any, ...]]:
    """The answer's rows, with the columns that are asked for as reports written as such.

    Args:
        plan: The statement.
        rows: Its rows, of plain values.
        intervals: The intervals of a column, counted from 0: one a row, or none.
        confidence: Their level.
    """
    reports = [place for place, output in enumerate(plan.answer) if output.report]
    if not reports or not rows:
        return rows
    columns = [list(column) for column in zip(*rows, strict=True)]
    for place in reports:
        ends = intervals(place) or [(None, None)] * len(rows)
        columns[place] = _texts(columns[place], ends, confidence, of_noise=_is_sum(plan, plan.answer[place]))
    return list(zip(*columns, strict=True))


def _texts(values: Sequence[Any], ends: Sequence[Ends], confidence: float, *, of_noise: bool) -> list[str]:
    return [_text(value, own, confidence, of_noise=of_noise) for value, own in zip(values, ends, strict=True)]


def _text(value: Any, ends: Ends, confidence: float, *, of_noise: bool) -> str:
    low, high = ends
    if of_noise and value is not None:
        low, high = None if high is None else value - high, None if low is None else value - low
    interval = {"lower_bound": low, "upper_bound": high, "confidence_level": confidence}
    return json.dumps({"result": {"value": value, "noise_confidence_interval": interval}}, default=str)


def _is_sum(plan: Plan, output: Output) -> bool:
    """Whether a column is a count or a sum as it was released."""
    functions = {aggregate.name: FUNCTIONS[aggregate.function].kind for aggregate in plan.aggregates}
    bare = output.expression
    return isinstance(bare, Column) and functions.get(bare.name) in (Kind.COUNT, Kind.SUM)
