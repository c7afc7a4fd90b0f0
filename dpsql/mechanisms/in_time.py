"""How long a release takes in the proxy's own process, where no deadline ends it: bounded before the charge.

A release that was charged has to end. So it is refused, uncharged, where public figures say that it would take longer
than the policy lets a statement run: the groups that are listed, and the rows as the policy guesses them.

Tests: tests/unit/mechanisms/test_in_time.py.
"""

from __future__ import annotations

from dpsql.mechanisms.base import Request
from dpsql.plan.known.guesses import OPEN_GROUPS

__all__ = ["too_long"]


def too_long(request: Request, each_group: float) -> str | None:
    """Why a release would take too long, in a sentence; None where it does not.

    Args:
        request: What is asked.
        each_group: Seconds that it takes for a group of as many rows as are guessed.
    """
    every_key_listed = request.listed is not None or all(key.domain is not None for key in request.source.keys)
    groups = request.cells if every_key_listed else max(OPEN_GROUPS, request.cells)
    seconds = groups * each_group
    if seconds <= request.deadline:
        return None
    return (
        f"it would take about {seconds:,.0f} s for {groups:,} groups of {request.rows_read:,} rows (rows_about), and a "
        f"statement has {request.deadline:g} s (deadline); ask for fewer groups, or of fewer rows."
    )
