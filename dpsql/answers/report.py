"""``COUNT(*, report_format => 'JSON')``: a value with its interval as one JSON text, as GoogleSQL writes it.

    {"result": {"value": 1500, "noise_confidence_interval":
        {"lower_bound": -6, "upper_bound": 6, "confidence_level": 0.95}}}

As there, the interval of a count or a sum is that of the noise in it, and any other that of the answer without noise.

Tests: tests/unit/answers/test_report.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.answers.screen import Ends
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.nodes import Column
from dpsql.plan.plans import Output, Plan, shown

__all__ = ["with_reports"]


def with_reports(plan: Plan, answer: Answer) -> Answer:
    """The answer with the columns that are asked for as reports written as such; these have no intervals beside them.

    Args:
        plan: The statement.
        answer: Its answer, of plain values and lists.
    """
    asked = {place: plan.answer[own.places[0]] for place, own in enumerate(shown(plan.answer))}
    reports, intervals = {place: own for place, own in asked.items() if own.report}, answer._intervals
    if not reports:
        return answer
    columns = [[row[place] for row in answer.rows] for place in asked]
    for place, output in reports.items():
        ends = answer.ends(place) or [(None, None)] * len(answer.rows)
        columns[place] = _texts(columns[place], ends, answer.confidence, of_noise=_is_sum(plan, output))
    rows = list(zip(*columns, strict=True))
    return replace(answer, rows=rows, _intervals=lambda at, level: [] if at in reports else intervals(at, level))


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
