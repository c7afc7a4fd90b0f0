"""What can be foretold of an answer before it is paid for: that it will be all hidden, all zeros, or say nothing.

It rests on the policy, the statement and the release's public facts alone; what it says of rows is as good as the
policy's guess (``rows_about``). Such a statement is answered, and says so in its quote and beside its answer.
"""

from __future__ import annotations

import math

from dpsql.mechanisms.base import Offer, Request
from dpsql.mechanisms.stability import StabilityRelease
from dpsql.mechanisms.threshold import ThresholdRelease
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.expressions import substituted
from dpsql.plan.narrowing import counts_nothing, is_never
from dpsql.plan.plans import Plan
from dpsql.plan.relations import private_scans

__all__ = ["foretold", "foretold_rows"]

MOSTLY = 0.9
"""As a share of the half width of its own bounds: an interval that wide says next to nothing. A guess."""


def foretold(request: Request, release: Offer) -> tuple[str, ...]:
    """What to expect, one sentence each; nothing where the answer should be of use."""
    if counts_nothing(request.aggregate.argument, request.source.relation):
        return (
            "By the public bounds and values of its columns no row can meet its conditions: it will show nothing but "
            "noise, or no group at all.",
        )
    rows = max((scan.table.rows_about for scan in private_scans(request.source.relation)), default=0)
    if isinstance(release, ThresholdRelease):
        return (_above(f"A group appears from about {release.threshold} units on", release.threshold, rows, "appear"),)
    if isinstance(release, StabilityRelease):
        return (_above(f"A group is shown above {release.threshold}", release.threshold, rows, "be shown"),)
    if release.mechanism == "metric" or any(key.domain is None for key in request.source.keys):
        return ()  # groups that appear hold more than the guess
    return _wide(request, release.half_width)


def foretold_rows(plan: Plan) -> tuple[str, ...]:
    """Why the answer will have no row at all, whatever is released; nothing where it may have some."""
    never = plan.having is not None and is_never(
        substituted(plan.having, {key.name: key.expression for key in plan.keys})
    )
    if plan.sets is None and any(key.domain == () for key in plan.keys):
        return ("By the conditions on its keys the answer will have no row.",)
    return ("By the public bounds and values of the keys no group can meet HAVING: no row will be shown.",) * never


def _above(rule: str, threshold: int, rows: int, verb: str) -> str:
    most = rows // max(1, threshold)
    if most == 0:
        return f"{rule}: more than the {rows} rows that the policy guesses (rows_about), so none is expected to {verb}."
    return f"{rule}: of the {rows} rows that the policy guesses (rows_about) at most {most} groups could {verb}."


def _wide(request: Request, half_width: float) -> tuple[str, ...]:
    kind, grid = FUNCTIONS[request.aggregate.function].kind, request.grid
    if kind is Kind.COUNT:
        if half_width < request.rows_about:
            return ()
        return (
            f"Expected to say next to nothing: ±{_number(half_width)}, where a group has about {request.rows_about} "
            "rows by the policy's guess (rows_about).",
        )
    if grid is None or grid.low >= grid.high:
        return ()
    low, high = float(grid.low * grid.step), float(grid.high * grid.step)
    if kind is Kind.SUM:
        most = request.rows_about * max(abs(low), abs(high))
        low, high = min(0.0, math.copysign(most, low)), max(0.0, math.copysign(most, high))
    elif kind is Kind.VARIANCE:
        low, high = 0.0, (high - low) ** 2 / 4
    elif kind is Kind.DEVIATION:
        low, high = 0.0, (high - low) / 2
    elif kind is Kind.CORRELATION:
        low, high = -1.0, 1.0
    elif kind is not Kind.PLACE:
        return ()
    if half_width < MOSTLY * (high - low) / 2:
        return ()
    of_sum = f" with the {request.rows_about} rows that the policy guesses in a group" if kind is Kind.SUM else ""
    return (
        f"Expected to say next to nothing: ±{_number(half_width)}, where any answer lies between {_number(low)} and "
        f"{_number(high)}{of_sum}.",
    )


def _number(x: float) -> str:
    return f"{float(f'{x:.3g}'):.10g}"
