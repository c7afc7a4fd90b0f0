"""How many rows units have, from a noised histogram, and what a cap of them would change.

Class k of sizes holds the units whose rows are more than the edge before e_k, and at most e_k. Every unit is in one
class, so the histogram of units by class moves by 1 in L1 where a unit comes or goes, and by 2 where one is replaced.
What follows here is computed from the noised counts: it is post-processing.

A count is believed where it exceeds the noise's scale `LIKELY` times, and ``ln 2`` times more for each class further
up, since a chance hit there would pass for twice as many rows. What is not believed counts as nothing.

A cap m keeps min(n, m) of a unit's n rows, chosen by a secret order. So a unit weighs min(n, m) / n' among the n' kept
rows, and n / N among all N.

Lemma. For every v the share of kept rows that are at most v is expected to differ from that of all rows by at most the
*drift*, half of the sum over units of |min(n, m) / n' - n / N|, and its standard deviation is at most the *sway*, the
root of the sum of m (n - m) / (4 (n - 1)) over the units of more than m rows, divided by n'.

Proof. With F_u(v) the share of the rows of unit u that are at most v, the expected share of kept rows is the mean of
F_u(v) by the first weights, the share of all rows that by the second; F_u lies between 0 and 1, and both weights add up
to 1. The number of a unit's kept rows that are at most v is hypergeometric, with the variance m F_u (1 - F_u)
(n - m) / (n - 1) where m rows of n are kept, and units are independent.  QED

Where all units have as many rows as each other nothing drifts, whatever the cap.

What is not believed may be there all the same. So many rows as `missed` says a cap may leave out besides, 19 times of
20: those of units in classes that are not believed, as they were counted, and what noise hides in all classes above it.
As a share of all rows they move the share of those below any number by as much, at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpsql.mechanisms.choice.groups import numbers_of
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import CLOSE, RawTable

__all__ = ["HIDDEN", "SEEN", "SWAYS", "SizeSearch", "UnitSizes"]

LIKELY = 3.0
"""Scales of its noise that a count of the smallest units must exceed to be believed. Measured, on the sizes of real
data at two prices: a little more or less changes the error by a few parts of a hundred."""
SWAYS = 2.0  # Standard deviations of chance that intervals allow for, besides what drifts: 95 times of 100.
WITHIN = 0.75  # Where in its class, as a share of its edge, a unit's size is taken to be: the middle.
HIDDEN = 1.64  # Standard deviations of noise that may hide rows: 19 times of 20, normal noise hides no more.
SEEN = -2.0
"""The same where errors are weighed: rows that are not believed count for what exceeds twice the standard deviation of
their noise, which noise alone does one of forty times. What is counted is never below 0, so that noise alone would pass
for rows of the largest units: with scale b for b / 2 of them in each class. Measured on real sizes and on such of which
one unit of twenty has most rows: quantiles err by a fifth less than with 0, by a tenth less than with -1."""
UNKNOWN = 0.5  # The drift of a cap where no class of sizes is believed. A guess.


@lru_cache(maxsize=1000)
def _typical(edges: tuple[int, ...]) -> tuple[float, ...]:
    """The size of a unit of each class: 1, 2, and the middle of larger ones, above the edge before."""
    before = zip((0, *edges[:-1]), edges, strict=True)
    return tuple(max(WITHIN * edge, min(edge, 2), smaller + 1) for smaller, edge in before)


@dataclass(frozen=True, slots=True)
class UnitSizes:
    """About how many units are of each class, or guessed to be.

    Attributes:
        edges: Of the classes.
        units: >= 0; one for each class.
        doubted: As many were counted besides, where that is not believed; () for none.
        noise: Scale of the noise in each count; 0 where there is none.
    """

    edges: tuple[int, ...]
    units: tuple[float, ...]
    doubted: tuple[float, ...] = ()
    noise: float = 0.0

    @property
    def _typical(self) -> tuple[float, ...]:
        return _typical(self.edges)

    @property
    def rows(self) -> float:
        """Of all units."""
        return sum(many * size for many, size in zip(self.units, self._typical, strict=True))

    def kept(self, place: int) -> float:
        """How many rows a cap at an edge keeps, n'."""
        cap = self.edges[place]
        return sum(many * min(size, cap) for many, size in zip(self.units, self._typical, strict=True))

    def drift(self, place: int) -> float:
        """How far the share of rows that are at most some number may move, in expectation; 0 to 1."""
        return self._drift(place, self._typical)

    def farthest_drift(self, place: int) -> float:
        """The same where units that a cap cuts have as many rows as their class allows, and others the most or least.

        >>> sizes = UnitSizes((1, 2, 4, 8, 16), (100.0, 0.0, 0.0, 0.0, 10.0))
        >>> round(sizes.drift(0), 3), round(sizes.farthest_drift(0), 3)
        (0.455, 0.524)
        """
        least = [before + 1 for before in (0, *self.edges[:-1])]
        ends = ([*some[: place + 1], *self.edges[place + 1 :]] for some in (least, self.edges))
        return max(self._drift(place, sizes) for sizes in ends)

    def _drift(self, place: int, sizes: Sequence[float]) -> float:
        cap, of_each = self.edges[place], list(zip(self.units, sizes, strict=True))
        rows, kept = (sum(many * min(size, most) for many, size in of_each) for most in (math.inf, cap))
        if not rows:
            return UNKNOWN if place < len(self.edges) - 1 else 0.0
        return sum(many * abs(min(size, cap) / kept - size / rows) for many, size in of_each) / 2

    def missed(self, place: int, hides: float = HIDDEN) -> float:
        """The share of rows that a cap at an edge may leave out though they are not seen; 0 to 1.

        Args:
            place: Of the edge.
            hides: Standard deviations of noise that may hide rows; 0 for what was counted alone, `SEEN` for what stands
                out of the noise of that.
        """
        beyond = [max(0.0, size - self.edges[place]) for size in self._typical]
        rows = sum(many * more for many, more in zip(self.doubted, beyond, strict=False))
        rows += hides * math.sqrt(2) * self.noise * math.hypot(*beyond)
        return rows / (rows + self.kept(place)) if rows > 0 else 0.0

    def sway(self, place: int) -> float:
        """The standard deviation of that share, by which rows are kept."""
        cap, kept = self.edges[place], self.kept(place)
        if not kept:
            return UNKNOWN if place < len(self.edges) - 1 else 0.0
        cut = [(many, size) for many, size in zip(self.units, self._typical, strict=True) if size > cap]
        return math.sqrt(sum(many * cap * (size - cap) / (4 * (size - 1)) for many, size in cut)) / kept

    def left_out(self, place: int, hides: float = 0.0) -> float:
        """How many units a cap of each unit's groups leaves out of one group at most: expected, and `SWAYS` besides.

        Args:
            place: Of the cap.
            hides: Standard deviations of noise that may hide units.
        """
        cap = self.edges[place]
        kept = [(many, cap / size) for many, size in zip(self.units, self._typical, strict=True) if size > cap]
        spread = math.sqrt(max(0.0, sum(many * share * (1 - share) for many, share in kept)))
        noise = math.sqrt(2) * self.noise * math.hypot(*(1 - share for _, share in kept))
        return max(0.0, sum(many * (1 - share) for many, share in kept) + math.hypot(SWAYS * spread, hides * noise))


