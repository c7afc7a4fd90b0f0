"""A lower bound on a loss whose law is not at hand: some draws find the best event, the others bound it.

Every draw is some numbers: whatever the release let out. Events are {x >= c} and {x < c}, and {there is no value}. The
first quarter of the draws says which of them tells the two tables apart best. The others alone bound its chances
(Clopper-Pearson), so that no event has to be fixed beforehand: the two bounds hold with probability 1 - ``miss``.

Tests: tests/unit/audit/test_held_out.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date

import numpy as np
import numpy.typing as npt

from dpsql.audit.measured import at_least
from dpsql.audit.replay import RunPart
from dpsql.errors import InvariantBroken
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group

__all__ = ["Event", "best_event", "bound", "outcomes"]

Floats = npt.NDArray[np.float64]
Event = Callable[[Floats], npt.NDArray[np.bool_]]
"""Which of some draws, (n, k) numbers, it holds of."""

FIRST = 4
"""One draw of so many serves to find the event. It is a choice."""
CUTS = 33
"""So many places are tried for each number. It is a choice."""
WIDEST = 64
"""Most numbers of a draw that are looked at. It is a choice: made-up tables have few groups."""
DOUBT = 0.05
"""How sure the search is of the chances that it compares. It bears on which event is found, and on no bound."""


def outcomes(parts: Sequence[RunPart], others: Sequence[RunPart], size: int, sampler: Sampler) -> Floats:
    """(size, k) numbers that the releases let out when they are made again: NaN where there is no value.

    Args:
        parts: The releases.
        others: The same on a neighbour, which may have other groups: those of either have their place.
        size: How often.
        sampler: The source of noise.
    """
    both = [(part, sorted({*part.groups, *other.groups}, key=str)) for part, other in zip(parts, others, strict=True)]
    drawn = [[x for part, groups in both for x in _released(part, groups, sampler)][:WIDEST] for _ in range(size)]
    return np.array(drawn, dtype=np.float64).reshape(size, -1)


def _released(part: RunPart, groups: Sequence[Group], sampler: Sampler) -> Iterator[float]:
    if part.again is None:
        raise InvariantBroken("this release cannot be made again")
    released = part.again(sampler)
    kept = part.release.selected(released) if part.selects else range(len(part.groups))  # the others never leave
    for values in released.columns.values():
        if len(values) == len(part.groups):
            own = {part.groups[row]: values[row] for row in kept}
            yield from (_number(own.get(group)) for group in groups)
        else:
            yield from map(_number, values)


def _number(value: object) -> float:
    """A released value as a number: texts by an order of their own, days by theirs."""
    match value:
        case None:
            return math.nan
        case str():
            return float(int.from_bytes(value.encode()[:6].ljust(6, b"\0"), "big"))
        case date():
            return float(value.toordinal())
    return float(value)  # type: ignore[arg-type]  # all other values are numbers


def best_event(first: Floats, second: Floats, delta: float) -> tuple[float, Event]:
    """The event that tells the two sides apart best, by these draws alone, and the loss that it seems to show."""
    best: tuple[float, Event] = (-math.inf, lambda drawn: np.ones(len(drawn), dtype=np.bool_))
    for event in _events(np.concatenate([first, second])):
        hits = np.array([event(side).sum() for side in (first, second)])
        for more, less in ((hits, hits[::-1]), (len(first) - hits, len(first) - hits[::-1])):
            seen = at_least(int(more[0]), int(less[0]), len(first), delta, DOUBT)
            if seen > best[0]:
                best = seen, event if more is hits else _not(event)
    return best


def _not(event: Event) -> Event:
    return lambda drawn: ~event(drawn)


def _events(drawn: Floats) -> Iterator[Event]:
    for column in range(drawn.shape[1]):
        values = drawn[:, column]
        there = values[~np.isnan(values)]
        if len(there) < len(values):
            yield lambda side, column=column: np.isnan(side[:, column])  # type: ignore[misc]  # a default, not a value
        for cut in np.unique(np.quantile(there, np.linspace(0, 1, CUTS))) if len(there) else ():
            yield lambda side, column=column, cut=cut: side[:, column] >= cut  # type: ignore[misc]


def bound(first: Floats, second: Floats, delta: float, miss: float) -> float:
    """A lower bound on the epsilon for which (epsilon, delta)-DP holds between two releases.

    Args:
        first, second: Draws on either side: (n, k) numbers each.
        delta: The delta that is charged.
        miss: The chance that the bound is above the loss.
    """
    size = len(first) // FIRST
    sides = (first, second)
    found = [best_event(one[:size], two[:size], delta) for one, two in (sides, sides[::-1])]
    way = int(found[1][0] > found[0][0])
    event, rest = found[way][1], len(first) - size
    more, less = (int(event(side[size:]).sum()) for side in (sides, sides[::-1])[way])
    return at_least(more, less, rest, delta, miss / 2)
