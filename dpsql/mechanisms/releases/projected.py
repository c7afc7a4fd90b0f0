"""ReleaseHalfspaces: numbers of points on one side of a plane, from random projections to few dimensions.

Neighbours: ``add_remove`` and ``replace_one`` (`payment`). Loss: `Pure` with discrete Laplace noise, `Concentrated`
with discrete Gaussian noise.

m random matrices A_i of T rows and d columns, each entry +1 / sqrt(T) or -1 / sqrt(T) alike, take a point x of R^d to
A_i x in R^T. U is a public net of directions in R^T. For each i and each u in U the number of points with
u . A_i x >= 0 is released with noise. A half space y . x >= 0 is answered by the mean over i of the number at the u
nearest to A_i y, scaled to length 1.

Theorem 1. m |U| numbers of rows, as `payment` prices them, are epsilon-DP, or rho-zCDP: matrices and net are public.

Theorem 2 (Blum, Ligett, Roth 2013, Theorem 6.9, its slips mended: A_i y is no unit vector and is scaled; the net's
spacing takes a 1 more in each direction). For points and y of length 1 and a margin |x . y| >= gamma for all points,
with T = 320 ln(8 / alpha) / gamma^2, m = 16 d (ln(4 sqrt(d) / gamma) + ln(1 / beta)) / alpha^2 and a gamma / 4 net,
answers are within alpha n where n is large enough for the noise.

**Out of reach as it stands**: T >= 666 already at gamma = alpha = 1, so that a net has 10^1341 directions and n must be
10^1544 (`sizes_of`). The structure itself serves for small T and m, where nothing but theorem 1 is proved; in the plane
`halfplanes` answers every half plane without margin.

Source: Blum, Ligett, Roth 2013, section 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.shares import Floats, Whole
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["ProjectedPoints", "circle", "projected_points", "random_signs", "sizes_of"]


@dataclass(frozen=True, slots=True)
class ProjectedPoints:
    """Noised numbers of points on one side of each projected plane.

    Attributes:
        matrices: (m, T, d) +1 / sqrt(T) or -1 / sqrt(T).
        net: (|U|, T) directions of length 1.
        numbers: (m, |U|) noised numbers of points.
        law: The noise of each.
    """

    matrices: Floats
    net: Floats
    numbers: Whole
    law: LaplaceLaw | GaussianLaw

    def half_space(self, y: Floats) -> float:
        """The released number of points with y . x >= 0: the mean over the matrices."""
        projected = self.matrices @ y
        nearest = np.argmax(projected @ self.net.T, axis=1)  # whatever the length: the largest inner product
        return float(np.mean(self.numbers[np.arange(len(nearest)), nearest]))


def projected_points(
    points: Floats, matrices: Floats, net: Floats, payment: Payment, sampler: Sampler
) -> ProjectedPoints:
    """Noised numbers for all matrices and directions.

    Args:
        points: (n, d).
        matrices: (m, T, d), public (`random_signs`).
        net: (|U|, T), public, directions of length 1.
        payment: The price and the neighbours.
        sampler: Of the noise.
    """
    inside = [((points @ matrix.T) @ net.T >= 0).sum(axis=0) for matrix in matrices]
    law = payment.number_noise(Fraction(1), numbers=len(matrices) * len(net))
    seen = noised(np.concatenate(inside), law.draw(sampler, len(matrices) * len(net)))
    return ProjectedPoints(matrices, net, np.asarray(seen).reshape(len(matrices), len(net)), law)


def random_signs(m: int, rows: int, columns: int, sampler: Sampler) -> Floats:
    """(m, T, d) entries +1 / sqrt(T) or -1 / sqrt(T), drawn alike."""
    signs = 2.0 * sampler.integers(2, m * rows * columns).astype(np.float64) - 1
    return np.asarray(signs.reshape(m, rows, columns) / math.sqrt(rows))


def circle(directions: int) -> Floats:
    """(directions, 2) evenly spaced: a net for T = 2."""
    angles = 2 * math.pi * np.arange(directions) / directions
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def sizes_of(gamma: float, alpha: float) -> tuple[int, float]:
    """T, and the decimal logarithm of the net's size, (4 sqrt(T) / gamma)^T, of theorem 2.

    >>> sizes_of(1.0, 1.0)
    (666, 1341.0)
    """
    rows = math.ceil(320 * math.log(8 / alpha) / gamma**2)
    return rows, float(round(rows * math.log10(4 * math.sqrt(rows) / gamma)))