@dataclass(frozen=True, slots=True)
class SizeSearch:
    """The noised histogram of units by their number of rows.

    Attributes:
        edges: Of the classes.
        epsilon: What it costs.
        units: How many units a neighbour differs in.
    """

    edges: tuple[int, ...]
    epsilon: Fraction
    units: int

    @property
    def law(self) -> LaplaceLaw:
        """The noise of each count."""
        return LaplaceLaw(self.units / self.epsilon)

    def counted(self, raw: RawTable, sampler: Sampler) -> list[int]:
        """The noised numbers of units by class.

        Args:
            raw: As `Values` with ``ranks``.
            sampler: For the noise.
        """
        ranks, units = numbers_of(raw, "rank"), numbers_of(raw, "units")
        sums = np.zeros(len(self.edges), dtype=np.int64)
        for start in range(0, len(units), CLOSE):
            rows = slice(start, start + CLOSE)
            own = np.asarray(units[rows])
            last = np.flatnonzero(own != 0)  # one row of a unit at most
            np.add.at(sums, np.minimum(np.asarray(ranks[rows][last]), len(sums) - 1), own[last])
        exact = sums.tolist()
        return [int(k) for k in noised(exact, self.law.draw(sampler, len(exact)))]

    def believed(self, counts: Sequence[int]) -> UnitSizes:
        """What stands out of the noise."""
        scale = self.law.spread
        sure = [n > scale * (LIKELY + math.log(2) * k) for k, n in enumerate(counts)]
        believed = tuple(float(n) if known else 0.0 for n, known in zip(counts, sure, strict=True))
        doubted = tuple(0.0 if known else max(0.0, float(n)) for n, known in zip(counts, sure, strict=True))
        return UnitSizes(self.edges, believed, doubted, scale)
