"""The sparse histogram of random differential privacy: empty cells are exactly 0, all others get noise.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `RandomDPLoss`, with the gamma of the base partition.

The cells are unions of the policy's base cells. Each that holds a row gets discrete Laplace noise of scale b; the
noised numbers are projected onto whole histograms (`projection`); each that holds none is shown as 0.

Theorem. Let a unit hold at most N rows (or be counted in at most N cells). With b = N / epsilon under ``add_remove``
and b = 2 N / epsilon under ``replace_one`` (N / epsilon for a single number), the release is (epsilon, 0,
gamma)-random DP, gamma being `gamma_of_cells` of the base partition.

Proof. By the theorem of `privacy.exposure` the two tables have the same empty base cells, hence the same empty cells
here, but on a gamma of the tables. Where they have, the same numbers get noise on both sides, and their vectors differ
by at most N, or 2 N, in L1. The projection is a function of the noised numbers and of public ones.  QED

**Points of the projection.** Where the number of rows n is public (``replace_one``, exactly one row a unit) the
histogram has n points. A WHERE leaves some of them out: they are one more cell, always with noise, which is projected
with the others and not shown; a swap between it and another cell still moves 2 in L1. Otherwise it has max(0, s)
points, s being the sum of the noised numbers: never the true sum, which is private. A single number without groups is
not projected but put at 0 where it is below.

**Error.** Let r cells hold rows. The noised numbers miss the true ones by about r b in L1, the projected ones by at
most twice that: a rate in r, not in the number k of cells. (The printed proof of Theorem 5.2 uses |m - y| <= r, which
is false; the bound by feasibility is in `projection`.)

Source: Hall, Rinaldo, Wasserman 2013, mechanism (5), Prop. 5.1, Theorem 5.2; several rows a unit, ``add_remove`` and
the cell of the left-out rows are above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpsql.mechanisms.base import Interval, Offer, Request, derive
from dpsql.mechanisms.laplace import TOO_SMALL, laplace_scale, pure_loss
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.sensitivity import measure_of, rows_fixed
from dpsql.mechanisms.random_dp.opted import OptedStatement, needs_declared, too_much_gamma, within_cells
from dpsql.mechanisms.random_dp.projection import project
from dpsql.plan.catalog import RandomPartition
from dpsql.plan.needs import Aggregates, Measure, MeasureKind
from dpsql.privacy.exposure import rounded_up
from dpsql.privacy.kinds import RandomDPLoss
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["SparseHistogram", "histogram_offer", "sparse_histogram"]


def sparse_histogram(
    counts: Sequence[int], scale: Fraction, sampler: Sampler, points: int | None = None, *, others: bool = False
) -> tuple[list[int | None], list[int]]:
    """The noised numbers of the occupied cells, and the histogram nearest to them.

    Args:
        counts: (k,) exact numbers of rows.
        scale: b, of the noise.
        sampler: Of the noise; it is drawn for empty cells too, and not used.
        points: The public number of rows n, or None where it is private: then the sum of what was noised.
        others: Whether ``points`` counts rows of other cells too: their number, n less the sum of the counts, is one
            more cell.

    Returns:
        (k,) noised numbers, None for empty cells, and (k,) whole numbers >= 0, 0 for empty cells.

    >>> from dpsql.testing_samplers import Noiseless
    >>> sparse_histogram([3, 0, 4], Fraction(2), Noiseless(), points=8)
    ([3, None, 4], [4, 0, 4])
    """
    exact = [int(count) for count in counts]
    rest = [points - sum(exact)] if others and points is not None else []
    y = [int(k) for k in noised([*exact, *rest], sampler.laplace(scale, len(exact) + len(rest)))]
    occupied = [j for j, count in enumerate(exact) if count > 0]
    kept = [y[j] for j in occupied] + y[len(exact) :]
    total = max(0, sum(kept)) if points is None else points
    shown = np.zeros(len(exact), dtype=object)
    if kept:
        shown[occupied] = project(kept, total)[: len(occupied)]
    seen = set(occupied)
    return [y[j] if j in seen else None for j in range(len(exact))], shown.tolist()


@dataclass(frozen=True, slots=True)
class SparseHistogram(Offer):
    """An offer to release a histogram whose empty cells are exact.

    Attributes:
        loss: epsilon, and the base partition's gamma.
        need: The numbers ``m0``; the number of all rows ``m1`` where it is public and used.
        law: The noise of occupied cells.
        partition: What the owner declared.
        cells: How many are listed.
        others: Whether a condition leaves out rows, so that the left-out ones are one more cell.
        sensitivity: L1, in rows or units.
        half_width: Of an occupied cell; the same whatever the data.
        rows_known: Whether what is asked for is the public number of rows, which is exact and free elsewhere.
    """

    loss: RandomDPLoss
    need: Aggregates
    law: LaplaceLaw
    partition: RandomPartition
    cells: int
    others: bool
    rows_known: bool = False

    def __post_init__(self) -> None:
        base, noise = self.partition, self.law.spread
        notes = (
            *((ROWS_KNOWN,) if self.rows_known else ()),
            f"It gives this up: whoever is alone in a cell of {base.name} is shown exactly (up to {base.cells} "
            f"people), and nothing is promised if the people are not {MEANT[base.assume]}.",
            f"gamma {rounded_up(self.loss.gamma)}, the chance that a random person has no protection, is charged once "
            f"for version {base.version} of the table.",
            f"Expected L1 error: {noise:.3g} for each cell that holds somebody, 0 for the others; noise on all "
            f"{self.cells} cells would make it {noise * self.cells:.3g}.",
        )
        derive(self, scale=noise, half_width=self.law.quantile(0.95), notes=notes)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, and ``noised`` before the projection (None for empty cells)."""
        public = len(self.need.measures) == 2
        # Every occupied group carries n; where none is occupied there is nothing to project.
        points = max(map(int, raw.column("m1")), default=0) if public else None
        before, shown = sparse_histogram(raw.column("m0"), self.law.scale, sampler, points, others=self.others)
        return ReleasedTable({"value": shown, "noised": before})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """The noised number +- the exact quantile of the noise, and the value; 0 to 0 for empty cells."""
        reach = self.law.quantile(confidence)
        before: Sequence[Any] = released.columns["noised"]
        return [
            (0, 0) if y is None else (min(y - reach, value), max(y + reach, value))
            for y, value in zip(before, released.values, strict=True)
        ]


