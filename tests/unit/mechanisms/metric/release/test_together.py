"""Several queries: whatever the weights, the scales are d-private over all pairs of cells, in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import nnls

from dpsql.mechanisms.metric import STRATEGIES, Chain, Combine, Discrete, Product, Query, Slopes, Star, together
from dpsql.mechanisms.metric.distances.exact import Floats
from dpsql.mechanisms.metric.release.several import joint_slopes, rows_of, scales_of
from dpsql.mechanisms.metric.release.strategies import (
    RATIO,
    VARIANCE,
    Goal,
    optimum,
    strategy_1,
    strategy_2,
    strategy_3,
)
from tests.unit.mechanisms.metric.examples import KINDS, Rng, fraction
from tests.unit.mechanisms.metric.oracles import cost


def joint_loss(product: Product, queries: Sequence[Query], scales: Sequence[Fraction]) -> Fraction:
    """The largest sum of cost / scale / d over all pairs of cells and an absent row."""
    noised = [(query, scale) for query, scale in zip(queries, scales, strict=True) if scale]
    wide = [(query.over(product.sizes), scale) for query, scale in noised]
    losses = [Fraction(0)]
    for one, other in itertools.combinations(np.ndindex(*product.sizes), 2):
        spent = sum((Fraction(cost(query, one, other)) / scale for query, scale in wide), Fraction(0))
        losses.append(spent / Product(product.attributes, product.combine).distance(one, other))
    if product.presence is not None:
        for cell in np.ndindex(*product.sizes):
            spent = sum((Fraction(abs(int(query.values[cell]))) / scale for query, scale in wide), Fraction(0))
            losses.append(spent / product.presence)
    return max(losses)


def example(rng: Rng, combine: Combine) -> tuple[Product, list[Query]]:
    """Two attributes, three queries, one of them with groups."""
    kinds = list(KINDS.values())
    attributes = [kinds[int(rng.integers(len(kinds)))](rng, int(rng.integers(3, 5))) for _ in range(2)]
    product = Product(tuple(attributes), combine, fraction(rng) if rng.integers(2) else None)
    first, second = product.sizes
    queries = [
        Query(rng.integers(-5, 6, size=(first, 1))),
        Query(rng.integers(0, 2, size=(first, second)) * 1000, rng.integers(0, 3, size=(first, second))),
        Query(rng.integers(0, 3, size=(1, second))),
    ]
    return product, queries


@pytest.mark.every(2)
@pytest.mark.parametrize("combine", ["sum", "l2", "sup"])
@pytest.mark.parametrize("strategy", [None, *STRATEGIES])
def test_the_scales_are_private_together_and_not_larger_than_needed(combine: Combine, strategy: str | None) -> None:
    for seed in range(8):
        product, queries = example(np.random.default_rng(seed), combine)
        found = together(product, queries, strategy)
        loss = joint_loss(product, queries, found.scales)
        assert 1 - Fraction(1, 10**6) <= loss <= 1 + Fraction(1, 2**50)


def test_what_they_cost_along_each_attribute_bounds_every_move() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        product, queries = example(rng, "sum")
        found = together(product, queries)
        assert max(*found.slopes.along, found.slopes.presence) <= 1
        for one, other in rng.integers(product.sizes, size=(40, 2, 2)).tolist():
            parts = zip(queries, found.scales, strict=True)
            wide = [(query.over(product.sizes), scale) for query, scale in parts if scale]
            spent = sum((Fraction(cost(q, tuple(one), tuple(other))) / scale for q, scale in wide), Fraction(0))
            each = zip(found.slopes.along, product.attributes, one, other, strict=True)
            allowed = sum((slope * metric.distance(u, v) for slope, metric, u, v in each), Fraction(0))
            assert spent <= allowed * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("size", [3000, 5])
def test_too_many_moves_give_every_query_a_part_of_its_own(size: int) -> None:
    product = Product((Discrete(size, Fraction(1)), Chain.even(3, Fraction(1))), presence=Fraction(9))
    queries = [Query(np.arange(size).reshape(-1, 1)), Query((np.arange(size) > 2).reshape(-1, 1) * 1)]
    found = together(product, queries)
    assert found.strategy == ("parts" if size > 2000 else "optimum")
    if found.strategy == "parts":
        assert np.allclose([float(scale) for scale in found.scales], [2 * 2999, 2])
    few = Product((Discrete(5, Fraction(1)), Chain.even(3, Fraction(1))), presence=Fraction(9))
    kept = [Query(query.values[[0, 1, 2, 3, -1]]) for query in queries]
    assert joint_loss(few, kept, found.scales) <= 1 + Fraction(1, 2**50)


def test_any_weights_become_certain() -> None:
    rng = np.random.default_rng(1)
    product, queries = example(rng, "sum")
    for _ in range(5):
        weights = 10 ** rng.uniform(-9, 9, size=3)
        scales, _ = scales_of(product, queries, weights)
        assert joint_loss(product, queries, scales) <= 1
        assert np.allclose(
            [float(scale) * weight for scale, weight in zip(scales, weights, strict=True)],
            float(scales[0]) * weights[0],
        )


@pytest.mark.parametrize("weights", [[1, 0, 1], [1, -1, 1], [1, np.inf, 1], [np.nan, 1, 1], [1e-200, 1, 1]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    product, queries = example(np.random.default_rng(1), "sum")
    with pytest.raises(ValueError, match="weights must be"):
        scales_of(product, queries, np.array(weights))


def test_an_answer_that_no_move_changes_needs_no_noise_and_costs_nothing() -> None:
    product = Product((Discrete(4, Fraction(1, 2)),))
    rows, some = Query(np.ones(1, dtype=int)), Query(np.array([0, 1, 1, 3]))
    found = together(product, [rows, some])
    assert (found.strategy, found.scales, found.slopes) == (
        "one",
        (Fraction(0), Fraction(6)),
        Slopes((Fraction(1),), Fraction(0)),
    )
    with pytest.raises(ValueError, match="no noise"):
        scales_of(product, [rows], np.ones(1))
    with pytest.raises(ValueError, match="strategy 'best'; write one of strategy_1"):
        together(product, [some, some], "best")
    with pytest.raises(ValueError, match="too many to be answered together"):
        scales_of(product, [some] * 5000, np.ones(5000))


def lattice(seed: int, kind: str, queries: int) -> Floats:
    """Rows of so many queries over 100 points of the plane."""
    rng = np.random.default_rng(1)
    points = np.stack(np.divmod(rng.choice(100 * 100, size=100, replace=False), 100), axis=1).astype(float)
    one, other = np.triu_indices(100, 1)
    apart = np.sqrt(((points[one] - points[other]) ** 2).sum(axis=1))
    rng = np.random.default_rng(seed)
    matrix = rng.random((queries, 100)) if kind == "uniform" else rng.integers(0, 2, (queries, 100)).astype(float)
    return np.asarray((np.abs(matrix[:, one] - matrix[:, other]) / apart).T)


def lower_bound(rows: Floats, weights: Floats, goal: Goal) -> float:
    """No weights with rows @ w <= 1 reach less than this: Lagrange's dual, at multipliers fitted to these weights."""
    tight = rows[rows @ weights >= 1 - 1e-5]
    pull = -goal.slope(weights, np.ones(len(weights)))
    multipliers, _ = nnls(tight.T, pull)
    pull = tight.T @ multipliers
    # The least over all w > 0 of the goal's value + multipliers @ (rows @ w - 1).
    least = (3 * (pull / 2) ** (2 / 3)).sum() if goal is VARIANCE else (1 + np.log(pull)).sum()
    return float(least - multipliers.sum())


