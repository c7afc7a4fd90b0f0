"""k-means as a release: what it asks of an engine, what it says of itself, and a table of centres in the columns' unit.

Neighbours, loss and theorem: `clusters`.

Tests: tests/unit/mechanisms/friendly_core/test_whole_tables.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.friendly_core.clusters import KMeans, in_unit
from dpsql.mechanisms.friendly_core.oracle import inside_ball
from dpsql.mechanisms.friendly_core.tuples import LARGEST
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["KMeansRelease", "grid_for"]

REACH = 2**26
"""Grid steps of a coordinate, before points are moved into the ball: 16 times the ball's radius. It is a choice."""
APART = 25.0
"""Standard deviations between centres from which parts agree, times the root of a part's rows for each centre. Measured
for three round clusters in a plane: 8 for 9 rows, 6 for 17, 4 for 40, 3 for 80."""
INSTEAD = (
    "NULL says that too few parts agreed: the data have no clusters so clear, or another number of them; the same "
    "question most likely gives NULL again. Write another k, or a higher price, which makes fewer and larger parts; or "
    "count cells, such as GROUP BY floor(x / 10), floor(y / 10), which show where people are whatever the shape."
)


def grid_for(bound: Fraction) -> Grid:
    """The grid of every coordinate: `LARGEST` steps to the bound, and a little beyond it.

    >>> grid_for(Fraction(1)).step
    Fraction(1, 4194304)
    """
    return Grid(bound / LARGEST, -REACH, REACH)


@dataclass(frozen=True, slots=True)
class KMeansRelease(Offer):
    """An offer to release k centres, a row each: the first coordinate as ``value``, the others as ``value_1``, ...

    Attributes:
        need: One row per privacy unit, on `grid_for` the bound.
        plan: What will be done.
        bound: Radius of the ball, in the columns' unit.
        ends: Least and greatest radius of the tuples to try, in grid steps.
        rows_about: Guess of the number of rows.
        half_width: Of a coordinate of a centre, for clusters of one size: the noise of the last step's sum and number.
    """

    loss: Loss = field(init=False)
    need: Values
    plan: KMeans
    bound: Fraction
    ends: tuple[int, int]
    rows_about: int

    def __post_init__(self) -> None:
        parts, people = self.plan.parts, max(1.0, self.rows_about / self.plan.k)
        factor = 1 if self.plan.neighbours == "add_remove" else 2
        width = 1.96 * float(self.bound) * math.sqrt(2 * factor / self.plan.step.rho) / people
        apart = APART / math.sqrt(max(1.0, people / parts))
        clear = (
            f"data without clear clusters, or with another number of them than {self.plan.k}, give NULL whatever the "
            f"price; parts so large agree from centres about {apart:.2g} of their own standard deviations apart on "
            "(measured).",
        )
        notes = (
            f"people are dealt into {parts} parts of about {max(1, self.rows_about // parts)} each (rows_about); where "
            "too few parts agree on their centres, every centre is NULL, at the same price.",
            *clear * (self.plan.k > 1),
            f"points further than {float(self.bound):g} from 0 are moved to that distance.",
        )
        derive(self, loss=self.plan.loss, half_width=width, notes=notes)

    def placed(self, place: int) -> KMeansRelease:
        """The same: its columns are alike."""
        return self

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """k rows: the centres in lexicographic order; None everywhere where too few parts agree."""
        names = self.need.columns[:-1]
        coordinates = [np.asarray(raw.column(name), dtype=np.int64) for name in names]
        points = np.repeat(np.stack(coordinates, axis=1), np.asarray(raw.column("rows"), dtype=np.int64), axis=0)
        found = self.plan.centres(inside_ball(points), self.ends, sampler)
        if found is None:
            return ReleasedTable({name: [None] * self.plan.k for name in names})
        return ReleasedTable(dict(zip(names, in_unit(found, self.bound).T.tolist(), strict=True)))

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """Why there is no centre, and what to ask instead."""
        return () if released.values[0] is not None else (INSTEAD,)

    @property
    def bracketed(self) -> bool:
        """No."""
        return False

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """None is known: how far a core's centre lies from the best one depends on the data."""
        return [(None, None)] * self.plan.k
