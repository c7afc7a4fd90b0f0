"""The choice of a clamp among public edges, by how many units (or rows) lie above each.

Neighbours and loss: stated by `clamped.mechanism`, with the theorem; `located` chooses clamps of rows so.

Tests: tests/unit/mechanisms/choice/test_clamp.py.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpsql.mechanisms.choice.groups import Whole
from dpsql.mechanisms.choice.tails import NEAR, beyond
from dpsql.privacy.sampling import Sampler

__all__ = [
    "ALLOWED",
    "EASY",
    "MISS",
    "RARELY",
    "STEEP",
    "WIDE",
    "ClampSearch",
    "above_edges",
    "by_edges",
    "edges_to",
    "is_filled",
    "place_of",
]

WIDE = 256
"""From so many steps of a grid on, bounds are thought to be loose; codes, ages and scores have fewer. A guess."""

FILLED = 16
"""Bounds without 0 whose far end is at most so many times the near one are thought to be filled. A guess: who knows how
small values are at least knows their scale, as that of ratings from a half to five, years, and dates."""

CLIMB = Fraction(5, 2)
"""Nats that a clamp twice as high must be worth just below the guessed edge. Further down it is in proportion less, at
the lowest edge nothing, so that where clamps are far below the guess the steps up to them do not count much. Measured
on the data of docs/untuned.md, and on log-normal and Pareto totals of 60 to 30,000 units: the longest tails want 2, the
other data 3."""

STEEP = Fraction(5, 2)
"""The same above the guessed edge, where a high clamp is the less likely to be right. Measured there, and on sums of
which a few units hold most: with 3, a fifth more of the intervals of these miss; with 2, all errors are 1.06 times."""

EASY = Fraction(1)
"""The same for counts of rows, of which heavy users have as many as their cap allows: a higher clamp is then worth what
it adds in noise, and no more. Simulated with counts of 60 to 30,000 units, among them Zipf's and such of which a tenth
are at their cap: beside the best clamp in hindsight they err by as much as with `STEEP`, and intervals hold oftener."""

FINE = 16  # Points of a score for one unit: penalties are whole numbers of them. It is a choice.

RARELY = 1 / 200
"""As a probability: that an edge is taken which clips all units, whatever they have. It is a choice: the interval does
not hold then, and ten times less would want a seventh more units to move a clamp from where it stands."""

ALLOWED = 3
"""Units, as a multiple of what one nat of the choice is worth, that the interval allows to be clipped by once the
clamp each, besides what one such unit is taken to have beyond it (`tails`). Measured: 19 of 20 intervals hold on data
with long tails."""

MISS = 0.05  # As a probability: that more units are above the clamp than the answer says.


@dataclass(frozen=True)
class ClampSearch:
    """The private choice of a clamp among edges. What follows from its attributes is worked out once.

    Attributes:
        edges: Rising, in grid steps; no unit's size is above the last.
        epsilon: What the choice costs.
        units: How many units a neighbour differs in.
        guess: The place of the edge that is expected.
        power: 1; 2 where what noise adds grows with the clamp's square, and a high clamp must be worth more.
        fallback: The place of the edge that stands while too few units are there to tell another, the guess or one
            above it; None for the guess.
        steep: Nats that a clamp twice as high must be worth above the guess.
    """

    edges: tuple[int, ...]
    epsilon: Fraction
    units: int
    guess: int
    power: int = 1
    fallback: int | None = None
    steep: Fraction = STEEP

    @cached_property
    def exponent(self) -> Fraction:
        """Of a point of a score."""
        return self.epsilon / (self.units * FINE)

    @cached_property
    def climbed(self) -> tuple[float, ...]:
        """Nats that each edge must be worth more than the lowest: their slope rises evenly up to the guessed edge."""
        heights = [math.log2(edge / self.edges[0]) for edge in self.edges]
        slope, steep, guess, found = float(CLIMB), float(self.steep), heights[self.guess], list[float]()
        for up in heights:
            below = min(up, guess)
            found.append(slope * below * (below / (2 * guess) if guess else 0.0) + steep * (up - below))
        return tuple(found)

    def penalty(self, place: int) -> int:
        """Points by which an edge is handicapped: the same for many groups as for one.

        With many, each of which gets noise, a lower clamp would be worth more units that it clips. But few units may
        have most of all rows, and then no interval holds (measured: 150 of 3,000 people with 60 rows each, by month).
        """
        above, below = (self.climbed[place] * math.sqrt(self.power)).as_integer_ratio()
        return round(Fraction(above * self.exponent.denominator, below * self.exponent.numerator))

    @property
    def standing(self) -> int:
        """The place of the edge that stands while too few units are there to tell another."""
        return self.guess if self.fallback is None else self.fallback

    @cached_property
    def sure(self) -> float:
        """Nats by which that edge is ahead of the lowest while nobody is counted.

        Each unit above an edge costs the lead of neither, so that so many keep all edges that clip all units, together,
        at a chance of `RARELY`: permute-and-flip takes one that is x nats behind with a chance of e^-x / 2 at most.
        """
        behind = sum(math.exp(-self.climbed[place]) for place in range(self.standing))
        return math.log(max(1.0, behind) / (2 * RARELY))

    @cached_property
    def start(self) -> int:
        """Points that this edge has while nobody is counted.

        It stands then until so many units are counted that, were they all above the guess, that would show.
        """
        way = self.climbed[self.standing] - 2 * self.climbed[self.guess]
        return math.ceil(Fraction(self.sure + max(0.0, way)) / self.exponent) + 1  # penalties are rounded to points

    def scores(self, units: Sequence[int]) -> list[int]:
        """Of each edge, in points, from the number of units of each size."""
        every, above = sum(units), above_edges(units)
        scores = [-FINE * many - self.penalty(place) for place, many in enumerate(above)]
        scores[self.standing] = max(scores[self.standing], self.start - FINE * every)
        return scores

    def choose(self, units: Sequence[int], sampler: Sampler) -> int:
        """The place of the chosen edge.

        Args:
            units: How many units are of each size; behind the last edge, too, where there is none.
            sampler: For the exact choice.
        """
        return sampler.permute_and_flip(self.scores(units), self.exponent)

    def most_above(self, place: int, miss: float = MISS, top: int = -1) -> int:
        """How many units are above the chosen edge at most, with chance 1 - miss; 0 at the last.

        Args:
            place: Of the chosen edge.
            miss: Of the chance that there are more.
            top: The place of an edge above which no unit is; the last is one.
        """
        last = len(self.edges) - 1 if top < 0 else top
        if place >= last:
            return 0
        ahead = self.start if place == self.standing else -self.penalty(place)
        points = self.penalty(last) + ahead + math.log(last / (2 * miss)) / float(self.exponent)
        return max(0, math.ceil(points / FINE))

    def lost(self, place: int) -> int:
        """What units have above the chosen edge at most, in grid steps, with chance 1 - `MISS`."""
        return self.reaching(place, self.edges[-1], MISS)

    def reaching(self, place: int, far: int, miss: float) -> int:
        """The same, with chance 1 - miss, where no unit reaches farther than ``far``."""
        beyond = max(0, far - self.edges[place])
        return self.most_above(place, miss, place_of(self.edges, far)) * beyond

    def allowed(self, place: int) -> int:
        """What the interval allows to be clipped in one group, in grid steps; 0 at the last edge."""
        if place == len(self.edges) - 1:
            return 0
        edge, last = float(self.edges[place]), float(self.edges[-1])
        tail, _ = beyond(edge, min(last, edge * 2**NEAR))
        return math.ceil((ALLOWED + tail / edge) * float(self.clipped(place)))

    def clipped(self, place: int) -> Fraction:
        """What is thought to be clipped in one group, in grid steps: one nat of units, by once the clamp each."""
        return Fraction(0) if place == len(self.edges) - 1 else self.edges[place] * self.units / self.epsilon

    def miss(self, confidence: float) -> float:
        """The chance that is left for the noise: all of it."""
        return 1 - confidence

    @property
    def says(self) -> tuple[str, str]:
        """Where the clamp is from, and how sure the number of units above it is."""
        return "chosen privately", f"{1 - MISS:.0%}"


def is_filled(low: int, high: int) -> bool:
    """Whether values of one sign are bounded by numbers of one scale."""
    near, far = sorted((abs(low), abs(high)))
    return low * high > 0 and far <= FILLED * near


def edges_to(last: int, first: int = 1) -> tuple[int, ...]:
    """Edges that double from the first on, and the last.

    >>> edges_to(10), edges_to(2, 5)
    ((1, 2, 4, 8, 10), (2,))
    """
    edges = list[int]()
    while first < last:
        edges.append(first)
        first *= 2
    return (*edges, last)


def by_edges(groups: Iterable[tuple[Whole, Whole]], edges: Sequence[int]) -> list[int]:
    """How many lie up to each edge and beyond the one before; last those beyond all.

    Args:
        groups: Sizes, and how many have each.
        edges: Rising.
    """
    found = np.zeros(len(edges) + 1, dtype=np.int64)
    for sizes, many in groups:
        np.add.at(found, np.searchsorted(np.array(edges, dtype=np.int64), sizes, side="left"), many)
    return [int(k) for k in found]


def place_of(edges: Sequence[int], size: float) -> int:
    """The place of the first edge that is not below a size; the last for what is above all."""
    return min(bisect_left(edges, size), len(edges) - 1)


def above_edges(units: Sequence[int]) -> list[int]:
    """For each edge the number of units whose size is above it, from the number of units of each size."""
    return [sum(units[place + 1 :]) for place in range(len(units) - 1)]
