"""Values of an attribute that a statement cannot tell apart, taken together: fewer cells, and the same noise.

Theorem. Let every number of a statement be the same along a run of neighbouring values of a chain. Then the first and
the last value of each run are enough for every slope: a step within a run costs nothing, and a step from one run to the
next goes from the last value of the one to the first of the other. Under the discrete metric one value of each kind is
enough, for all distances are the same. NULL beside either stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.metric import Chain, Discrete, Metric, WithNull

__all__ = ["Merged", "merged"]

Objects = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Merged:
    """One attribute with fewer values.

    Attributes:
        kept: The numbers of the values that stay, ascending.
        place: For each value the place among those kept of one that the statement cannot tell from it.
        metric: The distances between those kept.
    """

    kept: tuple[int, ...]
    place: tuple[int, ...]
    metric: Metric


def merged(metric: Metric, numbers: Sequence[Objects]) -> Merged:
    """The attribute as a statement sees it.

    Args:
        metric: Its metric.
        numbers: All that the statement asks of a row, each (size, n): one line for each value.
    """
    merge = MERGES.get(type(metric))
    if merge is None or metric.size < 3:
        every = tuple(range(metric.size))
        return Merged(every, every, metric)
    return merge(metric, numbers)


def _chain(metric: Any, numbers: Sequence[Objects]) -> Merged:
    """First and last of each run."""
    turns = np.zeros(metric.size - 1, dtype=bool)
    for lines in numbers:
        turns |= np.any(lines[1:] != lines[:-1], axis=1)
    starts = np.concatenate([[0], np.flatnonzero(turns) + 1])
    ends = np.concatenate([np.flatnonzero(turns), [metric.size - 1]])
    kept = np.unique(np.concatenate([starts, ends])) if len(starts) > 1 else starts
    run = np.searchsorted(starts, np.arange(metric.size), side="right") - 1
    place = np.searchsorted(kept, starts[run])
    return Merged(tuple(kept.tolist()), tuple(place.tolist()), metric.among(kept.tolist()))


def _discrete(metric: Any, numbers: Sequence[Objects]) -> Merged:
    """One value of each kind."""
    kinds: dict[tuple[Any, ...], int] = {}
    kept: list[int] = []
    place = []
    for value in range(metric.size):
        kind = tuple(cell for lines in numbers for cell in lines[value].tolist())
        if kind not in kinds:
            kinds[kind] = len(kept)
            kept.append(value)
        place.append(kinds[kind])
    return Merged(tuple(kept), tuple(place), Discrete(len(kept), metric.epsilon))


def _with_null(metric: Any, numbers: Sequence[Objects]) -> Merged:
    """The known values merged; NULL stays."""
    known = merged(metric.known, [lines[:-1] for lines in numbers])
    kept = (*known.kept, metric.known.size)
    return Merged(kept, (*known.place, len(known.kept)), WithNull(known.metric, metric.epsilon))


MERGES: dict[type, Callable[[Any, Sequence[Objects]], Merged]] = {
    Chain: _chain,
    Discrete: _discrete,
    WithNull: _with_null,
}
"""Metrics whose values can be merged; of others every pair counts."""
