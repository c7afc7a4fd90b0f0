"""The exact number of rows where it is public.

Neighbours: ``replace_one``; under ``add_remove`` every number of rows is private. Loss: `Free`.

Theorem. In a table that holds exactly one row for each unit, replacing one unit by another leaves the number of rows
and the number of units as they were; so they tell nothing. A WHERE, a GROUP BY or a join turns a swap into one removal
plus one addition, and the number of rows that are left is then private.

Source: by the definition of the relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsql.mechanisms.base import Interval, Mechanism, Offer, Refusal, Request
from dpsql.mechanisms.noise.sensitivity import need_of, rows_fixed
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.needs import Measure, MeasureKind
from dpsql.privacy.kinds import Free
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["Public", "PublicRelease"]


@dataclass(frozen=True, slots=True)
class PublicRelease(Offer):
    """An offer to release the public number of rows, ``m0``; no neighbour moves it, and it has no noise."""

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """The exact number."""
        return ReleasedTable({"value": [int(n) for n in raw.column("m0")]})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """The number itself, twice."""
        return [(n, n) for n in released.values]


@dataclass(frozen=True, slots=True)
class Public(Mechanism):
    """COUNT(*) and COUNT(DISTINCT unit) where the number of rows is public."""

    name: str = "public"

    def offer(self, request: Request) -> PublicRelease | Refusal:
        """The exact number for free, or why it is not public."""
        if FUNCTIONS[request.aggregate.function].arguments:
            return Refusal(self.name, f"{request.aggregate.text} is not the number of rows.")
        if request.selects or not rows_fixed(request):
            return Refusal(
                self.name,
                "the number of rows is public only under replace_one, for a whole table that declares every_unit, "
                "without WHERE, GROUP BY or join.",
            )
        need = need_of(request, Measure(MeasureKind.ROWS))
        return PublicRelease(self.name, Free("public"), need, sensitivity=0.0, scale=0.0, half_width=0.0)
