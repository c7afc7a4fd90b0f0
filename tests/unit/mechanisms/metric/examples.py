"""One metric of every kind, made by chance from a seed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from dpsql.mechanisms.metric import (
    Chain,
    Discrete,
    DistanceThreshold,
    Metric,
    Points,
    Smooth,
    Star,
    Table,
    Tree,
    WithNull,
)

Rng = np.random.Generator


def fraction(rng: Rng) -> Fraction:
    """Above 0."""
    return Fraction(int(rng.integers(1, 30)), int(rng.integers(1, 9)))


def fractions(rng: Rng, size: int) -> list[Fraction]:
    """Above 0."""
    return [fraction(rng) for _ in range(size)]


def graph(rng: Rng, size: int) -> Table:
    """A tree by chance, and some edges more."""
    edges = [(int(rng.integers(node)), node, fraction(rng)) for node in range(1, size)]
    edges += [(int(u), int(v), fraction(rng)) for u, v in rng.integers(size, size=(size // 2, 2)) if u != v]
    return Table.of_graph(size, edges)


def positions(rng: Rng, size: int) -> list[Fraction]:
    """Ascending."""
    return list(accumulate(fractions(rng, size)))


def threshold(rng: Rng, size: int) -> DistanceThreshold:
    """Of a theta that no gap exceeds."""
    at = positions(rng, size)
    widest = max((after - before for before, after in pairwise(at)), default=Fraction(1))
    return DistanceThreshold.at(at, widest * int(rng.integers(1, 4)), fraction(rng))


def places(rng: Rng, size: int) -> list[list[int]]:
    """Different points of a small plane."""
    chosen = rng.choice(20 * 20, size=size, replace=False)
    return [[int(x), int(y)] for x, y in zip(*np.divmod(chosen, 20), strict=True)]


KINDS: dict[str, Callable[[Rng, int], Metric]] = {
    "discrete": lambda rng, size: Discrete(size, fraction(rng)),
    "chain": lambda rng, size: Chain.of(fractions(rng, size - 1)),
    "star": lambda rng, size: Star.of(fractions(rng, size)),
    "graph": graph,
    "tree": lambda rng, size: Tree.of(
        size, [(node, int(rng.integers(node)), fraction(rng)) for node in range(1, size)]
    ),
    "threshold": threshold,
    "smooth": lambda rng, size: Smooth.at(positions(rng, size), fraction(rng), fraction(rng)),
    "euclidean": lambda rng, size: Points.of(places(rng, size), fraction(rng)),
    "euclidean, smooth": lambda rng, size: Points.of(places(rng, size), fraction(rng), least=5),
    "chain with NULL": lambda rng, size: WithNull(Chain.of(fractions(rng, size - 2)), fraction(rng)),
}
