"""Covariances as a release: what it asks of an engine, what it says of itself, and a matrix in the columns' units.

Neighbours, loss and theorem: `covariance`.

Tests: tests/unit/mechanisms/friendly_core/test_pairs.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.friendly_core.covariance import Covariance
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["IDEALISED", "CovarianceRelease", "covariance_notes"]

IDEALISED = (
    "idealised numerics: matrix roots and noise are floating-point numbers, and no proof says what their rounding "
    "shows; the policy admits it."
)


def covariance_notes(plan: Covariance, rows_about: int) -> tuple[str, ...]:
    """What a reader must know of a release of covariances: the label, when there is no answer, the noise."""
    return (
        IDEALISED,
        f"people are dealt into {plan.parts} parts of about {max(1, rows_about // plan.parts)} each (rows_about); "
        "where too few parts agree on their covariances the answer is NULL, at the same price.",
        f"noise moves each standard deviation by about {plan.expected_eta:.1%} of itself.",
    )


@dataclass(frozen=True, slots=True)
class CovarianceRelease(Offer):
    """An offer to release a covariance matrix: a row for each column, its entries as ``value``, ``value_1``, ...

    How far off it is depends on the data's own scale: the notes say what share of it.

    Attributes:
        need: One row per privacy unit.
        plan: What will be done.
        grids: Of each column.
        rows_about: Guess of the number of rows.
    """

    loss: Loss = field(init=False)
    need: Values
    plan: Covariance
    grids: tuple[Grid, ...]
    rows_about: int

    def __post_init__(self) -> None:
        derive(self, loss=self.plan.loss, notes=covariance_notes(self.plan, self.rows_about))

    def placed(self, place: int) -> CovarianceRelease:
        """The same: its columns are alike."""
        return self

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """d rows of a symmetric, positive semidefinite matrix; None everywhere where too few parts agree."""
        names = self.need.columns[:-1]
        steps = [float(grid.step) for grid in self.grids]
        columns = [
            np.asarray(raw.column(name), dtype=np.float64) * step for name, step in zip(names, steps, strict=True)
        ]
        rows = np.repeat(np.stack(columns, axis=1), np.asarray(raw.column("rows"), dtype=np.int64), axis=0)
        found = self.plan.matrix(rows, sampler)
        if found is None:
            return ReleasedTable({name: [None] * len(names) for name in names})
        return ReleasedTable(dict(zip(names, found.tolist(), strict=True)))

    @property
    def bracketed(self) -> bool:
        """No."""
        return False

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """None is known: how far the core's matrix lies from that of all rows depends on the data."""
        return [(None, None)] * len(self.grids)
