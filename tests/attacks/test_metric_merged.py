"""Noise that is worked out over merged values must do for any two of the values, and for a row that comes or goes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.mechanisms.metric import Chain, Combine, Discrete, Metric, Product, Query, WithNull
from dpsql.mechanisms.metric.merged import merged
from dpsql.mechanisms.metric.release.scales import share_price
from tests.unit.mechanisms.metric.examples import Rng, fraction, fractions
from tests.unit.mechanisms.metric.oracles import cost

Arrays = tuple[Any, Any]

SLACK = 1e-9  # relative: far more than floats err by


def attribute(rng: Rng) -> Metric:
    """A chain or a discrete metric of 1 to 6 values, with NULL or without."""
    size = int(rng.integers(1, 7))
    known: Metric = Chain.of(fractions(rng, size - 1)) if rng.integers(2) else Discrete(size, fraction(rng))
    return WithNull(known, fraction(rng)) if rng.integers(2) else known


def question(rng: Rng, sizes: Sequence[int]) -> Arrays:
    """What rows add, a product of steps along some attributes; and perhaps groups along one."""

    def along(axis: int) -> Any:
        steps = np.sort(rng.integers(0, sizes[axis] // 2 + 2, size=sizes[axis]))
        return steps.reshape([-1 if other == axis else 1 for other in range(len(sizes))])

    values = np.ones([1] * len(sizes), dtype=np.int64)
    for axis in range(len(sizes)):
        values = values * along(axis) if rng.integers(3) else values
    return values, along(int(rng.integers(len(sizes)))) if rng.integers(2) else None


def over_merged(metric: Metric, axis: int, arrays: Sequence[Any]) -> tuple[Metric, list[Any]]:
    """The attribute as these arrays tell its values apart, and the arrays over the values that stay."""
    lines = [np.moveaxis(a.astype(object), axis, 0).reshape(a.shape[axis], -1) for a in arrays if a.shape[axis] > 1]
    found = merged(metric, lines)
    return found.metric, [np.take(a, found.kept, axis=axis) if a.shape[axis] > 1 else a for a in arrays]


def told(product: Product, queries: Sequence[Query], scales: Sequence[Fraction]) -> Fraction:
    """The most that two rows, or a row and none, are told apart by, for each unit of their distance.

    Exact: floats only leave out the pairs that are far from being the worst.
    """
    whole = [(query.over(product.sizes), scale) for query, scale in zip(queries, scales, strict=True)]
    rough = product.distances(tuple(range(len(product.sizes))))
    if product.presence is not None:
        rough = np.minimum(rough, 2 * float(product.presence))
    worst = Fraction(0)
    for (i, one), (j, other) in itertools.combinations(enumerate(np.ndindex(*product.sizes)), 2):
        moved = [(by, scale) for query, scale in whole if (by := cost(query, one, other))]
        if sum(by / float(scale) for by, scale in moved) > float(worst) * rough[i, j] * (1 - SLACK):
            exact = sum((by / scale for by, scale in moved), Fraction(0)) / product.distance(one, other)
            worst = max(worst, exact)
    if product.presence is not None:
        comings = [
            sum((abs(int(query.values[cell])) / scale for query, scale in whole if query.values[cell]), Fraction(0))
            for cell in np.ndindex(*product.sizes)
        ]
        worst = max(worst, max(comings) / product.presence)
    return worst


@pytest.mark.parametrize("combine", ["sum", pytest.param("sup", marks=pytest.mark.slow), "l2"])
def test_what_is_merged_is_told_apart_by_no_more_than_was_paid(combine: Combine) -> None:
    tight = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        metrics = [attribute(rng) for _ in range(int(rng.integers(1, 4)))]
        whole = Product(tuple(metrics), combine, fraction(rng) if rng.integers(2) else None)
        asked = [question(rng, whole.sizes) for _ in range(int(rng.integers(1, 4)))]
        arrays = [array for pair in asked for array in pair if array is not None]
        for axis, metric in enumerate(metrics):
            metrics[axis], arrays = over_merged(metric, axis, arrays)
        left = iter(arrays)
        queries = [Query.of(next(left), None if groups is None else next(left)) for _, groups in asked]
        shared = share_price(
            queries, Product(tuple(metrics), combine, whole.presence), "abc"[: len(metrics)], Fraction(1)
        )
        scales = [noise.scale or Fraction(0) for noise in shared.noises]
        loss = told(whole, [Query.of(values, groups) for values, groups in asked], scales)
        assert loss <= 1 + Fraction(1, 2**38), (seed, metrics)
        tight += loss > Fraction(9, 10)
    assert tight > 30
