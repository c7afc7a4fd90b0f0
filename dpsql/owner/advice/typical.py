"""Where most of a column's values lie, from released facts: its centre and spread.

Tests: tests/unit/owner/advice/test_advised.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from dpsql.owner.advice.advised import two_digits
from dpsql.owner.advice.outside import sides_of

if TYPE_CHECKING:
    from dpsql.plan.advised import Signed

__all__ = ["Typical", "place_of"]

NORMAL = 1.4826  # Standard deviations of a normal law in the distance from its centre that half of it keeps within.
SEEN = Fraction(3, 4)
"""Of the units that a column has numbers of, that part must stand above the noise in their bins: the middle half is
what a centre and a spread are read from, and of few bins alone the spread would be far too small. A guess."""
HALVINGS = 60  # Of the widest distance, until that of half the units is found: more than digits are shown.
SCALES = 100
"""The least and the largest distance to expect between values lie so many times below and above the spread. A guess:
what friendly_core pays for the width between them goes by its logarithm."""


@dataclass(frozen=True, slots=True)
class Typical:
    """Where most values of a column lie, in its unit; for choosing alone.

    Attributes:
        centre: The middle unit's, to a tenth or a hundredth of the spread: as far as two digits of the spread go.
        spread: A typical distance from it, > 0: `NORMAL` times the one that half of the units keep within. That is the
            standard deviation of a normal law; a long tail makes it no wider. Where that half is in one bin, whose
            width says little of it, that of the normal law with as few units beyond its ends, if it is less. Where that
            half has one value, such as 0, the root of the mean square of all distances from it.
        within: The ends of the bin that has most of the units, so that nothing tells where in it they are.
    """

    centre: Fraction
    spread: Fraction
    within: tuple[Fraction, Fraction] | None = field(default=None, compare=False)

    @property
    def scale(self) -> tuple[Fraction, Fraction]:
        """The least and the largest distance to expect between values."""
        return self.spread / SCALES, self.spread * SCALES


def place_of(single: Signed, bounds: tuple[Any, Any] | None = None, zeros: int = 0) -> Typical | None:
    """Where most units' values lie, as if evenly spread within each bin; None where less than `SEEN` of them is seen.

    A bin ends one step below the next one, where its largest number is: that of 1 holds nothing between 1 and 2. Where
    units have more than one number, the spread is a step at least.

    Args:
        single: One value of each unit.
        bounds: Numbers that the values are moved into, where there are any.
        zeros: About how many units have 0, as of `AdvisedColumn`.
    """
    inside = (-math.inf, math.inf) if bounds is None else tuple(map(float, bounds))
    pieces: list[tuple[float, float, int]] = []
    edges = set[float]()
    for side, sign in ((single.up, 1), (single.down, -1)):
        for bin_, count in enumerate(side.seen if side is not None else ()):
            if count and side is not None:
                ends = sorted((sign * float(side.low(bin_)), sign * float(side.largest(bin_))))
                edges.update(end for end in ends if inside[0] < end < inside[1])
                low, high = (min(max(end, inside[0]), inside[1]) for end in ends)
                pieces.append((low, high, count))
    if zeros:
        at = float(min(max(0, inside[0]), inside[1]))
        pieces.append((at, at, zeros))
    seen = sum(count for _, _, count in pieces)
    everybody = zeros + sum(sum(side.counts) for side in sides_of(single))
    if not seen or seen < SEEN * everybody:
        return None
    pieces.sort()
    centre = _quantile(pieces, 0.5)
    near = seen / 2
    near_enough, beyond = 0.0, pieces[-1][1] - pieces[0][0]
    for _ in range(HALVINGS):
        middle = (near_enough + beyond) / 2
        near_enough, beyond = (
            (near_enough, middle) if _between(pieces, centre - middle, centre + middle) > near else (middle, beyond)
        )
    typical = min(beyond * NORMAL, _normal_spread(pieces, edges, single.up.near))
    if _between(pieces, centre, centre) > near:
        typical = _root_mean_square(pieces, centre)
    least = single.up.step if len(pieces) > 1 else 0  # where half of the units have one number, others have another
    spread = two_digits(max(Fraction(typical), Fraction(least)))
    digits = Decimal((0, (1,), spread.adjusted() - 1))
    within = next(
        ((Fraction(low), Fraction(high)) for low, high, count in pieces if low < high and count >= SEEN * seen), None
    )
    return Typical(Fraction(round(centre / float(digits))) * Fraction(digits), Fraction(spread), within)


def _root_mean_square(pieces: list[tuple[float, float, int]], centre: float) -> float:
    """The root of the mean square of the distances from a number."""
    units = sum(count for _, _, count in pieces)
    squares = sum(
        count * ((low - centre) ** 2 + (low - centre) * (high - centre) + (high - centre) ** 2) / 3
        for low, high, count in pieces
    )
    return math.sqrt(squares / units)


def _normal_spread(pieces: list[tuple[float, float, int]], edges: Collection[float], near: int) -> float:
    """The standard deviation of the normal law that has as many units beyond two edges of bins as there are.

    The edges are those of the bin that has the middle half of the units; infinite where there is none. What noise
    hides beyond them, ``near``, counts as units: so it is too large, if anything, for a normal law. Values that fill a
    bin evenly and lie nowhere else have a spread 2.5 times this one: they are rare, since bins end at powers of 2.
    """
    units = sum(count for _, _, count in pieces)
    below = {edge: sum(count for _, high, count in pieces if high <= edge) for edge in edges}
    above = {edge: sum(count for low, _, count in pieces if low >= edge) for edge in edges}
    least = max((edge for edge in edges if below[edge] <= units / 4), default=-math.inf)
    most = min((edge for edge in edges if above[edge] <= units / 4), default=math.inf)
    if not any((low, high) == (least, most) for low, high, _ in pieces):
        return math.inf  # several bins tell more of their values
    shares = (min(max(count, near, 1) / units, 0.25) for count in (below[least], above[most]))
    return (least - most) / sum(map(NormalDist().inv_cdf, shares))


def _quantile(pieces: list[tuple[float, float, int]], share: float) -> float:
    left = share * sum(count for _, _, count in pieces)
    for low, high, count in pieces:
        if left <= count:
            return low + (high - low) * left / count
        left -= count
    return pieces[-1][1]


def _between(pieces: list[tuple[float, float, int]], low: float, high: float) -> float:
    """About how many units lie between two numbers."""
    found = 0.0
    for start, end, count in pieces:
        if start == end:
            found += count * (low <= start <= high)
        else:
            found += count * max(0.0, min(end, high) - max(start, low)) / (end - start)
    return found
