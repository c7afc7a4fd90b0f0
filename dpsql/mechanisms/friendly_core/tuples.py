"""Tuples of k points that stand for the same k clusters, and in one order.

Two tuples X and Y match with constant g if some permutation pi has, for all i and all j != i,

    |x_i - y_pi(i)| < g min(|x_i - y_pi(j)|, |x_j - y_pi(i)|)

so that pi sends every point to its nearest on the other side, clearly. Equal tuples match.

Lemma. If X, Y match with g by pi, and Y, Z match with g by tau, then X, Z match with 2g / (1 - g) by tau after pi.
Proof. Number the points so that both permutations are the identity; let i != j, D = |x_i - z_j|, a = |x_i - y_i|,
b = |y_i - z_i| and c = |y_j - z_j|. Then b and c are below g |y_i - z_j| <= g (a + D), and a is below
g |x_i - y_j| <= g (D + c). Together a < g D / (1 - g), hence b < g D / (1 - g), and |x_i - z_i| <= a + b. For
|x_j - z_i| exchange X and Z. From g = 1/7 follows 1/3, and from 1/3 follows 1, where the permutation is still the only
one that sends each point to its nearest.

So among tuples any two of which have a common friend at g = 1/7, any two match with 1/3, and for any three the
permutations compose: ordering all of them like one of them orders them consistently, whichever that one is.

Source: Tsfadia et al. 2022, section 5 (match, and the constant 1/7). There a tuple with two equal points matches
nothing, not even itself, and a predicate must be reflexive: here equal tuples match.

Coordinates are integers of at most `LARGEST`, so that every sum below is a whole number of less than 2^53: exact in
float64, whatever the order of summation, which lets the fast matrix product be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["LARGEST", "MOST_DIMENSIONS", "NEVER", "aligned", "gaps", "permuted", "squared_distances"]

Integers = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

LARGEST = 2**22
"""Largest norm of a point, in grid steps: squared distances are at most 2^46."""

MOST_DIMENSIONS = 512  # Coordinates of a point: dot products of points then stay below 2^53.
NEVER = 2**62
"""The gap of two tuples that do not match: above every squared radius."""

SQUARED_CONSTANT = 49  # The square of 1 / g for g = 1/7, the constant of Tsfadia et al. 2022, section 5.
PAIRS_AT_ONCE = 2**21  # Entries of a block of distances: 16 MiB. It is a choice between memory and time.


def squared_distances(a: Integers, b: Integers) -> Floats:
    """(m, n) exact squared distances of points (m, d) and (n, d) of norm at most `LARGEST`, whole numbers."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    result: Floats = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1)[None, :] - 2 * (x @ y.T)
    return result


def gaps(tuples: Integers) -> Integers:
    """(t, t) int64: the largest squared distance of matched points, for tuples that match with 1/7; else `NEVER`.

    Each entry depends on its two tuples alone.

    Args:
        tuples: (t, k, d) integers, points of norm at most `LARGEST`; the points of a tuple in a canonical order.

    >>> gaps(np.array([[[0], [100]], [[99], [1]], [[40], [60]]])).tolist()[0] == [0, 1, NEVER]
    True
    """
    t, k, d = tuples.shape
    points = tuples.reshape(t * k, d)
    result = np.empty((t, t), dtype=np.int64)
    rows = max(1, PAIRS_AT_ONCE // max(1, t * k * k))
    for start in range(0, t, rows):
        block = points[start * k : (start + rows) * k]
        distances = squared_distances(block, points).reshape(-1, k, t, k).transpose(0, 2, 1, 3)
        result[start : start + rows] = _block(distances)
    _, names = np.unique(tuples.reshape(t, k * d), axis=0, return_inverse=True)
    result[names.reshape(-1, 1) == names.reshape(1, -1)] = 0
    return result


def _block(distances: Floats) -> Integers:
    """(m, n) the gaps of m tuples and n tuples, from the (m, n, k, k) squared distances of their points."""
    nearest = distances.min(axis=3, keepdims=True)
    close = distances <= SQUARED_CONSTANT * nearest
    close_back = distances <= SQUARED_CONSTANT * distances.min(axis=2, keepdims=True)
    one_each = (close.sum(axis=3) == 1).all(axis=2) & (close.sum(axis=2) == 1).all(axis=2)
    matched = one_each & (close == close_back).all(axis=(2, 3))
    return np.where(matched, nearest.max(axis=(2, 3)), NEVER).astype(np.int64)


def aligned(tuples: Integers) -> Integers:
    """The tuples, each with its points in the order of their nearest points of the first tuple.

    Args:
        tuples: (m, k, d) integers, m >= 1, of which any two match.
    """
    m, k, d = tuples.shape
    distances = squared_distances(tuples[0], tuples.reshape(m * k, d)).reshape(k, m, k)
    order = distances.argmin(axis=2).T
    return np.take_along_axis(tuples, order[:, :, None], axis=1)


def permuted(tuples: Integers, order: Sequence[int]) -> Integers:
    """All tuples (m, k, d) with their places in one order: place c is what place ``order[c]`` was."""
    return tuples[:, order, :]
