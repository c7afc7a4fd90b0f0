"""Noise of several scales: one scale for each group, or noised counts of the branches of a tree, added up into answers.

Intervals. An answer from branches is a sum of independent discrete Laplace numbers X_i, each times a whole number c_i.
With b_i = |c_i| scale_i, the quantile of its absolute value is

    one term     the exact one
    two terms    that of the continuous law, (|c_1| + |c_2|) / 2 being added for the two roundings (as for means)
    more         the least over 0 < t < 1 / max b of (ln(2 / miss) - sum of ln(1 - t^2 b_i^2)) / t

The last is Chernoff's bound. It holds for the discrete law, whose moment generating function is

    (cosh a - 1) / (cosh a - cosh t) <= 1 / (1 - t^2 / a^2)  with a = 1 / b, for |t| < a,

since (cosh t - 1) / t^2 rises with |t|.

Tests: tests/unit/mechanisms/metric/release/test_cells_release.py.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.metric import BranchRelease
from dpsql.mechanisms.noise.laws import LaplaceLaw, laplace_quantile
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.plan.needs import Cells
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["BranchNoise", "GroupNoise", "drawn", "reach_of_sum"]

POINTS = 400
"""At how many points t of Chernoff's bound is looked for. A guess; any t gives a bound that holds."""
BISECTIONS = 60  # Halvings of the interval that holds a quantile: finer than any float shown.


def drawn(scales: Sequence[Fraction], sampler: Sampler) -> list[int]:
    """One discrete Laplace number for each scale, 0 for a scale of 0; equal scales are drawn together."""
    noise: list[int] = [0] * len(scales)
    for scale in Counter(scales):
        if scale:
            places = [place for place, own in enumerate(scales) if own == scale]
            for place, number in zip(places, sampler.laplace(scale, len(places)), strict=True):
                noise[place] = int(number)
    return noise


def reach_of_sum(terms: Sequence[tuple[int, Fraction]], confidence: float) -> int:
    """How far a sum of whole numbers times discrete Laplace numbers lies from 0 at most, with this confidence.

    Args:
        terms: (factor, scale) each.
        confidence: Above 0, below 1.

    >>> reach_of_sum([(2, Fraction(10))], 0.95), reach_of_sum([(1, Fraction(10)), (-1, Fraction(10))], 0.95)
    (60, 43)
    """
    sizes = [(abs(factor), scale) for factor, scale in terms if factor and scale]
    if len(sizes) < 2:
        return sum(factor * laplace_quantile(scale, confidence) for factor, scale in sizes)
    spreads = np.array([factor * float(scale) for factor, scale in sizes])
    miss = 1 - confidence
    if len(sizes) == 2:
        rounded = sum(factor for factor, _ in sizes) / 2
        return math.ceil(_of_two(float(spreads[0]), float(spreads[1]), miss) + rounded)
    t = np.linspace(0, 1, POINTS + 2)[1:-1] / spreads.max()
    bounds = (math.log(2 / miss) - np.log1p(-((t[:, None] * spreads) ** 2)).sum(axis=1)) / t
    return math.ceil(float(bounds.min()))


def _of_two(first: float, second: float, miss: float) -> float:
    """The quantile of |X + Y|, rounded up by a trifle."""
    law = LaplaceLaw(Fraction(1))  # its law of two is for any two spreads
    low, high = 0.0, (first + second) * (1 + math.log(1 / miss))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = law.tail_of_two(first, np.array([second]), np.array([middle]))[0] > miss
        low, high = (middle, high) if above else (low, middle)
    return high * (1 + 1e-6)


@dataclass(frozen=True, slots=True, eq=False)
class _Steps(Offer):
    """What releases of one integer for each group have in common: groups may have noise of their own.

    Attributes:
        need: What they are worked out from.
        scales: Of the noise, in grid steps or rows.
        step: Grid step in the column's unit.
        sensitivity: The constant of the query under the metric, in the column's unit.
        half_width: Of the group with the most noise.
    """

    need: Cells
    scales: tuple[Fraction, ...]
    step: Fraction

    @abstractmethod
    def reaches(self, confidence: float) -> list[int]:
        """For each group how far its noise lies from 0 at most, in grid steps."""

    def _width(self) -> float:
        return float(in_unit(max(self.reaches(0.95)), self.step))

    def released(self, steps: Sequence[int]) -> ReleasedTable:
        """``value`` in the column's unit, and ``steps``."""
        return ReleasedTable({"value": [in_unit(k, self.step) for k in steps], "steps": list(steps)})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Each value and its group's reach on either side."""
        steps: Sequence[Any] = released.columns["steps"]
        pairs = zip(steps, self.reaches(confidence), strict=True)
        return [(in_unit(k - reach, self.step), in_unit(k + reach, self.step)) for k, reach in pairs]


@dataclass(frozen=True, slots=True)
class GroupNoise(_Steps):
    """An offer to release one integer for each group, each with noise of its own scale, or exactly 0.

    Attributes:
        scales: In grid steps, 0 for a group that no row can be in.
        scale: In the column's unit, where all groups with noise have the same.
    """

    def __post_init__(self) -> None:
        different = {scale for scale in self.scales if scale}
        scale = float(different.pop() * self.step) if len(different) == 1 else None
        derive(self, scale=scale, half_width=self._width())

    def reaches(self, confidence: float) -> list[int]:
        """The quantile of each group's law."""
        return [laplace_quantile(scale, confidence) if scale else 0 for scale in self.scales]

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """One noised integer for each row of ``m0``."""
        noise = drawn(self.scales, sampler)
        return self.released([int(k) + n for k, n in zip(raw.column("m0"), noise, strict=True)])


@dataclass(frozen=True, slots=True, eq=False)
class BranchNoise(_Steps):
    """An offer to release integers worked out from noised counts beyond the branches of one attribute's metric.

    Attributes:
        scales: Of the noise on each count, in rows.
        branches: The counts, and how answers follow from them.
        total_scale: Of the noise on the number of rows; 0 where it is public, or not needed.
        queries: (groups, values) integers: what a row of each value adds to each group.
    """

    branches: BranchRelease
    total_scale: Fraction
    queries: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        derive(self, half_width=self._width())

    def reaches(self, confidence: float) -> list[int]:
        """From the law of each answer's sum of noises."""
        tree = self.branches.branches
        scales = (*self.scales, self.total_scale)
        factors = np.column_stack([tree.rises(self.queries), tree.at_root(self.queries)])
        known: dict[tuple[tuple[int, Fraction], ...], int] = {}
        found = []
        for row in factors:
            terms = tuple(sorted((abs(int(row[at])), scales[at]) for at in np.flatnonzero(row)))
            if terms not in known:
                known[terms] = reach_of_sum(terms, confidence)
            found.append(known[terms])
        return found

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """One integer for each group, from how many rows have each value (``m0``)."""
        histogram = np.array([int(k) for k in raw.column("m0")], dtype=np.int64)
        noise = drawn((*self.scales, self.total_scale), sampler)
        counts = self.branches.counts(histogram) + np.array(noise[:-1], dtype=object)
        answers = self.branches.answers(self.queries, counts, int(histogram.sum()) + noise[-1])
        return self.released([int(k) for k in answers])
