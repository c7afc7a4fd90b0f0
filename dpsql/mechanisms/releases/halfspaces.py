"""Half spaces through the origin in two to four dimensions: `mwem` learns those of a public net of directions.

Neighbours and loss: those of `mwem`. Each row is a point of a public grid of points; the questions are the numbers of
rows with u . x > 0 for the directions u of the net. In the plane the net goes evenly around the circle. In d = 3 and 4
dimensions it is the points of a grid of k steps an edge on the surface of the cube [-1, 1]^d, scaled to length 1.

Theorem. Every y of length 1 has a direction u of the net with |u - y| <= g = sqrt(d - 1) / k (in the plane 2 sin(pi /
(2 K)) for K directions). If the learnt histogram answers u within e rows, the number of rows with y . x > 0 is within
e + m of its answer for u, m being the rows with |y . x| <= g |x|: no margin is asked for, it is part of the error.

Proof. Scaled by its largest coordinate, y lies on the cube's surface; some grid point of that face is within half a
step, 1 / k, in each of the other d - 1 coordinates. Both have length 1 or more, where x -> x / |x| brings no two points
further apart: it is the projection to a ball. And |u . x - y . x| <= g |x|, so that for all other rows u . x and y . x
have one sign.  QED

A net has 2 d (k + 1)^(d - 1) directions or fewer, and mwem reads each over all N points. With five dimensions or more a
net as fine as in four would take thousands of directions over grids of a hundred thousand points and more: refused.

Source: ours; the net of directions is that of Blum, Ligett, Roth 2013, section 6, without projection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpsql.mechanisms.releases.mwem import LearntHistogram, learnt_histogram
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.shares import Floats, Whole
from dpsql.privacy.sampling import Sampler

__all__ = ["MOST_DIMENSIONS", "NEAR", "LearntHalfSpaces", "direction_net", "learnt_half_spaces", "net_spacing"]

MOST_DIMENSIONS = 4  # What nets are made for: each dimension more takes about nine times as many. It is a choice.
AROUND = 64  # Directions in the plane, evenly around the circle. It is a choice.
STEPS = {3: 6, 4: 4}  # Steps k of an edge, by dimension: 218 and 544 directions. It is a choice.
NEAR = 1e-9  # In the points' own unit: an inner product up to it counts as 0, for float64. It is a choice.


@dataclass(frozen=True, slots=True)
class LearntHalfSpaces:
    """A histogram learnt from the half spaces of a net.

    Attributes:
        points: (N, d) the points of the grid.
        net: (K, d) directions of length 1.
        learnt: The histogram over the points.
    """

    points: Floats
    net: Floats
    learnt: LearntHistogram

    def half_space(self, y: Floats) -> float:
        """The released number of rows with y . x > 0: that of the nearest direction of the net."""
        nearest = self.net[int(np.argmax(self.net @ y))]
        return float(self.learnt.cells[self.points @ nearest > NEAR].sum())


def learnt_half_spaces(
    counts: Whole,
    points: Floats,
    payment: Payment,
    sampler: Sampler,
    total: int | None = None,
    rounds: int | None = None,
) -> LearntHalfSpaces:
    """A histogram that answers half spaces.

    Args:
        counts: (N,) exact numbers of rows at each point.
        points: (N, d) the public grid, d from 2 to 4.
        payment: The price and the neighbours.
        sampler: Of choices and noise.
        total: The number of rows where it is public (``replace_one``, one row a unit).
        rounds: As for `mwem.learnt_histogram`.

    Raises:
        ValueError: If there are other dimensions, or as `mwem.learnt_histogram`.
    """
    net = direction_net(points.shape[1])
    learnt = learnt_histogram(counts, net @ points.T > NEAR, payment, sampler, total, rounds)
    return LearntHalfSpaces(points, net, learnt)


def direction_net(dimensions: int) -> Floats:
    """(K, d) directions of length 1 that every other one is near (`net_spacing`).

    >>> [len(direction_net(dimensions)) for dimensions in (2, 3, 4)]
    [64, 218, 544]
    """
    if not 2 <= dimensions <= MOST_DIMENSIONS:
        raise ValueError(
            f"half spaces in {dimensions} dimensions: nets of directions are made for 2 to {MOST_DIMENSIONS}; take as "
            "many columns, or `marginals`, whose rows answer all half spaces without a guarantee"
        )
    if dimensions == 2:
        angles = 2 * math.pi * np.arange(AROUND) / AROUND
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    steps = STEPS[dimensions]
    at = np.array(list(product(range(-steps, steps + 1, 2), repeat=dimensions)), dtype=np.float64)
    surface = at[np.abs(at).max(axis=1) == steps]
    return np.asarray(surface / np.linalg.norm(surface, axis=1, keepdims=True))


def net_spacing(dimensions: int) -> float:
    """g: how far a direction is from the nearest one of the net, at most."""
    if dimensions == 2:
        return 2 * math.sin(math.pi / (2 * AROUND))
    return math.sqrt(dimensions - 1) / STEPS[dimensions]
