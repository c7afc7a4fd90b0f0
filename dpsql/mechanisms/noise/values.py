"""Counts of different values, of which no more are possible than is public: what is released lies between 0 and that.

Clipping a noised number is post-processing: the loss is that of the number, and the true one, which lies between the
ends, is no farther from the clipped number than from the noised one. An interval that holds the true number still does.

Tests: tests/unit/mechanisms/noise/test_values.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dpsql.mechanisms.base import Interval, Request, derive
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.noise.sensitivity import most_values
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ValuesRelease", "noised_release", "within"]


def noised_release(request: Request, **offered: Any) -> NoisedRelease:
    """The offer of one noised number a group, of which so much is known; clipped, where it counts different values."""
    most = most_values(request)
    return NoisedRelease(**offered) if most is None else ValuesRelease(**offered, most=most)


def within(ends: Interval, most: int | None) -> Interval:
    """An interval between 0 and the number of possible values, where that is known.

    >>> within((-3, 4), 2), within((5, 9), 2), within((-3, 4), None)
    ((0, 2), (2, 2), (-3, 4))
    """
    low, high = ends
    if most is None or low is None or high is None:
        return ends
    return min(max(low, 0), most), min(max(high, 0), most)


@dataclass(frozen=True, slots=True)
class ValuesRelease(NoisedRelease):
    """An offer to release how many different values there are.

    Attributes:
        most: How many are possible.
    """

    most: int = field(kw_only=True)

    def __post_init__(self) -> None:
        NoisedRelease.__post_init__(self)
        derive(self, half_width=min(self.half_width, self.most / 2))

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, clipped, and ``steps``, the noised number; one entry per row of ``raw``."""
        steps = NoisedRelease.release(self, raw, sampler).columns["steps"]
        return ReleasedTable({"value": [min(max(k, 0), self.most) for k in steps], "steps": steps})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Those of the noised numbers, clipped."""
        return [within(ends, self.most) for ends in NoisedRelease.intervals(self, released, confidence)]
