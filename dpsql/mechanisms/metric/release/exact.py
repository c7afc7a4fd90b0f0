"""The release of a number that no move of one row changes under the metric: it needs no noise and costs nothing.

Tests: tests/unit/mechanisms/metric/release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.plan.needs import Cells
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ExactRelease"]


@dataclass(frozen=True, slots=True)
class ExactRelease(Offer):
    """An offer to release integers as they are: every row counts the same, and how many there are is public.

    Attributes:
        need: What it is worked out from.
        step: Grid step in the column's unit.
    """

    need: Cells
    step: Fraction

    def __post_init__(self) -> None:
        derive(self, sensitivity=0.0, scale=0.0, half_width=0.0)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """The exact numbers, in the column's unit."""
        return ReleasedTable({"value": [in_unit(int(steps), self.step) for steps in raw.column("m0")]})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Each number itself, twice."""
        return [(value, value) for value in released.values]
