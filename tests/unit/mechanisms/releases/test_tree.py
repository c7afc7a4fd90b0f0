"""Trees of noisy ranges, against least squares by matrices and the laws of their noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.shares import Floats, sums
from dpsql.mechanisms.releases.tree import TreeShape, noisy_tree
from dpsql.testing_samplers import FixedSampler, Noiseless

PURE = Payment("add_remove", epsilon=Fraction(1))
SWAPS = Payment("replace_one", epsilon=Fraction(1))
SHAPES = [TreeShape(cells, b, root) for cells, b in ((8, 2), (5, 2), (9, 3), (11, 4), (1, 2)) for root in (True, False)]


def matrix(shape: TreeShape) -> Floats:
    """(nodes, leaves) which leaves each noised node holds, level by level from the root."""
    leaves = np.eye(shape.branching**shape.height)
    columns = [np.concatenate(sums(leaf, shape.branching)) for leaf in leaves]
    return np.array(columns).T[0 if shape.root else 1 :]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_the_numbers_are_those_of_least_squares(shape: TreeShape, seed: int) -> None:
    a = matrix(shape)
    y = np.random.default_rng(seed).normal(0, 10, len(a))
    edges = np.cumsum([shape.branching**depth for depth in range(0 if shape.root else 1, shape.height)])
    levels = np.split(y, edges)
    if shape.root:
        best = np.linalg.lstsq(a, y, rcond=None)[0]
        found = shape.consistent(levels, None)
    else:  # with the sum of the leaves given: the last leaf is what the others leave of it
        total, last = 17.0, a[:, -1]
        free = np.linalg.lstsq(a[:, :-1] - last[:, None], y - total * last, rcond=None)[0]
        best = np.append(free, total - free.sum())
        found = shape.consistent([np.zeros(1), *levels], total)
    assert found[-1] == pytest.approx(best, abs=1e-8)
    for nodes, exact in zip(found, sums(found[-1], shape.branching), strict=True):
        assert nodes == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.cells > 1], ids=repr)
def test_expected_errors_are_those_of_the_weights(shape: TreeShape) -> None:
    a, query = matrix(shape), shape.range_query(1, 4)
    wide = np.append(query, np.zeros(a.shape[1] - shape.cells))
    if shape.root:
        covariance = np.linalg.inv(a.T @ a)
    else:
        basis = np.linalg.svd(np.ones((1, a.shape[1])))[2][1:].T  # of all changes that keep the sum
        covariance = basis @ np.linalg.inv(basis.T @ a.T @ a @ basis) @ basis.T
    weights = shape.weights(query)
    assert weights == pytest.approx(a @ covariance @ wide, abs=1e-9)
    law = PURE.noise(histograms=shape.levels)
    deviation = (2 * np.exp(-1 / law.spread)) ** 0.5 / (1 - np.exp(-1 / law.spread))
    assert shape.deviation(query, law) == pytest.approx((wide @ covariance @ wide) ** 0.5 * deviation, rel=1e-9)


@pytest.mark.parametrize("branching", [2, 3, 16])
def test_without_noise_it_is_the_histogram(branching: int) -> None:
    counts = [4, 0, 0, 9, 1, 1, 7]
    for payment, total in ((PURE, None), (SWAPS, sum(counts))):
        released = noisy_tree(counts, payment, Noiseless(), total, branching)
        assert released.counts.tolist() == counts
        assert released.estimates == pytest.approx(counts)


def test_the_noise_is_that_of_all_levels() -> None:
    assert noisy_tree([1] * 8, PURE, Noiseless()).law.spread == 4  # root and three levels below it, one row each
    assert noisy_tree([1] * 8, SWAPS, Noiseless(), total=8).law.spread == 6  # three levels, two rows moved in each
    assert noisy_tree([1] * 8, Payment("add_remove", rho=Fraction(1, 2)), Noiseless()).law.spread == 2


def test_intervals_hold_the_truth_and_what_the_release_shows(seed: int) -> None:
    counts = np.random.default_rng(seed).poisson(3, 60)
    sampler, missed, trials = FixedSampler("tree"), 0, 60
    for _ in range(trials):
        released = noisy_tree(counts, PURE, sampler, branching=4)
        low, high = released.range_interval(7, 31)
        assert low <= released.counts[7:31].sum() <= high
        missed += not low <= counts[7:31].sum() <= high
    assert missed <= trials / 20


def test_bad_trees_are_refused() -> None:
    for cells, branching in ((0, 2), (3, 1)):
        with pytest.raises(ValueError, match="give 1 and 2 or more"):
            noisy_tree([1] * cells, PURE, Noiseless(), branching=branching)
    with pytest.raises(ValueError, match="private under"):
        noisy_tree([1, 2], PURE, Noiseless(), total=3)
