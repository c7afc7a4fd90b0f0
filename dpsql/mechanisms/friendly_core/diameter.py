"""The data's own diameter: a radius within which most pairs of rows lie, chosen between two public ends.

Neighbours: ``add_remove`` and ``replace_one``. Loss: epsilon-DP, and epsilon^2 / 8-zCDP.

Put the n rows into a cyclic order, uniformly at random, and let c_j be how many of the n neighbouring pairs lie within
the candidate r_j (for n = 1 the row is its own neighbour). With a public tolerance 0 < t <= 1/2,

    a_j = (1 - t) n - c_j,    q_j = min(0, -a_j, a_(j-1)),

terms that do not exist being left out: a_(-1), and a_T of the last candidate, which is the default and is not tested.
The exponential mechanism chooses j by q_j. So a radius wins within which 1 - t of the pairs lie, while they do not lie
within the one before.

Theorem. Every a_j, and so every q_j, moves by at most s = 2 - t if a row comes or goes, by at most s = 2 if one is
replaced. Choosing j with chance ~ exp(epsilon q_j / (2 s)) is epsilon-DP and epsilon^2 / 8-zCDP.

Proof. Put the new row into a uniformly random place of a uniformly random cyclic order: the result is one, too. Between
neighbours y and z the new row x adds the pairs (y, x) and (x, z), and takes away (y, z): c_j moves by -1 to 2,
and a_j by (1 - t) - 2 = -(1 + t) to (1 - t) + 1 = 2 - t. From no row to one, c_j rises by 1; from one to two, by -1 to
1. A row replaced in its place changes two pairs. Minima move by no more. Given the coupled orders, the choice is as in
`exponential`, and both losses hold for mixtures of coupled laws, the divergences being jointly (quasi-)convex.  QED

A pair's distance is a function of its two rows, computed coordinate by coordinate, whatever else there is.

Source: Tsfadia, Cohen, Kaplan, Mansour, Stemmer 2022, "FriendlyCore", section 5.1.2, averages friends over all pairs
and searches by halving, with noise at each step. Pairs in a random cycle have the same sensitivity, take time O(n), and
one choice takes the place of the steps; theorem and proof are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.privacy.sampling import Sampler

__all__ = ["DiameterSearch", "inflation", "tolerance"]

Points = npt.NDArray[Any]
GROWTH = Fraction(3, 2)
"""The ratio of a candidate to the one before. It is a choice: fewer candidates are chosen from more surely, and fit
less closely."""
TWENTIETHS = 20  # The tolerance is a multiple of 1/20, so that scores are whole numbers of twentieths. It is a choice.


def tolerance(epsilon: Fraction, about: float) -> Fraction:
    """The share of pairs that need not be within the radius: clip(30 / (n epsilon), 1/20, 1/2), in twentieths.

    The scores of radii that are too large stay below 0 by the tolerance times n alone: with fewer rows it must be more.

    Args:
        epsilon: Of the search.
        about: A public guess of the rows, or a released number.
    """
    wanted = 30 / (max(about, 1) * float(epsilon))
    return Fraction(math.ceil(TWENTIETHS * min(max(wanted, 0.05), 0.5)), TWENTIETHS)


def inflation(tolerance: Fraction) -> Fraction:
    """By how much the radius that 1 - tolerance of the pairs reach is multiplied, so that nearly all do.

    Of normal data half of the pairs are within 0.95, 80% within 1.8 and 95% within 2.8 standard deviations.
    """
    if tolerance > Fraction(7, 20):
        return Fraction(3)
    return Fraction(2) if tolerance > Fraction(1, 8) else Fraction(3, 2)


@dataclass(frozen=True, slots=True)
class DiameterSearch:
    """A choice between radii from ``low`` on, each half as large again as the one before, up to ``high``.

    Attributes:
        low: >= 1, in grid steps.
        high: >= low.
        epsilon: > 0.
        tolerance: A multiple of 1/20 from 1/20 to 1/2.
        swap: Whether a neighbour is a row replaced.
    """

    low: int
    high: int
    epsilon: Fraction
    tolerance: Fraction
    swap: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise ValueError(f"the scale is {self.low} to {self.high}; write 1 <= low <= high, in grid steps")
        if not Fraction(1, 20) <= self.tolerance <= Fraction(1, 2) or self.tolerance * TWENTIETHS % 1:
            raise ValueError(f"the tolerance is {self.tolerance}; write a multiple of 1/20 from 1/20 to 1/2")

    @property
    def candidates(self) -> tuple[int, ...]:
        """Rising radii, in grid steps; the last is ``high``."""
        radii, radius = [], Fraction(self.low)
        while radius < self.high:
            radii.append(math.ceil(radius))
            radius *= GROWTH
        return (*radii, self.high)

    @property
    def sensitivity(self) -> Fraction:
        """Of the scores."""
        return Fraction(2) if self.swap else 2 - self.tolerance

    def choose(self, points: Points, sampler: Sampler) -> int:
        """A radius for points: (n, d) int64 in grid steps, one row per privacy unit; already inflated."""
        return self.chosen(_neighbouring(points[sampler.order(len(points))]), sampler)

    def chosen(self, distances: npt.NDArray[np.float64], sampler: Sampler) -> int:
        """A radius from the (n,) distances of neighbours in a uniformly random cycle; already inflated."""
        scores = self.scores(np.sort(distances))
        exponent = self.epsilon / (2 * self.sensitivity * TWENTIETHS)
        index, _ = sampler.intervals([1] * len(scores), scores, exponent)
        return math.ceil(self.candidates[index] * inflation(self.tolerance))

    def scores(self, distances: npt.NDArray[np.float64]) -> list[int]:
        """20 q_j for each candidate; ``distances`` are the (n,) rising distances of the cycle's pairs."""
        near = np.searchsorted(distances, np.array(self.candidates[:-1], dtype=np.float64), side="right")
        missing = int((1 - self.tolerance) * TWENTIETHS) * len(distances) - TWENTIETHS * near
        here, before = [*missing.tolist(), None], [None, *missing.tolist()]
        return [min(0, -(a or 0), b if b is not None else 0) for a, b in zip(here, before, strict=True)]


def _neighbouring(cycle: Points) -> npt.NDArray[np.float64]:
    """(n,) distances of each row from the next one, the last from the first."""
    squares = np.zeros(len(cycle))
    for column in cycle.T:
        squares += (column - np.roll(column, -1)).astype(np.float64) ** 2
    return np.asarray(np.sqrt(squares))
