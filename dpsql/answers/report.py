"""``COUNT(*, report_format => 'JSON')``: a value with its interval as one text, as GoogleSQL writes it.

    {"result": {"value": 1500, "noise_confidence_interval":
        {"lower_bound": -6, "upper_bound": 6, "confidence_level": 0.95}}}

``PROTO`` is its message DifferentialPrivacyOutputWithReport, in protobuf's text format:

    value { int_value: 1500 noise_confidence_interval { lower_bound: -6 upper_bound: 6 confidence_level: 0.95 } }

As there, the interval of a count or a sum is that of the noise in it, and any other that of the answer without noise.

Tests: tests/unit/answers/test_report.py.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import Answer
from dpsql.answers.shown.screen import Ends
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
        written = _as_proto if output.report == "PROTO" else _as_json
        noise = _is_sum(plan, output)
        columns[place] = [
            written(value, *_of_noise(value, own) if noise else own, answer.confidence)
            for value, own in zip(columns[place], ends, strict=True)
        ]
    rows = list(zip(*columns, strict=True))
    return replace(answer, rows=rows, _intervals=lambda at, level: [] if at in reports else intervals(at, level))


def _of_noise(value: Any, ends: Ends) -> Ends:
    """Between which numbers the noise of a value lies."""
    low, high = ends
    if value is None:
        return ends
    return None if high is None else value - high, None if low is None else value - low


def _as_json(value: Any, low: Any, high: Any, confidence: float) -> str:
    interval = {"lower_bound": low, "upper_bound": high, "confidence_level": confidence}
    return json.dumps({"result": {"value": value, "noise_confidence_interval": interval}}, default=str)


def _as_proto(value: Any, low: Any, high: Any, confidence: float) -> str:
    if not isinstance(value, list):
        return f"value {{{_message(value, low, high, confidence)} }}"
    lows, highs = (own if isinstance(own, list) else [own] * len(value) for own in (low, high))
    every = zip(value, lows, highs, strict=True)
    parts = (_message(own, least, most, confidence) for own, least, most in every)
    return f"values {{{''.join(f' values {{{part} }}' for part in parts)} }}"


def _message(value: Any, low: Any, high: Any, confidence: float) -> str:
    """DifferentialPrivacyOutputValue, of whose fields those are left out that have no value."""
    match value:
        case bool() | str() | None:
            field, text = "string_value", None if value is None else json.dumps(str(value))
        case int():
            field, text = "int_value", str(value)
        case _:
            field, text = "float_value", repr(float(value))
    numbers = {"lower_bound": low, "upper_bound": high, "confidence_level": confidence}
    known = "".join(f" {name}: {float(number)!r}" for name, number in numbers.items() if number is not None)
    return ("" if text is None else f" {field}: {text}") + f" noise_confidence_interval {{{known} }}"


def _is_sum(plan: Plan, output: Output) -> bool:
    """Whether a column is a count or a sum as it was released."""
    functions = {aggregate.name: FUNCTIONS[aggregate.function].kind for aggregate in plan.aggregates}
    bare = output.expression
    return isinstance(bare, Column) and functions.get(bare.name) in (Kind.COUNT, Kind.SUM)