@pytest.mark.parametrize("kind", ["uniform", "binary"])
@pytest.mark.parametrize("queries", [1, 2, 6, 10])
@pytest.mark.parametrize("goal", [VARIANCE, RATIO])
def test_the_optimum_is_the_least_by_duality(kind: str, queries: int, goal: Goal) -> None:
    rows = lattice(200 + queries, kind, queries)
    counts = np.ones(queries)
    best = optimum(rows, counts, goal)
    assert (rows @ best).max() <= 1 + 1e-9
    value = goal.value(best, counts)
    assert value - lower_bound(rows, best, goal) <= 1e-4 * max(1, abs(value))
    for strategy in (strategy_1, strategy_2, strategy_3):
        weights = strategy(rows)
        assert (rows @ weights).max() <= 1 + 1e-9
        assert value <= goal.value(weights, counts) + 1e-9


def test_strategy_3_gives_queries_that_share_no_move_all_they_can_have() -> None:
    rows = np.array([[1.0, 0.0], [0.0, 4.0], [0.5, 0.0]])
    assert np.allclose(strategy_3(rows), [1, 0.25])
    assert np.allclose(optimum(rows, np.ones(2)), [1, 0.25])
    assert np.allclose(strategy_3(np.array([[1.0, 1.0]])), [0.5, 0.5])


def test_a_star_gives_each_group_noise_of_its_own() -> None:
    rays = [Fraction(1, 10), Fraction(1, 2), Fraction(1)]
    product = Product((Star.of(rays),))
    found = together(product, Query(np.ones(3, dtype=int), np.arange(3)).apart())
    assert joint_loss(product, Query(np.ones(3, dtype=int), np.arange(3)).apart(), found.scales) <= 1
    assert np.prod([float(scale) for scale in found.scales]) <= np.prod([float(1 / ray) for ray in rays]) * 1.01


def test_rows_are_those_of_all_moves() -> None:
    for seed in range(5):
        product, queries = example(np.random.default_rng(seed), "sum")
        rows = rows_of(product, queries, 10**6)
        assert rows is not None
        slopes = joint_slopes(product, queries, np.ones(3))
        assert np.isclose(rows.sum(axis=1).max(), float(max(*slopes.along, slopes.presence)))
        few = rows_of(product, queries, 3)
        assert few is not None
        assert len(few) <= 3
