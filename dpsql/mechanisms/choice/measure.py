"""How much each grid point weighs before any row is seen: evenly over points, and evenly over doublings.

Neighbours and loss: none of its own. The weights are public, positive whole numbers, and a public base measure changes
no loss of the exponential mechanism: with P(v) ~ w(v) exp(c q(v)) the log ratio of a neighbour's chance to one's own is
c d(v) - ln E[exp(c d)], d the change of the scores and E the mean under P, and both terms lie between c min d and
c max d, whatever w is (`exponential`, proof of 1).

Where all points weigh alike, an answer's error grows with the logarithm of how much wider the bounds are than the rows,
and where rows are too few to tell, it lies anywhere. Owners round bounds up. So *shells* of points, each twice as far
from an anchor as the one before, have weights of their own besides: a shell near the rows then weighs at least one part
of some twenty of all, however wide the bounds. The anchor is the declared centre, else 0, or the bound next to it.

Half of the weight is over points and half over shells. Where bounds have many steps and nothing says where the rows
are, they are thought to be loose: next to all of the weight is then over shells, and shells beyond a guess, a part of
the bounds, weigh four times less with each doubling. So where rows are too few to tell, the far shells add no more to
the mean squared error than the near ones do. Bounds that are tight after all must be told by the rows, at ln 4 nats a
doubling. How the weight is shared follows from public facts.

Every weight is a whole number, so that the draw is one of the sampler's exact ones: of an interval by its weight, and
of one unit of weight in it, which belongs to one point.

Tests: tests/unit/mechanisms/choice/test_measure.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np

from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.noise.mean import anchor_of
from dpsql.plan.types import Facts, Grid

__all__ = ["LOOSE", "WIDE", "BaseMeasure", "base_measure"]

SHELLS = 20
"""The most doublings of a side. It is a choice: the innermost shell is then 2^-19 of the bounds, finer than answers."""
UNBOUNDED = 64  # The same without bounds: all doublings, as nothing tells which of them matter.
WIDE = 1024
"""From so many steps on bounds are thought to be loose, where no spread is declared. A guess: codes, ages, days and
scores have fewer."""
LOOSE = 64
"""How many times what rows reach such bounds are thought to be, or less. Measured on real data with the bounds that
owners are sure of: with fewer, quantiles of few rows lie far out more often."""
BOTH = 4
"""The same where bounds reach about as far to both sides of the anchor, as those of coordinates and balances. A guess:
coordinates fill them."""
FEW = 256  # Steps: of fewer points all weigh alike. It is a choice: a logarithm of so few is little.
THIN = 2**20
"""One part of so many of the weight of loose bounds is over points. A choice: less than the farthest shell has, which
is 4^6 times lighter than the near ones."""
HEAVIEST = 2**61  # The weight of all points, about, at most: sums stay below 2^62.
FALLS = 4
"""How many times less a shell beyond the guess weighs than the one before: the square of how much farther it lies."""


@dataclass(frozen=True, slots=True)
class BaseMeasure:
    """Weights of the points of a grid.

    Attributes:
        low: The grid's first point, in steps.
        starts: The first point of each shell, rising from ``low``, in steps.
        weights: Of each point of a shell, >= 1.
        before: The weight of all points before each shell, and last that of all points.
    """

    low: int
    starts: tuple[int, ...]
    weights: tuple[int, ...]
    before: tuple[int, ...]

    @property
    def total(self) -> int:
        """The weight of all points."""
        return self.before[-1]

    def below(self, points: Whole) -> Whole:
        """(n,) int64: the weight of all grid points below each of these, which are in steps.

        >>> BaseMeasure(0, (0, 1, 4), (3, 2, 1), (0, 3, 9, 13)).below(np.array([0, 1, 3, 8])).tolist()
        [0, 3, 7, 13]
        """
        starts, weights, before = _shells(self)
        at = np.searchsorted(starts, points, side="right") - 1
        found: Whole = points * weights[at] + before[at]
        return found

    def beyond(self, extent: float) -> float:
        """The weight of all points over that of a shell about so wide, in steps, or of a part of a wider one."""
        sizes = [(b - a) // w for (a, b), w in zip(pairwise(self.before), self.weights, strict=True)]
        held = [(size, w * min(size, extent)) for size, w in zip(sizes, self.weights, strict=True)]
        shells = [own for own in held if own[0] <= 2 * extent] or [min(held)]
        return self.total / max(1.0, max(shells)[1])

    def within(self, widths: Whole) -> Whole:
        """(m,) the weights of the intervals into which a grid is cut, from their numbers of points.

        >>> BaseMeasure(0, (0, 1, 4), (3, 2, 1), (0, 3, 9, 13)).within(np.array([2, 1, 5])).tolist()
        [5, 2, 6]
        """
        return np.diff(self.below(self.low + np.cumsum(widths)), prepend=0)

    def points(self, starts: Whole, units: Whole) -> Whole:
        """(k,) the points, in steps, to which units of weight belong.

        Args:
            starts: (k,) the first points of intervals.
            units: (k,) from 0, of each interval's weight.

        >>> BaseMeasure(0, (0, 1, 4), (3, 2, 1), (0, 3, 9, 13)).points(np.array([0, 1]), np.array([2, 5])).tolist()
        [0, 3]
        """
        firsts, weights, before = _shells(self)
        wanted = self.below(starts) + units
        begun = firsts * weights + before  # what lies before each shell
        at = np.searchsorted(begun, wanted, side="right") - 1
        found: Whole = firsts[at] + (wanted - begun[at]) // weights[at]
        return found


@lru_cache(1000)  # Some hundred bytes each, by public facts alone.
def _shells(measure: BaseMeasure) -> tuple[Whole, Whole, Whole]:
    """The starts and weights of a measure's shells, and what lies before each, less what its start would weigh there:
    what wraps around wraps back."""
    starts, weights = (np.array(own, dtype=np.int64) for own in (measure.starts, measure.weights))
    return starts, weights, np.array(measure.before[:-1], dtype=np.int64) - starts * weights


def base_measure(grid: Grid, facts: Facts) -> BaseMeasure:
    """The weights of a grid's points, by what is publicly known of the values.

    >>> from dpsql.plan.types import Type
    >>> measure = base_measure(Grid(Fraction(1), 0, 300), Facts(Type.INTEGER))
    >>> measure.starts[:6], measure.weights[:6]
    ((0, 1, 2, 4, 8, 16), (31, 31, 16, 8, 4, 2))
    """
    loose = facts.spread is None and facts.type.numeric and grid.high - grid.low >= WIDE
    bounded = isinstance(facts.low, Fraction) and isinstance(facts.high, Fraction)
    return _measure(grid.low, grid.high, anchor_of(grid, facts), loose, SHELLS if bounded else UNBOUNDED)


@lru_cache(maxsize=1024)
def _measure(low: int, high: int, anchor: int, loose: bool, shells: int) -> BaseMeasure:
    """The weights of the points from low to high, in so many shells of a side at most."""
    if high - low < FEW:
        return BaseMeasure(low, (low,), (1,), (0, high - low + 1))
    far, points = max(high - anchor, anchor - low), high - low + 1
    first = max(0, far.bit_length() - shells)
    edges = [1 << k for k in range(first, far.bit_length())]  # distances at which a shell begins
    starts = sorted({low, anchor} | {p for e in edges for p in (anchor - e + 1, anchor + e) if low < p <= high})
    ends = [*starts[1:], high + 1]
    away = [max(abs(start - anchor), abs(end - 1 - anchor)) for start, end in zip(starts, ends, strict=True)]
    times = BOTH if 2 * min(high - anchor, anchor - low) >= far else LOOSE
    beyond = [max(0, (times * d // max(1, far)).bit_length() - 1) if loose else 0 for d in away]
    shares = [FALLS ** (max(beyond) - k) for k in beyond]
    over_shells = max(points, min(THIN * points, HEAVIEST)) if loose else points
    weights = [
        1 + over_shells * share // (sum(shares) * (end - start))
        for start, end, share in zip(starts, ends, shares, strict=True)
    ]
    sums = accumulate((w * (end - start) for w, start, end in zip(weights, starts, ends, strict=True)), initial=0)
    return BaseMeasure(low, tuple(starts), tuple(weights), tuple(sums))
