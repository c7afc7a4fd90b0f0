"""The release of linear queries over the cells of a metric's domain.

Neighbours: one row replaced, and with ``presence`` one row more or less (`metric.product`). Loss: `Metric`, or `Free`
where no move of one row changes the answer.

Theorem. Let the noise of query k be discrete Laplace of scale s_k, independent for each of its groups. A row that
moves from cell i to cell j tells at most sum_k cost_k(i, j) / s_k. Let lambda_a be the largest of these for moves of
attribute a alone, each divided by its distance d_a. Then

    sum over k of cost_k(i, j) / s_k  <=  sum over a of lambda_a d_a(i_a, j_a),

since the attributes can be changed one at a time, each step within the domain, and costs obey the triangle
inequality. So under `sum` the release costs the multiple lambda_a of attribute a, and max sum_k |q_k| / (u s_k) of
the presence u. Under `sup` and `l2` it costs the largest sum_k cost_k(i, j) / (s_k d(i, j)) of the whole metric. What
a statement is charged is that of all its queries together; a part by itself may have cost less, and never costs more
of any attribute, since whoever sees all answers sees the part.

A choice by scores (MODE) loses c times the range of the moves of its scores in each group (`exponential`, theorem part
1), and that is at most c times the L1 distance by which the counts of its candidates move: c = 1 / s.

Source: Kamalaruban, Perrier, Asghar, Kaafar 2018, sections 3 and 4; losses by attribute are ours, proved above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.metric.release.cells import CellQuery, Domain
from dpsql.plan.needs import Cells
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["CellsRelease", "as_candidates", "as_columns"]

Arranged = Callable[[Sequence[Sequence[int]]], RawTable]
"""Exact totals, query after query, as the raw table that a release takes."""


def as_columns(totals: Sequence[Sequence[int]]) -> RawTable:
    """``m0``, ``m1``, ...: one column a query, one row a group."""
    return RawTable({f"m{at}": list(column) for at, column in enumerate(totals)})


def as_candidates(totals: Sequence[Sequence[int]], candidates: Sequence[object]) -> RawTable:
    """``group``, ``value`` and ``rows`` of a query whose groups are (group, candidate), the candidate last."""
    (counts,) = totals
    width = len(candidates)
    return RawTable(
        {
            "group": [at // width for at in range(len(counts))],
            "value": [candidates[at % width] for at in range(len(counts))],
            "rows": list(counts),
        },
        size=len(counts) // width,
    )


@dataclass(frozen=True, slots=True)
class CellsRelease(Offer):
    """An offer to release linear queries.

    Attributes:
        loss: By the theorem.
        need: The counts of cells.
        inner: What is released of the exact numbers: its law of noise has the scale that the theorem asks for.
        digests: What tells apart the domain and the queries, which the engine's statement does not tell.
        domain: How they are read.
        queries: What is asked of them.
        arranged: How the answers are handed to ``inner``.
        sensitivity: The slope of its query under the metric, in the column's unit per unit of distance.
    """

    need: Cells
    inner: Offer
    digests: tuple[str, ...]
    domain: Domain = field(compare=False)
    queries: tuple[CellQuery, ...] = field(compare=False)
    arranged: Arranged = field(compare=False)

    def __post_init__(self) -> None:
        inner = self.inner
        derive(self, sensitivity=inner.sensitivity, scale=inner.scale, half_width=inner.half_width)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """One noised answer per group, whichever cells occur."""
        cells, rows = self.domain.cells(raw), np.array(raw.column("m0"), dtype=np.int64)
        return self.inner.release(self.arranged([query.totals(cells, rows) for query in self.queries]), sampler)

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Those of ``inner``."""
        return self.inner.intervals(released, confidence)
