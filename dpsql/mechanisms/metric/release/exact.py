"""The release of a number that no move of one row changes under the metric: it needs no noise and costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpsql.mechanisms.base import Interval
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.plan.needs import Cells
from dpsql.privacy.kinds import Free
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["ExactRelease"]


@dataclass(frozen=True, slots=True)
class ExactRelease:
    """An offer to release integers as they are: every row counts the same, and how many there are is public.

    Attributes:
        need: What it is worked out from.
        step: Grid step in the column's unit.
    """

    notes: ClassVar[tuple[str, ...]] = ()

    need: Cells
    step: Fraction

    @property
    def mechanism(self) -> str:
        """``metric``."""
        return "metric"

    @property
    def loss(self) -> Free:
        """Nothing."""
        return Free("public")

    @property
    def sensitivity(self) -> float:
        """No neighbour moves it."""
        return 0.0

    @property
    def scale(self) -> float:
        """No noise."""
        return 0.0

    @property
    def half_width(self) -> float:
        """No error."""
        return 0.0

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """The exact numbers, in the column's unit."""
        return ReleasedTable({"value": [in_unit(int(steps), self.step) for steps in raw.column("m0")]})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Each number itself, twice."""
        return [(value, value) for value in released.values]
