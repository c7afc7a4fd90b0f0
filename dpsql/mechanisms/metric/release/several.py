"""What each move of a row from one cell to another costs, for several queries answered together: a matrix.

Queries answered with discrete Laplace noise of scales s_k are d-private together if, for all cells i and j,

    sum over k of cost_k(i, j) / s_k <= d(i, j).

In the weights w_k = 1 / s_k that is linear: A w <= 1. A has one row for each move and one column for each query; an
entry is cost_k / d. Moves that are enough for
one query are enough for the sum, which is itself the cost of the vector of all answers, each times its weight.

The rows are float64 and serve to find good weights. What may be released is decided by `scales_of`, which takes the
sum over all moves once more, rounds it up, and makes the noise larger by as much: whatever weights it is given, the
scales are d-private. A sum of K positive products and its quotient err by less than (K + 8) 2^-53 of themselves in
float64; it is rounded up by 2^-40.

Tests: tests/unit/mechanisms/metric/release/test_together.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.distances.base import Lines, Pairs
from dpsql.mechanisms.metric.distances.exact import Floats, safely_above
from dpsql.mechanisms.metric.distances.product import FEW_CELLS, Product, Slopes
from dpsql.mechanisms.metric.distances.query import Query

__all__ = ["joint_loss", "joint_slopes", "rows_of", "scales_of"]

MANY_NUMBERS = 1 << 25
"""How many costs (moves times queries) may be looked at one by one. A guess."""
CHUNK = 1 << 20
"""How many of these costs are worked out at a time, so that they fit into memory (8 MiB). A guess."""
MANY_QUERIES = 4096
"""Queries answered together: sums of so many products err by less than 2^-40, by which they are rounded up."""
LARGEST = 1e100  # Of a weight, and of its inverse: no product is lost to the ends of float64.


def scales_of(product: Product, queries: Sequence[Query], weights: Floats) -> tuple[tuple[Fraction, ...], Slopes]:
    """Scales in the proportion 1 / weights with which the queries' answers are d-private together, and their slopes.

    Args:
        product: d.
        queries: K of them, over the product's cells.
        weights: (K,) float64 > 0, only their proportion matters.

    Returns:
        Scales in steps of each query's grid; and what the answers cost along each attribute for each unit of its metric
        (at most 1 for `sum`), and for each unit of presence. Scales s_k / m cost m times as much.

    Raises:
        ValueError: If weights are too small or large, queries too many, or none needs noise.
    """
    if not np.all((weights > 1 / LARGEST) & (weights < LARGEST)):
        raise ValueError(f"weights must be numbers between {1 / LARGEST} and {LARGEST}.")
    if len(queries) > MANY_QUERIES:
        raise ValueError(f"{len(queries)} queries are too many to be answered together; {MANY_QUERIES} are the most.")
    slopes = joint_slopes(product, queries, weights)
    loss = joint_loss(product, queries, weights, slopes)
    if loss == 0:
        raise ValueError("no move changes these answers: they need no noise.")
    along = tuple(slope / loss for slope in slopes.along)
    return tuple(loss / Fraction(weight) for weight in weights.tolist()), Slopes(along, slopes.presence / loss)


def joint_slopes(product: Product, queries: Sequence[Query], weights: Floats) -> Slopes:
    """The steepest rise along each attribute of the answers, each times its weight; never too small.

    Where there are too many moves, the queries' own slopes are added up.
    """
    along = []
    for axis in range(len(product.attributes)):
        blocks = moves_along(product, queries, axis)
        if blocks is None:
            own = zip(weights.tolist(), queries, strict=True)
            along.append(sum((Fraction(weight) * product.slope(query, axis) for weight, query in own), Fraction(0)))
        else:
            along.append(_largest(blocks, weights))
    return Slopes(tuple(along), _largest(comings(product, queries), weights))


def joint_loss(product: Product, queries: Sequence[Query], weights: Floats, slopes: Slopes) -> Fraction:
    """The least L with sum of weight * cost <= L d for all moves, given the slopes; never too small."""
    bound = product.combined(slopes.along)
    if product.combine != "sum" and (blocks := moves_of_all_pairs(product, queries)):
        bound = min(bound, _largest(blocks, weights))
    return max(bound, slopes.presence)


def rows_of(product: Product, queries: Sequence[Query], most: int) -> Floats | None:
    """(n, K) float64: different rows of A, at most so many (the longest); None where there are too many moves."""
    sources = [comings(product, queries)]
    if product.combine == "sum":
        parts = [moves_along(product, queries, axis) for axis in range(len(product.attributes))]
        if any(part is None for part in parts):
            return None
        sources += [part for part in parts if part is not None]
    elif blocks := moves_of_all_pairs(product, queries):
        sources.append(blocks)
    else:
        return None
    rows = np.zeros((0, len(queries)))
    for block in (block for source in sources for block in source):
        rows = _different(np.concatenate([rows, block.T]), most)
    return rows[rows.any(axis=1)]


def moves_along(product: Product, queries: Sequence[Query], axis: int) -> Iterator[Floats] | None:
    """(K, n) float64 blocks of cost / distance, for moves along one attribute that are enough; None if too many."""
    shape = _shape(queries)
    if shape[axis] == 1:
        return iter(())
    pairs = product.attributes[axis].pairs()
    if pairs is None or len(queries) * len(pairs) * (math.prod(shape) // shape[axis]) > MANY_NUMBERS:
        return None
    return _costs(pairs, [query.over(shape).along(axis) for query in queries])


def comings(product: Product, queries: Sequence[Query]) -> Iterator[Floats]:
    """(K, n) float64 blocks of cost / presence, for a row that comes or goes."""
    if product.presence is not None:
        shape, presence = _shape(queries), float(product.presence)
        yield np.stack([np.abs(query.over(shape).values).ravel().astype(np.float64) / presence for query in queries])


def moves_of_all_pairs(product: Product, queries: Sequence[Query]) -> Iterator[Floats] | None:
    """(K, n) float64 blocks of cost / distance for all pairs of cells; None where these are not few."""
    shape = _shape(queries)
    if math.prod(shape) > FEW_CELLS:
        return None
    if math.prod(shape) == 1:
        return iter(())
    return _of_all_pairs(product, [query.over(shape) for query in queries])


def _of_all_pairs(product: Product, queries: Sequence[Query]) -> Iterator[Floats]:
    distances = product.distances(queries[0].attributes)
    lines = [query.flat() for query in queries]
    one, other = Pairs.all_of(len(distances))
    step = max(1, CHUNK // len(queries))
    for start in range(0, len(one), step):
        part = slice(start, start + step)
        costs = np.stack([line.cost(one[part], other[part])[0].astype(np.float64) for line in lines])
        yield costs / distances[one[part], other[part]]


def _costs(pairs: Pairs, lines: Sequence[Lines]) -> Iterator[Floats]:
    """Cost / distance of the pairs, on all lines of all queries."""
    step = max(1, CHUNK // (len(lines) * len(lines[0].values)))
    for start in range(0, len(pairs), step):
        part = slice(start, start + step)
        distances = pairs.distance[part] * float(pairs.unit)
        costs = (line.cost(pairs.one[part], pairs.other[part]).astype(np.float64) for line in lines)
        yield np.stack([(cost / distances).ravel() for cost in costs])


def _largest(blocks: Iterable[Floats], weights: Floats) -> Fraction:
    """The largest weighted sum of a column, rounded up."""
    return safely_above(max((float((weights @ block).max(initial=0)) for block in blocks), default=0.0))


def _shape(queries: Sequence[Query]) -> tuple[int, ...]:
    """The axes that any of the queries looks at."""
    return np.broadcast_shapes(*(query.values.shape for query in queries))


def _different(rows: Floats, most: int) -> Floats:
    """Rows without repetition, at most so many, the longest first.

    Rows of the same mark count as one. Missing one makes weights worse, and no scale too small.
    """
    marks = rows @ np.cos(np.arange(1, rows.shape[1] + 1))
    _, first = np.unique(marks, return_index=True)
    rows = rows[first]
    return rows[np.argsort(-rows.sum(axis=1), kind="stable")[:most]] if len(rows) > most else rows
