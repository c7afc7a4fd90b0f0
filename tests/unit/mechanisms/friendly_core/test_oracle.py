"""The oracle of one part: near the best clustering, and a function of the part alone."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.friendly_core.oracle import centres, inside_ball
from dpsql.mechanisms.friendly_core.tuples import LARGEST

Points = npt.NDArray[np.int64]


def cost(points: Points, found: Points) -> float:
    return float(((points[:, None, :] - found[None, :, :]) ** 2).sum(axis=2).min(axis=1).sum())


def best_cost(points: Points, k: int) -> float:
    """Over every way to put the points into k clusters."""
    least = float("inf")
    for labels in product(range(k), repeat=len(points)):
        groups = [points[np.array(labels) == c] for c in range(k)]
        least = min(least, sum(float(((g - g.mean(axis=0)) ** 2).sum()) for g in groups if len(g)))
    return least


@pytest.mark.parametrize(("k", "d", "seed"), [(2, 1, 0), (2, 2, 1), (3, 2, 2), (3, 1, 3), (2, 2, 4)])
def test_no_clustering_of_a_small_part_is_better(k: int, d: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(-10_000, 10_000, (8, d))
    assert cost(points, centres(points, k)) <= best_cost(points, k) * 1.001 + 8 * d


@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_it_is_nearly_as_good_as_scikit_learns_best_of_ten(spread: float) -> None:
    library = pytest.importorskip("sklearn.cluster")  # of the test extra
    ratios = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        middles = rng.uniform(-0.6, 0.6, (8, 2))
        points = inside_ball(
            np.rint((middles[rng.integers(0, 8, 80)] + rng.normal(0, spread, (80, 2))) * LARGEST).astype(int)
        )
        best = library.KMeans(8, n_init=10, random_state=seed).fit(points.astype(np.float64)).inertia_
        ratios.append(cost(points, centres(points, 8)) / best)
    assert np.median(ratios) < 1.03
    assert max(ratios) < 1.5


def test_separate_clusters_are_found_in_fifty_dimensions_too() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, (2, 50)) * 400_000
    points = truth[rng.integers(0, 2, 600)] + np.rint(rng.normal(0, 150_000, (600, 50))).astype(np.int64)
    found = centres(inside_ball(points), 2)
    errors = [np.linalg.norm(found[list(order)] - truth) for order in ((0, 1), (1, 0))]
    plain = 150_000 * np.sqrt(2 * 50 / 300)  # of both means, had the labels been known
    assert min(errors) < 1.2 * plain


def test_the_order_of_rows_changes_nothing() -> None:
    rng = np.random.default_rng(6)
    points = rng.integers(-LARGEST // 4, LARGEST // 4, (90, 3))
    wanted = centres(points, 4)
    for _ in range(5):
        assert (centres(rng.permutation(points), 4) == wanted).all()


def test_centres_come_in_lexicographic_order_inside_the_ball() -> None:
    points = inside_ball(np.random.default_rng(7).integers(-(2**26), 2**26, (50, 2)))
    found = centres(points, 5)
    assert found.tolist() == sorted(found.tolist())
    assert ((found**2).sum(axis=1) <= LARGEST**2).all()


def test_equal_rows_give_equal_centres() -> None:
    assert (centres(np.full((9, 2), 17), 3) == 17).all()


def test_a_row_moves_into_the_ball_whatever_it_was() -> None:
    rng = np.random.default_rng(8)
    for radius in (5, 1000, LARGEST):
        points = rng.integers(-(2**26), 2**26 + 1, (500, 4))
        inside = inside_ball(points, radius)
        assert ((inside**2).sum(axis=1) <= radius**2).all()
        assert (np.sign(inside) * np.sign(points) >= 0).all()
        assert (((inside**2).sum(axis=1) > (0.9 * radius - 4) ** 2) | (inside == points).all(axis=1)).all()
    assert (inside_ball(np.array([[3, 4]]), 5) == [3, 4]).all()
