"""One metric of every kind, made by chance from a seed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric import Chain, Discrete, Metric, Star, Table

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


KINDS: dict[str, Callable[[Rng, int], Metric]] = {
    "discrete": lambda rng, size: Discrete(size, fraction(rng)),
    "chain": lambda rng, size: Chain.of(fractions(rng, size - 1)),
    "star": lambda rng, size: Star.of(fractions(rng, size)),
    "graph": graph,
}
