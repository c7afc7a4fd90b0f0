"""Every kind of metric: it is one, and its slopes are those of all pairs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.metric import (
    Chain,
    Discrete,
    DistanceThreshold,
    Lines,
    MetricError,
    Points,
    Product,
    Query,
    Smooth,
    Star,
    Table,
    Tree,
    WithNull,
)
from tests.unit.mechanisms.metric.examples import KINDS
from tests.unit.mechanisms.metric.oracles import agrees, is_metric, slope, worst

SEEDS = range(25)
ROOTS = ("euclidean", "euclidean, smooth")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_metric(kind: str) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        assert is_metric(KINDS[kind](rng, int(rng.integers(3, 9))))


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("largest", [1, 20, 2**52])
def test_the_slope_is_that_of_all_pairs(kind: str, largest: int) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        metric = KINDS[kind](rng, int(rng.integers(3, 12)))
        lines = rng.integers(-largest, largest + 1, size=(3, metric.size))
        truth = max(slope(metric, line) for line in lines.tolist())
        assert agrees(metric.slope(Lines(lines)), truth, exactly=kind not in ROOTS)


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", KINDS)
def test_the_slope_of_groups_is_that_of_all_pairs(kind: str) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        metric = KINDS[kind](rng, int(rng.integers(3, 9)))
        values = rng.integers(-9, 10, size=(metric.size, 3))
        groups = rng.integers(3, size=(metric.size, 3)) if seed % 2 else np.arange(metric.size)[:, None]
        values, groups = np.broadcast_arrays(values, groups)
        by_hand = max(worst(Product((metric,)), Query(v, g)) for v, g in zip(values.T, groups.T, strict=True))
        assert agrees(metric.slope(Query(values, groups).along(0)), by_hand, exactly=kind not in ROOTS)


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2, 8])
def test_the_shortest_ways_along_enough_pairs_are_the_distances(kind: str, size: int) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        metric = KINDS[kind](rng, size)
        pairs = metric.pairs()
        assert pairs is not None
        ends = zip(pairs.one.tolist(), pairs.other.tolist(), pairs.distance.tolist(), strict=True)
        ways = Table.of_graph(size, [(u, v, steps * pairs.unit) for u, v, steps in ends])
        for u, v in itertools.combinations(range(size), 2):
            assert agrees(metric.distance(u, v), ways.distance(u, v), exactly=kind not in ROOTS)


def test_a_constant_has_slope_0_and_no_line_is_too_long_for_big_numbers() -> None:
    constant = Lines(np.array([[2**70] * 4], dtype=object))
    rising = Lines(np.array([[0, 2**70, 1, 2]], dtype=object))
    star = Star.of([Fraction(1, 3)] * 4)
    assert star.slope(constant) == 0
    assert star.slope(rising) == Fraction(2**70 * 3, 2)
    assert Discrete(4, Fraction(1)).slope(rising) == Chain.even(4, Fraction(1)).slope(rising) == 2**70


def test_too_many_pairs_of_groups_get_a_bound_that_is_exact_for_a_group_each() -> None:
    size = 5000
    groups = Lines(np.arange(size)[None, :], np.arange(size)[None, :])
    decades = Lines(np.arange(size)[None, :], np.arange(size)[None, :] // 10)
    metric = Discrete(size, Fraction(1, 2))
    assert metric.pairs() is None
    assert metric.slope(groups) == 2 * (size - 1 + size - 2)
    assert metric.slope(decades) >= 2 * (size - 1 + size - 11)
    assert Star.of([Fraction(1, 4)] * size).slope(groups) == 2 * (size - 1 + size - 2)


def test_wide_thresholds_over_many_values_need_no_pairs() -> None:
    rng = np.random.default_rng(4)
    at = [Fraction(int(x)) for x in np.unique(rng.integers(0, 8000, size=3000))]
    values = np.cumsum(rng.integers(-3, 4, size=len(at)))
    threshold, smooth = (kind.at(at, Fraction(1800), Fraction(1, 2)) for kind in (DistanceThreshold, Smooth))
    assert threshold.pairs() is None
    apart = np.abs(values[:, None] - values)
    gaps = np.abs(np.array(at, dtype=int)[:, None] - np.array(at, dtype=int))
    assert threshold.slope(Lines(values[None, :])) == 2 * int(apart[gaps <= 1800].max())
    truth = 2 * float((apart / np.maximum(1, gaps / 1800)).max())
    assert truth * (1 - 1e-12) <= smooth.slope(Lines(values[None, :])) <= truth * (1 + 1 / 64)
    groups = Lines(values[None, :], np.arange(len(at))[None, :])
    assert threshold.slope(groups) >= 2 * int(
        (np.abs(values)[:, None] + np.abs(values))[(gaps > 0) & (gaps <= 1800)].max()
    )
    assert smooth.slope(groups) >= threshold.slope(groups)


def test_a_star_is_the_discrete_metric_where_all_epsilons_are_equal() -> None:
    star, discrete = Star.of([Fraction(1, 4)] * 5), Discrete(5, Fraction(1, 2))
    assert all(star.distance(u, v) == discrete.distance(u, v) for u in range(5) for v in range(5))


def test_a_chain_among_the_breaks_of_a_condition_is_as_good_as_all_of_it() -> None:
    rng = np.random.default_rng(3)
    chain = Chain.of([Fraction(int(gap), 7) for gap in rng.integers(1, 50, size=999)])
    breaks = np.sort(rng.choice(np.arange(1, 1000), size=6, replace=False))
    values = np.repeat(rng.integers(-50, 50, size=7), np.diff([0, *breaks, 1000]))
    kept = sorted({int(at) for b in breaks for at in (b - 1, b)})
    assert chain.among(kept).slope(Lines(values[None, kept])) == chain.slope(Lines(values[None, :]))


def test_the_shortest_paths_of_a_star_of_harmless_values_are_shown_as_they_are() -> None:
    # The paper's first example with three values: min(p_u, p_v) is no metric, and its shortest paths protect b from c
    # by 1/5 instead of 1.
    p = [Fraction(1, 10), Fraction(1), Fraction(1)]
    least = [[min(a, b) if i != j else Fraction(0) for j, b in enumerate(p)] for i, a in enumerate(p)]
    with pytest.raises(MetricError) as refused:
        Table.of(least)
    assert refused.value.named("abc") == "b and c are 1 apart, but only 1/5 by way of a; write that, or longer ways."
    edges = [(u, v, least[u][v]) for u in range(3) for v in range(u)]
    assert Table.of_graph(3, edges).distance(1, 2) == Fraction(1, 5)


ONE, TWO = Fraction(1), Fraction(2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, ONE], [TWO, 0]], "F is 1 from M, but 2 the other way; write one distance."),
        ([[0, ONE], [ONE, ONE]], "M is 1 from itself; write 0."),
        ([[0, Fraction(0)], [0, 0]], "F and M are 0 apart; write a distance above 0, or make them one."),
        ([[0, -ONE], [-ONE, 0]], "F and M are -1 apart; write a distance above 0, or make them one."),
        ([[0, ONE]], "the table has 1 rows, and not 1 distances in each."),
        ([[0, Fraction(1, 3**40)], [Fraction(5), 0]], "the distances have too many digits between them; round them"),
    ],
)
def test_a_table_that_is_no_metric_is_refused_by_name(rows: list[list[Fraction]], message: str) -> None:
    with pytest.raises(MetricError) as refused:
        Table.of(rows)
    assert refused.value.named("FM").startswith(message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: DistanceThreshold.at([ONE, TWO, Fraction(7, 2)], ONE, ONE),
            "b and c are 3/2 apart, further than theta = 1",
        ),
        (lambda: Smooth.at([ONE, TWO, TWO], ONE, ONE), "c is at 2, not after b at 2; sort them."),
        (lambda: Tree.of(3, [(0, 1, ONE)]), "a tree of 3 nodes has 2 edges, not 1; or write kind: graph."),
        (lambda: Tree.of(4, [(0, 1, ONE), (2, 3, ONE), (2, 3, TWO)]), "there is no way from a to c"),
        (lambda: Points.of([(0, 1), (2, 3), (0, 1)], ONE), "a and c are at the same point"),
        (lambda: Points.of([(0,), (2**30,)], ONE), "a coordinate is beyond"),
        (lambda: Points.of([(0,), (2**70,)], ONE), "a coordinate is beyond"),
        (lambda: Points.of([()], ONE), "a point has 1 to 16 coordinates"),
    ],
)
def test_values_in_the_wrong_place_are_refused_by_name(make: Callable[[], object], message: str) -> None:
    with pytest.raises(MetricError) as refused:
        make()
    assert refused.value.named("abc").startswith(message)


def test_values_without_a_way_between_them_are_refused() -> None:
    with pytest.raises(MetricError) as refused:
        Table.of_graph(3, [(0, 2, ONE)])
    assert refused.value.named("abc").startswith("there is no way from a to b")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Discrete(2, Fraction(0)),
        lambda: Chain.of([ONE, Fraction(0)]),
        lambda: Chain.even(3, Fraction(-1)),
        lambda: Chain.of([ONE, Fraction(1, 2**60)]),
        lambda: Star.of([ONE, Fraction(0)]),
        lambda: Table.of_graph(2, [(0, 1, Fraction(0))]),
        lambda: Table.of_graph(1001, []),
        lambda: Tree.of(3, [(0, 1, ONE), (0, 2, Fraction(0))]),
        lambda: DistanceThreshold.at([ONE, TWO], Fraction(0), ONE),
        lambda: Smooth.at([ONE, TWO], ONE, Fraction(0)),
        lambda: Smooth.at([TWO, ONE], ONE, ONE),
        lambda: WithNull(Discrete(2, ONE), Fraction(0)),
        lambda: Points.of([(0, 0), (1, 1)], Fraction(0)),
        lambda: Product((Discrete(2, ONE),), presence=Fraction(0)),
        lambda: Product(()),
    ],
)
def test_distances_of_0_and_below_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(MetricError, match=r"write|too many|name one|round|sort"):
        make()


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.5, 1.0, 0.0]),
        np.array([100, -100, 0], dtype=np.int8),  # whose difference would be -56
        np.array([1, 2, 0], dtype=np.uint64),
        np.array([True, False, True]),
        np.array([2**62, -(2**62), 0]),
        np.array([-(2**63), 0, 0]),
    ],
)
def test_numbers_whose_differences_are_not_exact_are_refused(values: npt.NDArray[Any]) -> None:
    with pytest.raises(ValueError, match=r"write int64|write Python integers"):
        Query(values)
    with pytest.raises(ValueError, match=r"write int64|write Python integers"):
        Lines(values[None, :])
    exact = np.array([int(value) for value in values.tolist()], dtype=object)
    assert Discrete(3, ONE).slope(Lines(exact[None, :])) == max(exact) - min(exact)


def test_a_query_over_other_cells_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Product((Discrete(3, ONE),)).lipschitz(Query(np.zeros(4, dtype=int)))
    with pytest.raises(ValueError, match="groups are of shape"):
        Query(np.zeros(3, dtype=int), np.zeros(2, dtype=int))
