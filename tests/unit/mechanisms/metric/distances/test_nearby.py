"""Slopes between points in space against all pairs of points."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial import cKDTree

from dpsql.mechanisms.metric import Lines, Points
from dpsql.mechanisms.metric.distances.nearby import TOLERANCE, steepest
from tests.effort import few_calls

Integers = npt.NDArray[np.int64]
Numbers = Callable[[Integers, np.random.Generator], Integers]

QUERIES: dict[str, Numbers] = {
    "white noise": lambda points, rng: rng.integers(0, 10**6, size=len(points)),
    "smooth": lambda points, _: (np.sin(points[:, 0] / 400) * 10**6).astype(np.int64),
    "half-plane": lambda points, _: (points.sum(axis=1) > 1500).astype(np.int64),
    "linear": lambda points, _: 3 * points[:, 0],
    "one point": lambda points, _: (np.arange(len(points)) == 7).astype(np.int64),
    "huge": lambda points, rng: rng.integers(2**60, 2**61, size=len(points)),
    "constant": lambda points, _: np.full(len(points), 5),
}


def places(rng: np.random.Generator, size: int, dimensions: int) -> Integers:
    """Different points, some of them very close to others."""
    around = rng.integers(0, 3000, size=(size, dimensions))
    close = around[: size // 4] + rng.integers(-2, 3, size=(size // 4, dimensions))
    return np.asarray(rng.permutation(np.unique(np.concatenate([around, close]), axis=0)))


def by_hand(points: Integers, lines: Lines, floor: float) -> float:
    """The largest cost / distance, row by row of the table of distances."""
    best = 0.0
    later = np.arange(len(points))
    for one in range(len(points) - 1):
        others = later[one + 1 :]
        apart = np.sqrt(((points[others] - points[one]).astype(float) ** 2).sum(axis=1))
        costs = lines.cost(np.full(len(others), one), others).max(axis=0).astype(float)
        best = max(best, float((costs / np.maximum(apart, floor)).max()))
    return best


@pytest.mark.every(3)
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("floor", [0.0, 60.0])
def test_the_slope_is_that_of_all_pairs(name: str, dimensions: int, floor: float) -> None:
    for seed, size in enumerate((2, 17, 250)):
        rng = np.random.default_rng(seed)
        points = places(rng, size, dimensions)
        numbers = np.stack([QUERIES[name](points, rng), QUERIES["white noise"](points, rng) // 1000])
        for lines in (
            Lines(numbers),
            Lines(numbers[:1]),
            Lines(numbers % 1000, points[None, :, 0].repeat(2, 0) // 500),
        ):
            truth = by_hand(points, lines, floor)
            assert truth * (1 - 1e-13) <= steepest(points, lines, floor) <= truth * TOLERANCE * (1 + 1e-9)


def test_with_too_few_boxes_the_slope_is_a_bound() -> None:
    rng = np.random.default_rng(5)
    points = places(rng, 500, 2)
    for numbers in (QUERIES["smooth"](points, rng), QUERIES["white noise"](points, rng)):
        truth = by_hand(points, Lines(numbers[None, :]), 0.0)
        bounds = [steepest(points, Lines(numbers[None, :]), 0.0, most=most) for most in (1, 30, 10**6)]
        assert truth * (1 - 1e-13) <= bounds[2] <= bounds[1] <= bounds[0]
        assert bounds[0] > truth * TOLERANCE


def test_nearest_neighbours_alone_would_be_a_breach() -> None:
    # Two clusters of ten points, 0.99 apart. Every point's five nearest neighbours are in its own cluster, where the
    # query is constant: their graph says that no noise is needed. The truth is 1 / 0.99.
    cluster = np.stack([np.arange(10), np.zeros(10, dtype=np.int64)], axis=1)
    points = np.concatenate([cluster, cluster + np.array([999, 0])])
    query = np.repeat([0, 1], 10)
    _, near = cKDTree(points).query(points, k=6)
    assert np.all(query[near] == query[:, None])
    metric = Points.of(points.tolist(), unit=Fraction(1, 1000))
    assert metric.slope(Lines(query[None, :])) == Fraction(100, 99)


@pytest.mark.slow
def test_many_points_agree_with_few_of_them_and_take_few_calls_each() -> None:
    rng = np.random.default_rng(2)
    points = np.unique(rng.integers(0, 2**27, size=(10**5, 2)), axis=0)
    metric = Points.of(points.tolist(), unit=Fraction(1, 10**6))
    assert metric.pairs() is None
    for name in ("white noise", "half-plane", "linear"):
        query = QUERIES[name](points, rng)
        with few_calls(10 * len(points)):
            slope = metric.slope(Lines(query[None, :]))
        some = rng.choice(len(points), size=1000, replace=False)
        few = Points.of(points[some].tolist(), unit=Fraction(1, 10**6))
        assert slope >= few.slope(Lines(query[None, some]))
    low, high = metric.distance(0, 1), metric.diameter()
    assert low <= high <= Fraction(2**28, 10**6)
