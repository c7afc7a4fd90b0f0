"""A rival for clusters: locality-sensitive hashing, at the same price. For benchmarks alone: its noise is of floats.

Random hyperplanes split the rows into a tree; each level's noisy counts say which nodes are split further. The rows of
each leaf become their noisy mean, weighted by its noisy count, and k-means runs over these. All noise is Gaussian, all
levels and the means pay a part of rho each.

Source: Chang, Kamath 2021, "Practical differentially private clustering"; the shares and limits are chosen here so as
to serve the rival: the best of a few tried.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from dpsql.mechanisms.base import Price
from dpsql.privacy.conversions import rho_of_epsilon

__all__ = ["centres_by_hashing"]

Floats = npt.NDArray[np.float64]
DEPTH = 20  # Levels of the tree.
COUNTS = 0.2  # Of rho, for the counts of all levels.
SURE = 4  # Standard deviations of a count's noise that a node must exceed, to be split or kept.


def centres_by_hashing(points: Floats, k: int, radius: float, price: Price, neighbours: str, seed: int) -> Floats:
    """(k, d) centres of (n, d) points in the ball of that radius around 0."""
    rng = np.random.default_rng(seed)
    if price.rho is not None:
        rho = float(price.rho)
    elif price.epsilon is not None:
        rho = float(rho_of_epsilon(price.epsilon, price.delta))
    else:
        raise ValueError("the price names epsilon or rho.")
    rho /= 1 if neighbours == "add_remove" else 4  # a swap moves two rows
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    points = points * np.minimum(1, radius / np.maximum(norms, 1e-300))
    sway = math.sqrt(DEPTH / (2 * COUNTS * rho))
    nodes, leaves = [np.arange(len(points))], list[npt.NDArray[np.int64]]()
    for _ in range(DEPTH):
        direction = rng.normal(size=points.shape[1])
        offset = rng.uniform(-radius / 2, radius / 2) if points.shape[1] == 2 else 0.0
        side = points @ (direction / np.linalg.norm(direction)) > offset
        split = [part for node in nodes for part in (node[side[node]], node[~side[node]])]
        big = [len(node) + rng.normal(0, sway) > 2 * SURE * sway for node in split]
        leaves += [node for node, more in zip(split, big, strict=True) if not more]
        nodes = [node for node, more in zip(split, big, strict=True) if more]
    means, weights = [], []
    for leaf in [*leaves, *nodes]:
        count = len(leaf) + rng.normal(0, math.sqrt(1 / (COUNTS * rho)))
        if count > SURE * math.sqrt(1 / (COUNTS * rho)):
            spread = radius * math.sqrt(1 / (2 * (1 - 1.5 * COUNTS) * rho))
            mean = (points[leaf].sum(axis=0) + rng.normal(0, spread, points.shape[1])) / count
            means.append(mean * min(1, radius / np.linalg.norm(mean)))
            weights.append(count)
    if len(means) < k:
        return np.zeros((k, points.shape[1]))
    return np.asarray(KMeans(k, n_init=4, random_state=seed).fit(means, sample_weight=weights).cluster_centers_)
