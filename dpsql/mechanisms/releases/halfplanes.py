"""Half planes through the origin, all of them from one release: a histogram of angles.

Neighbours and loss: those of `ranges`, which releases the histogram.

Each row is a point of the plane. The circle of directions is cut into N sectors, point (x, y) being in sector
floor(N angle / (2 pi)); the origin, which no half plane a x + b y > 0 holds, is a cell of its own, N. A half plane
holds the points of a half circle of angles: a range of sectors around the circle, whose two ends may be cut.

Theorem. The release is private as `ranges` is: which cell a row is in is a function of that row. The number of rows in
a half plane errs by the noise of at most two ranges and by the rows of at most two sectors; of these it counts the
share of the sector that is inside.

No margin is needed, and no unit vectors, where Blum, Ligett and Roth's ReleaseHalfspaces (`projected`) asks for both.
In three and four dimensions, `halfspaces` learns those of a net of directions over a declared grid; beyond that their
number is out of reach.

Source: ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsql.mechanisms.releases.cells import NoisyCells
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.ranges import noisy_ranges
from dpsql.mechanisms.releases.shares import Floats, Whole
from dpsql.mechanisms.releases.tree import NoisyTree
from dpsql.privacy.sampling import Sampler

__all__ = ["SECTORS", "NoisyAngles", "noisy_angles", "sectors_of"]

SECTORS = 720
"""Of the circle, half a degree each. It is a choice: the two that a half plane may cut hold little then."""


@dataclass(frozen=True, slots=True)
class NoisyAngles:
    """A histogram of the directions of points.

    Attributes:
        sectors: N.
        cells: What was released: N sectors, and the origin.
    """

    sectors: int
    cells: NoisyCells | NoisyTree

    def half_plane(self, a: float, b: float) -> float:
        """The released number of rows with a x + b y > 0, for a and b that are not both 0."""
        if a == 0 == b:
            raise ValueError("a half plane needs a direction: a and b are both 0")
        start = (math.atan2(b, a) - math.pi / 2) / (2 * math.pi) * self.sectors % self.sectors
        end = start + self.sectors / 2
        around = np.concatenate([[0.0], np.cumsum(np.tile(self.cells.counts[: self.sectors], 2))])
        knots = np.arange(len(around))
        return float(np.interp(end, knots, around) - np.interp(start, knots, around))


def noisy_angles(
    points: Floats | Whole, payment: Payment, sampler: Sampler, total: int | None = None, sectors: int = SECTORS
) -> NoisyAngles:
    """A histogram of angles that answers every half plane through the origin.

    Args:
        points: (n, 2) finite coordinates.
        payment: The price and the neighbours.
        sampler: Of the noise.
        total: The number of rows where it is public (``replace_one``, one row a unit).
        sectors: N >= 2.
    """
    if sectors < 2:
        raise ValueError(f"{sectors} sectors cannot tell half planes apart; give 2 or more")
    counts = np.bincount(sectors_of(points, sectors), minlength=sectors + 1)
    return NoisyAngles(sectors, noisy_ranges(counts, payment, sampler, total))


def sectors_of(points: Floats | Whole | Sequence[Sequence[float]], sectors: int) -> Whole:
    """(n,) the sector of each point, from 0; ``sectors`` for the origin.

    >>> sectors_of([[1, 0], [0, 2], [-3, 0], [0, -1], [0, 0]], 4).tolist()
    [0, 1, 2, 3, 4]
    """
    at = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    angle = np.arctan2(at[:, 1], at[:, 0]) / (2 * math.pi) % 1
    found = np.minimum((angle * sectors).astype(np.int64), sectors - 1)
    return np.where((at == 0).all(axis=1), sectors, found)
