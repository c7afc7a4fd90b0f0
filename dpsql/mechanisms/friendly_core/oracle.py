"""k centres of one part of the data, without noise: the oracle whose answers the tuples are.

It sees its part alone and is a function of it: rows are sorted first, the restarts have a sequence of their own, and
no random bit is drawn. So one unit more or less changes one tuple, whatever the oracle does with it.

Everything but the choice of a subspace is arithmetic on whole numbers (squared distances below 2^53, sums of them in
int64); centres are rounded to the grid.

Source: Arthur, Vassilvitskii 2007 (k-means++, with a fixed low-discrepancy sequence in place of chance); Lloyd 1982;
projection on k principal components: Kannan, Vempala 2009 and Tsfadia et al. 2022, section 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.tuples import LARGEST, squared_distances

__all__ = ["centres", "inside_ball"]

Integers = npt.NDArray[Any]

RESTARTS = 8  # Times that centres are sought from new seeds; the cheapest are taken. A guess.
ROUNDS = 12  # Steps of Lloyd's algorithm after each start. A guess.
GOLDEN = 0.6180339887498949
"""The golden ratio less 1: its multiples, modulo 1, spread evenly (a low-discrepancy sequence)."""
MOST_OF_PART = 2**16
"""Rows of a part. Of more, every second, third or further one in sorted order stands for all, and sums stay below
2^63."""


def centres(points: Integers, k: int) -> Integers:
    """(k, d) int64: k-means centres of one part, in lexicographic order, norm at most `LARGEST`.

    Args:
        points: (m, d) integers, m >= k, norm at most `LARGEST`.
        k: >= 1.
    """
    d = points.shape[1]
    rows = points[np.lexsort(points.T[::-1])]
    rows = rows[:: -(-len(rows) // MOST_OF_PART)]
    middle = rows.sum(axis=0) // len(rows)
    if d <= k:
        found = _clustered(rows, k)
    else:
        basis = _principal(rows - middle, k)
        flat = np.rint((rows - middle) @ basis / 2).astype(np.int64)  # halved: a difference of two points is longer
        found = middle + np.rint(2 * _clustered(flat, k) @ basis.T).astype(np.int64)
    inside = inside_ball(found)
    return inside[np.lexsort(inside.T[::-1])]


def inside_ball(points: Integers, radius: int = LARGEST) -> Integers:
    """(n, d) int64: each point moved towards 0 into the ball, by its own coordinates alone, rounded towards 0.

    Args:
        points: (n, d) integers of magnitude at most 2^26.
        radius: At most `LARGEST`.

    >>> inside_ball(np.array([[3, 4], [30, 40]]), radius=5).tolist()
    [[3, 4], [3, 4]]
    """
    squares = (points * points).sum(axis=1)
    norms = np.ceil(np.sqrt(squares)).astype(np.int64)
    norms += norms * norms < squares  # the root of a large number may be rounded down
    far = squares > radius * radius
    result = points.astype(np.int64)
    away = result[far]
    result[far] = np.sign(away) * (np.abs(away) * radius // norms[far][:, None])
    return result


def _clustered(rows: Integers, k: int) -> Integers:
    """(k, e) the best of several runs of Lloyd's algorithm on (m, e) sorted rows."""
    found = _seeds(rows, k)
    for _ in range(ROUNDS):
        found = _step(rows, found)
    costs = [squared_distances(rows, one).min(axis=1).sum() for one in found]
    return np.asarray(found[int(np.argmin(costs))])


def _seeds(rows: Integers, k: int) -> Integers:
    """(RESTARTS, k, e) rows to start from: each further one at a place in the running sum of squared distances."""
    seeds = np.empty((RESTARTS, k, rows.shape[1]), dtype=np.int64)
    nearest = np.ones((RESTARTS, len(rows)), dtype=np.int64)
    for c in range(k):
        for run, sums in enumerate(np.cumsum(nearest, axis=1)):
            at = sums.searchsorted(int((((run * k + c + 1) * GOLDEN) % 1) * float(sums[-1])), side="right")
            seeds[run, c] = rows[min(int(at), len(rows) - 1)]
        distances = squared_distances(seeds[:, c], rows).astype(np.int64)
        nearest = distances if c == 0 else np.minimum(nearest, distances)
    return seeds


def _step(rows: Integers, found: Integers) -> Integers:
    """(runs, k, e) one step of Lloyd's algorithm for every run; a centre without rows stays."""
    runs, k, e = found.shape
    distances = squared_distances(found.reshape(runs * k, e), rows).reshape(runs, k, len(rows))
    own = distances.argmin(axis=1)[:, None, :] == np.arange(k)[None, :, None]
    sums = (own.astype(np.float64) @ rows.astype(np.float64)).astype(np.int64)  # below 2^53: exact
    counts = own.sum(axis=2)[:, :, None]
    return np.where(counts > 0, (2 * sums + counts) // np.maximum(2 * counts, 1), found)


def _principal(differences: Integers, k: int) -> npt.NDArray[np.float64]:
    """(d, k) an orthonormal basis of the k directions in which the rows vary most."""
    x = differences.astype(np.float64)
    try:
        _, vectors = np.linalg.eigh(x.T @ x)
    except np.linalg.LinAlgError:  # it does not converge: any fixed directions will do
        vectors = np.eye(x.shape[1])
    return np.asarray(vectors[:, -k:])
