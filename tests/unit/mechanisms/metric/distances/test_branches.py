"""Counts beyond the branches of a tree: private, exact, and enough for every query."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.metric import (
    BranchRelease,
    Chain,
    Discrete,
    Metric,
    Points,
    Product,
    Query,
    Star,
    Tree,
    WithNull,
    branch_release,
    least_error,
    offers,
)
from tests.unit.mechanisms.metric.examples import KINDS, fraction

TREES = ("chain", "star", "tree", "discrete")


def release_of(metric: Metric, queries: np.ndarray, presence: Fraction | None) -> BranchRelease:
    found = branch_release(metric, queries, presence)
    assert found is not None
    return found


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("bounded", [True, False])
def test_the_release_is_private_in_fractions(kind: str, bounded: bool) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        metric = KINDS[kind](rng, 7)
        presence = None if bounded else fraction(rng)
        release = release_of(metric, rng.integers(-3, 4, size=(4, 7)), presence)
        rows = np.eye(7, dtype=np.int64)
        counts = [release.counts(row).tolist() for row in rows]
        for u, v in itertools.combinations(range(7), 2):
            spent = sum(abs(a - b) / scale for a, b, scale in zip(counts[u], counts[v], release.scales, strict=True))
            assert spent <= release.slope * metric.distance(u, v)
            if bounded:
                assert spent == metric.distance(u, v)
        assert release.slope <= 1
        if presence is not None:
            total = 1 / release.total_scale if release.total_scale else Fraction(0)
            arrivals = [sum(c / s for c, s in zip(row, release.scales, strict=True)) + total for row in counts]
            assert max(arrivals) == release.presence * presence
            assert release.presence <= 1


@pytest.mark.parametrize("kind", TREES)
def test_without_noise_the_answers_are_exact(kind: str) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        metric = KINDS[kind](rng, 9)
        queries = rng.integers(-(2**53), 2**53, size=(5, 9))
        histogram = rng.integers(0, 2**40, size=9)
        release = release_of(metric, queries, None)
        answers = release.answers(queries, release.counts(histogram), int(histogram.sum()))
        assert answers.tolist() == (queries.astype(object) @ histogram.astype(object)).tolist()


def test_the_variances_are_those_of_the_noise() -> None:
    rng = np.random.default_rng(3)
    tree = Tree.of(
        5, [(0, 1, Fraction(1, 4)), (0, 2, Fraction(1, 20)), (1, 3, Fraction(1, 8)), (1, 4, Fraction(1, 10))]
    )
    queries = rng.integers(-3, 4, size=(3, 5))
    release = release_of(tree, queries, Fraction(1))
    assert release.total_scale is not None
    noise = rng.laplace(scale=[float(scale) for scale in release.scales], size=(200_000, 4))
    total = rng.laplace(scale=float(release.total_scale), size=200_000)
    rises, root = release.branches.rises(queries), release.branches.at_root(queries)
    measured = (noise @ rises.T + total[:, None] * root).var(axis=0)
    assert np.allclose(measured, release.variances(queries), rtol=0.03)


@pytest.mark.parametrize("size", range(1, 12))
def test_a_path_is_one_release_as_a_chain_and_as_a_tree(size: int) -> None:
    rng = np.random.default_rng(size)
    gaps = [Fraction(int(gap), 20) for gap in rng.integers(1, 9, size=size - 1)]
    steps = [(place, place + 1, gap) for place, gap in enumerate(gaps)]
    tree, chain = Tree.of(size, [steps[place] for place in rng.permutation(size - 1)]), Chain.of(gaps)
    queries = rng.integers(-3, 4, size=(3, size))
    assert (tree.diameter(), tree.branches().reach()) == (chain.diameter(), chain.branches().reach())
    for presence in (None, Fraction(1, 2)) if size > 1 else ():
        one, other = (release_of(metric, queries, presence).variances(queries) for metric in (tree, chain))
        assert one == pytest.approx(other, rel=1e-9)


def test_one_unit_of_the_metric_buys_every_range_of_a_chain() -> None:
    ages = Chain.even(100, Fraction(1, 10))
    ranges = np.array([[low <= age < high for age in range(100)] for low, high in ((10, 20), (3, 97), (50, 51))])
    assert release_of(ages, ranges.astype(int), None).variances(ranges.astype(int)) == (400, 400, 400)


def test_the_best_part_for_the_branches_is_chosen() -> None:
    metric, queries = Chain.even(30, Fraction(1, 10)), np.array([[1 if age < 18 else 0 for age in range(30)]])
    chosen = release_of(metric, queries, Fraction(2))
    assert chosen.total_scale is not None
    (least,) = chosen.variances(queries)
    reach = Fraction(15, 10)
    for x in np.linspace(0.05, 1, 40):
        room = 2 - x * float(reach)
        assert least <= 2 * 100 / x**2 + 2 / room**2 * (1 + 1e-6)


def test_only_trees_are_released_so() -> None:
    queries = np.ones((1, 3), dtype=int)
    assert branch_release(Points.of([(0, 0), (0, 1), (1, 0)], Fraction(1)), queries, None) is None
    assert branch_release(WithNull(Chain.even(2, Fraction(1)), Fraction(1)), queries, None) is None
    assert branch_release(Discrete(1, Fraction(1)), np.ones((1, 1), dtype=int), None) is None


def histogram_of_ages(size: int) -> Query:
    return Query(np.ones(size, dtype=int), np.arange(size))


def test_the_least_error_is_chosen_among_what_fits() -> None:
    ages = Product((Chain.even(40, Fraction(1, 10)), Discrete(2, Fraction(1))))
    counts = histogram_of_ages(40)
    along = Query(counts.values.reshape(-1, 1), counts.groups.reshape(-1, 1) if counts.groups is not None else None)
    found = {offer.way: offer for offer in offers(ages, [along])}
    assert set(found) == {"together", "apart", "branches"}
    # Each count alone moves by 2 between neighbours: scale 20. Two prefixes of scale 10 are four times better.
    assert np.allclose(found["together"].variances, 800)
    assert np.allclose(sorted(found["branches"].variances)[-1], 400)
    assert least_error(ages, [along]).way == "branches"
    by_sex = Query.of(np.ones((40, 2), dtype=int), np.array([[0, 1]]))
    assert {offer.way for offer in offers(ages, [by_sex])} == {"together", "apart", "branches"} - {"branches"}
    one = Query((np.arange(40) >= 18).astype(int).reshape(-1, 1))
    assert least_error(ages, [one]).way == "together"
    rows = Query(np.ones((1, 1), dtype=int))
    (only,) = offers(ages, [rows])
    assert (only.way, only.variances, only.error) == ("together", (0.0,), 0.0)


def test_a_star_s_groups_get_a_scale_each() -> None:
    # One scale needs 2 / 1.1 for the closest two; a count for each ray 1 / ray, too much for the first. The best is in
    # between.
    product = Product((Star.of([Fraction(1, 10), Fraction(1), Fraction(2)]),))
    found = {offer.way: offer.error for offer in offers(product, [histogram_of_ages(3)])}
    assert found["apart"] < 0.8 * found["together"] < found["branches"]
    assert least_error(product, [histogram_of_ages(3)]).way == "apart"
