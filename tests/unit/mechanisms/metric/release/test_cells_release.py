"""Linear queries: totals from cells, shares of a price, and reaches of sums of noise, beside what brute force says."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.metric import Chain, Discrete, Product, Query, Star
from dpsql.mechanisms.metric.release.cells import CellQuery
from dpsql.mechanisms.metric.release.noise import drawn, reach_of_sum
from dpsql.mechanisms.metric.release.scales import Shared, share_price, share_price_best
from dpsql.testing_samplers import FixedSampler

AGES, SEXES = Chain.even(5, Fraction(1, 2)), Discrete(3, Fraction(2))
NAMES = ("age", "sex")
PRODUCTS = [
    Product((AGES, SEXES)),
    Product((AGES, SEXES), presence=Fraction(1)),
    Product((AGES, SEXES), combine="l2", presence=Fraction(3)),
    Product((AGES, SEXES), combine="sup"),
]


def queries(seed: int, count: int) -> list[Query]:
    """Some queries over ages and sexes, with and without groups."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        shape = [(5, 3), (5, 1), (1, 3)][rng.integers(3)]
        groups = rng.integers(2, size=shape) if rng.integers(2) else None
        found.append(Query(rng.integers(-2, 5, size=shape), groups))
    return found


def test_conditions_that_leave_no_group_leave_no_number() -> None:
    query = CellQuery(Query(np.zeros((5, 1), dtype=np.int64), np.zeros((5, 1), dtype=np.int64)), 0)
    for rows in ([], [3]):
        cells = [np.zeros(len(rows), dtype=np.int64)] * 2
        assert query.totals(cells, np.array(rows, dtype=np.int64)) == []


def cost(query: Query, one: tuple[int, int], other: tuple[int, int]) -> int:
    """How far a move changes the answers, in L1."""
    values = np.broadcast_to(query.values, (5, 3))
    a, b = int(values[one]), int(values[other])
    if query.groups is not None:
        groups = np.broadcast_to(query.groups, (5, 3))
        if groups[one] != groups[other]:
            return abs(a) + abs(b)
    return abs(a - b)


CELLS = list(itertools.product(range(5), range(3)))


def told(shared: Shared, asked: list[Query], one: tuple[int, int], other: tuple[int, int]) -> Fraction:
    """What one row's move tells: costs over scales."""
    loss = Fraction(0)
    for query, noise in zip(asked, shared.noises, strict=True):
        if noise.scale:
            loss += cost(query, one, other) / noise.scale
        else:
            assert cost(query, one, other) == 0
    return loss


@pytest.mark.every(2)
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("seed", range(8))
def test_no_move_tells_more_than_the_columns_were_charged(product: Product, seed: int) -> None:
    asked = queries(seed, 1 + seed % 4)
    multiple = Fraction(3, 4)
    shared = share_price(asked, product, NAMES, multiple)
    assert max(shared.multiples.values(), default=Fraction(0)) <= multiple
    for one, other in itertools.combinations(CELLS, 2):
        if product.combine == "sum":
            distances = [m.distance(u, v) for m, u, v in zip(product.attributes, one, other, strict=True)]
            paid = sum(shared.multiples.get(name, 0) * d for name, d in zip(NAMES, distances, strict=True))
        else:
            paid = shared.multiples.get("", 0) * product.distance(one, other)
        assert told(shared, asked, one, other) <= paid


@pytest.mark.parametrize("product", PRODUCTS[1:3])
def test_a_row_that_comes_or_goes_tells_no_more_than_presence(product: Product) -> None:
    assert product.presence is not None
    for seed in range(6):
        asked = queries(seed, 3)
        shared = share_price(asked, product, NAMES, Fraction(1))
        paid = shared.multiples["presence" if product.combine == "sum" else ""] * product.presence
        for cell in CELLS:
            values = [abs(int(np.broadcast_to(query.values, (5, 3))[cell])) for query in asked]
            noised = zip(values, shared.noises, strict=True)
            assert sum((value / noise.scale for value, noise in noised if noise.scale), Fraction(0)) <= paid


def test_queries_of_different_attributes_do_not_share() -> None:
    adults, women = Query((np.arange(5) > 2).astype(int)[:, None]), Query(np.array([[1, 0, 0]]))
    shared = share_price([adults, women], PRODUCTS[0], NAMES, Fraction(1))
    assert [float(noise.scale or 0) for noise in shared.noises] == pytest.approx([2, 0.5])
    assert [float(shared.multiples[name]) for name in NAMES] == pytest.approx([1, 1])


