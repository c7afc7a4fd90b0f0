"""Metrics of several attributes: the constants that need no pairs of cells, against all pairs of cells."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.metric import Chain, Combine, Discrete, Points, Product, Query, Star
from tests.effort import few_calls
from tests.unit.mechanisms.metric.examples import KINDS, Rng, fraction
from tests.unit.mechanisms.metric.oracles import agrees, worst

COMBINES: list[Combine] = ["sum", "l2", "sup"]


def product(rng: Rng, combine: Combine) -> Product:
    """Two or three attributes of any kind; every second time with presence."""
    kinds = list(KINDS.values())
    attributes = [kinds[int(rng.integers(len(kinds)))](rng, int(rng.integers(3, 6))) for _ in range(rng.integers(2, 4))]
    return Product(tuple(attributes), combine, fraction(rng) if rng.integers(2) else None)


def query(rng: Rng, sizes: tuple[int, ...], *, grouped: bool) -> Query:
    """Any numbers, some of them 0; sometimes an attribute is not looked at."""
    shape = [size if rng.integers(5) else 1 for size in sizes]
    values = rng.integers(-9, 10, size=shape) * rng.integers(2, size=shape)
    return Query(values, rng.integers(3, size=shape) if grouped else None)


@pytest.mark.every(2)
@pytest.mark.parametrize("combine", COMBINES)
@pytest.mark.parametrize("grouped", [False, True])
def test_the_constant_is_that_of_all_pairs_of_cells(combine: Combine, grouped: bool) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        metric = product(rng, combine)
        asked = query(rng, metric.sizes, grouped=grouped)
        # The uncapped distance: that two cells are 2 presences apart at most follows from the absent row.
        truth = worst(Product(metric.attributes, combine), asked)
        if metric.presence is not None:
            truth = max(truth, worst(metric, asked))
        found = metric.lipschitz(asked)
        exactly = combine == "sum" and not any(isinstance(attribute, Points) for attribute in metric.attributes)
        assert agrees(found, truth, exactly=exactly)


@pytest.mark.parametrize("combine", COMBINES)
def test_slopes_along_attributes_bound_the_constant_of_many_cells(combine: Combine) -> None:
    rng = np.random.default_rng(1)
    metric = Product((Chain.even(60, Fraction(1, 3)), Chain.even(60, Fraction(1, 5))), combine)
    asked = Query(rng.integers(0, 9, size=(60, 60)))
    pairs = rng.integers(60, size=(3000, 2, 2)).tolist()
    bound = metric.lipschitz(asked)
    for one, other in pairs:
        difference = abs(int(asked.values[tuple(one)]) - int(asked.values[tuple(other)]))
        assert difference <= bound * metric.distance(one, other)


def test_the_largest_of_discrete_distances_needs_no_pairs() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        metric = Product(tuple(Discrete(int(n), fraction(rng)) for n in rng.integers(2, 5, size=3)), "sup")
        asked = Query(rng.integers(-20, 20, size=metric.sizes))
        assert metric.lipschitz(asked) == worst(metric, asked)


@pytest.mark.parametrize("combine", COMBINES)
def test_metrics_combine_to_metrics(combine: Combine) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        metric = product(rng, combine)
        cells = list(np.ndindex(*metric.sizes))[:12]

        d = [[metric.distance(one, other) for other in cells] for one in cells]
        slack = 1 + Fraction(1, 2**50)
        every = range(len(cells))
        assert all(d[u][w] <= (d[u][v] + d[v][w]) * slack for u in every for v in every for w in every)
        assert max(map(max, d)) <= metric.diameter()


def test_the_diameter_is_the_largest_distance_and_counts_the_absent_row() -> None:
    parts = (Chain.even(11, Fraction(1, 2)), Discrete(2, Fraction(12)))
    assert Product(parts).diameter() == 17
    assert Product(parts, "sup").diameter() == 12
    assert Product(parts, "l2").diameter() == 13
    assert Product(parts, presence=Fraction(3)).diameter() == 6
    assert Product(parts, presence=Fraction(30)).diameter() == 30


def test_counting_rows_is_free_where_their_number_is_public_and_costs_presence_elsewhere() -> None:
    everyone = Query(np.ones((1, 1), dtype=int))
    parts = (Discrete(5, Fraction(1)), Star.of([Fraction(1)] * 3))
    assert Product(parts).lipschitz(everyone) == 0
    assert Product(parts, presence=Fraction(1, 4)).lipschitz(everyone) == 4


def test_an_attribute_that_a_query_does_not_look_at_costs_nothing() -> None:
    metric = Product((Chain.even(100, Fraction(1, 20)), Discrete(2, Fraction(1, 100))), presence=Fraction(1))
    asked = Query(np.arange(100).reshape(100, 1))
    repeated = Query(np.repeat(asked.values, 2, axis=1))
    for form in (asked, repeated):
        assert metric.slopes(form).along == (Fraction(20), Fraction(0))
        assert metric.slopes(form).presence == 99
        assert metric.lipschitz(form) == 99


def test_groups_over_an_attribute_cost_two_rows_and_within_one_a_difference() -> None:
    metric = Product((Chain.even(10, Fraction(1)), Discrete(3, Fraction(1, 2))))
    by_sex = Query.of(np.arange(10).reshape(10, 1), np.arange(3).reshape(1, 3))
    assert metric.slopes(by_sex).along == (Fraction(1), Fraction(36))


def test_a_million_cells_take_no_call_each() -> None:
    rng = np.random.default_rng(0)
    rays = [Fraction(int(ray), 10) for ray in rng.integers(1, 20, size=100)]
    line = Product((Chain.even(10**6, Fraction(1, 100)),))
    cube = Product((Chain.even(1000, Fraction(1, 20)), Discrete(10, Fraction(1, 2)), Star.of(rays)))
    nested = Product(tuple(Discrete(100, Fraction(1, n)) for n in (1, 2, 3)), "sup")
    for metric in (line, cube, nested):
        query = Query(rng.integers(0, 1000, size=metric.sizes))
        with few_calls(5_000):
            metric.lipschitz(query)