ROWS_KNOWN = "The number of rows is public: the count is exact and free where random_dp is not named."
MEANT = {"exchangeable": "exchangeable draws", "iid": "independent draws of one law"}


def histogram_offer(name: str, request: Request, asked: OptedStatement) -> SparseHistogram | str:
    """The offer for a count over declared cells, or in a sentence why there is none."""
    base = asked.partition
    if problem := needs_declared(request, asked) or too_much_gamma(request, base.gamma):
        return problem
    pure = pure_loss(request.price)
    if pure is None:
        return TOO_SMALL
    source, table = within_cells(request.source, asked), asked.scan.table
    units = request.aggregate.function == "count_units"
    held = source.contribution.of_units() if units else source.contribution
    l1 = held.l1() * (
        request.neighbour_rows if source.keys else 1
    )  # a swap takes from one number and adds to the same one
    measures = [measure_of(request)]
    # One row for each unit, replaced: the number of rows is public.
    public = request.neighbour_rows == 2 and table.every_unit and table.rows_per_unit == 1 and bool(source.keys)
    if public:
        measures.append(Measure(MeasureKind.EVERY_ROW))
    return SparseHistogram(
        mechanism=name,
        loss=RandomDPLoss(pure.epsilon, base.gamma, base.name, base.version),
        need=Aggregates(source, tuple(measures)),
        law=LaplaceLaw(laplace_scale(l1, pure.epsilon)),
        sensitivity=float(l1),
        partition=base,
        cells=request.cells,
        others=public and bool(asked.conditions),
        rows_known=rows_fixed(request),
    )