def test_ranges_that_end_at_different_ages_do_not_share() -> None:
    # A step from 1 to 2 changes the first alone, one from 3 to 4 the second alone: each has all of the price.
    early, late = (Query((np.arange(5) > edge).astype(int)[:, None]) for edge in (1, 3))
    shared = share_price([early, late], PRODUCTS[0], NAMES, Fraction(1))
    assert [float(noise.scale or 0) for noise in shared.noises] == pytest.approx([2, 2])


def test_a_constant_needs_no_noise_where_rows_are_public() -> None:
    shared = share_price([Query(np.ones((1, 1), dtype=int))], PRODUCTS[0], NAMES, Fraction(1))
    assert (shared.noises[0].scale, shared.multiples) == (None, {})
    present = share_price([Query(np.ones((1, 1), dtype=int))], PRODUCTS[1], NAMES, Fraction(1, 2))
    assert present.noises[0].scale == 2
    assert present.multiples == {"presence": Fraction(1, 2)}


def test_groups_along_a_chain_are_answered_from_branches() -> None:
    ages = Query(np.ones((5, 1), dtype=int), np.arange(5)[:, None])
    (noise,) = share_price_best(ages, 5, PRODUCTS[0], NAMES, Fraction(1, 2)).noises
    assert noise.branches is not None
    assert list(noise.scales) == [4] * 4


def test_groups_of_a_star_have_noise_of_their_own() -> None:
    product = Product((Star.of([Fraction(1, 10), Fraction(1), Fraction(1)]),))
    counts = Query(np.ones(3, dtype=int), np.arange(3))
    shared = share_price_best(counts, 3, product, ("diagnosis",), Fraction(1))
    harmful, first, second = (float(scale) for scale in shared.noises[0].scales)
    assert (1 / harmful + 1 / first, 1 / first + 1 / second) <= (1.1, 2)
    common = 2 / 1.1
    assert harmful**2 + first**2 + second**2 < 3 * common**2


def test_totals_are_those_of_the_rows() -> None:
    rng = np.random.default_rng(1)
    for query in queries(3, 6):
        size = 1 if query.groups is None else 2
        cells = [rng.integers(5, size=20), rng.integers(3, size=20)]
        rows = rng.integers(1, 9, size=20)
        by_hand = [0] * size
        for age, sex, count in zip(*cells, rows, strict=True):
            value = int(np.broadcast_to(query.values, (5, 3))[age, sex])
            group = 0 if query.groups is None else int(np.broadcast_to(query.groups, (5, 3))[age, sex])
            by_hand[group] += value * int(count)
        assert CellQuery(query, size).totals(cells, rows) == by_hand


def test_totals_do_not_overflow() -> None:
    query = Query(np.array([2**53]))
    assert CellQuery(query, 1).totals([np.zeros(1, dtype=np.int64)], np.array([2**40])) == [2**93]


@pytest.mark.parametrize(
    "terms",
    [
        [(1, Fraction(3))],
        [(3, Fraction(2))],
        [(1, Fraction(3)), (-1, Fraction(3))],
        [(1, Fraction(2)), (2, Fraction(5))],
        [(1, Fraction(1, 4)), (-1, Fraction(9))],
        [(1, Fraction(2)), (-1, Fraction(2)), (1, Fraction(2)), (-2, Fraction(1))],
    ],
)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_reaches_cover_as_often_as_they_say(terms: list[tuple[int, Fraction]], confidence: float) -> None:
    law = {0: 1.0}
    for factor, scale in terms:
        q = math.exp(-1 / float(scale))
        reach = math.ceil(40 * float(scale)) + 5
        each = {factor * k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-reach, reach + 1)}
        longer: dict[int, float] = {}
        for (a, p), (b, r) in itertools.product(law.items(), each.items()):
            longer[a + b] = longer.get(a + b, 0.0) + p * r
        law = longer
    reach = reach_of_sum(terms, confidence)
    inside = sum(p for x, p in law.items() if abs(x) <= reach)
    assert inside >= confidence - 1e-9
    if len(terms) < 3:  # and not much more often than that
        tighter = sum(p for x, p in law.items() if abs(x) <= reach - 2 - sum(abs(factor) for factor, _ in terms))
        assert tighter < confidence


def test_no_scale_no_noise() -> None:
    noise = drawn([Fraction(0), Fraction(1000), Fraction(0), Fraction(1000)], FixedSampler(1))
    assert noise[0] == noise[2] == 0
    assert noise[1] != noise[3]
