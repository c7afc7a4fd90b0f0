"""How far an axis reaches: over all values, and over intervals that are not much wider than the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["PAD", "Reach", "reach"]

PAD = 0.05
"""The empty edge on each side, as a share of the axis. A choice."""

FAR, SEEN = 3, 0.3
"""How far an axis follows intervals beyond the values, and how much of longer ones it shows, in extents of the values.
Choices: the values are then a seventh of it, or more; an arrow is seen."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The ends of an axis.

    Attributes:
        low: The lower.
        high: The upper.
    """

    low: float
    high: float

    def cut(self, end: float) -> tuple[float, bool]:
        """An end of an interval as it is drawn, and whether it lies beyond the axis."""
        return min(max(end, self.low), self.high), not self.low <= end <= self.high


def reach(values: Iterable[float], intervals: Sequence[tuple[float, float] | None], *, zero: bool) -> Reach:
    """An axis that holds the values, and the intervals that are no more than `FAR` times as wide as most.

    Args:
        values: NaN where there is none.
        intervals: Infinite ends have no bound; None where nothing is known.
        zero: Whether it holds 0.

    >>> reach([10.0, 20.0], [(8.0, 12.0), (-math.inf, 1e9)], zero=False)
    Reach(low=6.2, high=23.8)
    """
    points = [value for value in values if not math.isnan(value)] + [0.0] * zero
    known = [own for own in intervals if own is not None]
    if not points:
        return Reach(0.0, 1.0)
    widths = [high - low for low, high in known if math.isfinite(high - low)]
    extent = max(max(points) - min(points), median(widths) if widths else 0.0) or max(abs(points[0]), 1.0)
    least, most = min(points), max(points)
    lows = [low if low >= least - FAR * extent else least - SEEN * extent for low, _ in known]
    highs = [high if high <= most + FAR * extent else most + SEEN * extent for _, high in known]
    low, high = min([least, *lows]), max([most, *highs])
    if low == high:  # one value, and no interval: 0, or what has room on both sides
        low, high = (low - extent) * (not zero), high + extent
    pad = PAD * (high - low)
    return Reach(low - pad * (not zero or low < 0), high + pad * (not zero or high > 0))
