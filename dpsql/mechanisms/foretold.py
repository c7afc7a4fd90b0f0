"""What can be foretold of an answer before it is paid for: that it will be all hidden, all zeros, or say nothing.

It rests on the policy, the statement and the release's public facts alone; what it says of rows is as good as the
policy's guess (``rows_about``). Such a statement is answered, and says so in its quote and beside its answer; beside
the answer only where the released numbers do not show that the guess was wrong.
"""

from __future__ import annotations

import math

from dpsql.mechanisms.base import Offer, Request
from dpsql.mechanisms.stability import StabilityRelease
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.expressions import substituted
from dpsql.plan.narrowing import counts_nothing, is_never
from dpsql.plan.needs import Cells
from dpsql.plan.plans import Plan
from dpsql.plan.relations import private_scans, rows_said_by
from dpsql.privacy.tables import ReleasedTable

__all__ = ["foretold", "foretold_rows"]

MOSTLY = 0.9
"""As a share of the half width of its own bounds: an interval that wide says next to nothing. A guess."""


def foretold(request: Request, release: Offer, released: ReleasedTable | None = None) -> tuple[str, ...]:
    """What to expect, one sentence each; nothing where the answer should be of use.

    Args:
        request: What is asked.
        release: What answers it.
        released: What it released; None before that. A guess that these numbers show to be wrong is left out.
    """
    if isinstance(release.need, Cells) or request.top is not None:
        return ()  # what no row of the domain can add to is exactly 0, and its notes say so
    if counts_nothing(request.aggregate.argument, request.source.relation):
        return (
            "By the public bounds and values of its columns no row can meet its conditions: it will show nothing but "
            "noise, or no group at all.",
        )
    relation = request.source.relation
    rows, said = max((scan.table.rows_about for scan in private_scans(relation)), default=0), rows_said_by(relation)
    least = release.appears_from(released)
    if least is not None:
        rule = f"A group appears from about {least} units on"
        return (_above(rule, least, rows, "appear", said, released),)
    if isinstance(release, StabilityRelease):
        rule = f"A group is shown above {release.threshold}"
        return (_above(rule, release.threshold, rows, "be shown", said, released),)
    if any(key.domain is None for key in request.source.keys):
        return ()  # groups that appear hold more than the guess
    found = _wide(request, release.half_width)
    return () if found and released is not None and _of_use(request, release, released) else found


def foretold_rows(plan: Plan) -> tuple[str, ...]:
    """Why the answer will have no row at all, whatever is released; nothing where it may have some."""
    never = plan.having is not None and is_never(
        substituted(plan.having, {key.name: key.expression for key in plan.keys})
    )
    if plan.sets is None and any(key.domain == () for key in plan.keys):
        return ("By the conditions on its keys the answer will have no row.",)
    return ("By the public bounds and values of the keys no group can meet HAVING: no row will be shown.",) * never


def _above(rule: str, threshold: float, rows: int, verb: str, said: str, released: ReleasedTable | None) -> str:
    most = int(rows // max(1, threshold))
    if released is not None and sum(map(bool, released.values)) > most:
        return f"{rule}."
    if most == 0:
        return f"{rule}: more than the {rows} rows {said}, so none is expected to {verb}."
    return f"{rule}: of the {rows} rows {said} at most {most} groups could {verb}."


def _wide(request: Request, half_width: float) -> tuple[str, ...]:
    said = rows_said_by(request.source.relation)
    if FUNCTIONS[request.aggregate.function].kind is Kind.COUNT:
        if half_width < request.rows_about:
            return ()
        return (
            f"Expected to say next to nothing: ±{_number(half_width)}, where a group has about {request.rows_about} "
            f"rows by the number {said}.",
        )
    ends = _ends(request)
    if ends is None or half_width < MOSTLY * (ends[1] - ends[0]) / 2:
        return ()
    summed = FUNCTIONS[request.aggregate.function].kind is Kind.SUM
    of_sum = f" with {request.rows_about} rows in a group, by the number {said}" if summed else ""
    return (
        f"Expected to say next to nothing: ±{_number(half_width)}, where any answer lies between {_number(ends[0])} "
        f"and {_number(ends[1])}{of_sum}.",
    )


def _ends(request: Request) -> tuple[float, float] | None:
    """Between what numbers any answer lies, of a sum with as many rows as the policy guesses; None: not known."""
    grid = request.grid
    if grid is None or grid.low >= grid.high:
        return None
    low, high = float(grid.low * grid.step), float(grid.high * grid.step)
    match FUNCTIONS[request.aggregate.function].kind:
        case Kind.SUM:
            most = request.rows_about * max(abs(low), abs(high))
            return min(0.0, math.copysign(most, low)), max(0.0, math.copysign(most, high))
        case Kind.VARIANCE:
            return 0.0, (high - low) ** 2 / 4
        case Kind.DEVIATION:
            return 0.0, (high - low) / 2
        case Kind.CORRELATION:
            return -1.0, 1.0
        case Kind.PLACE:
            return low, high
    return None


def _of_use(request: Request, release: Offer, released: ReleasedTable) -> bool:
    """Whether at least half of the released values do say something, by their own 95% intervals.

    A total says something where it is not lost in its noise: it is farther from 0 than its interval is wide to one
    side. Anything else does where its interval is narrower than its bounds.
    """
    total, ends = FUNCTIONS[request.aggregate.function].kind in (Kind.COUNT, Kind.SUM), _ends(request)
    found = []
    for value, (low, high) in zip(released.values, release.intervals(released, 0.95), strict=True):
        if value is None or low is None or high is None:
            found.append(False)
        elif total:
            found.append((high - low) / 2 < abs(value))
        else:
            found.append(ends is not None and (high - low) < MOSTLY * (ends[1] - ends[0]))
    return bool(found) and 2 * sum(found) >= len(found)


def _number(x: float) -> str:
    return f"{float(f'{x:.3g}'):.10g}"
