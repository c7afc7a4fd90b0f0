"""What every pair of cells says, one by one, in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric import Metric, Product, Query

Cell = tuple[int, ...]


def cells(query: Query) -> list[Cell]:
    """Of the axes that the query looks at; 0 on the others."""
    return list(np.ndindex(*query.values.shape))


def cost(query: Query, one: Cell, other: Cell) -> int:
    """L1 distance of the two columns of the query matrix."""
    a, b = int(query.values[one]), int(query.values[other])
    if query.groups is not None and query.groups[one] != query.groups[other]:
        return abs(a) + abs(b)
    return abs(a - b)


def worst(product: Product, query: Query) -> Fraction:
    """The least L with cost <= L d, over all pairs of cells and over an absent row."""
    ratios = [Fraction(0)]
    for one, other in itertools.combinations(cells(query), 2):
        if apart := cost(query, one, other):
            ratios.append(Fraction(apart) / product.distance(one, other))
    if product.presence is not None:
        ratios += [Fraction(abs(int(query.values[cell]))) / product.presence for cell in cells(query)]
    return max(ratios)


def slope(metric: Metric, values: Sequence[int]) -> Fraction:
    """The largest difference / distance of one attribute's values."""
    pairs = itertools.combinations(range(len(values)), 2)
    return max((Fraction(abs(values[u] - values[v])) / metric.distance(u, v) for u, v in pairs), default=Fraction(0))


def is_metric(metric: Metric) -> bool:
    """Symmetric, 0 exactly on the diagonal, triangle inequality (up to the rounding of roots), diameter."""
    every = range(metric.size)
    d = [[metric.distance(u, v) for v in every] for u in every]
    slack = 1 + Fraction(1, 2**50)
    return (
        all(d[u][v] == d[v][u] and (d[u][v] == 0) == (u == v) for u in every for v in every)
        and all(d[u][w] <= (d[u][v] + d[v][w]) * slack for u in every for v in every for w in every)
        and max(map(max, d)) <= metric.diameter() <= max(map(max, d)) * slack
    )


def agrees(found: Fraction, truth: Fraction, *, exactly: bool) -> bool:
    """Whether a constant is the true one; with roots, above it by the margins of their rounding."""
    if exactly:
        return found == truth
    return truth * (1 - Fraction(1, 2**55)) <= found <= truth * (1 + Fraction(1, 2**28))
