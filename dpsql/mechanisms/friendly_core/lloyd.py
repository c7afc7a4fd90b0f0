"""One noisy step of Lloyd's algorithm: every centre moves to the noisy mean of the rows nearest to it.

Neighbours: ``add_remove`` and ``replace_one``. Loss: rho-zCDP.

Theorem. Rows lie in the ball of radius B around 0; each belongs to the nearest of the given centres (the first of
equals), by itself. The release is, for every cluster, the sum of its rows plus discrete Gaussian noise of variance
B^2 v on each coordinate, and their number plus noise of variance v. With v = 1 / rho for add_remove and v = 2 / rho for
replace_one this is rho-zCDP. Proof: a row moves (sum / B, number) by a vector x of squared norm at most 1 + 1 in one
cluster: 2 / (2 v) = rho. An exchange inside a cluster moves the sum by at most 2 B and the number by nothing, one
across two clusters moves each by a squared norm of at most 2: 4 / (2 v) = rho in both cases.

Source: the noisy step is that of SuLQ k-means (Blum, Dwork, McSherry, Nissim 2005) with discrete Gaussian noise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.oracle import inside_ball
from dpsql.mechanisms.friendly_core.tuples import LARGEST, squared_distances
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["lloyd_step"]

Integers = npt.NDArray[Any]

ROWS_AT_ONCE = 2**16
"""Rows whose distances to all centres are held at a time, so that they fit into memory. It is a choice."""


def lloyd_step(points: Integers, centres: Integers, rho: Fraction, neighbours: str, sampler: Sampler) -> Integers:
    """(k, d) int64: the moved centres, norm at most `LARGEST`; one without rows, by its noisy number, stays.

    Args:
        points: (n, d) integers, norm at most `LARGEST`; one row per privacy unit.
        centres: (k, d) integers, released.
        rho: Loss, > 0.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        sampler: Source of noise.
    """
    k, d = centres.shape
    v = (1 if neighbours == "add_remove" else 2) / rho
    sums, counts = _totals(points, centres)
    noisy_sums = noised(sums.ravel(), sampler.gaussian(LARGEST**2 * v, k * d)).reshape(k, d)
    noisy_counts = noised(counts, sampler.gaussian(v, k))
    moved = centres.astype(np.int64).copy()
    for c, count in enumerate(noisy_counts.tolist()):
        if count >= 1:
            # put inside the cube first: what noise can do has no bound
            moved[c] = [max(-LARGEST, min(LARGEST, int(s) // count)) for s in noisy_sums[c].tolist()]
    return inside_ball(moved)


def _totals(points: Integers, centres: Integers) -> tuple[Integers, Integers]:
    """(k, d) exact sums and (k,) numbers of the rows nearest to each centre."""
    k, d = centres.shape
    sums, counts = np.zeros((k, d), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for start in range(0, len(points), ROWS_AT_ONCE):
        rows = points[start : start + ROWS_AT_ONCE]
        own = squared_distances(rows, centres).argmin(axis=1)
        counts += np.bincount(own, minlength=k)
        for axis in range(d):  # at most 2^16 numbers of 22 bits: exact in float64
            sums[:, axis] += np.bincount(own, weights=rows[:, axis], minlength=k).astype(np.int64)
    return sums, counts
